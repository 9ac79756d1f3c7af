/**
 * Decides what to compact next. Pure: maps a version to a decision.
 *
 * Groups of tables are considered most urgent first; within one, level 0 before the levels below it, and joining small
 * tables last. See level0-policy.ts, level-policy.ts and join-small.ts for the policies, bench/compaction-policy.ts
 * for their cost.
 *
 * Invariants of every pick:
 * 1. All tables that overlap the inputs in the output level are inputs.
 * 2. Nothing that stays in the output level or above it holds older versions of the inputs' keys.
 * 3. No table is in two running merges, and no two running merges write overlapping ranges of one level.
 */
import { joinPick } from './join-small.ts'
import { bytesOf } from './key-span.ts'
import { levelPick } from './level-policy.ts'
import { levelTargets } from './level-targets.ts'
import { level0Pick } from './level0-policy.ts'
import { level0Runs } from './level0-runs.ts'
import { groupingOf } from './own-partitions.ts'
import type { CompactionLimits, CompactionState, GroupView, Levels, Pick } from './pick.ts'
import { levelsByGroup } from './table-groups.ts'

/** @returns undefined if nothing is worth doing, or all of it is in progress */
export function pickCompaction(version: Levels, limits: CompactionLimits, state: CompactionState): Pick | undefined {
  for (const view of groupsByUrgency(version, limits, state)) {
    const pick = level0Pick(view) ?? levelPick(view) ?? joinPick(view)
    if (pick !== undefined) return pick
  }
  return undefined
}

function groupsByUrgency(version: Levels, limits: CompactionLimits, state: CompactionState): GroupView[] {
  const views: GroupView[] = []
  const grouping = groupingOf(limits, version.levels)
  for (const [name, levels] of levelsByGroup(version.levels, grouping)) {
    const runs = level0Runs(levels[0] ?? [])
    const targets = levelTargets(levels.map(bytesOf), limits.level1Bytes)
    views.push({ name, version, levels, runs, targets, limits, grouping, state })
  }
  return views.sort((a, b) => b.runs.length - a.runs.length)
}
