/**
 * The entries of a merge that a snapshot sees: the newest version of each key that is not too new, unless it is a
 * tombstone.
 *
 * Moving forwards, the underlying cursor is at the version found. Moving backwards, it is before all versions of the
 * key, because the newest one comes last: key and value are remembered as ranges of its bytes.
 *
 * Entries are skipped only within the range: beyond a sparse range there may be thousands of tombstones of another,
 * and the values they hide.
 */
import type { Block } from '../format/block.ts'
import type { BlockTest, Cursor } from '../format/cursor.ts'
import { compareRanges, EntryKind } from '../format/entry.ts'
import { everything, type Range } from './range.ts'

const nothing = Buffer.alloc(0)

export class VisibleCursor implements Cursor {
  readonly #entries: Cursor
  readonly #snapshot: number
  readonly #range: Range
  #isForward = true

  isValid = false
  keyBytes: Uint8Array = nothing
  keyStart = 0
  keyEnd = 0
  sequence = 0
  readonly kind = EntryKind.put
  valueBytes: Uint8Array = nothing
  valueStart = 0
  valueEnd = 0
  block: Block | undefined

  /**
   * @param entries all versions of all keys; closed with this cursor
   * @param snapshot highest visible sequence number
   * @param range the keys needed: at its end the cursor may become invalid or show the next key
   */
  constructor(entries: Cursor, snapshot: number, range = everything) {
    this.#entries = entries
    this.#snapshot = snapshot
    this.#range = range
  }

  seekToFirst(): void {
    this.#entries.seekToFirst()
    this.#findForwards()
  }

  seekToLast(): void {
    this.#entries.seekToLast()
    this.#findBackwards()
  }

  seek(target: Uint8Array): void {
    this.#entries.seek(target)
    this.#findForwards()
  }

  seekBefore(target: Uint8Array): void {
    this.#entries.seekBefore(target)
    this.#findBackwards()
  }

  next(): void {
    const entries = this.#entries
    if (this.#isForward) entries.next()
    else entries.seek(this.keyBytes.subarray(this.keyStart, this.keyEnd))
    this.#skipKey()
    this.#findForwards()
  }

  /** See Cursor: no visible entry in a skipped block is of interest, and none has versions in later blocks. */
  skipBlocks(mayHold: BlockTest, limit: Uint8Array | undefined): void {
    const entries = this.#entries
    if (!this.#isForward || entries.skipBlocks === undefined) {
      this.next()
      return
    }
    entries.skipBlocks(mayHold, limit)
    this.#skipKey()
    this.#findForwards()
  }

  previous(): void {
    if (this.#isForward) this.#entries.seekBefore(this.keyBytes.subarray(this.keyStart, this.keyEnd))
    this.#findBackwards()
  }

  close(): void {
    this.isValid = false
    this.#entries.close()
  }

  /** REQUIRES: at the newest version of an unseen key, or at one of its older versions. */
  #findForwards(): void {
    const entries = this.#entries
    this.#isForward = true
    while (entries.isValid) {
      if (entries.sequence > this.#snapshot) {
        if (this.#isPastEnd()) break
        entries.next()
        continue
      }
      this.#takeKey()
      if (entries.kind === EntryKind.put) {
        this.#takeVersion()
        this.isValid = true
        return
      }
      if (this.#isPastEnd()) break
      entries.next()
      this.#skipKey()
    }
    this.isValid = false
  }

  /** REQUIRES: at the oldest version of an unseen key. */
  #findBackwards(): void {
    const entries = this.#entries
    this.#isForward = false
    while (entries.isValid) {
      this.#takeKey()
      // Versions arrive oldest first: the last one that is not too new counts.
      let isPut = false
      do {
        if (entries.sequence <= this.#snapshot) {
          isPut = entries.kind === EntryKind.put
          this.#takeVersion()
        }
        entries.previous()
      } while (entries.isValid && this.#isSameKey())
      if (isPut) {
        this.isValid = true
        return
      }
      if (entries.isValid && this.#isBeforeStart()) break
    }
    this.isValid = false
  }

  #isPastEnd(): boolean {
    const { end } = this.#range
    if (end === undefined) return false
    const { keyBytes, keyStart, keyEnd } = this.#entries
    return compareRanges(keyBytes, keyStart, keyEnd, end, 0, end.length) >= 0
  }

  #isBeforeStart(): boolean {
    const { start } = this.#range
    if (start === undefined) return false
    const { keyBytes, keyStart, keyEnd } = this.#entries
    return compareRanges(keyBytes, keyStart, keyEnd, start, 0, start.length) < 0
  }

  /** Skips all versions of the current key. */
  #skipKey(): void {
    const entries = this.#entries
    while (entries.isValid && this.#isSameKey()) entries.next()
  }

  #isSameKey(): boolean {
    const { keyBytes, keyStart, keyEnd } = this.#entries
    const length = keyEnd - keyStart
    if (length !== this.keyEnd - this.keyStart) return false
    const own = this.keyBytes
    const ownStart = this.keyStart
    // Compared from the end, where adjacent keys differ.
    for (let i = length - 1; i >= 0; i--) {
      if (own[ownStart + i] !== keyBytes[keyStart + i]) return false
    }
    return true
  }

  #takeKey(): void {
    const entries = this.#entries
    this.keyBytes = entries.keyBytes
    this.keyStart = entries.keyStart
    this.keyEnd = entries.keyEnd
  }

  #takeVersion(): void {
    const entries = this.#entries
    this.sequence = entries.sequence
    this.valueBytes = entries.valueBytes
    this.valueStart = entries.valueStart
    this.valueEnd = entries.valueEnd
    this.block = entries.block
  }
}
