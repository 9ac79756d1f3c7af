/** Brings what lookups will read into the system's memory, off the event loop: for disks that are slow. */
import { Found } from '../format/found.ts'
import { keyHash } from '../format/key-filter.ts'
import type { Places } from './point-reads.ts'

const scratch = new Found()

/**
 * Starts reading the blocks in which the keys may be, and which are not cached.
 * @returns what to wait for; empty when there is nothing to be read
 * @throws LEVEL_CORRUPTION, LEVEL_IO_ERROR when a table cannot be opened
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
