/**
 * Compaction out of the levels below level 0: the level that exceeds its target most pushes down the tables that
 * overlap least of the next level; tables full of tombstones go down when what they free justifies the rewriting.
 */
import { compareKeys } from '../format/entry.ts'
import type { TableMeta } from '../version/table-meta.ts'
import { bytesOf, overlapping, spanOf } from './key-span.ts'
import {
  canStart,
  deepestFreeLevel,
  freesEnough,
  garbageBytes,
  isHeldBack,
  isReserved,
  isTombstoneHeavy
} from './moves.ts'
import type { GroupView, Merge, Move, Pick } from './pick.ts'

/** A merge is widened to adjacent tables, up to this many target tables in all. */
const maxMergeTables = 32

export function levelPick(view: GroupView): Pick | undefined {
  return overfullPick(view) ?? (view.state.movesOnly ? undefined : tombstonePick(view))
}

function overfullPick(view: GroupView): Pick | undefined {
  const scores: { level: number; score: number }[] = []
  for (const [level, tables] of view.levels.entries()) {
    const target = view.targets.bytes[level] ?? Number.POSITIVE_INFINITY
    const bytes = bytesOf(tables)
    if (level > 0 && bytes > target) scores.push({ level, score: bytes / Math.max(1, target) })
  }
  scores.sort((a, b) => b.score - a.score)
  for (const { level } of scores) {
    const pick = moveOutOf(view, level) ?? (view.state.movesOnly ? undefined : cheapestMerge(view, level))
    if (pick !== undefined) return pick
  }
  return undefined
}

/** Moves all tables that overlap nothing below and can go equally deep. */
function moveOutOf(view: GroupView, level: number): Move | undefined {
  const byLevel = new Map<number, TableMeta[]>()
  for (const table of view.levels[level] ?? []) {
    if (isTombstoneHeavy(table)) continue
    const toLevel = deepestFreeLevel(view, table, level)
    if (toLevel > level) byLevel.set(toLevel, [...(byLevel.get(toLevel) ?? []), table])
  }
  const deepest = Math.max(...byLevel.keys())
  const tables = byLevel.get(deepest)
  return tables === undefined ? undefined : { kind: 'move', level, tables, toLevel: deepest }
}

/**
 * The merge with the fewest bytes rewritten per byte pushed down; among equals, the first one after the last merge's.
 */
function cheapestMerge(view: GroupView, level: number): Merge | undefined {
  const tables = view.levels[level] ?? []
  const pointer = view.state.pointer(level, view.name)
  const isPastPointer = (table: TableMeta) => pointer === undefined || compareKeys(table.smallest, pointer) > 0
  let best: { readonly at: number; readonly cost: number; readonly isPastPointer: boolean } | undefined
  for (const [at, table] of tables.entries()) {
    const cost = costOf(view, level, [table])
    const candidate = { at, cost, isPastPointer: isPastPointer(table) }
    const isBetter =
      best === undefined || cost < best.cost || (cost === best.cost && candidate.isPastPointer && !best.isPastPointer)
    if (isBetter && canStart(mergeOf(view, level, [table]), view.state)) best = candidate
  }
  return best === undefined ? undefined : widened(view, level, best.at, best.cost)
}

/** A merge has fixed costs: includes the following tables as long as that does not raise the cost per byte. */
function widened(view: GroupView, level: number, at: number, cost: number): Merge {
  const tables = view.levels[level] ?? []
  let merge = mergeOf(view, level, tables.slice(at, at + 1))
  for (let end = at + 2; end <= tables.length; end++) {
    const group = tables.slice(at, end)
    const wider = mergeOf(view, level, group)
    const bytes = wider.inputs.reduce((sum, input) => sum + bytesOf(input.tables), 0)
    if (bytes > maxMergeTables * view.limits.maxFileBytes || costOf(view, level, group) > cost) break
    if (!canStart(wider, view.state)) break
    merge = wider
  }
  return merge
}

function costOf(view: GroupView, level: number, tables: readonly TableMeta[]): number {
  const below = overlappedBelow(view, level, tables)
  const weight = bytesOf(tables) + garbageBytes(tables, below)
  return (bytesOf(tables) + bytesOf(below)) / Math.max(1, weight)
}

function tombstonePick(view: GroupView): Merge | undefined {
  const last = view.levels.length - 1
  for (let level = 1; level < last; level++) {
    for (const table of view.levels[level] ?? []) {
      if (!isTombstoneHeavy(table) || isHeldBack(view, table) || isReserved(view, table)) continue
      if (!freesEnough(view, [table], overlappedBelow(view, level, [table]))) continue
      const merge = mergeOf(view, level, [table])
      if (canStart(merge, view.state)) return merge
    }
  }
  return undefined
}

function mergeOf(view: GroupView, level: number, tables: readonly TableMeta[]): Merge {
  const below = overlappedBelow(view, level, tables)
  const inputs = [
    { level, tables },
    { level: level + 1, tables: below }
  ].filter((input) => input.tables.length > 0)
  return { kind: 'merge', group: view.name, inputs, outputLevel: level + 1 }
}

function overlappedBelow(view: GroupView, level: number, tables: readonly TableMeta[]): readonly TableMeta[] {
  const span = spanOf(tables)
  return span === undefined ? [] : overlapping(view.version.levels[level + 1] ?? [], span)
}
