/**
 * `index: 'none'`: knows only which ordinals are live, so every query is a scan. It is the oracle that the real index
 * is tested against, and suits applications that write much and query rarely.
 *
 * `index: 'embedded'` is the same over the ordinals that the store's own filters do not exclude (pruned-view.ts).
 */
import { countWhile } from '../model/count-while.ts'
import type { PairExpression } from '../model/pairs.ts'
import type { Document } from '../model/types.ts'
import type {
  DocumentIndex,
  IndexStats,
  IndexView,
  IndexWrite,
  OrdinalRange,
  SegmentCandidates
} from '../sharded-bloom/document-index.ts'
import { OrdinalSet } from '../sharded-bloom/ordinal-set.ts'
import { checkingFlattener, type FlatDocument, type Flattener } from '../sharded-bloom/pairs/flatten.ts'
import { liveWithout } from '../sharded-bloom/segment/live.ts'

/** Size of an index that stores nothing. */
export const noIndexBytes: IndexStats['bytes'] = {
  hashedRows: 0,
  privateRows: 0,
  rangeCodes: 0,
  upperLevel: 0,
  fingerprints: 0,
  live: 0,
  directory: 0,
  total: 0
}

const segmentDocuments = 65_536
const segmentWords = segmentDocuments / 32

/** Live ordinals of a segment, one bit each. While a view shares it, bits are cleared in a copy. */
interface LiveSegment {
  words: Uint32Array
  live: number
  isShared: boolean
}

/** Yields all stored ordinals below the limit, ascending, in runs. */
export type OrdinalSource = (limit: number) => AsyncIterable<readonly number[]>

type ScanKind = 'embedded' | 'none'

/** @param ordinals read once, when the index is opened */
export function createScanIndex(ordinals: OrdinalSource, kind: ScanKind = 'none'): DocumentIndex {
  return new ScanIndex(ordinals, kind)
}

class ScanIndex implements DocumentIndex {
  readonly #ordinals: OrdinalSource
  readonly #kind: ScanKind
  readonly #flattener: Flattener = checkingFlattener()
  /** undefined without a live document, as most are where billions were deleted. */
  readonly #segments: (LiveSegment | undefined)[] = []
  #live = 0
  #dead = 0
  #recovered = 0
  readonly isMaintenanceDue = false

  constructor(ordinals: OrdinalSource, kind: ScanKind) {
    this.#ordinals = ordinals
    this.#kind = kind
  }

  async open(nextOrdinal: number): Promise<void> {
    for await (const run of this.#ordinals(nextOrdinal)) for (const ordinal of run) this.#set(ordinal)
    this.#recovered = this.#live
    this.#dead = nextOrdinal - this.#live
  }

  flatten(document: Document): FlatDocument {
    return this.#flattener.flatten(document)
  }

  add(ordinal: number): void {
    this.#set(ordinal)
  }

  /**
   * A scan needs no record of a deletion beyond that of the document itself: deleting an unused key stands in for one.
   */
  removal(ordinal: number): IndexWrite {
    return { key: new TextEncoder().encode(`dead:${ordinal}`), value: undefined }
  }

  remove(ordinal: number): void {
    const segment = this.#segments[Math.floor(ordinal / segmentDocuments)]
    const bit = ordinal % segmentDocuments
    const mask = 1 << (bit & 31)
    if (segment === undefined || ((segment.words[bit >>> 5] ?? 0) & mask) === 0) return
    if (--segment.live === 0) {
      this.#segments[Math.floor(ordinal / segmentDocuments)] = undefined
    } else {
      unshare(segment)
      segment.words[bit >>> 5]! &= ~mask
    }
    this.#live--
    this.#dead++
  }

  async maintain(): Promise<void> {}

  async close(): Promise<void> {
    this.#segments.length = 0
  }

  capture(limit: number, hidden = OrdinalSet.empty): IndexView {
    const count = Math.ceil(limit / segmentDocuments)
    const segments = this.#segments.slice(0, count)
    for (const segment of segments) if (segment !== undefined) segment.isShared = true
    return new ScanView(
      limit,
      segments.map((segment, number) => segment && withoutHidden(segment.words, number * segmentDocuments, hidden))
    )
  }

  liveCount(limit: number): number {
    let count = 0
    this.#segments.forEach((segment, number) => {
      if (segment === undefined) return
      const first = number * segmentDocuments
      count += positions(segment.words, first, first, Math.min(first + segmentDocuments, limit)).length
    })
    return count
  }

  stats(): IndexStats {
    const held = this.#segments.filter((segment) => segment !== undefined)
    return {
      kind: this.#kind,
      segments: this.#segments.length,
      documents: this.#live,
      dead: this.#dead,
      recovered: this.#recovered,
      damage: [],
      unrepaired: [],
      bytes: noIndexBytes,
      cache: { budgetBytes: 0, usedBytes: held.length * segmentWords * 4, hits: 0, misses: 0 },
      parameters: []
    }
  }

  #set(ordinal: number): void {
    const number = Math.floor(ordinal / segmentDocuments)
    while (this.#segments.length <= number) this.#segments.push(undefined)
    this.#segments[number] ??= { words: new Uint32Array(segmentWords), live: 0, isShared: false }
    const segment = this.#segments[number]
    const bit = ordinal % segmentDocuments
    // Bits at or above a view's limit are invisible to it, so adding needs no copy.
    segment.words[bit >>> 5]! |= 1 << (bit & 31)
    segment.live++
    this.#live++
  }
}

