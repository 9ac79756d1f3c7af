/** The picker's inputs and decisions. Data only. */
import type { TableMeta } from '../version/table-meta.ts'
import type { LevelTargets } from './level-targets.ts'
import type { Run } from './level0-runs.ts'
import type { Grouping } from './table-groups.ts'

/** The part of a version that compaction needs. */
export interface Levels {
  /** Level 0 newest first, the others by smallest key and without overlap. */
  readonly levels: readonly (readonly TableMeta[])[]
}

export interface CompactionLimits {
  /** Sorted runs in level 0 of one group that trigger a compaction. */
  readonly level0Trigger: number
  /** Target bytes of the first level below level 0. */
  readonly level1Bytes: number
  /** Target bytes of a table below level 0. */
  readonly maxFileBytes: number
  /**
   * Target bytes of a table in level 0. Infinity makes every run one table; with fixed-size value filters, small
   * tables are better.
   */
  readonly level0FileBytes: number
  readonly partitionDepth: number
  /** Bytes of keys and values from which on a partition is merged by itself; smaller ones with their neighbours. */
  readonly minPartitionSize: number
}

export interface CompactionState {
  /** Running merges: their inputs are taken, their output ranges reserved. */
  readonly running: readonly Merge[]
  /** Only look for moves, because no merge could be started. */
  readonly movesOnly?: boolean
  /** Sequence number of the oldest open snapshot: it may see what newer tombstones hide. */
  readonly oldestSnapshot?: number | undefined
  /** Where the last merge out of this level ended; breaks ties, so that all keys are eventually merged. */
  pointer(level: number, group: string): Uint8Array | undefined
}

/** One group's share of a version (see table-groups.ts), and the inputs of the policies. */
export interface GroupView {
  readonly name: string
  readonly version: Levels
  /** This group's tables per level; level 0 newest first. */
  readonly levels: readonly (readonly TableMeta[])[]
  readonly runs: readonly Run[]
  readonly targets: LevelTargets
  readonly limits: CompactionLimits
  readonly grouping: Grouping
  readonly state: CompactionState
}

export type Pick = Move | Merge

/** Moves tables to another level without rewriting them: one manifest edit, no job. */
export interface Move {
  readonly kind: 'move'
  readonly level: number
  readonly tables: readonly TableMeta[]
  readonly toLevel: number
}

export interface Merge {
  readonly kind: 'merge'
  readonly group: string
  /** Ascending levels; tables in level order. */
  readonly inputs: readonly MergeInput[]
  /** 0: merges runs of level 0 into one. */
  readonly outputLevel: number
}

export interface MergeInput {
  readonly level: number
  readonly tables: readonly TableMeta[]
}
