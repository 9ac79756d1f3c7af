/** `$type`, `$convert` and its shorthands: the types of values, and conversions between them. */
import { type Code, calculateObjectSize, Decimal128, ObjectId, type Timestamp } from 'bson'
import { parseDecimal, toDecimal128 } from '../../model/decimal.ts'
import { truncateToInt64 } from '../../model/integers.ts'
import { unwrapNumber } from '../../model/numbers.ts'
import { binaryParts } from '../../model/scalar.ts'
import { type Document, isPlainObject, type Numeric, Type, typeNames, typeOf } from '../../model/types.ts'
import { isNil, isTruthy } from '../expression-values.ts'
import { DateError, parseDate } from './date-parsing.ts'
import { instantIn, isoText } from './date-values.ts'
import { numberText } from './number-text.ts'
import { describe, fieldsOf, isNumber, type Operators, unary } from './operator.ts'

/** Exceeds the power of ten of any Decimal128. */
const maxPower = 7000

/** A value that cannot be converted; `onError` is for these errors only, as in MongoDB. */
class ConversionError extends TypeError {}

/** Smaller doubles have fewer digits. */
const leastNormal = 2 ** -1022

type Conversion = (value: unknown) => unknown

/** Conversions by type name and number, of values that are neither null nor missing. */
const conversions: readonly (readonly [name: string, code: number, convert: Conversion])[] = [
  ['double', 1, toDouble],
  ['string', 2, toText],
  ['objectId', 7, toObjectId],
  ['bool', 8, (value) => (!isNumber(value) && typeof value !== 'boolean' ? true : isTruthy(value))],
  ['date', 9, toDate],
  ['int', 16, toInt],
  ['long', 18, toLong],
  ['decimal', 19, toDecimal]
]
const byName = new Map<unknown, Conversion>(
  conversions.flatMap(([name, code, convert]) => [
    [name, convert],
    [code, convert]
  ])
)
/** Types that exist but cannot be converted to, by name and by number. */
const unreachable: ReadonlySet<unknown> = new Set([
  ...['minKey', 'missing', 'object', 'array', 'binData', 'undefined', 'null', 'regex', 'dbPointer', 'javascript'],
  ...['symbol', 'javascriptWithScope', 'timestamp', 'maxKey', -1, 0, 3, 4, 5, 6, 10, 11, 12, 13, 14, 15, 17, 127]
])
const shortForms = conversions.map(([type, , convert]) => {
  const name = `$to${type.charAt(0).toUpperCase()}${type.slice(1)}`
  return [name, unary((value) => (isNil(value) ? null : converted(value, convert, name)))] as const
})

export const conversionOperators: Operators = {
  ...Object.fromEntries(shortForms),
  $convert: (argument, compiler, name) => {
    const fields = fieldsOf(argument, name, ['input', 'to'], ['onError', 'onNull'])
    const input = compiler.compile(fields.input)
    const to = compiler.compile(fields.to)
    const onNull = compiler.compile(fields.onNull ?? null)
    const onError = Object.hasOwn(fields, 'onError') ? compiler.compile(fields.onError) : undefined
    return (document) => {
      const value = input(document)
      const convert = conversionTo(to(document), name)
      if (isNil(value)) return onNull(document)
      if (convert === undefined) return null
      try {
        return converted(value, convert, name)
      } catch (error) {
        if (onError === undefined || !(error instanceof ConversionError)) throw error
        return onError(document)
      }
    }
  },
  $type: unary(typeName),
  $isNumber: unary(isNumber),
  $binarySize: unary((value, name) => {
    if (isNil(value)) return null
    if (typeOf(value) === Type.string) return new TextEncoder().encode(String(value)).length
    if (typeOf(value) === Type.binData) return binaryParts(value as Uint8Array).bytes.length
    throw new TypeError(`${name} takes a string or binary data, got ${describe(value)}`)
  }),
  $bsonSize: unary((value, name) => {
    if (isNil(value)) return null
    if (isPlainObject(value)) return calculateObjectSize(value)
    throw new TypeError(`${name} takes an object, got ${describe(value)}`)
  }),
  $tsSecond: unary((value, name) => partOf(value, name, 't')),
  $tsIncrement: unary((value, name) => partOf(value, name, 'i'))
}

/** @throws ConversionError that names the operator */
function converted(value: unknown, convert: Conversion, name: string): unknown {
  try {
    return convert(value)
  } catch (error) {
    if (!(error instanceof ConversionError || error instanceof DateError)) throw error
    throw new ConversionError(`${name}: ${error.message}`)
  }
}

/** Returns undefined if the type is null or missing. @throws TypeError for an unknown type */
function conversionTo(target: unknown, name: string): Conversion | undefined {
  if (isNil(target)) return undefined
  const type = isNumber(target) ? Number(String(target)) : target
  const convert = byName.get(type)
  if (convert !== undefined) return convert
  if (unreachable.has(type)) return (value) => fail(String(type), value)
  throw new TypeError(`${name}: to must be one of ${conversions.map(([known]) => known).join(', ')}`)
}

/** Numbers are `int` if they fit in 32 bits, and `double` otherwise; a bigint is a `long`. */
function typeName(value: unknown): string {
  if (value === undefined) return 'missing'
  if (typeOf(value) === Type.javascript && !isNil((value as Code).scope)) return 'javascriptWithScope'
  if (typeOf(value) !== Type.number) return typeNames[typeOf(value)]
  if (typeof value === 'number') return Object.is(value | 0, value) ? 'int' : 'double'
  const bsonType = typeof value === 'bigint' ? 'long' : String((value as Document)._bsontype)
  return bsonType === 'Decimal128' ? 'decimal' : bsonType === 'Int32' ? 'int' : bsonType.toLowerCase()
}

