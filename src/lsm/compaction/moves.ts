/** What both policies ask about a table: where it could go without being rewritten, and what its tombstones free. */
import type { TableMeta } from '../version/table-meta.ts'
import { bytesOf, overlapping, overlaps, spanOf } from './key-span.ts'
import type { PartitionView } from './picker.ts'

/** A table that overlaps more than this many target tables two levels on is rewritten in pieces instead of moved. */
export const maxGrandparentTables = 10

/**
 * The deepest level that a table can be moved to: it overlaps nothing on the way, and not too much one level beyond.
 * @returns `from` when it cannot
 */
export function deepestFreeLevel(view: PartitionView, table: TableMeta, from: number): number {
  const { levels } = view.version
  if (isReserved(view, table)) return from
  let level = from
  while (level + 1 < levels.length && overlapping(levels[level + 1] ?? [], table).length === 0) level++
  const beyond = overlapping(levels[level + 1] ?? [], table)
  return bytesOf(beyond) > maxGrandparentTables * view.limits.maxFileBytes ? from : level
}

/** Whether a running merge reads the table or may write tables that overlap it. */
export function isReserved(view: PartitionView, table: TableMeta): boolean {
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

/** Bytes below that the tombstones are likely to free: one average entry each, and no more than there are. */
export function garbageBytes(tables: readonly TableMeta[], below: readonly TableMeta[]): number {
  const tombstones = tables.reduce((sum, table) => sum + table.tombstones, 0)
  if (tombstones === 0) return 0
  const entries = below.reduce((sum, table) => sum + table.entries, 0)
  return entries === 0 ? 0 : Math.min(1, tombstones / entries) * bytesOf(below)
}
