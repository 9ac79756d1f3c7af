/**
 * A reader's view of the store: everything up to one sequence number, regardless of concurrent writes and compactions.
 */
import type { CacheFill } from '../format/block-source.ts'
import type { Cursor } from '../format/cursor.ts'
import type { GapMoment, Gaps } from './gaps.ts'
import type { Range } from './range.ts'

export interface CursorOptions {
  readonly fillCache: CacheFill
  /** For forward scans that keep nothing: an entry's bytes are invalid once the cursor moves on. */
  readonly reusesMemory: boolean
}

/** Captured synchronously. Until it is released, the memtables, arenas and tables that it was captured with stay. */
export interface ReadView extends GapMoment {
  /** What may be skipped; undefined where nothing is known. */
  readonly gaps: Gaps | undefined
  /**
   * Does a slice of the work that the first step in the range would need (in reverse, at its end): sorting thousands
   * of new keys, opening tables. False when little is left.
   */
  prepareSlice(range: Range, isReverse: boolean): boolean
  /**
   * A cursor over all entries of the view, merged: includes older versions, tombstones, and entries too new to be
   * visible.
   * @param range the keys needed, by default all: others may be included, but the blocks behind them are not read
   */
  cursor(options: CursorOptions, range?: Range): Cursor
  /** May be called twice. REQUIRES: its cursors are closed. */
  release(): void
}
