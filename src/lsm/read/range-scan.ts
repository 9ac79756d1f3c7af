/**
 * Walks over what a read view sees of a range of keys, in one direction.
 *
 * Invariants:
 * 1. It moves when the next entry is asked for, not before: nobody pays for a block that he does not read.
 * 2. The buffers it hands out stay as they are after the view's release, and belong to whoever gets them. Values in
 *    blocks are views, for those blocks are the cursor's own. Values in an arena, whose memory is used again, are
 *    copies, and so are keys, which the cursor still needs to make the next ones.
 */
import type { BlockTest, Cursor } from '../format/cursor.ts'
import { compareRanges } from '../format/entry.ts'
import { textOf } from '../format/text.ts'
import { MergingCursor } from './merging-cursor.ts'
import { isInRange, type Range, type RangeOptions, rangeOf, successor } from './range.ts'
import type { CursorOptions, ReadView } from './read-view.ts'
import { Slab } from './slab.ts'
import { VisibleCursor } from './visible-cursor.ts'

export interface ScanOptions extends RangeOptions {
  readonly reverse?: boolean | undefined
  /** Most entries that will be asked for; −1: no limit. */
  readonly limit?: number | undefined
  /** Keeps the blocks that are read in the block cache. Default false. */
  readonly fillCache?: boolean | undefined
}

/** Scans of fewer entries do not read ahead. */
const shortScan = 16

/** Stands in for the cursor until the first read. */
const unopened = new VisibleCursor(new MergingCursor([]), 0)

const atStart = 0
const onEntry = 1
const atTarget = 2
const ended = 3
const failed = 4

export class RangeScan {
  readonly #view: ReadView
  readonly #range: Range
  readonly #isReverse: boolean
  readonly #cursorOptions: CursorOptions
  #cursor = unopened
  readonly #copies = new Slab()
  #state: typeof atStart | typeof onEntry | typeof atTarget | typeof ended | typeof failed = atStart
  /** Of a step that failed: the cursors under this one stand at different keys since. */
  #failure: unknown
  #target: Uint8Array | undefined
  /** Which bytes the last value was in, and whether those are an arena's. */
  #lastBytes: Uint8Array | undefined
  #isArena = false

