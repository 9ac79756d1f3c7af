/**
 * A position in a sorted run of entries: a block, a table, a level, a memtable, or a merge of them.
 *
 * Entries are ordered by key, bytewise, and within a key by sequence number, newest first. A cursor allocates nothing
 * per entry: key and value are ranges of bytes that are not written to again while the cursor is open. Whoever
 * remembers the ranges has the entry still when the cursor has moved on.
 */
import type { Block } from './block.ts'
import type { EntryRanges } from './entry.ts'

/** Whether a block, whose bytes are valid until this returns, holds anything that is wanted. */
export type BlockTest = (block: Block) => boolean

export interface Cursor extends EntryRanges {
  /** False before the first seek, and past either end. The entry is meaningless then. */
  readonly isValid: boolean
  /** The block that the value lies in, where it lies in one. Another object for every block, and never one used again. */
  readonly block?: Block | undefined

  seekToFirst(): void
  seekToLast(): void
  /** To the first entry whose key is ≥ target: the newest version of that key. */
  seek(target: Uint8Array): void
  /** To the last entry whose key is < target: the oldest version of that key. */
  seekBefore(target: Uint8Array): void
  /** REQUIRES: isValid. */
  next(): void
  /** REQUIRES: isValid. */
  previous(): void
  /**
   * As next(), for those who want nothing of the rest of this block: past it, and past blocks behind it that `mayHold` says
   * no of. Never past a block with a version of a key that comes later, too, and not for ever: whoever calls looks at the
   * clock in between. Where it is missing, next() does.
   * REQUIRES: isValid, and nothing but seek() and forward moves since the cursor was opened.
   * @param limit blocks that may have keys from here on are not passed
   */
  skipBlocks?(mayHold: BlockTest, limit: Uint8Array | undefined): void
  /** Gives back what the cursor holds (blocks, files). Fine when called twice. */
  close(): void
}
