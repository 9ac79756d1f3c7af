/**
 * Compaction out of level 0.
 *
 * Level 0 is kept in *tiers*: runs of similar size are merged into one larger run of level 0, and all of it moves down
 * to the base level once it is as large as the tables it has to be merged with there. Merging every few memtables with
 * a base level many times their size is what makes random writes expensive. bench/compaction-policy.ts computes the
 * bytes written per byte put.
 */
import type { TableMeta } from '../version/table-meta.ts'
import { bytesOf, overlapping, spanOf } from './key-span.ts'
import type { Run } from './level0-runs.ts'
import { canStart, deepestFreeLevel, freesEnough, garbageBytes, isHeldBack, isTombstoneHeavy } from './moves.ts'
import type { GroupView, Merge, MergeInput, Move, Pick } from './pick.ts'

/** Minimum size of a merge's level-0 input as a share of the bytes it is merged with. */
const baseShare = 1
/** Level-0 bytes that suffice for one merge, as a multiple of level1Bytes: longer merges would hold up all others. */
const mergeTargets = 4
/** Runs whose sizes differ by no more than this factor belong to one tier. */
const tierSpread = 4
/** Number of runs that make a tier full, as a multiple of the trigger. */
const tierWidth = 2
/**
 * From this many runs on, as a multiple of the trigger, reads suffer: smaller and dissimilar groups are merged, too.
 */
export const manyRunsFactor = 3

export function level0Pick(view: GroupView): Pick | undefined {
  return triggeredPick(view) ?? (view.state.movesOnly ? undefined : (mergeCleared(view) ?? mergeTombstones(view)))
}

function triggeredPick(view: GroupView): Pick | undefined {
  const { runs, limits } = view
  const tables = runs.reduce((sum, run) => sum + run.length, 0)
  if (tables < limits.level0Trigger) return undefined
  const move = moveDown(view)
  if (move !== undefined || runs.length < limits.level0Trigger || view.state.movesOnly) return move
  return mergeIntoBase(view, baseShare) ?? mergeTier(view) ?? (hasManyRuns(view) ? mergeIntoBase(view, 0) : undefined)
}

/**
 * A table of nothing but tombstones is merged down regardless of the trigger, as long as that is little work: a
 * cleared range may never be written again, and the dead entries and their tombstones would stay for good.
 */
function mergeCleared(view: GroupView): Merge | undefined {
  const { runs, limits } = view
  const isCleared = runs.some((run) => run.some((table) => hasNoValues(table) && !isHeldBack(view, table)))
  if (!isCleared || bytesOf(runs.flat()) > limits.maxFileBytes) return undefined
  const merge = mergeIntoBase(view, 0)
  const bytes = merge?.inputs.reduce((sum, { tables }) => sum + bytesOf(tables), 0) ?? 0
  return bytes > limits.maxFileBytes ? undefined : merge
}

/**
 * A table full of tombstones is merged with what it overlaps in the levels below if that frees enough, whatever else is
 * in level 0. Where documents are deleted in the order of their keys, such tables lie beside each other, so that
 * level 0 never has runs enough for a merge.
 */
function mergeTombstones(view: GroupView): Merge | undefined {
  const { runs, limits, state, name } = view
  const last = view.levels.length - 1
  for (const [age, run] of runs.entries()) {
    for (const table of run) {
      if (!isTombstoneHeavy(table) || isHeldBack(view, table)) continue
      if (runs.some((older, at) => at > age && overlapping(older, table).length > 0)) continue
      const below = overlappedDownTo(view, [table], last)
      const belowTables = below.flatMap((input) => input.tables)
      const isFree = below.length === 0 && hasNoValues(table)
      const isWorthIt = below.length > 0 && freesEnough(view, [table], belowTables)
      if (!(isFree || isWorthIt) || bytesOf(belowTables) > mergeTargets * limits.level1Bytes) continue
      const outputLevel = below.at(-1)?.level ?? last
      const merge: Merge = {
        kind: 'merge',
        group: name,
        inputs: [{ level: 0, tables: [table] }, ...below],
        outputLevel
      }
      if (canStart(merge, state)) return merge
    }
  }
  return undefined
}

function hasNoValues({ entries, tombstones }: TableMeta): boolean {
  return tombstones === entries
}