function partOf(value: unknown, name: string, part: 't' | 'i'): bigint | null {
  if (isNil(value)) return null
  if (typeOf(value) === Type.timestamp) return BigInt((value as Timestamp)[part])
  throw new TypeError(`${name} takes a timestamp, got ${describe(value)}`)
}

/** @throws TypeError for values that cannot be converted to a string */
function toText(value: unknown): string {
  switch (typeOf(value)) {
    case Type.string:
    case Type.bool:
      return String(value)
    case Type.number:
      return numberText(value as Numeric)
    case Type.date:
      return isoText(value as Date, '$toString')
    case Type.objectId:
      return (value as ObjectId).toHexString()
    default:
      return fail('string', value)
  }
}

function toObjectId(value: unknown): unknown {
  if (typeOf(value) === Type.objectId) return value
  if (typeof value === 'string' && /^[0-9a-f]{24}$/i.test(value)) return new ObjectId(value)
  return fail('objectId', value)
}

/** Numbers are milliseconds; booleans cannot be converted. */
function toDate(value: unknown): Date {
  if (isNumber(value)) {
    const date = new Date(Math.trunc(Number(String(value))))
    return Number.isNaN(date.getTime()) ? fail('date', value) : date
  }
  if (typeof value === 'string') return parseDate(value, undefined)
  const instant = instantIn(value)
  return instant === undefined ? fail('date', value) : new Date(instant)
}

function toDouble(value: unknown): number {
  if (typeof value === 'boolean') return Number(value)
  if (value instanceof Date) return value.getTime()
  const plain = isNumber(value) ? unwrapNumber(value) : fromText(value, 'double')
  if (typeof plain === 'number') return plain
  const number = Number(String(plain))
  if (plain instanceof Decimal128 && !isWithinDoubles(plain, number)) fail('double', value)
  return number
}

/** Whether a Decimal128 neither overflows nor underflows as a double; zero, NaN and the infinities do not. */
function isWithinDoubles(decimal: Decimal128, double: number): boolean {
  const size = Math.abs(double)
  return (size >= leastNormal && size <= Number.MAX_VALUE) || !/[1-9]/.test(decimal.toString().replace(/E.*/, ''))
}

function toInt(value: unknown): number {
  if (value instanceof Date) return fail('int', value)
  const long = toInteger(value, 'int')
  return BigInt.asIntN(32, long) === long ? Number(long) : fail('int', value)
}

function toLong(value: unknown): bigint {
  return value instanceof Date ? BigInt(value.getTime()) : toInteger(value, 'long')
}

/** Fractions of numbers are truncated; strings must not have any. */
function toInteger(value: unknown, type: string): bigint {
  if (typeof value === 'boolean') return BigInt(value)
  if (isNumber(value)) return truncateToInt64(value) ?? fail(type, value)
  if (typeof value !== 'string' || !/^[+-]?\d+$/.test(value)) return fail(type, value)
  const long = BigInt(value.replace(/^\+/, ''))
  return BigInt.asIntN(64, long) === long ? long : fail(type, value)
}

function toDecimal(value: unknown): Decimal128 {
  if (typeof value === 'boolean') return Decimal128.fromString(value ? '1' : '0')
  if (value instanceof Date) return Decimal128.fromString(String(value.getTime()))
  const plain = isNumber(value) ? unwrapNumber(value) : fromText(value, 'decimal')
  if (plain instanceof Decimal128) return plain
  // A double has 15 significant digits, as everywhere in decimal arithmetic.
  const isExact = typeof plain === 'bigint' || Number.isSafeInteger(plain)
  const decimal = parseDecimal(isExact ? String(plain) : plain.toPrecision(15))
  return decimal === undefined ? Decimal128.fromString(String(plain)) : toDecimal128(decimal)
}

/** Parses the digits of a number, with nothing around them. */
function fromText(value: unknown, type: string): Decimal128 | number {
  if (typeof value === 'string' && /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(value)) {
    return (type === 'decimal' ? decimalOfText(value) : doubleOfText(value)) ?? fail(type, value)
  }
  const special = typeof value === 'string' && /^([+-]?)(nan|inf(inity)?)$/i.exec(value)
  if (special) return special[2]?.toLowerCase() === 'nan' ? Number.NaN : Number(`${special[1]}Infinity`)
  return fail(type, value)
}

/** Rounds to the 34 digits of a Decimal128; returns undefined if the number is too large or too small. */
function decimalOfText(text: string): Decimal128 | undefined {
  const decimal = parseDecimal(text.replace(/^([+-]?)\./, '$10.'))
  if (decimal === undefined || Math.abs(decimal.exponent) > text.length + maxPower) return undefined
  if (decimal.coefficient === 0n) return Decimal128.fromString(text)
  const rounded = toDecimal128(decimal)
  return /^-?(Infinity|0E.*)$/.test(rounded.toString()) ? undefined : rounded
}

/** Returns undefined if the number is too large or too small. */
function doubleOfText(text: string): number | undefined {
  const number = Number(text)
  const isLost = !Number.isFinite(number) || (number === 0 && /^[^e]*[1-9]/i.test(text))
  return isLost ? undefined : number
}

function fail(type: string, value: unknown): never {
  const shown = isNumber(value) || typeof value === 'string' ? `'${String(value)}'` : describe(value)
  throw new ConversionError(`cannot convert ${shown} to ${type}`)
}
