/**
 * Compaction out of level 0.
 *
 * Level 0 is kept in *tiers*: runs of similar size are merged into one larger run of level 0, and all of it goes down
 * to the base level once it is as large as what it has to be merged with there. Merging every few memtables with a base
 * level many times their size is what makes random writes expensive. bench/compaction-policy.ts computes what is
 * written per byte put.
 */
import type { TableMeta } from '../version/table-meta.ts'
import { bytesOf, overlapping, spanOf } from './key-span.ts'
import type { Run } from './level0-runs.ts'
import { deepestFreeLevel, garbageBytes, isFree, isTombstoneHeavy } from './moves.ts'
import type { Merge, MergeInput, Move, PartitionView, Pick } from './pick.ts'

/** What goes down has at least this share of the bytes it is merged with. */
const baseShare = 1
/** Enough for one merge, as a multiple of the base level's least target: longer ones would hold up all others. */
const mergeTargets = 4
/** Runs whose sizes differ by no more than this factor are of one tier. */
const tierSpread = 4
/** Runs that make a tier full, as a multiple of the trigger. */
const tierWidth = 2
/** As many runs, as a multiple of the trigger, are too many for readers: smaller and unlike groups are merged, too. */
export const crowded = 3

export function level0Pick(view: PartitionView): Pick | undefined {
  return triggeredPick(view) ?? (view.state.movesOnly ? undefined : mergeCleared(view))
}

function triggeredPick(view: PartitionView): Pick | undefined {
  const { runs, limits } = view
  const tables = runs.reduce((sum, run) => sum + run.length, 0)
  if (tables < limits.level0Trigger) return undefined
  const move = moveDown(view)
  if (move !== undefined || runs.length < limits.level0Trigger || view.state.movesOnly) return move
  return mergeIntoBase(view, baseShare) ?? mergeTier(view) ?? (isCrowded(view) ? mergeIntoBase(view, 0) : undefined)
}

/**
 * A table of nothing but tombstones goes down, whatever the trigger says, while that is little work: where a range was
 * cleared nothing more may ever be written, and what is dead, and what tells of it, would stay for good.
 */
function mergeCleared(view: PartitionView): Merge | undefined {
  const { runs, limits } = view
  const isCleared = runs.some((run) => run.some(({ entries, tombstones }) => tombstones === entries))
  if (!isCleared || bytesOf(runs.flat()) > limits.maxFileBytes) return undefined
  const merge = mergeIntoBase(view, 0)
  const bytes = merge?.inputs.reduce((sum, { tables }) => sum + bytesOf(tables), 0) ?? 0
  return bytes > limits.maxFileBytes ? undefined : merge
}

/** Tables that overlap nothing in level 0 go where they can stay, several at once: what appending produces. */
function moveDown(view: PartitionView): Move | undefined {
  const { runs, targets, name } = view
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
  return most === undefined ? undefined : { kind: 'move', partition: name, level: 0, tables: most[1], toLevel: most[0] }
}

function mergeIntoBase(view: PartitionView, share: number): Merge | undefined {
  const { name, targets, state } = view
  const tables = oldestTables(view)
  const below = overlappedDownTo(view, tables, targets.base)
  const belowTables = below.flatMap((input) => input.tables)
  const weight = bytesOf(tables) + garbageBytes(tables, belowTables)
  if (weight < share * bytesOf(belowTables)) return undefined
  const inputs = [{ level: 0, tables }, ...below]
  const merge: Merge = { kind: 'merge', partition: name, inputs, outputLevel: targets.base }
  return isFree(merge, state) ? merge : undefined
}

/** The oldest runs, until they are enough for one merge. Newer ones stay above them, where they belong. */
function oldestTables({ runs, limits }: PartitionView): readonly TableMeta[] {
  const enough = mergeTargets * limits.level1Bytes
  let from = runs.length
  for (let bytes = 0; from > 0 && bytes < enough; from--) bytes += bytesOf(runs[from - 1] ?? [])
  return runs.slice(from).flat()
}

/** All tables of levels 1 to `level` that a merge of these tables has to take along. */
function overlappedDownTo(view: PartitionView, tables: readonly TableMeta[], level: number): MergeInput[] {
  let inputs: MergeInput[] = []
  let known = -1
  let span = spanOf(tables)
  // A table taken along widens the range, which may reach more tables of other levels.
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

function isCrowded({ runs, limits }: PartitionView): boolean {
  return runs.length >= crowded * limits.level0Trigger
}

/** Merges neighbouring runs of level 0 into one. */
function mergeTier(view: PartitionView): Merge | undefined {
  const { level0Trigger } = view.limits
  if (!isCrowded(view)) return cheapestGroup(view, Math.max(2, tierWidth * level0Trigger), tierSpread)
  return cheapestGroup(view, Math.max(2, level0Trigger), tierSpread) ?? cheapestGroup(view, 2, Number.POSITIVE_INFINITY)
}

/** The group that costs least per run that disappears. */
function cheapestGroup(view: PartitionView, width: number, spread: number): Merge | undefined {
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
      if (!isFree(merge, state)) continue
      best = merge
      bestCost = cost
    }
  }
  return best
}

function tierMerge(partition: string, runs: readonly Run[]): Merge {
  return { kind: 'merge', partition, inputs: [{ level: 0, tables: runs.flat() }], outputLevel: 0 }
}
