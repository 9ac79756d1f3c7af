/**
 * The canonical form of a scalar: hashed by the index and compared by private rows.
 *
 * Invariant: two scalars that MongoDB considers equal have the same form. The converse holds if both are `exact`.
 */
import type { Binary } from 'bson'
import { timeOf } from './date.ts'
import { isExactDouble, toDouble } from './numbers.ts'
import { objectIdDigits } from './object-id.ts'
import { isRegExp, type Numeric, Type, type TypeCode, typeOf } from './types.ts'

export interface Scalar {
  readonly type: TypeCode
  /** A double for numbers, dates (milliseconds), booleans (0, 1) and null (0); text for every other type. */
  readonly key: number | string
  /** False for a number that is not exactly a double: equal forms do not prove equal values. */
  readonly exact: boolean
}

/** The canonical form, or undefined for objects, arrays, undefined and unsupported values. */
export function toScalar(value: unknown): Scalar | undefined {
  const type = typeOf(value)
  switch (type) {
    case Type.number:
      return { type, key: toDouble(value as Numeric), exact: isExactDouble(value as Numeric) }
    case Type.string:
      return { type, key: typeof value === 'string' ? value : String(value), exact: true }
    case Type.bool:
      return { type, key: value ? 1 : 0, exact: true }
    case Type.null:
    case Type.minKey:
    case Type.maxKey:
      return { type, key: 0, exact: true }
    case Type.date:
      return { type, key: timeOf(value), exact: true }
    case Type.binData:
    case Type.objectId:
    case Type.timestamp:
    case Type.regex:
    case Type.javascript:
      return { type, key: specialKey(type, value as object), exact: true }
    default:
      return undefined
  }
}

/** The form as text, as a Map or Set key. */
export function formOf({ type, key }: Scalar): string {
  return `${type}:${key}`
}

/** A text that is equal exactly for equal values of one of the rarer types. */
export function specialKey(type: TypeCode, value: object): string {
  switch (type) {
    case Type.objectId:
      return objectIdDigits(value)
    case Type.binData:
      return binaryKey(value as Bytes)
    case Type.timestamp:
      return String(value)
    case Type.regex: {
      const { source, flags } = regexParts(value as RegExp)
      return `/${source}/${flags}`
    }
    case Type.javascript:
      return String((value as { code: unknown }).code)
    default:
      throw new TypeError(`no special key for type ${type}`)
  }
}

/** Pattern and flags of a RegExp or BSONRegExp, flags sorted as BSON stores them. */
export function regexParts(value: RegExp | { readonly pattern: string; readonly options: string }): {
  source: string
  flags: string
} {
  if (isRegExp(value)) {
    // BSON cannot represent JavaScript's g, y, d, v: they control the caller's own matching, not the pattern.
    return { source: value.source, flags: [...value.flags].filter((flag) => 'imsux'.includes(flag)).join('') }
  }
  return { source: value.pattern, flags: [...value.options].sort().join('') }
}

/** Binary data, including a Binary of npm bson before version 6, whose value() returns a string. */
type Bytes = Uint8Array | Pick<Binary, 'sub_type' | 'buffer' | 'position'>

/** Subtype and bytes of a Uint8Array (subtype 0) or Binary. */
export function binaryParts(value: Bytes): {
  subtype: number
  bytes: Uint8Array
} {
  if (value instanceof Uint8Array) return { subtype: 0, bytes: value }
  return { subtype: value.sub_type, bytes: value.buffer.subarray(0, value.position) }
}

function binaryKey(value: Bytes): string {
  const { subtype, bytes } = binaryParts(value)
  let text = `${subtype}:`
  for (const byte of bytes) text += String.fromCharCode(byte)
  return text
}
