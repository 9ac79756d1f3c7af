/**
 * Where the tombstones of a table are, if it is shared by several partitions: then those of one must not count for the
 * others. Such tables hold small partitions, see compaction/own-partitions.ts.
 */
import { type KeySpan, overlaps } from '../compaction/key-span.ts'
import { isWithinPartition } from '../compaction/table-partition.ts'
import { compareKeys, EntryKind } from '../format/entry.ts'
import type { TableMeta } from '../version/table-meta.ts'
import type { Engine } from './engine.ts'
import { nextTurn } from './event-loop-turn.ts'

/** Entries read without a pause. */
const entriesAtOnce = 2000

/** Keys of the tombstones, ascending; tables never change. */
const keys = new WeakMap<TableMeta, readonly Uint8Array[]>()

/** Whether the table may have tombstones in the span; undefined if they have to be loaded first. */
export function mayHaveTombstonesIn(table: TableMeta, span: KeySpan, partitionDepth: number): boolean | undefined {
  if (table.tombstones === 0 || !overlaps(table, span)) return false
  if (isWithinPartition(table, partitionDepth)) return true
  const known = keys.get(table)
  if (known === undefined) return undefined
  return known.some((key) => compareKeys(key, span.smallest) >= 0 && compareKeys(key, span.largest) <= 0)
}

/** @throws LEVEL_CORRUPTION, LEVEL_IO_ERROR */
export async function loadTombstones(engine: Engine, tables: Iterable<TableMeta>): Promise<void> {
  const view = engine.view()
  try {
    const present = new Set(view.version.allTables())
    for (const table of tables) if (present.has(table)) keys.set(table, await tombstonesOf(view, table))
  } finally {
    view.release()
  }
}

async function tombstonesOf(view: ReturnType<Engine['view']>, table: TableMeta): Promise<readonly Uint8Array[]> {
  const found: Uint8Array[] = []
  const cursor = view.tables.table(table).cursor({ fillCache: 'none', readahead: true })
  try {
    cursor.seekToFirst()
    for (let entries = 1; cursor.isValid; entries++) {
      const { kind, keyBytes, keyStart, keyEnd } = cursor
      if (kind === EntryKind.tombstone) found.push(keyBytes.slice(keyStart, keyEnd))
      cursor.next()
      if (entries % entriesAtOnce === 0) await nextTurn()
    }
  } finally {
    cursor.close()
  }
  return found
}
