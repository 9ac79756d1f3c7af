/** `$add`, `$subtract` and `$multiply` over numbers of all kinds, and dates. */
import { add, multiply, negate, type PlainNumber } from '../model/arithmetic.ts'
import { toDouble, unwrapNumber } from '../model/numbers.ts'
import { type Numeric, Type, typeOf } from '../model/types.ts'
import { describeType } from '../query/errors.ts'
import { isNil } from './expression-values.ts'

/** null when an argument is null or missing; a date and milliseconds are a date. */
export function addAll(values: readonly unknown[]): unknown {
  if (values.some(isNil)) return null
  const dates = values.filter((value) => value instanceof Date)
  if (dates.length > 1) throw new TypeError('$add takes one date only')
  const sum = values
    .map((value) => (value instanceof Date ? value.getTime() : numberOf('$add', value)))
    .reduce<PlainNumber>(add, 0)
  return dates.length === 1 ? new Date(toDouble(sum)) : sum
}

/** Two dates are milliseconds apart. */
export function subtract(a: unknown, b: unknown): unknown {
  if (isNil(a) || isNil(b)) return null
  if (a instanceof Date) {
    if (b instanceof Date) return a.getTime() - b.getTime()
    return new Date(a.getTime() - toDouble(numberOf('$subtract', b)))
  }
  return add(numberOf('$subtract', a), negate(numberOf('$subtract', b)))
}

export function multiplyAll(values: readonly unknown[]): unknown {
  if (values.some(isNil)) return null
  return values.map((value) => numberOf('$multiply', value)).reduce<PlainNumber>(multiply, 1)
}

/** Of integers that a 64-bit one is among it is one, too; with a Decimal128 it is what the doubles give. */
export function remainder(a: unknown, b: unknown): unknown {
  if (isNil(a) || isNil(b)) return null
  const [dividend, divisor] = [numberOf('$mod', a), numberOf('$mod', b)]
  if (toDouble(divisor) === 0) throw new TypeError('$mod by zero')
  if (isInteger(dividend) && isInteger(divisor) && (typeof dividend === 'bigint' || typeof divisor === 'bigint')) {
    return BigInt(dividend) % BigInt(divisor)
  }
  return toDouble(dividend) % toDouble(divisor)
}

function isInteger(value: PlainNumber): value is number | bigint {
  return typeof value === 'bigint' || Number.isInteger(value)
}

function numberOf(operator: string, value: unknown): PlainNumber {
  if (typeOf(value) === Type.number) return unwrapNumber(value as Numeric)
  throw new TypeError(`${operator} takes numbers, got ${describeType(value)}`)
}
