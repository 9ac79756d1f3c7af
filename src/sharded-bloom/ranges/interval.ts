/**
 * A range over values as closed intervals of keys, one for each bound.
 *
 * upper: every value within the range has its key in the interval. lower: every value whose key is in the interval is
 * within the range. They differ where values share a key.
 */
import type { Range } from '../../model/pairs.ts'
import { Type } from '../../model/types.ts'
import { nextAbove, nextBelow, textKey } from './range-key.ts'

/** low ≤ key ≤ high; empty unless low ≤ high, as when one of them is NaN. */
export interface Interval {
  readonly low: number
  readonly high: number
}

export type Side = 'upper' | 'lower'

/** @param prefix the column's, for texts */
export function intervalOf({ type, low, high }: Range, prefix: string, side: Side): Interval {
  // A text with the key of the end may be on either side of it.
  const fixed = type === Type.string ? side === 'upper' : undefined
  const from = low === undefined ? Number.NEGATIVE_INFINITY : keyOf(low.key, prefix)
  const to = high === undefined ? Number.POSITIVE_INFINITY : keyOf(high.key, prefix)
  return {
    low: low === undefined || (fixed ?? low.isInclusive) ? from : nextAbove(from),
    high: high === undefined || (fixed ?? high.isInclusive) ? to : nextBelow(to)
  }
}

function keyOf(key: number | string, prefix: string): number {
  return typeof key === 'string' ? textKey(key, prefix) : key
}

export function isEmpty({ low, high }: Interval): boolean {
  return !(low <= high)
}
