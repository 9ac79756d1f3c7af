/** A memtable as a sorted run, in a thread that does not have it: its entries are sorted there. */
import type { Cursor } from '../format/cursor.ts'
import { Arena, ArenaPool, chunkBytes } from '../memtable/arena.ts'
import { EntryList } from '../memtable/entry-list.ts'
import { RunCursor } from '../memtable/run-cursor.ts'
import { SortedRuns } from '../memtable/sorted-runs.ts'
import { mergeCursors } from '../read/merging-cursor.ts'
import type { MemtableSnapshot } from './job.ts'
import type { Pace } from './job-queue.ts'

/** Keys that are sorted without a pause: all of a usual memtable, and no more than a few milliseconds' work. */
const sortedAtOnce = 16_384

/**
 * Memory for copies, kept by the thread for the memtables to come. One piece, which the system gives page by page as it
 * is used and has back when the thread ends: pieces of a chunk stay with the allocator. Larger than the allocator ever
 * keeps to itself (32 MiB in glibc), and enough for two memtables of a document store.
 */
const slabBytes = 36 << 20
let slab: Buffer | undefined
let slabUsed = 0
const copies = new ArenaPool(slabBytes, allocateCopy)

function allocateCopy(bytes: number): Buffer {
  slab ??= Buffer.allocUnsafeSlow(slabBytes)
  // Only whole chunks come back to the pool.
  if (bytes !== chunkBytes || slabUsed === slabBytes) return Buffer.allocUnsafeSlow(bytes)
  slabUsed += bytes
  return slab.subarray(slabUsed - bytes, slabUsed)
}

export class MemtableReader {
  /** Over all entries; valid until close(). */
  readonly cursor: Cursor
  readonly #arena: Arena

  private constructor(cursor: Cursor, arena: Arena) {
    this.cursor = cursor
    this.#arena = arena
  }

  /** @throws LEVEL_ABORTED when the job is to end */
  static async open({ chunks, entries: data }: MemtableSnapshot, pace: Pace): Promise<MemtableReader> {
    const arena = Arena.copyOf(chunks, copies)
    const entries = new EntryList(arena, data)
    const runs = new SortedRuns(entries)
    while (runs.sortSome(sortedAtOnce)) {
      const pause = pace.breathe()
      if (pause !== undefined) await pause
    }
    return new MemtableReader(mergeCursors(runs.current().map((run) => new RunCursor(entries, run))), arena)
  }

  /** Fine when called twice. */
  close(): void {
    this.cursor.close()
    this.#arena.release()
  }
}
