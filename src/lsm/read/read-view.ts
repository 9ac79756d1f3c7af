/** What a reader sees of the store: everything up to one sequence number, whatever is written or compacted meanwhile. */
import type { Cursor } from '../format/cursor.ts'
import type { Range } from './range.ts'

export interface CursorOptions {
  /** Keeps the blocks that are read in the block cache. */
  readonly fillCache: boolean
  /** Reads several blocks at once: for scans. */
  readonly readahead: boolean
  /** For those who go forwards and keep nothing: what the cursor shows is gone when it moves on. */
  readonly reusesMemory: boolean
}

/** Captured synchronously. Until it is released, the memtables, arenas and tables that it was captured with stay. */
export interface ReadView {
  /** Entries with higher sequence numbers are not seen. */
  readonly sequence: number
  /**
   * Does a slice of what the first step in the range, or the last one in reverse, would have to do: thousands of keys were
   * written and nobody has sorted them yet, tables have to be opened. False when nothing is left that takes long.
   */
  prepareSome(range: Range, isReverse: boolean): boolean
  /**
   * All entries of the view, merged: also older versions, tombstones, and entries too new to be seen.
   * @param range of keys that are asked for, everything unless told otherwise: there may be others, too
   */
  cursor(options: CursorOptions, range?: Range): Cursor
  /** Fine when called twice. Cursors must have been closed before. */
  release(): void
}
