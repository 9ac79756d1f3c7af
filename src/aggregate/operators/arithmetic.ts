/** Arithmetic on numbers of all types, and on dates. */
import { Decimal128 } from 'bson'
import { decimalOf, difference, isNegative, type PlainNumber, product } from '../../model/arithmetic.ts'
import { cutDecimal, type Decimal, divideDecimals, quantizeDecimal, toDecimal128 } from '../../model/decimal.ts'
import { toDouble } from '../../model/numbers.ts'
import { ExactSum } from '../exact-sum.ts'
import { isNil } from '../expression-values.ts'
import { dateOf } from './date-values.ts'
import { hasNil, nary, numberOf, type Operators, unary } from './operator.ts'
import { roundTo } from './rounding.ts'

const any = Number.POSITIVE_INFINITY

export const arithmeticOperators: Operators = {
  $add: nary(0, any, addAll),
  $subtract: nary(2, 2, subtract),
  $multiply: nary(0, any, (values, name) => {
    if (hasNil(values, (value) => numberOf(value, name))) return null
    return values.map((value) => numberOf(value, name)).reduce<PlainNumber>(product, 1)
  }),
  $divide: nary(2, 2, (values, name) => {
    const pair = dividing(values, name)
    return pair === null ? null : quotient(...pair)
  }),
  $mod: nary(2, 2, (values, name) => {
    const pair = dividing(values, name)
    if (pair === null) return null
    const [dividend, divisor] = pair
    if (isDecimal(pair)) return inDecimals(pair, decimalRemainder, (a, b) => a % b, isNegative(dividend))
    // A 64-bit integer and a 32-bit one give an integer; all other combinations are computed as doubles.
    if (typeof dividend === 'bigint' && isInteger32(divisor)) return dividend % BigInt(divisor)
    if (typeof divisor === 'bigint' && isInteger32(dividend)) return BigInt(dividend) % divisor
    const rest = toDouble(dividend) % toDouble(divisor)
    return isInteger(dividend) && !Object.is(dividend, -0) ? rest + 0 : rest
  }),
  $abs: unary((value, name) => {
    if (isNil(value)) return null
    const number = numberOf(value, name)
    if (number instanceof Decimal128) return Decimal128.fromString(number.toString().replace(/^-/, ''))
    if (typeof number === 'number') return Math.abs(number)
    const size = number < 0n ? -number : number
    if (BigInt.asIntN(64, size) === size) return size
    throw new TypeError(`${name}: ${size} does not fit in 64 bits`)
  }),
  $ceil: unary((value, name) => (isNil(value) ? null : wholeNear(numberOf(value, name), 1))),
  $floor: unary((value, name) => (isNil(value) ? null : wholeNear(numberOf(value, name), -1))),
  $round: nary(1, 2, (values) => roundTo('$round', 'round', values)),
  $trunc: nary(1, 2, (values) => roundTo('$trunc', 'truncate', values)),
  $pow: nary(2, 2, ([value, power], name) => {
    if (isNil(value) || isNil(power)) return null
    return raised(numberOf(value, name), numberOf(power, name), name)
  })
}

/** Returns null if an argument is null or missing. A date plus milliseconds is a date. */
function addAll(values: readonly unknown[], name: string): unknown {
  const [a, b] = values
  // A sum of two needs no compensation.
  if (values.length === 2 && typeof a === 'number' && typeof b === 'number') return 0 + a + b
  if (hasNil(values, (value) => value instanceof Date || numberOf(value, name))) return null
  const dates = values.filter((value) => value instanceof Date)
  if (dates.length > 1) throw new TypeError(`${name} takes only one date`)
  if (dates.length === 1) return dateSum(values, name)
  const sum = new ExactSum()
  for (const value of values) sum.add(numberOf(value, name))
  return sum.total()
}

/** Numbers before the date are summed, then rounded; those after it are rounded one by one. */
function dateSum(values: readonly unknown[], name: string): Date {
  const at = values.findIndex((value) => value instanceof Date)
  const before = new ExactSum()
  for (const value of values.slice(0, at)) before.add(numberOf(value, name))
  const total = values
    .slice(at + 1)
    .reduce<bigint>((sum, value) => sum + wholeNumber(numberOf(value, name), name), wholeNumber(before.total(), name))
  return dateOf((values[at] as Date).getTime() + Number(total), name)
}

/** Returns null if an argument is null or missing. The difference of two dates is in milliseconds. */
export function subtract([a, b]: readonly unknown[], name: string): unknown {
  if (isNil(a) || isNil(b)) return null
  if (a instanceof Date) {
    if (b instanceof Date) return a.getTime() - b.getTime()
    return dateOf(a.getTime() - Number(wholeNumber(numberOf(b, name), name)), name)
  }
  return difference(numberOf(a, name), numberOf(b, name))
}