  /**
   * @param view released by close()
   * @param reusesMemory what it shows, forwards, is gone when it moves on
   */
  constructor(view: ReadView, options: ScanOptions, reusesMemory = false) {
    const { reverse = false, limit = -1, fillCache = false } = options
    this.#view = view
    this.#range = rangeOf(options)
    this.#isReverse = reverse
    this.#cursorOptions = {
      fillCache,
      readahead: limit < 0 || limit > shortScan,
      // Backwards, the newest version of a key comes last: the one remembered may be in a block before.
      reusesMemory: reusesMemory && !reverse
    }
  }

  /** Does a slice of what the first step takes; false when the step takes no time any more. */
  prepareSome(): boolean {
    if (this.#cursor !== unopened || this.#state === ended) return false
    return this.#view.prepareSome(this.#state === atTarget ? this.#rest : this.#range, this.#isReverse)
  }

  /** To the next entry; false at the end, where it stays until a seek. */
  advance(): boolean {
    if (this.#state === ended) return false
    if (this.#state === failed) throw this.#failure
    try {
      if (this.#state !== onEntry) this.#position()
      else if (this.#isReverse) this.#cursor.previous()
      else this.#cursor.next()
      return this.#settle()
    } catch (error) {
      throw this.#fail(error)
    }
  }

  /** As advance(); from an entry of a block of which nothing is wanted, see Cursor.skipBlocks(). */
  skipBlocks(mayHold: BlockTest): boolean {
    if (this.#state !== onEntry || this.#isReverse) return this.advance()
    // What lies behind the range is neither searched nor read: it may be much, or damaged.
    try {
      this.#cursor.skipBlocks(mayHold, this.#range.end)
      return this.#settle()
    } catch (error) {
      throw this.#fail(error)
    }
  }

  /** Until a seek every step fails. */
  #fail(error: unknown): unknown {
    this.#state = failed
    this.#failure = error
    return error
  }

  #settle(): boolean {
    const isWithin = this.#cursor.isValid && (this.#isReverse ? !this.#isBeforeStart() : !this.#isBehindEnd())
    this.#state = isWithin ? onEntry : ended
    return isWithin
  }

  /** No more entries until a seek. */
  get hasEnded(): boolean {
    return this.#state === ended
  }

  /** Where the entry lies, until the next step. */
  get entry(): Pick<Cursor, 'keyBytes' | 'keyStart' | 'keyEnd' | 'valueBytes' | 'valueStart' | 'valueEnd' | 'block'> {
    return this.#cursor
  }

  /** Bytes of the entry's key and value. */
  get entryBytes(): number {
    const cursor = this.#cursor
    return cursor.keyEnd - cursor.keyStart + cursor.valueEnd - cursor.valueStart
  }

  key(): Buffer {
    const { keyBytes, keyStart, keyEnd } = this.#cursor
    return this.#copies.copy(keyBytes, keyStart, keyEnd)
  }

  value(): Buffer {
    const { valueBytes, valueStart, valueEnd } = this.#cursor
    if (valueBytes !== this.#lastBytes) {
      this.#lastBytes = valueBytes
      this.#isArena = valueBytes.buffer instanceof SharedArrayBuffer
    }
    if (this.#isArena) return this.#copies.copy(valueBytes, valueStart, valueEnd)
    return Buffer.from(valueBytes.buffer as ArrayBuffer, valueBytes.byteOffset + valueStart, valueEnd - valueStart)
  }

  /** The key as a string of UTF-8. */
  keyText(): string {
    const { keyBytes, keyStart, keyEnd } = this.#cursor
    return textOf(keyBytes, keyStart, keyEnd)
  }

  /** The value as a string of UTF-8. */
  valueText(): string {
    const { valueBytes, valueStart, valueEnd } = this.#cursor
    return textOf(valueBytes, valueStart, valueEnd)
  }

  /** Makes the next entry the first one ≥ target, or ≤ in reverse. A target out of range ends the scan. */
  seek(target: Uint8Array): void {
    this.#target = Buffer.from(target)
    this.#state = isInRange(this.#range, this.#target) ? atTarget : ended
  }

  /** Fine when called twice. */
  close(): void {
    this.#state = ended
    this.#cursor.close()
    this.#view.release()
  }

  /** From the target on. */
  get #rest(): Range {
    const target = this.#target
    if (target === undefined) return this.#range
    return this.#isReverse ? { ...this.#range, end: successor(target) } : { ...this.#range, start: target }
  }

  #position(): void {
    // Opened at the first read: iterators that only hold a snapshot are cheap, and errors reject that read.
    if (this.#cursor === unopened) {
      const entries = this.#view.cursor(this.#cursorOptions, this.#range)
      this.#cursor = new VisibleCursor(entries, this.#view.sequence, this.#range)
    }
    const cursor = this.#cursor
    const target = this.#state === atTarget ? this.#target : undefined
    if (this.#isReverse) {
      const end = target === undefined ? this.#range.end : successor(target)
      if (end === undefined) cursor.seekToLast()
      else cursor.seekBefore(end)
    } else {
      const start = target ?? this.#range.start
      if (start === undefined) cursor.seekToFirst()
      else cursor.seek(start)
    }
  }

  #isBeforeStart(): boolean {
    const { keyBytes, keyStart, keyEnd } = this.#cursor
    const start = this.#range.start
    return start !== undefined && compareRanges(keyBytes, keyStart, keyEnd, start, 0, start.length) < 0
  }

  #isBehindEnd(): boolean {
    const { keyBytes, keyStart, keyEnd } = this.#cursor
    const end = this.#range.end
    return end !== undefined && compareRanges(keyBytes, keyStart, keyEnd, end, 0, end.length) >= 0
  }
}
