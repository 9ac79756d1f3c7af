/**
 * Keys of groups: equal exactly where MongoDB calls the values equal, so that 1, 1n and Decimal128('1.0') are one group.
 */
import { encodeValue } from '../model/key.ts'
import { isExactDouble, toDouble } from '../model/numbers.ts'
import { type Numeric, Type, typeOf } from '../model/types.ts'

/** By which a Map tells values apart. */
export type GroupKey = string | number | boolean | null

/** Before the bytes of an encoded key: no other text that is a key begins with it. */
const encodedMark = '\u0000'

/**
 * @param value missing is null
 * @throws PetalError BadValue for values that no document may hold, and those nested more than 100 levels deep
 */
export function groupKey(value: unknown): GroupKey {
  // A Map takes -0 for 0, and NaN for itself.
  if (typeof value === 'number' || typeof value === 'boolean') return value
  if (typeof value === 'string') return value.startsWith(encodedMark) ? encoded(value) : value
  if (value === undefined || value === null) return null
  if (typeOf(value) === Type.number && isExactDouble(value as Numeric)) return toDouble(value as Numeric)
  return encoded(value)
}

/** Makes of each byte another character. */
const decoder = new TextDecoder('latin1')

function encoded(value: unknown): string {
  return encodedMark + decoder.decode(encodeValue(value))
}
