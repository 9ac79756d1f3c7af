/**
 * A read view of scattered ordinals: the built segments in ordinal order, each merged with the recent versions in its
 * part of the ordinals.
 *
 * Invariant: an ordinal is live in at most one place, and candidates come in ascending order.
 */
import type { PairExpression } from '../../model/pairs.ts'
import type { IndexView, SegmentCandidates } from '../document-index.ts'
import type { ShardedView } from '../view.ts'
import type { RecentView } from './recent-versions.ts'

/** Candidates among the recent versions, ascending. */
interface Found {
  /** Twice the ordinal, plus one if it is certain. */
  readonly codes: Float64Array
  readonly rowsRead: number
  readonly bytesTouched: number
}

export class ScatteredView implements IndexView {
  readonly limit: number
  readonly #built: ShardedView
  readonly #recent: readonly RecentView[]
  readonly #found = new Map<PairExpression, Found | Promise<Found>>()

  /** @param size every ordinal is below it */
  constructor(built: ShardedView, recent: readonly RecentView[], size: number) {
    this.limit = size
    this.#built = built
    this.#recent = recent
  }

  get segmentCount(): number {
    return Math.max(1, this.#built.segmentCount)
  }

  evaluate(segment: number, expression: PairExpression): SegmentCandidates | Promise<SegmentCandidates> {
    const built = segment < this.#built.segmentCount ? this.#built.evaluate(segment, expression) : undefined
    const found = this.#findRecent(expression)
    if (built instanceof Promise || found instanceof Promise) {
      return Promise.all([built, found]).then((both) => this.#merge(segment, ...both))
    }
    return this.#merge(segment, built, found)
  }

  close(): void {
    this.#built.close()
    for (const view of this.#recent) view.close()
  }

  #merge(segment: number, built: SegmentCandidates | undefined, found: Found): SegmentCandidates {
    const isLast = segment === this.segmentCount - 1
    const from = segment === 0 ? 0 : this.#built.firstOrdinalOf(segment)
    const to = isLast ? this.limit : this.#built.firstOrdinalOf(segment + 1)
    const codes = found.codes.subarray(lowerBound(found.codes, 2 * from), lowerBound(found.codes, 2 * to))
    if (built !== undefined && codes.length === 0) return built
    return new MergedCandidates(built, codes, segment === 0 ? found : undefined)
  }

  /** Evaluates once per expression, however many segments there are. */
  #findRecent(expression: PairExpression): Found | Promise<Found> {
    let found = this.#found.get(expression)
    if (found === undefined) {
      const parts = this.#recent.flatMap(({ index, ordinalOf }) =>
        Array.from({ length: index.segmentCount }, (_, i) => ({ part: index.evaluate(i, expression), ordinalOf }))
      )
      found = parts.some(({ part }) => part instanceof Promise)
        ? Promise.all(parts.map(async ({ part, ordinalOf }) => ({ part: await part, ordinalOf }))).then(gather)
        : gather(parts as Parts)
      this.#found.set(expression, found)
    }
    return found
  }
}

type Parts = readonly { readonly part: SegmentCandidates; readonly ordinalOf: (slot: number) => number }[]

function gather(parts: Parts): Found {
  const codes = new Float64Array(parts.reduce((sum, { part }) => sum + part.upperCount, 0))
  let rowsRead = 0
  let bytesTouched = 0
  let length = 0
  for (const { part, ordinalOf } of parts) {
    for (let i = 0; i < part.upperCount; i++)
      codes[length++] = 2 * ordinalOf(part.ordinal(i)) + Number(part.isCertain(i))
    rowsRead += part.rowsRead
    bytesTouched += part.bytesTouched
  }
  return { codes: codes.sort(), rowsRead, bytesTouched }
}

class MergedCandidates implements SegmentCandidates {
  readonly lowerCount: number
  readonly rowsRead: number
  readonly bytesTouched: number
  readonly #codes: Float64Array

  /** @param recent ascending, none of them an ordinal of `built` */
  constructor(built: SegmentCandidates | undefined, recent: Float64Array, read: Found | undefined) {
    const others = built?.upperCount ?? 0
    const codes = new Float64Array(others + recent.length)
    let certain = 0
    for (let b = 0, r = 0; b + r < codes.length; ) {
      const next = b < others && built !== undefined ? 2 * built.ordinal(b) + Number(built.isCertain(b)) : Infinity
      const code = r < recent.length && recent[r]! < next ? recent[r]! : next
      codes[b + r] = code
      certain += code % 2
      if (code === next) b++
      else r++
    }
    this.#codes = codes
    this.lowerCount = certain
    this.rowsRead = (built?.rowsRead ?? 0) + (read?.rowsRead ?? 0)
    this.bytesTouched = (built?.bytesTouched ?? 0) + (read?.bytesTouched ?? 0)
  }

  get upperCount(): number {
    return this.#codes.length
  }

  get firstOrdinal(): number {
    return this.#codes.length === 0 ? 0 : this.ordinal(0)
  }

  get endOrdinal(): number {
    return this.#codes.length === 0 ? 0 : this.ordinal(this.#codes.length - 1) + 1
  }

  ordinal(i: number): number {
    return Math.floor(this.#codes[i]! / 2)
  }

  isCertain(i: number): boolean {
    return this.#codes[i]! % 2 === 1
  }

  has(ordinal: number): boolean {
    const i = lowerBound(this.#codes, 2 * ordinal)
    return i < this.#codes.length && this.ordinal(i) === ordinal
  }
}

function lowerBound(codes: Float64Array, code: number): number {
  let low = 0
  let high = codes.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (codes[middle]! < code) low = middle + 1
    else high = middle
  }
  return low
}
