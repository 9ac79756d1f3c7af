/** A memtable as a sorted run, in a thread other than its owner's: its entries are sorted there. */
import type { Cursor } from '../format/cursor.ts'
import { Arena, ArenaPool } from '../memtable/arena.ts'
import { EntryList } from '../memtable/entry-list.ts'
import { RunCursor } from '../memtable/run-cursor.ts'
import { SortedRuns } from '../memtable/sorted-runs.ts'
import { mergeCursors } from '../read/merging-cursor.ts'
import type { MemtableSnapshot } from './job.ts'
import type { Pace } from './job-queue.ts'

/** Keys sorted without a pause: a usual memtable completely, and no more than a few milliseconds' work. */
const sortedAtOnce = 16_384

/** Memory kept by the thread for later memtables: enough for two of a document store. */
const maxIdleBytes = 36 << 20
const copies = new ArenaPool(maxIdleBytes, (bytes) => Buffer.allocUnsafeSlow(bytes))

export class MemtableReader {
  /** A cursor over all entries; valid until close(). */
  readonly cursor: Cursor
  readonly #arena: Arena
  readonly #entries: EntryList
  readonly #runs: readonly Uint32Array[]

  private constructor(arena: Arena, entries: EntryList, runs: readonly Uint32Array[]) {
    this.#arena = arena
    this.#entries = entries
    this.#runs = runs
    this.cursor = this.newCursor()
  }

  /** @throws LEVEL_ABORTED if the job was cancelled */
  static async open({ chunks, entries: data }: MemtableSnapshot, pace: Pace): Promise<MemtableReader> {
    const arena = Arena.copyOf(chunks, copies)
    const entries = new EntryList(arena, data)
    const runs = new SortedRuns(entries)
    while (runs.sortSlice(sortedAtOnce)) {
      const pause = pace.yieldIfDue()
      if (pause !== undefined) await pause
    }
    return new MemtableReader(arena, entries, runs.current())
  }

  /** Another such cursor. */
  newCursor(): Cursor {
    return mergeCursors(this.#runs.map((run) => new RunCursor(this.#entries, run)))
  }

  /** May be called twice. */
  close(): void {
    this.cursor.close()
    this.#arena.release()
  }
}
