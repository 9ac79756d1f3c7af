/**
 * Decides what to compact next. Pure: a version in, a decision out.
 *
 * Partitions are looked at one by one, most urgent first; within one, level 0 before the levels below it. See
 * level0-policy.ts and level-policy.ts for the two policies, bench/compaction-policy.ts for what they cost.
 *
 * Invariants of every pick:
 * 1. Whatever overlaps the inputs in the output level is an input.
 * 2. Nothing that stays behind above the output level, or in it, holds older versions of the inputs' keys.
 * 3. No table is in two running merges, and no two of them write overlapping ranges of one level.
 */
import type { TableMeta } from '../version/table-meta.ts'
import { bytesOf, overlaps, spanOf } from './key-span.ts'
import { levelPick } from './level-policy.ts'
import { type LevelTargets, levelTargets } from './level-targets.ts'
import { level0Pick } from './level0-policy.ts'
import { level0Runs, levelsByPartition, type Run } from './level0-runs.ts'
import type { CompactionLimits, CompactionState, Levels, Merge, Pick } from './pick.ts'

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

/** @returns undefined when nothing is worth doing, or all of it is being done */
export function pickCompaction(version: Levels, limits: CompactionLimits, state: CompactionState): Pick | undefined {
  for (const view of partitionsByUrgency(version, limits, state)) {
    const pick = level0Pick(view) ?? levelPick(view)
    if (pick !== undefined) return pick
  }
  return undefined
}

function partitionsByUrgency(version: Levels, limits: CompactionLimits, state: CompactionState): PartitionView[] {
  const views: PartitionView[] = []
  for (const [name, levels] of levelsByPartition(version.levels, limits.partitionDepth)) {
    const runs = level0Runs(levels[0] ?? [])
    const targets = levelTargets(levels.map(bytesOf), limits.level1Bytes)
    views.push({ name, version, levels, runs, targets, limits, state })
  }
  return views.sort((a, b) => b.runs.length - a.runs.length)
}

/** Invariant 3. */
export function isFree(merge: Merge, state: CompactionState): boolean {
  if (state.running.length === 0) return merge.inputs.some(({ tables }) => tables.length > 0)
  const span = spanOf(merge.inputs.flatMap((input) => input.tables))
  if (span === undefined) return false
  const mine = new Set(merge.inputs.flatMap((input) => input.tables.map((table) => table.number)))
  return state.running.every((other) => {
    const theirs = other.inputs.flatMap((input) => input.tables)
    if (theirs.some((table) => mine.has(table.number))) return false
    const reserved = spanOf(theirs)
    // Tables of level 0 may overlap.
    return other.outputLevel === 0 || reserved === undefined || !reserves(other, merge) || !overlaps(reserved, span)
  })
}

/** A merge changes its output level, and what it brings there passes the levels between. */
function reserves(other: Merge, merge: Merge): boolean {
  return merge.outputLevel !== 0 && top(merge) <= other.outputLevel && top(other) <= merge.outputLevel
}

function top(merge: Merge): number {
  return merge.inputs[0]?.level ?? 0
}
