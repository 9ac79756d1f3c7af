/**
 * Sums and products of numbers of all kinds.
 *
 * Kinds mix as in MongoDB: with a Decimal128 on either side the result is a Decimal128, two 64-bit integers give a
 * 64-bit integer, everything else is a double. A 64-bit overflow is an error in updates and a double in expressions.
 */
import { Decimal128 } from 'bson'
import { addDecimals, type Decimal, multiplyDecimals, parseDecimal, toDecimal, toDecimal128 } from './decimal.ts'
import { PetalError } from './errors.ts'

export type PlainNumber = number | bigint | Decimal128

/** One operation, for each kind of number. */
interface Arithmetic {
  readonly doubles: (a: number, b: number) => number
  readonly integers: (a: bigint, b: bigint) => bigint
  readonly decimals: (a: Decimal, b: Decimal) => Decimal
  /** Whether a decimal zero has the product of the signs, instead of none. */
  readonly isSigned?: true
}

const addition: Arithmetic = { doubles: (a, b) => a + b, integers: (a, b) => a + b, decimals: addDecimals }
const subtraction: Arithmetic = { doubles: (a, b) => a - b, integers: (a, b) => a - b, decimals: subtractDecimals }
const multiplication: Arithmetic = {
  doubles: multiplyDoubles,
  integers: (a, b) => a * b,
  decimals: multiplyDecimals,
  isSigned: true
}

/** Significant digits of a double in decimal arithmetic, as in MongoDB. */
const doubleDigits = 15

/** @throws PetalError BadValue for an integer that does not fit 64 bits */
export function add(a: PlainNumber, b: PlainNumber): PlainNumber {
  return compute(addition, a, b)
}

/** @throws PetalError BadValue for an integer that does not fit 64 bits */
export function multiply(a: PlainNumber, b: PlainNumber): PlainNumber {
  return compute(multiplication, a, b)
}

/** A result that does not fit 64 bits becomes a double. */
export function sum(a: PlainNumber, b: PlainNumber): PlainNumber {
  return compute(addition, a, b, Number)
}

/** A result that does not fit 64 bits becomes a double. */
export function difference(a: PlainNumber, b: PlainNumber): PlainNumber {
  return compute(subtraction, a, b, Number)
}

/** A result that does not fit 64 bits becomes a double. */
export function product(a: PlainNumber, b: PlainNumber): PlainNumber {
  return compute(multiplication, a, b, Number)
}

/** @throws PetalError BadValue for the least 64-bit integer, which has no opposite */
export function negate(value: PlainNumber): PlainNumber {
  return typeof value === 'number' ? -value : compute(multiplication, value, -1)
}

/** @param beyond converts, or refuses, an integer result that does not fit 64 bits */
function compute(
  arithmetic: Arithmetic,
  a: PlainNumber,
  b: PlainNumber,
  beyond: (result: bigint) => number = refuse
): PlainNumber {
  if (typeof a === 'number' && typeof b === 'number') {
    const result = arithmetic.doubles(a, b)
    // A product of 32-bit integers that a double does not hold exactly is a 64-bit integer.
    const isRounded = Number.isInteger(result) && !Number.isSafeInteger(result) && isInt32(a) && isInt32(b)
    return isRounded ? arithmetic.integers(BigInt(a), BigInt(b)) : result
  }
  if (a instanceof Decimal128 || b instanceof Decimal128) return computeDecimal(arithmetic, a, b)
  if (!isInteger(a) || !isInteger(b)) return arithmetic.doubles(Number(a), Number(b))
  const result = arithmetic.integers(BigInt(a), BigInt(b))
  return BigInt.asIntN(64, result) === result ? result : beyond(result)
}

function refuse(result: bigint): never {
  throw new PetalError('BadValue', `the result ${result} does not fit in 64 bits`)
}

/** Numbers without a fraction count as integers here, which have no −0. */
function multiplyDoubles(a: number, b: number): number {
  const result = a * b
  if (!Object.is(result, -0)) return result
  const isOfIntegers = [a, b].every((factor) => Number.isInteger(factor) && !Object.is(factor, -0))
  return isOfIntegers ? 0 : result
}

function subtractDecimals(a: Decimal, { coefficient, exponent }: Decimal): Decimal {
  return addDecimals(a, { coefficient: -coefficient, exponent })
}

function isInt32(value: number): boolean {
  return (value | 0) === value
}

/** A double beyond 2^53 does not count as an integer: it stands for all numbers that round to it. */
function isInteger(value: number | bigint): boolean {
  return typeof value === 'bigint' || Number.isSafeInteger(value)
}

function computeDecimal(arithmetic: Arithmetic, a: PlainNumber, b: PlainNumber): Decimal128 {
  const x = decimalOf(a)
  const y = decimalOf(b)
  if (x !== undefined && y !== undefined) {
    const isZeroNegative = arithmetic.isSigned === true && isNegative(a) !== isNegative(b)
    return toDecimal128(arithmetic.decimals(x, y), isZeroNegative)
  }
  // NaN and the infinities follow the same rules in both kinds.
  return Decimal128.fromString(String(arithmetic.doubles(signOf(a), signOf(b))))
}

/** True for −0, too. */
export function isNegative(value: PlainNumber): boolean {
  if (typeof value === 'number') return value < 0 || Object.is(value, -0)
  return typeof value === 'bigint' ? value < 0n : value.toString().startsWith('-')
}

/** Undefined for NaN and the infinities. */
export function decimalOf(value: PlainNumber): Decimal | undefined {
  if (typeof value !== 'number') return toDecimal(value)
  return parseDecimal(Number.isSafeInteger(value) ? String(value) : value.toPrecision(doubleDigits))
}

/** NaN and infinities themselves, any finite value as −1, 0 or 1: enough to determine the result. */
function signOf(value: PlainNumber): number {
  const number = Number(String(value))
  const decimal = decimalOf(value)
  if (decimal === undefined) return number
  return decimal.coefficient > 0n ? 1 : decimal.coefficient < 0n ? -1 : 0
}
