/** Sort keys and ends of ranges: the same values in two spellings. */

import { compareValues } from '../../model/compare.ts'
import type { RangeEnd, RangeType } from '../../model/pairs.ts'
import { Type, typeOf } from '../../model/types.ts'
import { emptyArray } from '../../query/sort-key.ts'

/** The end of a range, as the value that a document would have. */
export function valueOfEnd(key: RangeEnd['key'], type: RangeType): unknown {
  return type === Type.date ? new Date(key as number) : key
}

/** The value as the end of a range of the type; undefined for another type, and for what is no double. */
export function endOfValue(value: unknown, type: RangeType): RangeEnd['key'] | undefined {
  if (type === Type.date) return value instanceof Date ? value.getTime() : undefined
  if (type === Type.string) return typeof value === 'string' ? value : undefined
  return typeof value === 'number' && !Number.isNaN(value) ? value : undefined
}

/** Below, at or above another in ascending order. @param key of a sort */
export function compareToValue(key: unknown, value: unknown): number {
  // Between MinKey and null, none of which is a range's end.
  return key === emptyArray ? -1 : compareValues(key, value)
}

/** Where the keys of a type are: below, among or above those of `type`. */
export function compareToType(key: unknown, type: RangeType): number {
  return key === emptyArray ? -1 : typeOf(key) - type
}