function unshare(segment: LiveSegment): void {
  if (!segment.isShared) return
  segment.words = segment.words.slice()
  segment.isShared = false
}

/** @param first ordinal of the first bit */
function withoutHidden(words: Uint32Array, first: number, hidden: OrdinalSet): Uint32Array {
  const dead = hidden.within(first, first + segmentDocuments).map((ordinal) => ordinal - first)
  return dead.length === 0 ? words : liveWithout(words, segmentDocuments, dead)
}

class ScanView implements IndexView {
  readonly limit: number
  readonly #segments: readonly (Uint32Array | undefined)[]

  constructor(limit: number, segments: readonly (Uint32Array | undefined)[]) {
    this.limit = limit
    this.#segments = segments
  }

  get segmentCount(): number {
    return this.#segments.length
  }

  evaluate(segment: number, expression: PairExpression): SegmentCandidates {
    const first = segment * segmentDocuments
    return this.evaluateWithin(segment, expression, [{ from: first, to: first + segmentDocuments }])
  }

  evaluateWithin(segment: number, expression: PairExpression, ranges: readonly OrdinalRange[]): SegmentCandidates {
    const first = segment * segmentDocuments
    const end = Math.min(first + segmentDocuments, this.limit)
    const live = this.#segments[segment]
    const found: number[][] = []
    if (live !== undefined && expression.kind !== 'none') {
      for (const { from, to } of ranges) {
        if (from >= end) break
        if (to > first) found.push(positions(live, first, Math.max(from, first), Math.min(to, end)))
      }
    }
    const ordinals = found.length === 1 ? found[0]! : found.flat()
    // Dense ranges are read as ranges, even if they cover only part of the segment.
    const spanStart = ordinals[0] ?? first
    const spanEnd = (ordinals.at(-1) ?? first) + 1
    return new LiveCandidates(spanStart, spanEnd, ordinals, expression.kind === 'all')
  }

  close(): void {}
}

/** Returns the ordinals in [from, end) whose bits are set, ascending. @param first ordinal of the first bit */
function positions(words: Uint32Array, first: number, from: number, end: number): number[] {
  const found: number[] = []
  for (let word = (from - first) >>> 5; word * 32 < end - first; word++) {
    for (let bits = words[word] ?? 0; bits !== 0; bits &= bits - 1) {
      const ordinal = first + word * 32 + (31 - Math.clz32(bits & -bits))
      if (ordinal >= from && ordinal < end) found.push(ordinal)
    }
  }
  return found
}

class LiveCandidates implements SegmentCandidates {
  readonly firstOrdinal: number
  readonly endOrdinal: number
  readonly upperCount: number
  readonly lowerCount: number
  readonly rowsRead = 0
  readonly bytesTouched = 0
  readonly #ordinals: readonly number[]

  constructor(first: number, end: number, ordinals: readonly number[], areCertain: boolean) {
    this.firstOrdinal = first
    this.endOrdinal = end
    this.#ordinals = ordinals
    this.upperCount = ordinals.length
    this.lowerCount = areCertain ? ordinals.length : 0
  }

  ordinal(i: number): number {
    return this.#ordinals[i]!
  }

  isCertain(): boolean {
    return this.lowerCount > 0
  }

  has(ordinal: number): boolean {
    const before = countWhile(this.#ordinals.length, (i) => this.#ordinals[i]! < ordinal)
    return this.#ordinals[before] === ordinal
  }
}
