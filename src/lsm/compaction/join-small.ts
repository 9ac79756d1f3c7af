/**
 * Joins small adjacent tables of the last level, each newer than the one before: the result of many short sessions of
 * appending. Each session leaves a small table, which moves down as it is and would stay; many of them slow down
 * opening and the choice of every merge.
 *
 * Adjacent tables that did not arrive in key order are left alone: more keys are to be expected between them, and a
 * joined table would overlap those.
 */
import type { TableMeta } from '../version/table-meta.ts'
import { overlapping, spanOf } from './key-span.ts'
import { canStart } from './moves.ts'
import type { GroupView, Merge } from './pick.ts'
import { groupOfTable } from './table-groups.ts'

/** Minimum number of small adjacent tables worth a merge. */
const minTables = 8

/**
 * As many adjacent tables as fit into one, none larger than the others together: this bounds how often bytes are
 * rewritten.
 */
export function joinPick(view: GroupView): Merge | undefined {
  if (view.state.movesOnly) return undefined
  const level = view.levels.length - 1
  const tables = view.levels[level] ?? []
  for (let start = 0; start + minTables <= tables.length; start++) {
    const joined = joinableFrom(tables, start, view)
    if (joined.length < minTables || !areNeighbours(view, level, joined)) continue
    const merge: Merge = {
      kind: 'merge',
      group: view.name,
      inputs: [{ level, tables: joined }],
      outputLevel: level
    }
    if (canStart(merge, view.state)) return merge
  }
  return undefined
}

/**
 * Keys with a bang that opens no group lie between partitions, and their tables may lie on both sides of others. See
 * partition.ts.
 */
function areNeighbours({ version }: GroupView, level: number, tables: readonly TableMeta[]): boolean {
  const span = spanOf(tables)
  return span !== undefined && overlapping(version.levels[level] ?? [], span).length === tables.length
}

function joinableFrom(
  tables: readonly TableMeta[],
  start: number,
  { limits: { maxFileBytes }, grouping }: GroupView
): readonly TableMeta[] {
  // Groups that are joined in level 0 are separate here: no table spans two of them, however it is merged.
  const group = groupOfTable(tables[start]!, grouping)
  let bytes = 0
  let largest = 0
  let end = start
  for (let at = start; at < tables.length; at++) {
    const size = tables[at]!.bytes
    bytes += size
    const isNewer = at === start || tables[at]!.smallestSequence > tables[at - 1]!.largestSequence
    if (bytes > maxFileBytes || !isNewer || groupOfTable(tables[at]!, grouping) !== group) break
    largest = Math.max(largest, size)
    if (largest * 2 <= bytes) end = at + 1
  }
  return tables.slice(start, end)
}
