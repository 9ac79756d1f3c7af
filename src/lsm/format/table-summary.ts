/** Reconstructs a table's manifest entry from the table alone: for repair. */
import { BlockCache } from '../cache/block-cache.ts'
import type { OpenFile } from '../fs/file-system.ts'
import type { TableMeta } from '../version/table-meta.ts'
import type { Cursor } from './cursor.ts'
import { propertiesName } from './metaindex.ts'
import { readProperties } from './properties.ts'
import { Table } from './table.ts'
import { TableFile } from './table-file.ts'

/**
 * Reads footer, index, properties and the first and last block, then closes the file.
 * @param number from the file's name
 * @throws LEVEL_CORRUPTION, LEVEL_IO_ERROR, LEVEL_NOT_SUPPORTED
 */
export function summarizeTable(file: OpenFile, number: number): TableMeta {
  try {
    const bytes = file.size()
    const { section } = TableFile.open(file, { number, bytes })
    const properties = readProperties(section(propertiesName) ?? Buffer.alloc(0), file.path)
    const { entries, tombstones, rawBytes, smallestSequence, largestSequence } = properties
    const cursor = Table.open(file, { number, bytes, entries }, new BlockCache(0)).cursor({
      fillCache: 'none',
      readahead: false
    })
    cursor.seekToFirst()
    const smallest = keyOf(cursor)
    cursor.seekToLast()
    const largest = keyOf(cursor)
    return { number, bytes, smallest, largest, smallestSequence, largestSequence, entries, tombstones, rawBytes }
  } finally {
    file.close()
  }
}

function keyOf(cursor: Cursor): Uint8Array {
  return Buffer.from(cursor.keyBytes.subarray(cursor.keyStart, cursor.keyEnd))
}
