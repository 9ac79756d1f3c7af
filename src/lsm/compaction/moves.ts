/**
 * Helpers of both policies: where a table could be moved without rewriting, what its tombstones free, and which merges
 * may run.
 */
import type { TableMeta } from '../version/table-meta.ts'
import { bytesOf, overlapping, overlaps, spanOf } from './key-span.ts'
import type { CompactionState, GroupView, Merge } from './pick.ts'

/**
 * A table that overlaps more than this many target tables of the level beyond is rewritten in pieces instead of moved.
 */
export const maxGrandparentTables = 10

/**
 * The deepest level that a table can be moved to: it overlaps nothing on the way, and not too much one level beyond.
 * @returns `from` if it cannot be moved
 */
export function deepestFreeLevel(view: GroupView, table: TableMeta, from: number): number {
  const { levels } = view.version
  if (isReserved(view, table)) return from
  let level = from
  while (level + 1 < levels.length && overlapping(levels[level + 1] ?? [], table).length === 0) level++
  const beyond = overlapping(levels[level + 1] ?? [], table)
  return bytesOf(beyond) > maxGrandparentTables * view.limits.maxFileBytes ? from : level
}

/** Whether a running merge reads the table or may write tables that overlap it. */
export function isReserved(view: GroupView, table: TableMeta): boolean {
  return view.state.running.some((merge) => {
    const inputs = merge.inputs.flatMap((input) => input.tables)
    if (inputs.some((input) => input.number === table.number)) return true
    const span = merge.outputLevel === 0 ? undefined : spanOf(inputs)
    return span !== undefined && overlaps(span, table)
  })
}

export function isTombstoneHeavy(table: TableMeta): boolean {
  return table.tombstones * 2 > table.entries
}

/** Whether a merge would keep entries that the table's tombstones hide, because a snapshot may see them. */
export function isHeldBack({ state }: GroupView, { largestSequence }: TableMeta): boolean {
  return state.oldestSnapshot !== undefined && state.oldestSnapshot < largestSequence
}

/** Tombstones are merged down if they free this share of the bytes to be rewritten. */
const garbageShare = 0.25

/** Whether merging the tombstones of these tables down frees enough, now that some may be held back. */
export function freesEnough(view: GroupView, tables: readonly TableMeta[], below: readonly TableMeta[]): boolean {
  const freeing = tables.filter((table) => !isHeldBack(view, table))
  return garbageBytes(freeing, below) >= garbageShare * bytesOf(below)
}

/** Estimate of the bytes below that the tombstones free: one average entry each, and no more than there are. */
export function garbageBytes(tables: readonly TableMeta[], below: readonly TableMeta[]): number {
  const tombstones = tables.reduce((sum, table) => sum + table.tombstones, 0)
  if (tombstones === 0) return 0
  const entries = below.reduce((sum, table) => sum + table.entries, 0)
  return entries === 0 ? 0 : Math.min(1, tombstones / entries) * bytesOf(below)
}

/** Whether no running merge reads this merge's tables or writes an overlapping range of a level that it writes. */
export function canStart(merge: Merge, state: CompactionState): boolean {
  if (state.running.length === 0) return merge.inputs.some(({ tables }) => tables.length > 0)
  const span = spanOf(merge.inputs.flatMap((input) => input.tables))
  if (span === undefined) return false
  const mine = new Set(merge.inputs.flatMap((input) => input.tables.map((table) => table.number)))
  return state.running.every((other) => {
    const theirs = other.inputs.flatMap((input) => input.tables)
    if (theirs.some((table) => mine.has(table.number))) return false
    const reserved = spanOf(theirs)
    // Tables of level 0 may overlap.
    return (
      other.outputLevel === 0 || reserved === undefined || !conflictsByLevel(other, merge) || !overlaps(reserved, span)
    )
  })
}

/**
 * Whether two merges conflict by level: a merge writes its output level, and its entries pass through the levels above
 * that.
 */
function conflictsByLevel(other: Merge, merge: Merge): boolean {
  return merge.outputLevel !== 0 && topLevel(merge) <= other.outputLevel && topLevel(other) <= merge.outputLevel
}

function topLevel(merge: Merge): number {
  return merge.inputs[0]?.level ?? 0
}
