/** Parses arguments with a syntax of their own: those of `$type`, `$size`, `$mod` and the bitwise operators. */
import { exactInt64, truncateToInt64 } from '../model/integers.ts'
import { binaryParts } from '../model/scalar.ts'
import { type Numeric, Type, typeOf } from '../model/types.ts'
import type { BitsOperator, TypeTest } from './ast.ts'
import { describeType, type FilterPlace, filterError } from './errors.ts'

const maxInt32 = 2 ** 31 - 1

/** BSON's type names and numbers. Types that PetalDB cannot store are accepted, and match nothing. */
const bsonTypes: Readonly<Record<string, { readonly number: number; readonly test: TypeTest | undefined }>> = {
  double: { number: 1, test: { kind: 'numeric', numeric: 'double' } },
  string: { number: 2, test: { kind: 'code', code: Type.string } },
  object: { number: 3, test: { kind: 'code', code: Type.object } },
  array: { number: 4, test: { kind: 'code', code: Type.array } },
  binData: { number: 5, test: { kind: 'code', code: Type.binData } },
  undefined: { number: 6, test: undefined },
  objectId: { number: 7, test: { kind: 'code', code: Type.objectId } },
  bool: { number: 8, test: { kind: 'code', code: Type.bool } },
  date: { number: 9, test: { kind: 'code', code: Type.date } },
  null: { number: 10, test: { kind: 'code', code: Type.null } },
  regex: { number: 11, test: { kind: 'code', code: Type.regex } },
  dbPointer: { number: 12, test: undefined },
  javascript: { number: 13, test: { kind: 'javascript', hasScope: false } },
  symbol: { number: 14, test: undefined },
  javascriptWithScope: { number: 15, test: { kind: 'javascript', hasScope: true } },
  int: { number: 16, test: { kind: 'numeric', numeric: 'int' } },
  timestamp: { number: 17, test: { kind: 'code', code: Type.timestamp } },
  long: { number: 18, test: { kind: 'numeric', numeric: 'long' } },
  decimal: { number: 19, test: { kind: 'numeric', numeric: 'decimal' } },
  minKey: { number: -1, test: { kind: 'code', code: Type.minKey } },
  maxKey: { number: 127, test: { kind: 'code', code: Type.maxKey } }
}

/** Parses a name or number, or a list of them. */
export function parseTypes(value: unknown, place: FilterPlace): readonly TypeTest[] {
  const entries: readonly unknown[] = Array.isArray(value) ? value : [value]
  if (entries.length === 0) throw filterError('FailedToParse', place, 'must match at least one type')
  return entries.map((entry) => parseType(entry, place)).filter((test) => test !== undefined)
}

function parseType(entry: unknown, place: FilterPlace): TypeTest | undefined {
  if (typeof entry === 'string') {
    if (entry === 'number') return { kind: 'code', code: Type.number }
    if (Object.hasOwn(bsonTypes, entry)) return bsonTypes[entry]?.test
    throw filterError('BadValue', place, `unknown type name '${entry}'`)
  }
  if (typeOf(entry) !== Type.number) {
    throw filterError('TypeMismatch', place, `types must be names or numbers, not ${describeType(entry)}`)
  }
  const number = Number(exactInt64(entry as Numeric))
  const found = Object.values(bsonTypes).find((type) => type.number === number)
  if (found === undefined) throw filterError('BadValue', place, `invalid type number ${String(entry)}`)
  return found.test
}

/** @returns a non-negative integer */
export function parseSize(value: unknown, place: FilterPlace, greatest = maxInt32): number {
  if (typeOf(value) !== Type.number) {
    throw filterError('FailedToParse', place, `needs an integer, not ${describeType(value)}`)
  }
  return nonNegativeInteger(value as Numeric, place, 'needs a non-negative integer', greatest)
}

export function parseMod(value: unknown, place: FilterPlace): { divisor: bigint; remainder: bigint } {
  if (!Array.isArray(value)) throw filterError('BadValue', place, `needs an array, not ${describeType(value)}`)
  if (value.length !== 2) throw filterError('BadValue', place, 'needs two elements: divisor and remainder')
  const [divisor, remainder] = value.map((entry: unknown, i) => {
    const name = i === 0 ? 'divisor' : 'remainder'
    if (typeOf(entry) !== Type.number) {
      throw filterError('BadValue', place, `the ${name} must be a number, not ${describeType(entry)}`)
    }
    const integer = truncateToInt64(entry as Numeric)
    if (integer === undefined) throw filterError('BadValue', place, `the ${name} must be a 64-bit number`)
    return integer
  }) as [bigint, bigint]
  if (divisor === 0n) throw filterError('BadValue', place, 'the divisor cannot be 0')
  return { divisor, remainder }
}

export function isBitsOperator(operator: string): operator is BitsOperator {
  return (
    operator === '$bitsAllSet' ||
    operator === '$bitsAnySet' ||
    operator === '$bitsAllClear' ||
    operator === '$bitsAnyClear'
  )
}

/** Parses a number or binary bit mask, or an array of bit positions. */
export function parseBits(value: unknown, place: FilterPlace): { positions: readonly number[]; mask: bigint } {
  const positions = bitPositions(value, place)
  // A number's bits beyond 63 are copies of its sign bit.
  const mask = positions.reduce((bits, position) => bits | (1n << BigInt(Math.min(position, 63))), 0n)
  return { positions, mask }
}

function bitPositions(value: unknown, place: FilterPlace): readonly number[] {
  switch (typeOf(value)) {
    case Type.array:
      return (value as readonly unknown[]).map((entry) => {
        if (typeOf(entry) !== Type.number) {
          throw filterError('BadValue', place, `bit positions must be integers, not ${describeType(entry)}`)
        }
        return nonNegativeInteger(entry as Numeric, place, 'bit positions must be non-negative integers')
      })
    case Type.number: {
      const mask = exactInt64(value as Numeric)
      if (mask === undefined || mask < 0n) {
        throw filterError('FailedToParse', place, 'a numeric bit mask must be a non-negative 64-bit integer')
      }
      return setBits(64, (bit) => ((mask >> BigInt(bit)) & 1n) === 1n)
    }
    case Type.binData: {
      const { bytes } = binaryParts(value as Uint8Array)
      return setBits(bytes.length * 8, (bit) => (((bytes[bit >> 3] ?? 0) >> (bit & 7)) & 1) === 1)
    }
    default:
      throw filterError('BadValue', place, `needs a number, binary data or an array, not ${describeType(value)}`)
  }
}

function setBits(count: number, isSet: (bit: number) => boolean): number[] {
  return Array.from({ length: count }, (_, bit) => bit).filter(isSet)
}

function nonNegativeInteger(value: Numeric, place: FilterPlace, problem: string, greatest = maxInt32): number {
  const integer = exactInt64(value)
  if (integer === undefined || integer < 0n || integer > greatest) throw filterError('FailedToParse', place, problem)
  return Number(integer)
}