/** Moves tables that overlap nothing in level 0 to the deepest free level, several at once: the case of appending. */
function moveDown(view: GroupView): Move | undefined {
  const { runs, targets } = view
  const byLevel = new Map<number, TableMeta[]>()
  for (const [index, run] of runs.entries()) {
    for (const table of run) {
      if (runs.some((other, at) => at !== index && overlapping(other, table).length > 0)) continue
      const toLevel = deepestFreeLevel(view, table, 0)
      if (toLevel < targets.base || isTombstoneHeavy(table)) continue
      byLevel.set(toLevel, [...(byLevel.get(toLevel) ?? []), table])
    }
  }
  const most = [...byLevel].sort(([, a], [, b]) => b.length - a.length)[0]
  return most === undefined ? undefined : { kind: 'move', level: 0, tables: most[1], toLevel: most[0] }
}

function mergeIntoBase(view: GroupView, share: number): Merge | undefined {
  const { name, targets, state } = view
  const tables = oldestTables(view)
  const below = overlappedDownTo(view, tables, targets.base)
  const belowTables = below.flatMap((input) => input.tables)
  const isLargeEnough = bytesOf(tables) + garbageBytes(tables, belowTables) >= share * bytesOf(belowTables)
  if (!isLargeEnough && !freesEnough(view, tables, belowTables)) return undefined
  const inputs = [{ level: 0, tables }, ...below]
  const merge: Merge = { kind: 'merge', group: name, inputs, outputLevel: targets.base }
  return canStart(merge, state) ? merge : undefined
}

/** The oldest runs, up to the size of one merge. Newer ones stay above them. */
function oldestTables({ runs, limits }: GroupView): readonly TableMeta[] {
  const enough = mergeTargets * limits.level1Bytes
  let from = runs.length
  for (let bytes = 0; from > 0 && bytes < enough; from--) bytes += bytesOf(runs[from - 1] ?? [])
  return runs.slice(from).flat()
}

/** All tables of levels 1 to `level` that a merge of these tables has to include. */
function overlappedDownTo(view: GroupView, tables: readonly TableMeta[], level: number): MergeInput[] {
  let inputs: MergeInput[] = []
  let known = -1
  let span = spanOf(tables)
  // An included table widens the range, which may reach more tables of other levels.
  while (span !== undefined) {
    inputs = []
    for (let below = 1; below <= level; below++) {
      const found = overlapping(view.version.levels[below] ?? [], span)
      if (found.length > 0) inputs.push({ level: below, tables: found })
    }
    const taken = inputs.flatMap((input) => input.tables)
    if (taken.length === known) break
    known = taken.length
    span = spanOf([...tables, ...taken])
  }
  return inputs
}

function hasManyRuns({ runs, limits }: GroupView): boolean {
  return runs.length >= manyRunsFactor * limits.level0Trigger
}

/** Merges adjacent runs of level 0 into one. */
function mergeTier(view: GroupView): Merge | undefined {
  const { level0Trigger } = view.limits
  if (!hasManyRuns(view)) return cheapestGroup(view, Math.max(2, tierWidth * level0Trigger), tierSpread)
  return cheapestGroup(view, Math.max(2, level0Trigger), tierSpread) ?? cheapestGroup(view, 2, Number.POSITIVE_INFINITY)
}

/** The group of runs with the lowest cost per run removed. */
function cheapestGroup(view: GroupView, width: number, spread: number): Merge | undefined {
  const { runs, name, state, limits } = view
  const sizes = runs.map(bytesOf)
  const enough = mergeTargets * limits.level1Bytes
  let best: Merge | undefined
  let bestCost = Number.POSITIVE_INFINITY
  for (let start = 0; start + width <= runs.length; start++) {
    let least = Number.POSITIVE_INFINITY
    let most = 0
    let bytes = 0
    for (let end = start; end < runs.length; end++) {
      const size = sizes[end] ?? 0
      least = Math.min(least, size)
      most = Math.max(most, size)
      bytes += size
      if (most > least * spread || bytes > enough) break
      const count = end - start + 1
      const cost = bytes / (count - 1)
      if (count < width || cost > bestCost) continue
      const merge = tierMerge(name, runs.slice(start, end + 1))
      if (!canStart(merge, state)) continue
      best = merge
      bestCost = cost
    }
  }
  return best
}

function tierMerge(group: string, runs: readonly Run[]): Merge {
  return { kind: 'merge', group, inputs: [{ level: 0, tables: runs.flat() }], outputLevel: 0 }
}