/**
 * Rounds to whole milliseconds: halves away from zero, but halves of a decimal to even.
 * @throws TypeError if no date is that far away
 */
function wholeNumber(value: PlainNumber, name: string): bigint {
  if (typeof value === 'bigint') return value
  const number = toDouble(value)
  // Also true for NaN.
  if (!(Math.abs(number) < 2 ** 63)) throw new TypeError(`the result of ${name} is out of range for a date`)
  if (!(value instanceof Decimal128)) return BigInt(Math.sign(number) * Math.round(Math.abs(number)))
  const { coefficient, exponent } = cutDecimal(decimalOf(value) as Decimal, 0, 'round')
  return coefficient * 10n ** BigInt(exponent)
}

type Pair = readonly [PlainNumber, PlainNumber]

/** Returns null if an argument is null or missing. @throws TypeError for a divisor of zero */
function dividing([a, b]: readonly unknown[], name: string): Pair | null {
  if (isNil(a) || isNil(b)) return null
  const pair: Pair = [numberOf(a, name), numberOf(b, name)]
  if (isZero(pair[1])) throw new TypeError(`${name}: division by zero`)
  return pair
}

export function isZero(value: PlainNumber): boolean {
  return typeof value === 'number' ? value === 0 : decimalOf(value)?.coefficient === 0n
}

/** REQUIRES: the divisor is not zero. */
export function quotient(dividend: PlainNumber, divisor: PlainNumber): PlainNumber {
  const pair: Pair = [dividend, divisor]
  if (!isDecimal(pair)) return Number(dividend) / Number(divisor)
  return inDecimals(pair, divideDecimals, (a, b) => a / b, isNegative(dividend) !== isNegative(divisor))
}

function isDecimal(pair: Pair): boolean {
  return pair.some((value) => value instanceof Decimal128)
}

/**
 * @param doubles used for NaN and infinities
 * @param isZeroNegative whether the result is negative if it is zero
 */
function inDecimals(
  [a, b]: Pair,
  decimals: (a: Decimal, b: Decimal) => Decimal,
  doubles: (a: number, b: number) => number,
  isZeroNegative: boolean
): Decimal128 {
  const [x, y] = [decimalOf(a), decimalOf(b)]
  if (x !== undefined && y !== undefined) return toDecimal128(decimals(x, y), isZeroNegative)
  return Decimal128.fromString(String(doubles(toDouble(a), toDouble(b))))
}

/** The result has the sign of the dividend. */
function decimalRemainder(a: Decimal, b: Decimal): Decimal {
  const exponent = Math.min(a.exponent, b.exponent)
  const [x, y] = [a, b].map((each) => each.coefficient * 10n ** BigInt(each.exponent - exponent)) as [bigint, bigint]
  return { coefficient: x % y, exponent }
}

/** @param direction 1 to round up, -1 to round down */
function wholeNear(value: PlainNumber, direction: 1 | -1): PlainNumber {
  if (typeof value === 'bigint') return value
  if (typeof value === 'number') return direction === 1 ? Math.ceil(value) : Math.floor(value)
  return quantizeDecimal(value, 0, direction === 1 ? 'up' : 'down')
}

/** If one of two integers has 64 bits, so does the result, provided it fits. */
function raised(value: PlainNumber, power: PlainNumber, name: string): PlainNumber {
  const [base, exponent] = [toDouble(value), toDouble(power)]
  if (base === 0 && exponent < 0) throw new TypeError(`${name} cannot raise 0 to a negative power`)
  if (isDecimal([value, power])) return Decimal128.fromString(String(base ** exponent))
  const isLong = typeof value === 'bigint' || typeof power === 'bigint'
  if (!isLong || !isInteger(value) || !isInteger(power) || exponent < 0) return base ** exponent
  // Beyond that, only powers of -1, 0 and 1 fit.
  const steps = Math.abs(base) <= 1 ? BigInt(power) % 2n || 2n : BigInt(Math.min(exponent, 64))
  const result = BigInt(value) ** (exponent === 0 ? 0n : steps)
  return BigInt.asIntN(64, result) === result ? result : base ** exponent
}

/** A bigint, or a number that is a 32-bit integer. */
function isInteger32(value: PlainNumber): value is number | bigint {
  return typeof value === 'bigint' || (typeof value === 'number' && (value | 0) === value)
}

function isInteger(value: PlainNumber): value is number | bigint {
  return typeof value === 'bigint' || Number.isInteger(value)
}
