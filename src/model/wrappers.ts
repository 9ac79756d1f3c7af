/**
 * Converts values that JSON cannot represent to Extended JSON v2 wrapper objects (`{"$date": …}`), and back.
 *
 * A document may itself hold an object that looks like a wrapper: `{ "$date": 1 }` is a legal value. Extended JSON has
 * no notation for it, so we define one: such an object is written with one more `$` in front of its first key,
 * `{ "$$date": 1 }`, and reading removes one. Objects with `$` keys that are not wrapper keys are written as they are.
 *
 * Invariants:
 * 1. unwrap(JSON.parse(JSON.stringify(wrap(value)))) is value, with Long as bigint, Int32 and Double as number,
 *    BSONSymbol as string, class instances as plain objects, undefined dropped (null in arrays).
 * 2. wrap never changes its argument and shares parts that need no wrapper; unwrap works in place.
 * 3. Neither creates an object with a foreign prototype.
 */
import { type Binary, type BSONRegExp, type Code, Decimal128, type Timestamp } from 'bson'
import { timeOf } from './date.ts'
import { maxDepth, tooDeep } from './depth.ts'
import { PetalError } from './errors.ts'
import { unwrapNumber } from './numbers.ts'
import { objectIdDigits } from './object-id.ts'
import { binaryParts, regexParts } from './scalar.ts'
import { type Document, type Numeric, Type, typeNames, typeOf } from './types.ts'
import { base64Of, readWrapper } from './wrapper-reader.ts'

/**
 * - `stored`: values that JSON can represent are bare, others have canonical wrappers.
 * - `relaxed`: as stored, but dates of the years 1970 to 9999 are ISO 8601 text, and numbers that parseJson would read
 *   as 64-bit integers are wrapped.
 * - `canonical`: every number states its kind.
 */
export type WrapStyle = 'stored' | 'relaxed' | 'canonical'

const dollar = 36
const maxExactInteger = Number.MAX_SAFE_INTEGER + 1
const maxInt64 = 2n ** 63n - 1n
const lastIsoTime = Date.UTC(10_000, 0, 1) - 1

/** Keys of the single-key wrappers. */
const singleKeys: ReadonlySet<string> = new Set([
  '$oid',
  '$date',
  '$numberInt',
  '$numberLong',
  '$numberDouble',
  '$numberDecimal',
  '$binary',
  '$uuid',
  '$regularExpression',
  '$timestamp',
  '$minKey',
  '$maxKey',
  '$code',
  '$symbol',
  '$undefined'
])

/** Wrappers with two keys: first key → second key. */
const pairedKeys: ReadonlyMap<string, string> = new Map([
  ['$code', '$scope'],
  ['$scope', '$code'],
  ['$binary', '$type'],
  ['$type', '$binary']
])

/** Converts a value for JSON.stringify to write in this style. */
export function wrap(value: unknown, style: WrapStyle, depth = 0): unknown {
  switch (typeof value) {
    case 'string':
    case 'boolean':
    case 'undefined':
      return value
    case 'number':
      return wrapNumber(value, style)
    case 'bigint':
      return wrapInt64(value)
    case 'object':
      return value === null ? null : wrapObject(value, style, depth)
    default:
      throw unsupported(typeof value)
  }
}

/** Converts the wrappers in a tree from JSON.parse to values; returns the tree. */
export function unwrap(value: unknown, depth = 0): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (depth > maxDepth) throw tooDeep('A value')
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const element: unknown = value[i]
      if (typeof element === 'object' && element !== null) value[i] = unwrap(element, depth + 1)
    }
    return value
  }
  const object = value as Document
  const keys = Object.keys(object)
  const first = keys[0]
  if (first !== undefined && first.charCodeAt(0) === dollar && looksLikeWrapper(first, keys[1], keys.length)) {
    return first.charCodeAt(1) === dollar ? readEscaped(object, keys, depth) : readWrapper(object, first, depth, unwrap)
  }
  for (const key of keys) {
    if (key === '__proto__') throw protoKey()
    const field = object[key]
    if (typeof field === 'object' && field !== null) object[key] = unwrap(field, depth + 1)
  }
  return object
}

/** True if the keys are those of a wrapper, regardless of the number of `$` at the start of the first one. */
function looksLikeWrapper(first: string, second: string | undefined, count: number): boolean {
  if (count > 2) return false
  const name = first.charCodeAt(1) === dollar ? first.replace(/^\$+/, '$') : first
  return count === 1 ? singleKeys.has(name) : pairedKeys.get(name) === second
}

function readEscaped(object: Document, keys: readonly string[], depth: number): Document {
  const plain: Document = {}
  keys.forEach((key, i) => {
    plain[i === 0 ? key.slice(1) : key] = unwrap(object[key], depth + 1)
  })
  return plain
}

