/** Warms the system's page cache for upcoming lookups, off the event loop: for slow disks. */
import { Found } from '../format/found.ts'
import { keyHash } from '../format/key-filter.ts'
import type { Places } from './point-reads.ts'

const scratch = new Found()

/**
 * Starts reading the uncached blocks in which the keys may be.
 * @returns promises to wait for; empty if there is nothing to read
 * @throws LEVEL_CORRUPTION, LEVEL_IO_ERROR if a table cannot be opened
 */
export function prepareReads(places: Places, keys: readonly Uint8Array[], sequence: number): Promise<void>[] {
  const reads: Promise<void>[] = []
  const { buffers, version, tables } = places
  for (const key of keys) {
    if (buffers.some(({ memtable }) => memtable.get(key, sequence, scratch))) continue
    const hash = keyHash(key, 0, key.length)
    for (let level = 0; level < version.levels.length; level++) {
      for (const meta of version.overlapping(level, key, key)) {
        const read = tables.table(meta).prepare(key, hash)
        if (read !== undefined) reads.push(read)
      }
    }
  }
  return reads
}
