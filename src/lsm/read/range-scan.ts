/**
 * Scans the entries of a key range that a read view sees, in one direction.
 *
 * Invariants:
 * 1. It moves when the next entry is requested, not before: no block is read that is not needed.
 * 2. The buffers it returns belong to the caller and stay valid after the view's release. Values in blocks are views,
 *    because those blocks belong to the cursor. Values in an arena, whose memory is reused, are copied, and so are
 *    keys, which the cursor needs for building the next ones.
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
  /** Add blocks that are read to the block cache: all of them or none; by default those that were sought. */
  readonly fillCache?: boolean | undefined
}

/** Placeholder for the cursor until the first read. */
const unopened = new VisibleCursor(new MergingCursor([]), { sequence: 0, epoch: undefined, gaps: undefined })

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
  /** The error of a failed step, which has left the underlying cursors at different keys. */
  #failure: unknown
  #target: Uint8Array | undefined
  /** The bytes that held the last value, and whether they belong to an arena. */
  #lastBytes: Uint8Array | undefined
  #isArena = false

  /**
   * @param view released by close()
   * @param reusesMemory entries are invalid after the next step and close(); ignored in reverse
   */
  constructor(view: ReadView, options: ScanOptions, reusesMemory = false) {
    const { reverse = false, fillCache } = options
    this.#view = view
    this.#range = rangeOf(options)
    this.#isReverse = reverse
    this.#cursorOptions = {
      fillCache: fillCache === undefined ? 'sought' : fillCache ? 'all' : 'none',
      // In reverse, the newest version of a key comes last: the remembered one may be in another block.
      reusesMemory: reusesMemory && !reverse
    }
  }

  /** Does a slice of the work for the first step; false when little is left. */
  prepareSlice(): boolean {
    if (this.#cursor !== unopened || this.#state === ended) return false
    return this.#view.prepareSlice(this.#state === atTarget ? this.#rest : this.#range, this.#isReverse)
  }

  /** Moves to the next entry; false at the end, where it stays until a seek. */
  advance(): boolean {
    if (this.#state === ended) return false
    if (this.#state === failed) throw this.#failure
    try {
      if (this.#state !== onEntry) this.#position()
      else if (this.#isReverse) this.#cursor.previous()
      else this.#cursor.next()
      return this.#updateState()
    } catch (error) {
      throw this.#fail(error)
    }
  }

  /** As advance(), but may skip blocks: see Cursor.skipBlocks(). */
  skipBlocks(mayHold: BlockTest): boolean {
    if (this.#state !== onEntry || this.#isReverse) return this.advance()
    // Entries after the range are neither searched nor read: they may be many, or damaged.
    try {
      this.#cursor.skipBlocks(mayHold, this.#range.end)
      return this.#updateState()
    } catch (error) {
      throw this.#fail(error)
    }
  }

  /** Every further step fails until a seek. */
  #fail(error: unknown): unknown {
    this.#state = failed
    this.#failure = error
    return error
  }

  #updateState(): boolean {
    const isWithin = this.#cursor.isValid && (this.#isReverse ? !this.#isBeforeStart() : !this.#isPastEnd())
    this.#state = isWithin ? onEntry : ended
    return isWithin
  }

  /** Whether there are no more entries until a seek. */
  get hasEnded(): boolean {
    return this.#state === ended
  }

  /** Position of the entry, valid until the next step. */
  get entry(): Pick<Cursor, 'keyBytes' | 'keyStart' | 'keyEnd' | 'valueBytes' | 'valueStart' | 'valueEnd' | 'block'> {
    return this.#cursor
  }

  /** Size of the entry's key and value. */
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

  /** The key decoded from UTF-8. */
  keyText(): string {
    const { keyBytes, keyStart, keyEnd } = this.#cursor
    return textOf(keyBytes, keyStart, keyEnd)
  }

  /** The value decoded from UTF-8. */
  valueText(): string {
    const { valueBytes, valueStart, valueEnd } = this.#cursor
    return textOf(valueBytes, valueStart, valueEnd)
  }

  /** Makes the next entry the first one ≥ target, or ≤ in reverse. A target outside the range ends the scan. */
  seek(target: Uint8Array): void {
    this.#target = Buffer.from(target)
    this.#state = isInRange(this.#range, this.#target) ? atTarget : ended
  }

  /** May be called twice. */
  close(): void {
    this.#state = ended
    this.#cursor.close()
    this.#view.release()
  }

  /** The part of the range from the target on. */
  get #rest(): Range {
    const target = this.#target
    if (target === undefined) return this.#range
    return this.#isReverse ? { ...this.#range, end: successor(target) } : { ...this.#range, start: target }
  }

  #position(): void {
    // Opened on the first read: iterators that only hold a snapshot are cheap, and errors reject that read.
    if (this.#cursor === unopened) {
      const entries = this.#view.cursor(this.#cursorOptions, this.#range)
      this.#cursor = new VisibleCursor(entries, this.#view, this.#range)
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

  #isPastEnd(): boolean {
    const { keyBytes, keyStart, keyEnd } = this.#cursor
    const end = this.#range.end
    return end !== undefined && compareRanges(keyBytes, keyStart, keyEnd, end, 0, end.length) >= 0
  }
}
