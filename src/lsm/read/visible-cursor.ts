/**
 * The entries of a merge that a snapshot sees: the newest version of each key that is not too new, unless it is a
 * tombstone.
 *
 * Moving forwards, the underlying cursor is at the version found. Moving backwards, it is before all versions of the
 * key, because the newest one comes last: key and value are remembered as ranges of its bytes.
 *
 * Entries are skipped only within the range: beyond a sparse range there may be thousands of tombstones of another,
 * and the values they hide. Within it, known gaps are jumped over, and new ones noted.
 */
import type { Block } from '../format/block.ts'
import type { BlockTest, Cursor } from '../format/cursor.ts'
import { compareKeys, compareRanges, EntryKind, smaller } from '../format/entry.ts'
import { type Gap, leastTombstones } from './gaps.ts'
import { everything, type Range, successor } from './range.ts'
import type { ReadView } from './read-view.ts'

const nothing = Buffer.alloc(0)

/** Single ones are passed without looking for a gap, or remembering where it may begin. */
const fewTombstones = 8

/** What is visible of a cursor's entries, and where nothing is. */
export type VisibleEntries = Pick<ReadView, 'sequence' | 'epoch' | 'gaps'>

export class VisibleCursor implements Cursor {
  readonly #entries: Cursor
  readonly #view: VisibleEntries
  /** Highest visible sequence number. */
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
   * @param view whose entries they are
   * @param range the keys needed: at its end the cursor may become invalid or show the next key
   */
  constructor(entries: Cursor, view: VisibleEntries, range = everything) {
    this.#entries = entries
    this.#view = view
    this.#snapshot = view.sequence
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

  /** REQUIRES, as for seekBefore(): the target's bytes do not change. */
  seek(target: Uint8Array): void {
    const gap = this.#view.gaps?.around(target, 0, target.length, this.#view)
    this.#entries.seek(gap?.to ?? target)
    this.#findForwards(target, gap)
  }

  seekBefore(target: Uint8Array): void {
    const gap = this.#view.gaps?.below(target, this.#view)
    this.#entries.seekBefore(gap?.from ?? target)
    this.#findBackwards(target, gap)
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

  /**
   * REQUIRES: at the newest version of an unseen key, or at one of its older versions.
   * @param from where the way here began, if there was no visible entry on it
   * @param gap that it jumped over
   */
  #findForwards(from?: Uint8Array, gap?: Gap): void {
    const entries = this.#entries
    this.#isForward = true
    let tombstones = 0
    let known = gap?.tombstones ?? 0
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
        if (isWorthNoting(tombstones, known)) this.#note(from, this.#keyCopy(), tombstones + known)
        return
      }
      if (this.#isPastEnd()) break
      if (++tombstones % leastTombstones === fewTombstones) {
        from ??= this.#keyCopy()
        const jump = this.#gapHere()
        if (jump !== undefined) {
          known += jump.tombstones
          entries.seek(jump.to)
          continue
        }
      }
      entries.next()
      this.#skipKey()
    }
    this.isValid = false
    if (isWorthNoting(tombstones, known)) this.#note(from, this.#range.end, tombstones + known)
  }

  /**
   * REQUIRES: at the oldest version of an unseen key.
   * @param to end of the way here, backwards, if there was no visible entry on it
   * @param gap that it jumped over
   */
  #findBackwards(to?: Uint8Array, gap?: Gap): void {
    const entries = this.#entries
    this.#isForward = false
    let tombstones = 0
    let known = gap?.tombstones ?? 0
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
        if (isWorthNoting(tombstones, known)) this.#note(successor(this.#keyCopy()), to, tombstones + known)
        return
      }
      if (entries.isValid && this.#isBeforeStart()) break
      if (++tombstones % leastTombstones === fewTombstones) {
        to ??= successor(this.#keyCopy())
        const jump = this.#gapHere()
        if (jump !== undefined) {
          known += jump.tombstones
          entries.seekBefore(jump.from)
        }
      }
    }
    this.isValid = false
    if (isWorthNoting(tombstones, known)) this.#note(this.#range.start ?? nothing, to, tombstones + known)
  }

  /** The known gap around the current key. */
  #gapHere(): Gap | undefined {
    return this.#view.gaps?.around(this.keyBytes, this.keyStart, this.keyEnd, this.#view)
  }

  /** Notes that nothing is visible in [from, to), as far as it lies in the range: all of its entries have been seen. */
  #note(from: Uint8Array | undefined, to: Uint8Array | undefined, tombstones: number): void {
    const { start, end } = this.#range
    const last = smaller(to, end)
    if (from === undefined || last === undefined) return
    const first = start !== undefined && compareKeys(from, start) < 0 ? start : from
    this.#view.gaps?.note(first, last, tombstones, this.#view)
  }

  #keyCopy(): Buffer {
    return Buffer.from(this.keyBytes.subarray(this.keyStart, this.keyEnd))
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

/** A longer gap is worth noting, too, if reaching its end took more than a few tombstones. */
function isWorthNoting(tombstones: number, known: number): boolean {
  return tombstones >= (known > 0 ? fewTombstones : leastTombstones)
}
