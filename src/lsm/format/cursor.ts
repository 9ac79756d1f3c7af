/**
 * A position in a sorted run of entries: a block, a table, a level, a memtable, or a merge of them.
 *
 * Entries are ordered bytewise by key, and within a key by sequence number, newest first. A cursor allocates nothing
 * per entry: key and value are ranges of bytes that are not overwritten while the cursor is open, so that remembered
 * ranges stay valid after the cursor has moved on.
 */
import type { Block } from './block.ts'
import type { EntryRanges } from './entry.ts'

/** Whether a block, whose bytes are valid only during the call, may hold anything of interest. */
export type BlockTest = (block: Block) => boolean

export interface Cursor extends EntryRanges {
  /** False before the first seek and past either end; the entry is then meaningless. */
  readonly isValid: boolean
  /** The block that holds the value, if any. A new object for every block; never reused. */
  readonly block?: Block | undefined

  seekToFirst(): void
  seekToLast(): void
  /** Moves to the first entry whose key is ≥ target: the newest version of that key. */
  seek(target: Uint8Array): void
  /** Moves to the last entry whose key is < target: the oldest version of that key. */
  seekBefore(target: Uint8Array): void
  /** REQUIRES: isValid. */
  next(): void
  /** REQUIRES: isValid. */
  previous(): void
  /**
   * Like next(), but skips the rest of this block, and following blocks for which `mayHold` returns false. Never skips
   * a block that shares a key with a later one, and skips a limited number of bytes per call, so that the caller can
   * check the clock in between. If absent, use next().
   * REQUIRES: isValid, and only seek() and forward moves since the cursor was opened.
   * @param limit blocks that may have keys from here on are not skipped
   */
  skipBlocks?(mayHold: BlockTest, limit: Uint8Array | undefined): void
  /** Releases what the cursor holds (blocks, files). May be called twice. */
  close(): void
}
