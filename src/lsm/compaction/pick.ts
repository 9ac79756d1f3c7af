/** What the picker decides, and what it decides by. Data only. */
import type { TableMeta } from '../version/table-meta.ts'
import type { LevelTargets } from './level-targets.ts'
import type { Run } from './level0-runs.ts'

/** A version, as far as compaction needs to know it. */
export interface Levels {
  /** Level 0 newest first, the others by smallest key and without overlap. */
  readonly levels: readonly (readonly TableMeta[])[]
}

export interface CompactionLimits {
  /** Sorted runs of a partition in level 0 that start a compaction. */
  readonly level0Trigger: number
  /** Target bytes of the first level below level 0. */
  readonly level1Bytes: number
  /** Target bytes of a table below level 0. */
  readonly maxFileBytes: number
  /** … and in level 0. Infinity makes every run one table; with value filters of fixed size, small tables are better. */
  readonly level0FileBytes: number
  readonly partitionDepth: number
}

export interface CompactionState {
  /** Merges that run now: their inputs are taken, their output ranges reserved. */
  readonly running: readonly Merge[]
  /** No merge could be started anyway: only moves are looked for. */
  readonly movesOnly?: boolean
  /** Where the last merge out of this level ended; breaks ties, so that all keys get their turn. */
  pointer(level: number, partition: string): Uint8Array | undefined
}

/** A partition's share of a version, with what the policies decide by. */
export interface PartitionView {
  readonly name: string
  readonly version: Levels
  /** This partition's tables per level; level 0 newest first. */
  readonly levels: readonly (readonly TableMeta[])[]
  readonly runs: readonly Run[]
  readonly targets: LevelTargets
  readonly limits: CompactionLimits
  readonly state: CompactionState
}

export type Pick = Move | Merge

/** Tables change their level and are not rewritten: one manifest edit, no job. */
export interface Move {
  readonly kind: 'move'
  readonly partition: string
  readonly level: number
  readonly tables: readonly TableMeta[]
  readonly toLevel: number
}

export interface Merge {
  readonly kind: 'merge'
  readonly partition: string
  /** Ascending levels; tables in the order of their level. */
  readonly inputs: readonly MergeInput[]
  /** 0 merges runs of level 0 into one. */
  readonly outputLevel: number
}

export interface MergeInput {
  readonly level: number
  readonly tables: readonly TableMeta[]
}
