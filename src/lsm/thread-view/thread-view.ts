/**
 * A read view in another thread than the store's: reads the same tables, and copies of the memtables.
 *
 * REQUIRES: the store's own view stays unreleased (engine/share-view.ts), so that the tables' files stay.
 */
import { BlockCache } from '../cache/block-cache.ts'
import { unpaced } from '../compaction/job-queue.ts'
import { MemtableReader } from '../compaction/memtable-reader.ts'
import type { Cursor } from '../format/cursor.ts'
import type { FileSystem } from '../fs/file-system.ts'
import { mergeCursors } from '../read/merging-cursor.ts'
import { pinningCursor } from '../read/pinning-cursor.ts'
import { everything, type Range } from '../read/range.ts'
import type { CursorOptions, ReadView } from '../read/read-view.ts'
import { tablesWithin } from '../version/level.ts'
import { TableCache } from '../version/table-cache.ts'
import type { ViewData } from './view-data.ts'

const maxOpenTables = 64

export class ThreadView implements ReadView {
  readonly sequence: number
  readonly epoch = undefined
  readonly gaps = undefined
  readonly #memtables: readonly MemtableReader[]
  readonly #runs: ViewData['runs']
  readonly #tables: TableCache

  private constructor({ sequence, directory, runs }: ViewData, memtables: readonly MemtableReader[], fs: FileSystem) {
    this.sequence = sequence
    this.#memtables = memtables
    this.#runs = runs
    this.#tables = new TableCache(fs, directory, new BlockCache(0), maxOpenTables)
  }

  /** Copies and sorts the memtables. */
  static async open(data: ViewData, fileSystem: FileSystem): Promise<ThreadView> {
    const memtables: MemtableReader[] = []
    try {
      for (const memtable of data.memtables) memtables.push(await MemtableReader.open(memtable, unpaced))
    } catch (error) {
      for (const memtable of memtables) memtable.close()
      throw error
    }
    return new ThreadView(data, memtables, fileSystem)
  }

  prepareSlice(): boolean {
    return false
  }

  /** Blocks are not cached. */
  cursor(options: CursorOptions, range: Range = everything): Cursor {
    const runs = this.#runs.map((run) => tablesWithin(run, range)).filter(({ length }) => length > 0)
    return mergeCursors([
      ...this.#memtables.map((memtable) => memtable.newCursor()),
      ...runs.map((run) => pinningCursor(run, this.#tables, options, range.end))
    ])
  }

  /** Does nothing: scans share the view; see close(). */
  release(): void {}

  /**
   * Frees everything. REQUIRES: all scans are closed, and nobody uses values from them any more, which may be views of
   * the copies of memtables.
   */
  close(): void {
    for (const memtable of this.#memtables) memtable.close()
    this.#tables.close()
  }
}
