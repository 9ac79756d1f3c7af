/**
 * Operators that compute: `$inc`, `$mul`, `$min`, `$max`, `$bit`.
 *
 * Kinds of numbers mix as in MongoDB: anything with a Decimal128 is a Decimal128, 64-bit integers stay so when both
 * sides are integers, everything else is a double. A 64-bit integer that overflows is an error, never rounded.
 */
import { Decimal128 } from 'bson'
import { compareValues } from '../../model/compare.ts'
import {
  addDecimals,
  type Decimal,
  multiplyDecimals,
  parseDecimal,
  toDecimal,
  toDecimal128
} from '../../model/decimal.ts'
import { unwrapNumber } from '../../model/numbers.ts'
import { isPlainObject, type Numeric, Type, typeOf } from '../../model/types.ts'
import { describeType, filterError } from '../errors.ts'
import { absent, type Edit, type UpdatePlace } from './types.ts'

type PlainNumber = number | bigint | Decimal128

/** One operation for each kind of number. */
interface Arithmetic {
  readonly doubles: (a: number, b: number) => number
  readonly integers: (a: bigint, b: bigint) => bigint
  readonly decimals: (a: Decimal, b: Decimal) => Decimal
}

const addition: Arithmetic = { doubles: (a, b) => a + b, integers: (a, b) => a + b, decimals: addDecimals }
const multiplication: Arithmetic = { doubles: (a, b) => a * b, integers: (a, b) => a * b, decimals: multiplyDecimals }

/** Digits of a double that count in decimal arithmetic, as in MongoDB. */
const doubleDigits = 15

export function compileInc(operand: unknown, place: UpdatePlace): Edit {
  const amount = numericOperand(operand, place)
  return (current) => (current === absent ? amount : compute(addition, numericTarget(current, place), amount, place))
}

/** A missing field becomes zero, of the operand's kind. */
export function compileMul(operand: unknown, place: UpdatePlace): Edit {
  const factor = numericOperand(operand, place)
  const zero = factor instanceof Decimal128 ? Decimal128.fromString('0') : typeof factor === 'bigint' ? 0n : 0
  return (current) =>
    current === absent ? zero : compute(multiplication, numericTarget(current, place), factor, place)
}

export function compileMin(operand: unknown): Edit {
  return (current) => (current === absent || compareValues(operand, current) < 0 ? operand : current)
}

export function compileMax(operand: unknown): Edit {
  return (current) => (current === absent || compareValues(operand, current) > 0 ? operand : current)
}

function numericOperand(operand: unknown, place: UpdatePlace): PlainNumber {
  if (typeOf(operand) === Type.number) return unwrapNumber(operand as Numeric)
  throw filterError('TypeMismatch', place, `takes a number, not ${describeType(operand)}`)
}

function numericTarget(current: unknown, place: UpdatePlace): PlainNumber {
  if (typeOf(current) === Type.number) return unwrapNumber(current as Numeric)
  throw filterError('TypeMismatch', place, `cannot be applied to a value of non-numeric type ${describeType(current)}`)
}

function compute(arithmetic: Arithmetic, a: PlainNumber, b: PlainNumber, place: UpdatePlace): PlainNumber {
  if (a instanceof Decimal128 || b instanceof Decimal128) return computeDecimal(arithmetic, a, b)
  if (typeof a === 'number' && typeof b === 'number') return arithmetic.doubles(a, b)
  if (!isInteger(a) || !isInteger(b)) return arithmetic.doubles(Number(a), Number(b))
  const result = arithmetic.integers(BigInt(a), BigInt(b))
  if (BigInt.asIntN(64, result) === result) return result
  throw filterError('BadValue', place, `the result ${result} does not fit 64 bits`)
}

/** A double beyond 2^53 is no integer here: it stands for all numbers that round to it. */
function isInteger(value: number | bigint): boolean {
  return typeof value === 'bigint' || Number.isSafeInteger(value)
}

function computeDecimal(arithmetic: Arithmetic, a: PlainNumber, b: PlainNumber): Decimal128 {
  const x = decimalOf(a)
  const y = decimalOf(b)
  if (x !== undefined && y !== undefined) return toDecimal128(arithmetic.decimals(x, y))
  // NaN and the infinities follow the same rules in both kinds.
  return Decimal128.fromString(String(arithmetic.doubles(signOf(a), signOf(b))))
}

function decimalOf(value: PlainNumber): Decimal | undefined {
  if (typeof value !== 'number') return toDecimal(value)
  return parseDecimal(Number.isSafeInteger(value) ? String(value) : value.toPrecision(doubleDigits))
}

/** NaN and infinities themselves, anything finite as −1, 0 or 1: enough to know what they give together. */
function signOf(value: PlainNumber): number {
  const number = Number(String(value))
  const decimal = decimalOf(value)
  if (decimal === undefined) return number
  return decimal.coefficient > 0n ? 1 : decimal.coefficient < 0n ? -1 : 0
}

type BitOperation = (a: bigint, b: bigint) => bigint

const bitOperations: ReadonlyMap<string, BitOperation> = new Map<string, BitOperation>([
  ['and', (a, b) => a & b],
  ['or', (a, b) => a | b],
  ['xor', (a, b) => a ^ b]
])

/** `{ and | or | xor: integer }`, several in order. A missing field counts as 0. */
export function compileBit(operand: unknown, place: UpdatePlace): Edit {
  if (!isPlainObject(operand) || Object.keys(operand).length === 0) {
    throw filterError('BadValue', place, `takes an object like { and: 5 }, not ${describeType(operand)}`)
  }
  const operations = Object.entries(operand).map(([name, mask]) => {
    const operation = bitOperations.get(name)
    if (operation === undefined) throw filterError('BadValue', place, `knows and, or and xor, not '${name}'`)
    return { operation, mask: integerOf(mask, place, `the operand of ${name} must be an integer`) }
  })
  return (current) => {
    const start = current === absent ? 0 : integerOf(current, place, 'cannot be applied to a value that is no integer')
    return operations.reduce<number | bigint>((value, { operation, mask }) => {
      const result = operation(BigInt(value), BigInt(mask))
      const isWide = typeof value === 'bigint' || typeof mask === 'bigint'
      return isWide || !Number.isSafeInteger(Number(result)) ? result : Number(result)
    }, start)
  }
}

function integerOf(value: unknown, place: UpdatePlace, problem: string): number | bigint {
  if (typeOf(value) === Type.number) {
    const plain = unwrapNumber(value as Numeric)
    if (typeof plain === 'bigint' || (typeof plain === 'number' && Number.isSafeInteger(plain))) return plain
  }
  throw filterError('BadValue', place, `${problem}, here: ${describeType(value)}`)
}
