/**
 * Joins small tables of the last level that are neighbours. Short sessions that append leave a small one each, which goes
 * down as it is and would stay: many of them make opening, and every merge's choice, slower.
 */
import type { TableMeta } from '../version/table-meta.ts'
import { overlapping, spanOf } from './key-span.ts'
import { isFree } from './moves.ts'
import type { Merge, PartitionView } from './pick.ts'

/** As many small neighbours are worth a merge. */
const minTables = 8
/** What they become is at most so large, as a share of a table's target: what is of a good size is not written again. */
const maxShare = 1 / 2

/** As many neighbours as fit in a table that is small yet, none of them larger than the others together: bytes are rewritten a few times at most. */
export function joinPick(view: PartitionView): Merge | undefined {
  if (view.state.movesOnly) return undefined
  const level = view.levels.length - 1
  const tables = view.levels[level] ?? []
  for (let start = 0; start + minTables <= tables.length; start++) {
    const joined = joinableFrom(tables, start, view.limits.maxFileBytes * maxShare)
    if (joined.length < minTables || !areNeighbours(view, level, joined)) continue
    const merge: Merge = {
      kind: 'merge',
      partition: view.name,
      inputs: [{ level, tables: joined }],
      outputLevel: level
    }
    if (isFree(merge, view.state)) return merge
  }
  return undefined
}

/** Keys without a partition of their own are on both sides of those that have one. */
function areNeighbours({ version }: PartitionView, level: number, tables: readonly TableMeta[]): boolean {
  const span = spanOf(tables)
  return span !== undefined && overlapping(version.levels[level] ?? [], span).length === tables.length
}

function joinableFrom(tables: readonly TableMeta[], start: number, maxBytes: number): readonly TableMeta[] {
  let bytes = 0
  let largest = 0
  let end = start
  for (let at = start; at < tables.length; at++) {
    const size = tables[at]!.bytes
    bytes += size
    if (bytes > maxBytes) break
    largest = Math.max(largest, size)
    if (largest * 2 <= bytes) end = at + 1
  }
  return tables.slice(start, end)
}