function wrapObject(value: object, style: WrapStyle, depth: number): unknown {
  if (depth > maxDepth) throw tooDeep('A value')
  const type = typeOf(value)
  switch (type) {
    case Type.object:
      return wrapFields(value as Document, style, depth)
    case Type.array:
      return wrapElements(value as readonly unknown[], style, depth)
    case Type.number:
      return wrapBoxedNumber(value as Numeric, style)
    case Type.string:
      return String(value)
    case Type.objectId:
      return { $oid: objectIdDigits(value) }
    case Type.date:
      return wrapDate(value as Date, style)
    case Type.binData:
      return wrapBinary(value as Uint8Array | Binary)
    case Type.regex: {
      const { source, flags } = regexParts(value as RegExp | BSONRegExp)
      return { $regularExpression: { pattern: source, options: flags } }
    }
    case Type.timestamp: {
      const stamp = value as Timestamp
      return { $timestamp: { t: stamp.getHighBitsUnsigned(), i: stamp.getLowBitsUnsigned() } }
    }
    case Type.javascript: {
      const { code, scope } = value as Code
      return scope == null ? { $code: code } : { $code: code, $scope: wrap(scope, style, depth + 1) }
    }
    case Type.minKey:
      return { $minKey: 1 }
    case Type.maxKey:
      return { $maxKey: 1 }
    default:
      throw unsupported(typeNames[type])
  }
}

function wrapFields(object: Document, style: WrapStyle, depth: number): Document {
  // Copy if a field needs a wrapper, or if the object's class may get special treatment by JSON.stringify.
  const prototype: unknown = Object.getPrototypeOf(object)
  let copy: Document | undefined = prototype === Object.prototype || prototype === null ? undefined : {}
  let count = 0
  let first = ''
  let second = ''
  const keys = Object.keys(object)
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i]!
    if (key === '__proto__') throw protoKey()
    const field = object[key]
    if (field === undefined) continue
    if (count === 0) first = key
    else if (count === 1) second = key
    count++
    const wrapped = wrap(field, style, depth + 1)
    if (copy === undefined && wrapped !== field) copy = copyFields(object, keys, i)
    if (copy !== undefined) copy[key] = wrapped
  }
  if (first.charCodeAt(0) !== dollar || !looksLikeWrapper(first, second, count)) return copy ?? object
  const fields = copy ?? object
  return count === 1 ? { [`$${first}`]: fields[first] } : { [`$${first}`]: fields[first], [second]: fields[second] }
}

function copyFields(object: Document, keys: readonly string[], count: number): Document {
  const copy: Document = {}
  for (let i = 0; i < count; i++) copy[keys[i]!] = object[keys[i]!]
  return copy
}

function wrapElements(array: readonly unknown[], style: WrapStyle, depth: number): readonly unknown[] {
  let copy: unknown[] | undefined
  for (let i = 0; i < array.length; i++) {
    const wrapped = wrap(array[i], style, depth + 1)
    if (copy === undefined && wrapped !== array[i]) copy = array.slice(0, i)
    if (copy !== undefined) copy[i] = wrapped
  }
  return copy ?? array
}

function wrapNumber(value: number, style: WrapStyle): unknown {
  if (style === 'canonical') {
    if ((value | 0) === value && !Object.is(value, -0)) return { $numberInt: String(value) }
    return { $numberDouble: doubleText(value) }
  }
  if (!Number.isFinite(value) || Object.is(value, -0)) return { $numberDouble: doubleText(value) }
  const looksLikeInt64 = style === 'relaxed' && Math.abs(value) > maxExactInteger && Number.isInteger(value)
  return looksLikeInt64 ? { $numberDouble: doubleText(value) } : value
}

function doubleText(value: number): string {
  if (Object.is(value, -0)) return '-0.0'
  const text = String(value)
  return Number.isInteger(value) && !text.includes('e') ? `${text}.0` : text
}

function wrapInt64(value: bigint): unknown {
  if (value > maxInt64 || value < -maxInt64 - 1n) {
    throw new PetalError('BadValue', `The integer ${value} does not fit in 64 bits`)
  }
  return { $numberLong: String(value) }
}

function wrapBoxedNumber(value: Numeric, style: WrapStyle): unknown {
  const plain = unwrapNumber(value)
  return plain instanceof Decimal128 ? { $numberDecimal: plain.toString() } : wrap(plain, style)
}

function wrapDate(value: Date, style: WrapStyle): unknown {
  const time = timeOf(value)
  if (Number.isNaN(time)) throw new PetalError('BadValue', 'An invalid Date cannot be stored')
  if (style !== 'relaxed' || time < 0 || time > lastIsoTime) return { $date: { $numberLong: String(time) } }
  return { $date: new Date(time).toISOString().replace('.000Z', 'Z') }
}

function wrapBinary(value: Uint8Array | Binary): unknown {
  const { subtype, bytes } = binaryParts(value)
  // One hexadecimal digit marks a Uint8Array, two a Binary: other readers accept both as subtype 0, and ours tells
  // them apart.
  const subType = value instanceof Uint8Array ? '0' : subtype.toString(16).padStart(2, '0')
  return { $binary: { base64: base64Of(bytes), subType } }
}

function unsupported(type: string): PetalError {
  return new PetalError('BadValue', `A document cannot hold a value of type ${type}`)
}

function protoKey(): PetalError {
  return new PetalError('BadValue', "A document may not have the key '__proto__'")
}
