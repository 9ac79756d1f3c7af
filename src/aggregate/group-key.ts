/**
 * Keys of groups. Two keys are equal exactly if MongoDB considers the values equal, so 1, 1n and Decimal128('1.0') form
 * one group.
 */
import { PetalError } from '../model/errors.ts'
import { encodeValue } from '../model/key.ts'
import { isExactDouble, toDouble } from '../model/numbers.ts'
import { type Numeric, Type, typeOf } from '../model/types.ts'

/** A key for a Map. */
export type GroupKey = string | number | boolean | null

/** Prefix of encoded keys; string values that start with it are encoded themselves. */
const encodedMark = '\u0000'

/**
 * @param value missing counts as null
 * @throws PetalError BadValue for values that no document may hold, nested more than 100 levels deep, or too large
 */
export function groupKey(value: unknown): GroupKey {
  // A Map treats -0 as 0, and NaN as equal to itself.
  if (typeof value === 'number' || typeof value === 'boolean') return value
  if (typeof value === 'string') return value.startsWith(encodedMark) ? encoded(value) : value
  if (value === undefined || value === null) return null
  if (typeOf(value) === Type.number && isExactDouble(value as Numeric)) return toDouble(value as Numeric)
  return encoded(value)
}

/** Maps each byte to a distinct character. */
const decoder = new TextDecoder('latin1')

/** Where V8 has no room for the text, the decoder ends the process instead of throwing. */
const maxKeyBytes = 2 ** 28

function encoded(value: unknown): string {
  const bytes = encodeValue(value)
  if (bytes.length > maxKeyBytes) {
    const limit = `at most ${maxKeyBytes} bytes`
    throw new PetalError(
      'BadValue',
      `Values are grouped and compared in sets if they have ${limit}, not ${bytes.length}`
    )
  }
  return encodedMark + decoder.decode(bytes)
}
