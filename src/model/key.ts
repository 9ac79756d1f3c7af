/**
 * Encodes values as keys of an ordered store: `_id`s, and later composite keys.
 *
 * Invariants:
 * 1. Exact: two values have the same key if and only if MongoDB considers them equal (1 = 1n = Decimal128('1.0'),
 *    while 2^53 and 2n ** 53n + 1n differ).
 * 2. Ordered: keys sort by bytes as compareValues sorts the values.
 * 3. Self-delimiting: no key is a proper prefix of another.
 *
 * The format is part of the database format: one tag byte in the order of types, then
 *
 * | type        | bytes                                                                                          |
 * | ----------- | ---------------------------------------------------------------------------------------------- |
 * | number      | nearest double, sortable; 80 if that is the number itself, else 40 (below) or C0 (above)       |
 * |             | and the decimal digits                                                                         |
 * | string      | WTF-8, 00 and 01 written as 01 01 and 01 02; ended by 00                                       |
 * | object      | per field: tag of the value, name, value; ended by 00                                          |
 * | array       | values; ended by 00                                                                            |
 * | binData     | length (4 bytes), subtype, bytes                                                               |
 * | others      | fixed length, or texts ended by 00                                                             |
 */
import type { Decimal128, ObjectId, Timestamp } from 'bson'
import { timeOf } from './date.ts'
import { normaliseDecimal, toDecimal } from './decimal.ts'
import { PetalError } from './errors.ts'
import { KeyTooLongError, KeyWriter } from './key-writer.ts'
import { compareNumbers, unwrapNumber } from './numbers.ts'
import { objectIdBytes } from './object-id.ts'
import { binaryParts, regexParts } from './scalar.ts'
import { type Document, describeType, type Numeric, Type, type TypeCode, typeNames, typeOf } from './types.ts'

const maxDepth = 100
export const numberKeyBytes = 10
/** Bytes that the key of a printable ASCII text has in addition to the text. */
export const textKeyBytes = 2
export const objectIdKeyBytes = 13

/** Position of an inexact number relative to its nearest double. */
const Side = { below: 0x40, exact: 0x80, above: 0xc0 } as const

const writer = new KeyWriter()
const doubleView = new DataView(new ArrayBuffer(8))

/**
 * The key of a value.
 * @throws PetalError BadValue for undefined, a value no document can hold, or a key above 1 MiB
 * @example
 * encodeKey(1)             // equal bytes to encodeKey(1n) and encodeKey(Long.ONE)
 * encodeKey('a') < encodeKey('b')   // by bytes
 */
export function encodeKey(value: unknown): Uint8Array {
  if (typeof value === 'number') return numberKey(value)
  if (typeof value === 'object' && typeOf(value) === Type.objectId) return objectIdKey(value as ObjectId)
  writer.reset()
  write(value, 0)
  return writer.finish()
}

/** As encodeKey(), of the value at a path of a document, which the error for a key above 1 MiB names. */
export function encodeKeyAt(path: string, value: unknown): Uint8Array {
  try {
    return encodeKey(value)
  } catch (error) {
    throw error instanceof KeyTooLongError ? new KeyTooLongError({ path, type: describeType(value) }) : error
  }
}

/** As encodeKey(); undefined for a value too long for a key, which equals no value that has one. */
export function tryEncodeKey(value: unknown): Uint8Array | undefined {
  try {
    return encodeKey(value)
  } catch (error) {
    if (error instanceof KeyTooLongError) return undefined
    throw error
  }
}

/** As encodeKey(), of any length: for telling values apart, not for storing. */
export function encodeValue(value: unknown): Uint8Array {
  writer.reset(Number.POSITIVE_INFINITY)
  write(value, 0)
  return writer.finish()
}

/**
 * Rejects what MongoDB rejects as an `_id`.
 * @throws PetalError BadValue for undefined, arrays, regular expressions and unsupported values,
 * DollarPrefixedFieldName for an object with a key that begins with `$`
 */
export function checkId(id: unknown): void {
  const type = typeOf(id)
  switch (type) {
    case Type.unsupported:
      throw new PetalError('BadValue', `can't use a value of type ${describeType(id)} for _id`, {
        details: { path: '_id' }
      })
    case Type.array:
    case Type.regex:
    case Type.undefined: {
      const article = type === Type.regex ? 'a' : 'an'
      throw new PetalError('BadValue', `can't use ${article} ${typeNames[type]} for _id`, { details: { path: '_id' } })
    }
    case Type.object:
      for (const key of Object.keys(id as object)) {
        if (!key.startsWith('$')) continue
        throw new PetalError('DollarPrefixedFieldName', `_id may not contain the '$'-prefixed field '${key}'`, {
          details: { path: `_id.${key}` }
        })
      }
  }
}

function tagOf(type: TypeCode): number {
  return (type + 1) << 3
}

const numberTag = tagOf(Type.number)
const textTag = tagOf(Type.string)
const objectIdTag = tagOf(Type.objectId)

function numberKey(value: number): Uint8Array {
  const key = new Uint8Array(numberKeyBytes)
  writeNumberKey(key, 0, value)
  return key
}

