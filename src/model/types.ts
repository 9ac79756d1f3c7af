/**
 * The value model: the JavaScript values that a document may hold, and their BSON types.
 *
 * Type codes are small integers in MongoDB's comparison order, so comparing codes compares types.
 */
import type { Decimal128, Double, Int32, Long } from 'bson'

/** BSON types in comparison order. `unsupported` is a value that no document may hold. */
export const Type = {
  minKey: 0,
  null: 1,
  number: 2,
  string: 3,
  object: 4,
  array: 5,
  binData: 6,
  objectId: 7,
  bool: 8,
  date: 9,
  timestamp: 10,
  regex: 11,
  javascript: 12,
  maxKey: 13,
  undefined: 14,
  unsupported: 15
} as const

export type TypeCode = (typeof Type)[keyof typeof Type]

/** Name of each type code, index = code. */
export const typeNames = [
  'minKey',
  'null',
  'number',
  'string',
  'object',
  'array',
  'binData',
  'objectId',
  'bool',
  'date',
  'timestamp',
  'regex',
  'javascript',
  'maxKey',
  'undefined',
  'unsupported'
] as const

/** Every kind of number a document may hold. */
export type Numeric = number | bigint | Long | Int32 | Double | Decimal128

/** A document: own enumerable string keys and values of the types above. */
export type Document = Record<string, unknown>

/**
 * The type of a value. Never throws; does not look inside containers. Successive comparisons of typeof are faster than
 * a switch over it.
 */
export function typeOf(value: unknown): TypeCode {
  if (typeof value === 'object') return value === null ? Type.null : typeOfObject(value)
  if (typeof value === 'string') return Type.string
  if (typeof value === 'number' || typeof value === 'bigint') return Type.number
  if (typeof value === 'boolean') return Type.bool
  return value === undefined ? Type.undefined : Type.unsupported
}

function typeOfObject(value: object): TypeCode {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === Object.prototype) return Type.object
  if (Array.isArray(value)) return Type.array
  if (prototype === null) return Type.object
  const bsonType: unknown = (value as { _bsontype?: unknown })._bsontype
  if (typeof bsonType === 'string') return bsonTypeCode(bsonType)
  if (value instanceof Date) return Type.date
  if (value instanceof RegExp) return Type.regex
  if (value instanceof Uint8Array) return Type.binData
  if (isForeign(value)) return Type.unsupported
  if (isOfOtherRealm(value, 'Date')) return Type.date
  return isOfOtherRealm(value, 'RegExp') ? Type.regex : Type.object
}

/** Whether a value is a RegExp, possibly of another realm. */
export function isRegExp(value: unknown): value is RegExp {
  return value instanceof RegExp || (typeof value === 'object' && value !== null && isOfOtherRealm(value, 'RegExp'))
}

/**
 * Whether a value is of a built-in class of another realm: under Jest the Dates that Node creates, as in the result of
 * stat(). Only an object without a name of its own reliably reports its class.
 */
function isOfOtherRealm(value: object, name: 'Date' | 'RegExp'): boolean {
  return Object.prototype.toString.call(value) === `[object ${name}]` && !(Symbol.toStringTag in value)
}

function bsonTypeCode(bsonType: string): TypeCode {
  switch (bsonType) {
    case 'ObjectId':
      return Type.objectId
    case 'Long':
    case 'Int32':
    case 'Double':
    case 'Decimal128':
      return Type.number
    case 'Binary':
      return Type.binData
    case 'Timestamp':
      return Type.timestamp
    case 'BSONRegExp':
      return Type.regex
    case 'BSONSymbol':
      return Type.string
    case 'Code':
      return Type.javascript
    case 'MinKey':
      return Type.minKey
    case 'MaxKey':
      return Type.maxKey
    default:
      return Type.unsupported
  }
}

/**
 * Whether a value holds something outside its own enumerable keys, which it would lose if stored as an object: built-in
 * containers, and whatever has no key but a `Symbol.toStringTag`, such as URLs, blobs, generators, and Maps of another
 * realm.
 */
function isForeign(value: object): boolean {
  return (
    (Symbol.toStringTag in value && Object.keys(value).length === 0) ||
    value instanceof Map ||
    value instanceof Set ||
    value instanceof WeakMap ||
    value instanceof WeakSet ||
    value instanceof Promise ||
    value instanceof Error ||
    value instanceof Number ||
    value instanceof String ||
    value instanceof Boolean ||
    value instanceof ArrayBuffer ||
    ArrayBuffer.isView(value)
  )
}

/** The class of an object or, if that has no name, what the object calls itself: an iterator is an Array Iterator. */
export function className(value: object): string {
  const name: unknown = (value as { readonly constructor?: { readonly name?: unknown } }).constructor?.name
  return typeof name === 'string' && name !== '' && name !== 'Object'
    ? name
    : Object.prototype.toString.call(value).slice('[object '.length, -1)
}

/** Names a value's type for messages. */
export function describeType(value: unknown): string {
  if (typeof value === 'function' || typeof value === 'symbol') return typeof value
  if (typeof value !== 'object' || value === null) return typeNames[typeOf(value)]
  const prototype: unknown = Object.getPrototypeOf(value)
  if (Array.isArray(value) || prototype === null || prototype === Object.prototype) return typeNames[typeOf(value)]
  return className(value)
}

/** True for an object whose keys a path may descend into. */
export function isPlainObject(value: unknown): value is Document {
  return typeOf(value) === Type.object
}
