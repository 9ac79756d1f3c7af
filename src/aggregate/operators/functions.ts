/**
 * Functions of real numbers, computed with doubles; for a Decimal128, the result is a Decimal128 of the same precision.
 * Bitwise operators on integers.
 */
import { Decimal128 } from 'bson'
import type { PlainNumber } from '../../model/arithmetic.ts'
import { exactInt64 } from '../../model/integers.ts'
import { toDouble } from '../../model/numbers.ts'
import { isPlainObject } from '../../model/types.ts'
import { isNil } from '../expression-values.ts'
import { describe, hasNil, isNumber, nary, numberOf, type Operator, type Operators, unary } from './operator.ts'

const any = Number.POSITIVE_INFINITY
const isFiniteNumber = (x: number): boolean => Number.isFinite(x)
const upToOne = (x: number): boolean => x >= -1 && x <= 1

export const functionOperators: Operators = {
  $exp: real(Math.exp),
  $ln: real(Math.log, (x) => x > 0, 'a number greater than 0'),
  $log10: real(Math.log10, (x) => x > 0, 'a number greater than 0'),
  $sqrt: real(Math.sqrt, (x) => x >= 0, 'a number ≥ 0'),
  $log: nary(2, 2, ([value, base], name) => {
    if (isNil(value) || isNil(base)) return null
    const [x, b] = [numberOf(value, name), numberOf(base, name)]
    if (toDouble(x) <= 0) throw new TypeError(`${name} takes a number greater than 0`)
    if (toDouble(b) <= 0 || toDouble(b) === 1)
      throw new TypeError(`${name} takes a base greater than 0 and other than 1`)
    return withTypeOf(Math.log(toDouble(x)) / Math.log(toDouble(b)), x, b)
  }),
  $sin: real(Math.sin, isFiniteNumber, 'a finite number'),
  $cos: real(Math.cos, isFiniteNumber, 'a finite number'),
  $tan: real(Math.tan, isFiniteNumber, 'a finite number'),
  $asin: real(Math.asin, upToOne, 'a number from -1 to 1'),
  $acos: real(Math.acos, upToOne, 'a number from -1 to 1'),
  $atan: real(Math.atan),
  $atan2: nary(2, 2, (values, name) => {
    if (hasNil(values, (value) => numberOf(value, name))) return null
    const [y, x] = values
    const [a, b] = [numberOf(y, name), numberOf(x, name)]
    return withTypeOf(Math.atan2(doubleOf(a), doubleOf(b)), a, b)
  }),
  $sinh: real(Math.sinh),
  $cosh: real(Math.cosh),
  $tanh: real(Math.tanh),
  $asinh: real(Math.asinh),
  $acosh: real(Math.acosh, (x) => x >= 1, 'a number ≥ 1'),
  $atanh: real(Math.atanh, upToOne, 'a number from -1 to 1'),
  $degreesToRadians: real((x) => x * (Math.PI / 180)),
  $radiansToDegrees: real((x) => x * (180 / Math.PI)),
  $rand: (argument, _compiler, name) => {
    if (!isPlainObject(argument) || Object.keys(argument).length > 0) throw new TypeError(`${name} takes {}`)
    return () => Math.random()
  },
  $bitAnd: bits((a, b) => a & b, -1n),
  $bitOr: bits((a, b) => a | b, 0n),
  $bitXor: bits((a, b) => a ^ b, 0n),
  $bitNot: unary((value, name) => (isNil(value) ? null : withIntegerTypeOf(~integer(value, name), [value])))
}

function real(
  compute: (x: number) => number,
  isInDomain: (x: number) => boolean = () => true,
  domain = 'a number'
): Operator {
  return unary((value, name) => {
    if (isNil(value)) return null
    const number = numberOf(value, name)
    const x = doubleOf(number)
    if (!Number.isNaN(x) && !isInDomain(x)) throw new TypeError(`${name} takes ${domain}, got ${x}`)
    return withTypeOf(compute(x), number)
  })
}

/** Preserves −0. */
function doubleOf(value: PlainNumber): number {
  return Number(String(typeof value === 'number' && Object.is(value, -0) ? '-0' : value))
}

function withTypeOf(result: number, ...values: readonly PlainNumber[]): PlainNumber {
  return values.some((value) => value instanceof Decimal128) ? Decimal128.fromString(String(result)) : result
}

function bits(compute: (a: bigint, b: bigint) => bigint, start: bigint): Operator {
  return nary(0, any, (values, name) => {
    if (hasNil(values, (value) => integer(value, name))) return null
    return withIntegerTypeOf(
      values.map((value) => integer(value, name)).reduce((a, b) => compute(a, b), start),
      values
    )
  })
}

function integer(value: unknown, name: string): bigint {
  const found = isNumber(value) && !isDecimal128(value) ? exactInt64(value) : undefined
  if (found !== undefined) return found
  throw new TypeError(`${name} takes integers, got ${isNumber(value) ? String(value) : describe(value)}`)
}

function isDecimal128(value: object | number | bigint): boolean {
  return (value as { readonly _bsontype?: unknown })._bsontype === 'Decimal128'
}

/** The result has 64 bits if an argument does: a bigint, or a number that does not fit in 32 bits. */
function withIntegerTypeOf(result: bigint, values: readonly unknown[]): number | bigint {
  const isShort = values.every((value) => (typeof value === 'number' ? (value | 0) === value : isInt32(value)))
  return isShort ? Number(result) : result
}

function isInt32(value: unknown): boolean {
  return (value as { readonly _bsontype?: unknown })._bsontype === 'Int32'
}