/** Writes encodeKey() of a number, `numberKeyBytes` long, to target[at, …). @returns the end offset */
export function writeNumberKey(target: Uint8Array, at: number, value: number): number {
  const end = at + numberKeyBytes
  target[at] = numberTag
  target[end - 1] = Side.exact
  if (Number.isNaN(value)) {
    target.fill(0, at + 1, end - 1)
    return end
  }
  doubleView.setFloat64(0, value + 0)
  const flip = doubleView.getInt8(0) < 0 ? 0xff : 0
  for (let i = 0; i < 8; i++) target[at + 1 + i] = doubleView.getUint8(i) ^ flip
  if (flip === 0) target[at + 1]! |= 0x80
  return end
}

/**
 * Writes encodeKey() of a printable ASCII text, bytes[start, end), to target[at, …): `textKeyBytes` longer than the
 * text.
 * @returns the end offset
 */
export function writeAsciiKey(target: Uint8Array, at: number, bytes: Uint8Array, start: number, end: number): number {
  let to = at
  target[to++] = textTag
  for (let from = start; from < end; from++) target[to++] = bytes[from]!
  target[to++] = 0
  return to
}

function objectIdKey(value: ObjectId): Uint8Array {
  const key = new Uint8Array(objectIdKeyBytes)
  key[0] = objectIdTag
  key.set(objectIdBytes(value), 1)
  return key
}

/**
 * Writes encodeKey() of an ObjectId, `objectIdKeyBytes` long, to target[at, …).
 * @param bytes its hexadecimal digits in ASCII, starting at `start`
 * @returns the end offset
 */
export function writeObjectIdKey(target: Uint8Array, at: number, bytes: Uint8Array, start: number): number {
  const end = at + objectIdKeyBytes
  target[at] = objectIdTag
  for (let to = at + 1, from = start; to < end; to++, from += 2) {
    target[to] = (digitOf(bytes[from]!) << 4) | digitOf(bytes[from + 1]!)
  }
  return end
}

/** @param code of a hexadecimal digit: letters, of either case, have bit 6 */
function digitOf(code: number): number {
  return (code & 0xf) + 9 * (code >>> 6)
}

function write(value: unknown, depth: number): void {
  if (depth > maxDepth) throw new PetalError('BadValue', `A key may be nested at most ${maxDepth} levels deep`)
  const type = typeOf(value)
  writer.byte(tagOf(type))
  switch (type) {
    case Type.minKey:
    case Type.maxKey:
    case Type.null:
      return
    case Type.number:
      writeNumber(value as Numeric)
      return
    case Type.string:
      writer.text(String(value))
      return
    case Type.object:
      writeObject(value as Document, depth)
      return
    case Type.array:
      for (const element of value as readonly unknown[]) write(element === undefined ? null : element, depth + 1)
      writer.terminate()
      return
    case Type.binData: {
      const { subtype, bytes } = binaryParts(value as Uint8Array)
      writer.uint32(bytes.length)
      writer.byte(subtype)
      writer.raw(bytes)
      return
    }
    case Type.objectId:
      writer.raw(objectIdBytes(value))
      return
    case Type.bool:
      writer.byte(value === true ? 1 : 0)
      return
    case Type.date:
      writer.double(timeOf(value) + 0)
      return
    case Type.timestamp:
      writer.uint32((value as Timestamp).getHighBitsUnsigned())
      writer.uint32((value as Timestamp).getLowBitsUnsigned())
      return
    case Type.regex: {
      const { source, flags } = regexParts(value as RegExp)
      writer.text(source)
      writer.text(flags)
      return
    }
    case Type.javascript:
      writeCode(value as { readonly code: unknown; readonly scope?: unknown }, depth)
      return
    case Type.undefined:
    case Type.unsupported:
      throw new PetalError('BadValue', `A key cannot hold a value of type ${describeType(value)}`)
    default:
      throw new PetalError('InternalError', `No key encoding for type code ${type satisfies never}`)
  }
}

function writeObject(value: Document, depth: number): void {
  for (const key of Object.keys(value)) {
    const field = value[key]
    if (field === undefined) continue
    // MongoDB compares the types of two fields before their names.
    writer.byte(tagOf(typeOf(field)))
    writer.text(key)
    write(field, depth + 1)
  }
  writer.terminate()
}

/** Code with a scope sorts after all code without. */
function writeCode(value: { readonly code: unknown; readonly scope?: unknown }, depth: number): void {
  const hasScope = value.scope !== undefined && value.scope !== null
  writer.byte(hasScope ? 1 : 0)
  writer.text(String(value.code))
  if (hasScope) write(value.scope, depth + 1)
}

function writeNumber(value: Numeric): void {
  const plain = unwrapNumber(value)
  const nearest = Number(String(plain)) + 0
  writer.double(nearest)
  const difference = typeof plain === 'number' ? 0 : compareNumbers(plain, nearest)
  if (difference === 0) {
    writer.byte(Side.exact)
    return
  }
  const decimal = toDecimal(plain as bigint | Decimal128)
  if (decimal === undefined) throw new PetalError('InternalError', `No decimal digits in ${String(value)}`)
  writer.byte(difference < 0 ? Side.below : Side.above)
  const { isNegative, digits, power } = normaliseDecimal(decimal)
  // Numbers with the same nearest double are ordered by their digits; negative ones in reverse.
  const flip = isNegative ? 0xff : 0
  const biased = power + 0x8000
  if (biased < 0 || biased > 0xffff) throw new PetalError('BadValue', 'A key cannot hold an integer of that size')
  writer.byte((biased >> 8) ^ flip)
  writer.byte((biased & 0xff) ^ flip)
  for (let i = 0; i < digits.length; i++) writer.byte((digits.charCodeAt(i) - 47) ^ flip)
  writer.byte(0 ^ flip)
}
