/**
 * Gaps: key ranges in which tombstones lie and nothing is visible. Whoever reads a queue from its front, or an index from
 * the end where entries expire, would otherwise walk over everything that was ever taken from there, each time.
 *
 * A scan that has passed many tombstones in a row notes the gap, later ones jump over it. Gaps are in memory only.
 *
 * Invariants:
 * 1. A gap was empty as of its sequence number, and nothing was put into it since: it is empty for every later view.
 * 2. A put takes its key out of the gap before it becomes visible.
 * 3. Sequence numbers do not tell whether a view is older than tables that were added or dropped whole; epochs do. Gaps
 *    serve only views of the epoch in which they were noted, and only while it lasts.
 */
import { compareKeys, compareRanges } from '../format/entry.ts'
import { successor } from './range.ts'

/** Keys k with from ≤ k < to. */
export interface Gap {
  readonly from: Uint8Array
  readonly to: Uint8Array
  /** Sequence number as of which it was empty. */
  readonly sequence: number
  /** Tombstones that a jump over it saves, about. */
  readonly tombstones: number
}

/** Which entries are visible: those of an epoch up to a sequence number. */
export interface GapMoment {
  /** Entries with higher sequence numbers are invisible. */
  readonly sequence: number
  /** Constant while no tables are added or dropped whole; undefined while that happens. */
  readonly epoch: number | undefined
}

/** As many as make a gap worth noting: a jump costs a seek in every table. */
export const leastTombstones = 32
const maxGaps = 64

export class Gaps {
  /** Ascending and disjoint. */
  readonly #gaps: Gap[] = []
  readonly #now: GapMoment
  #epoch: number | undefined

  /** @param now the newest state of the store */
  constructor(now: GapMoment) {
    this.#now = now
  }

  get isEmpty(): boolean {
    return this.#gaps.length === 0
  }

  /** The gap that holds a key, if the view may skip it. */
  around(bytes: Uint8Array, start: number, end: number, view: GapMoment): Gap | undefined {
    const gap = this.#gapFor(view, this.#firstEndingAfter(bytes, start, end))
    return gap !== undefined && isAtOrBelow(gap.from, bytes, start, end) ? gap : undefined
  }

  /** The gap that holds the keys just below this one, if the view may skip it. */
  below(key: Uint8Array, view: GapMoment): Gap | undefined {
    const gap = this.#gapFor(view, this.#firstEndingAt(key))
    return gap !== undefined && compareKeys(gap.from, key) < 0 ? gap : undefined
  }

  /** Notes that a view of the newest state sees nothing in [from, to). Views of an older one are ignored. */
  note(from: Uint8Array, to: Uint8Array, tombstones: number, view: GapMoment): void {
    const { sequence, epoch } = this.#now
    if (epoch === undefined || view.epoch !== epoch || view.sequence !== sequence) return
    if (this.#epoch !== epoch) this.#gaps.length = 0
    this.#epoch = epoch
    // Gaps that overlap or touch become one.
    const first = this.#firstEndingAt(from)
    let last = first
    let gap: Gap = { from, to, sequence, tombstones }
    for (; last < this.#gaps.length && compareKeys(this.#gaps[last]!.from, to) <= 0; last++) {
      const other = this.#gaps[last]!
      gap = {
        from: compareKeys(other.from, gap.from) < 0 ? other.from : gap.from,
        to: compareKeys(other.to, gap.to) > 0 ? other.to : gap.to,
        sequence,
        tombstones: Math.max(gap.tombstones, other.tombstones)
      }
    }
    this.#gaps.splice(first, last - first, gap)
    if (this.#gaps.length > maxGaps) this.#forgetLeast()
  }

  /** A key is about to become visible. */
  onPut(bytes: Uint8Array, start: number, end: number): void {
    const at = this.#firstEndingAfter(bytes, start, end)
    const gap = this.#gaps[at]
    if (gap === undefined || !isAtOrBelow(gap.from, bytes, start, end)) return
    const key = Buffer.from(bytes.subarray(start, end))
    const tombstones = gap.tombstones / 2
    const parts = [
      { ...gap, to: key, tombstones },
      { ...gap, from: successor(key), tombstones }
    ]
    const isWorthKeeping = (part: Gap): boolean =>
      part.tombstones >= leastTombstones && compareKeys(part.from, part.to) < 0
    this.#gaps.splice(at, 1, ...parts.filter(isWorthKeeping))
    if (this.#gaps.length > maxGaps) this.#forgetLeast()
  }

  /** The gap at a position, if there is one that the view may skip. */
  #gapFor(view: GapMoment, at: number): Gap | undefined {
    const gap = this.#gaps[at]
    if (gap === undefined || gap.sequence > view.sequence) return undefined
    return view.epoch === this.#epoch && view.epoch === this.#now.epoch ? gap : undefined
  }

  /** Position of the first gap with to > key. */
  #firstEndingAfter(bytes: Uint8Array, start: number, end: number): number {
    let low = 0
    let high = this.#gaps.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const { to } = this.#gaps[middle]!
      if (compareRanges(to, 0, to.length, bytes, start, end) > 0) high = middle
      else low = middle + 1
    }
    return low
  }

  /** Position of the first gap with to ≥ key. */
  #firstEndingAt(key: Uint8Array): number {
    const at = this.#firstEndingAfter(key, 0, key.length)
    return at > 0 && compareKeys(this.#gaps[at - 1]!.to, key) === 0 ? at - 1 : at
  }

  #forgetLeast(): void {
    let least = 0
    for (let i = 1; i < this.#gaps.length; i++) {
      if (this.#gaps[i]!.tombstones < this.#gaps[least]!.tombstones) least = i
    }
    this.#gaps.splice(least, 1)
  }
}

function isAtOrBelow(from: Uint8Array, bytes: Uint8Array, start: number, end: number): boolean {
  return compareRanges(from, 0, from.length, bytes, start, end) <= 0
}
