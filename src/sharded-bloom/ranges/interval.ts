/**
 * A range over values as closed intervals of keys, one for each bound.
 *
 * upper: every value within the range has its key in the interval. lower: every value whose key is in the interval is
 * within the range. They differ where values share a key.
 */
import type { Range } from '../../model/pairs.ts'
import { Type } from '../../model/types.ts'
import { nextAbove, nextBelow, type TextForm, textKey } from './range-key.ts'

/** low ≤ key ≤ high; empty unless low ≤ high, as when one of them is NaN. */
export interface Interval {
  readonly low: number
  readonly high: number
}

export type Side = 'upper' | 'lower'

/** @param form of the column's texts */
export function intervalOf({ type, low, high }: Range, form: TextForm, side: Side): Interval {
  // A text with the key of the end may be on either side of it.
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
