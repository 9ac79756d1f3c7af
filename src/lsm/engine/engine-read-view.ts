/**
 * A read view of the engine: the memtables, version and sequence number of one moment.
 *
 * Invariant: until release(), the memtables' arenas are not reused and the version's files are not removed.
 */
import { level0Runs } from '../compaction/level0-runs.ts'
import type { Cursor } from '../format/cursor.ts'
import type { Found } from '../format/found.ts'
import type { Gaps } from '../read/gaps.ts'
import { mergeCursors } from '../read/merging-cursor.ts'
import { pinningCursor } from '../read/pinning-cursor.ts'
import { everything, type Range } from '../read/range.ts'
import type { CursorOptions, ReadView } from '../read/read-view.ts'
import { tablesWithin } from '../version/level.ts'
import type { TableCache } from '../version/table-cache.ts'
import type { TableMeta } from '../version/table-meta.ts'
import type { Version } from '../version/version.ts'
import { findVersion, type Places } from './point-reads.ts'
import type { Moment } from './snapshots.ts'
import type { WriteBuffer } from './write-buffer.ts'

export class EngineReadView implements ReadView, Places {
  readonly sequence: number
  readonly epoch: number | undefined
  readonly gaps: Gaps | undefined
  readonly buffers: readonly WriteBuffer[]
  readonly version: Version
  readonly tables: TableCache
  readonly #onRelease: () => void
  /** Tables that prepareSlice() has not examined yet. */
  #unopened: TableMeta[] | undefined
  #isReleased = false

  /** Retains the memtables and the version. */
  constructor(at: Moment, gaps: Gaps | undefined, onRelease: () => void) {
    this.#onRelease = onRelease
    this.sequence = at.sequence
    this.epoch = at.epoch
    this.gaps = gaps
    this.buffers = at.buffers
    this.version = at.version.retain()
    this.tables = at.tables
    for (const buffer of this.buffers) buffer.retain()
  }

  prepareSlice(range: Range, isReverse: boolean): boolean {
    if (this.buffers.some(({ memtable }) => memtable.sortSlice())) return true
    this.#unopened ??= this.runs(range).map((run) => (isReverse ? run.at(-1) : run[0])!)
    for (let table = this.#unopened.pop(); table !== undefined; table = this.#unopened.pop()) {
      if (this.tables.isOpen(table)) continue
      try {
        this.tables.table(table)
      } catch {
        // The read that needs the table will report the error.
      }
      return true
    }
    return false
  }

  cursor(options: CursorOptions, range = everything): Cursor {
    const cursors: Cursor[] = []
    for (const { memtable } of this.buffers) if (!memtable.isEmpty) cursors.push(memtable.cursor())
    for (const run of this.runs(range)) cursors.push(pinningCursor(run, this.tables, options, range.end))
    return mergeCursors(cursors)
  }

  /** Finds the newest version of the key visible in this view, which may be a tombstone; false if there is none. */
  find(key: Uint8Array, into: Found): boolean {
    return findVersion(this, key, this.sequence, into)
  }

  release(): void {
    if (this.#isReleased) return
    this.#isReleased = true
    this.version.release()
    for (const buffer of this.buffers) buffer.release()
    this.#onRelease()
  }

  /**
   * The tables of each sorted run that may hold keys of the range; runs without any are left out.
   */
  runs(range: Range): (readonly TableMeta[])[] {
    const [, ...levels] = this.version.levels
    const young = this.version
      .overlapping(0, range.start, range.end)
      .filter((table) => tablesWithin([table], range).length > 0)
    return [...level0Runs(young), ...levels.map((level) => tablesWithin(level, range))].filter(
      ({ length }) => length > 0
    )
  }
}
