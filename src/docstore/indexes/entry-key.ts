/**
 * Keys of index entries.
 *
 * | index      | key                                  | value            |
 * | ---------- | ------------------------------------ | ---------------- |
 * | unique     | value of each field                  | ordinal, 8 bytes |
 * | others     | value of each field, ordinal         | none             |
 * | every      | one byte 00                          | its arrays, 4 bytes |
 *
 * Values are encoded by encodeKey(), with every bit inverted for a descending field; an empty array is one byte between
 * MinKey and null. A missing value is null.
 *
 * Invariants:
 * 1. The byte order of keys is the order of their values in the index.
 * 2. No value's bytes are a prefix of another's: fields need no separator.
 * 3. No key starts with 00 or FF: the record of the arrays is below all of them.
 */
import { encodeKeyAt } from '../../model/key.ts'
import { emptyArray, type SortKey } from '../../query/sort-key.ts'
import { ordinalSuffix } from '../store/layout.ts'
import type { IndexField } from './definition.ts'

const ordinalBytes = 8
const emptyArrayKey = new Uint8Array([0x0c])

/** Key of the record of an index's arrays. */
export const arraysKey = new Uint8Array([0])
/** Below every entry, and above the record of the arrays. */
export const firstEntry = new Uint8Array([1])

/**
 * Returns the part of an entry's key that encodes the fields. @throws PetalError BadValue for a value that no key can
 * hold
 */
export function valuesKey(fields: readonly IndexField[], values: SortKey): Uint8Array {
  const [only] = fields
  if (fields.length === 1 && only !== undefined) return fieldKey(only, values[0])
  return concat(fields.map((field, i) => fieldKey(field, values[i])))
}

function fieldKey({ path, direction }: IndexField, value: unknown): Uint8Array {
  const key = value === emptyArray ? emptyArrayKey : encodeKeyAt(path, value ?? null)
  return direction === 1 ? key : invertBits(key)
}

/** Inverts every bit, which reverses the sort order. */
export function invertBits(key: Uint8Array): Uint8Array {
  const result = new Uint8Array(key.length)
  for (let i = 0; i < key.length; i++) result[i] = ~key[i]!
  return result
}

/** Returns the least byte string above all strings with this prefix; undefined if there is none. */
export function prefixEnd(prefix: Uint8Array): Uint8Array | undefined {
  let length = prefix.length
  while (length > 0 && prefix[length - 1] === 0xff) length--
  if (length === 0) return undefined
  const end = prefix.slice(0, length)
  end[length - 1]! += 1
  return end
}

export function withOrdinal(values: Uint8Array, ordinal: number): Uint8Array {
  return concat([values, ordinalSuffix(ordinal)])
}

/** Returns the ordinal as the value of a unique index's entry. */
export function ordinalValue(ordinal: number): Uint8Array {
  return ordinalSuffix(ordinal).slice()
}

/** Reads the ordinal at the end of a key, or from a value. REQUIRES: at least 8 bytes. */
export function ordinalAtEnd(bytes: Uint8Array): number {
  const at = bytes.length - ordinalBytes
  let ordinal = 0
  for (let i = at; i < bytes.length; i++) ordinal = ordinal * 256 + bytes[i]!
  return ordinal
}

export function concat(parts: readonly Uint8Array[]): Uint8Array {
  let length = 0
  for (const part of parts) length += part.length
  const whole = new Uint8Array(length)
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
