/** Conversions and comparisons between sort keys and range ends, two representations of the same values. */

import { compareValues } from '../../model/compare.ts'
import type { RangeEnd, RangeType } from '../../model/pairs.ts'
import { Type, typeOf } from '../../model/types.ts'
import { emptyArray } from '../../query/sort-key.ts'

/** Returns the end of a range as the value that a document would have. */
export function valueOfEnd(key: RangeEnd['key'], type: RangeType): unknown {
  return type === Type.date ? new Date(key as number) : key
}

/**
 * Returns the value as the end of a range of the type; undefined for a value of another type, or a number that is not a
 * double.
 */
export function endOfValue(value: unknown, type: RangeType): RangeEnd['key'] | undefined {
  if (type === Type.date) return value instanceof Date ? value.getTime() : undefined
  if (type === Type.string) return typeof value === 'string' ? value : undefined
  return typeof value === 'number' && !Number.isNaN(value) ? value : undefined
}

/** Compares a sort key with a value: negative, 0 or positive in ascending order. @param key of a sort */
export function compareToValue(key: unknown, value: unknown): number {
  // An empty array sorts between MinKey and null, neither of which is the end of a range.
  return key === emptyArray ? -1 : compareValues(key, value)
}

/** Whether a sort key is below (negative), within (0) or above (positive) the keys of `type`. */
export function compareToType(key: unknown, type: RangeType): number {
  return key === emptyArray ? -1 : typeOf(key) - type
}
