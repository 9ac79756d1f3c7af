/** Estimates the table bytes that a range of keys takes, from the indexes alone. */
import { compareKeys } from '../format/entry.ts'
import type { TableMeta } from '../version/table-meta.ts'
import type { Places } from './point-reads.ts'

/**
 * Bytes on disk of the entries in [start, end), accurate to one block per table; memtables are not counted.
 * @throws LEVEL_CORRUPTION, LEVEL_IO_ERROR
 */
export function approximateSize(places: Places, start: Uint8Array, end: Uint8Array): number {
  let bytes = 0
  if (compareKeys(start, end) >= 0) return 0
  for (let level = 0; level < places.version.levels.length; level++) {
    for (const table of places.version.overlapping(level, start, end)) bytes += bytesWithin(places, table, start, end)
  }
  return bytes
}

function bytesWithin({ tables }: Places, table: TableMeta, start: Uint8Array, end: Uint8Array): number {
  const isFromBeginning = compareKeys(start, table.smallest) <= 0
  const isToEnd = compareKeys(table.largest, end) < 0
  if (isFromBeginning && isToEnd) return table.bytes
  const from = isFromBeginning ? 0 : tables.table(table).approximateOffset(start)
  const to = isToEnd ? table.bytes : tables.table(table).approximateOffset(end)
  return Math.max(0, to - from)
}
