/**
 * Converts a range of values to closed intervals of keys, one for each bound.
 *
 * upper: every value within the range has its key in the interval. lower: every value whose key is in the interval is
 * within the range. The intervals differ where values share a key.
 */
import type { Range } from '../../model/pairs.ts'
import { Type } from '../../model/types.ts'
import { nextAbove, nextBelow, type TextForm, textKey } from './range-key.ts'

/** low ≤ key ≤ high; empty unless low ≤ high, in particular when one of them is NaN. */
export interface Interval {
  readonly low: number
  readonly high: number
}

export type Side = 'upper' | 'lower'

/**
 * ANDed ranges of one type on one path, as columns are queried. Every document of a column has one value, which is
 * within all of the ranges or not.
 */
export class QueryRange {
  readonly path: string
  readonly type: Range['type']
  readonly #ranges: readonly Range[]
  /** Intervals for the text form last used: most segments have the same. */
  readonly #intervals: Record<Side, (TextForm & Interval) | undefined> = { upper: undefined, lower: undefined }

  /** @param ranges at least one */
  constructor(ranges: readonly Range[]) {
    const { path, type } = ranges[0]!
    this.path = path
    this.type = type
    this.#ranges = ranges
  }

  /** @param form of the column's texts */
  interval({ prefix, template }: TextForm, side: Side): Interval {
    const known = this.#intervals[side]
    if (known !== undefined && known.prefix === prefix && known.template === template) return known
    const form = { prefix, template }
    const intervals = this.#ranges.map((range) => intervalOf(range, form, side))
    // NaN propagates and makes the interval empty.
    const low = Math.max(...intervals.map((each) => each.low))
    const high = Math.min(...intervals.map((each) => each.high))
    const interval = { prefix, template, low, high }
    this.#intervals[side] = interval
    return interval
  }
}

/** @param form of the column's texts */
function intervalOf({ type, low, high }: Range, form: TextForm, side: Side): Interval {
  // A text with the same key as the range's end may be on either side of it.
  const fixed = type === Type.string ? side === 'upper' : undefined
  const from = low === undefined ? Number.NEGATIVE_INFINITY : keyOf(low.key, form)
  const to = high === undefined ? Number.POSITIVE_INFINITY : keyOf(high.key, form)
  return {
    low: low === undefined || (fixed ?? low.isInclusive) ? from : nextAbove(from),
    high: high === undefined || (fixed ?? high.isInclusive) ? to : nextBelow(to)
  }
}

function keyOf(key: number | string, form: TextForm): number {
  return typeof key === 'string' ? textKey(key, form) : key
}

export function isEmpty({ low, high }: Interval): boolean {
  return !(low <= high)
}
