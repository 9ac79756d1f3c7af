/**
 * Numbers of all kinds are one type: 1 = 1.0 = 1n = NumberLong(1) = Decimal128('1').
 *
 * Comparison is exact across kinds. Nothing here rounds before it compares.
 */
import { Decimal128, Double, Int32, Long } from 'bson'
import type { Numeric } from './types.ts'

/** A JavaScript number or bigint with the value of a Long, Int32 or Double; Decimal128 stays as it is. */
export function unwrapNumber(value: Numeric): number | bigint | Decimal128 {
  if (typeof value === 'number' || typeof value === 'bigint') return value
  if (value instanceof Int32 || value instanceof Double) return value.valueOf()
  if (Long.isLong(value)) return value.toBigInt()
  // Another copy of the bson package has other classes: their tag is what counts.
  switch ((value as { _bsontype: string })._bsontype) {
    case 'Int32':
    case 'Double':
      return Number((value as unknown as { value: number }).value)
    case 'Decimal128':
      return value instanceof Decimal128 ? value : Decimal128.fromString(String(value))
    default:
      return BigInt(String(value))
  }
}

/** The nearest double; −0 becomes 0. This is what the index hashes. */
export function toDouble(value: Numeric): number {
  if (typeof value === 'number') return value + 0
  const plain = unwrapNumber(value)
  if (plain instanceof Decimal128) return Number(plain.toString()) + 0
  return Number(plain) + 0
}

/** True when the nearest double is the number itself, so that equal doubles mean equal numbers. */
export function isExactDouble(value: Numeric): boolean {
  if (typeof value === 'number') return true
  const plain = unwrapNumber(value)
  return typeof plain === 'number' || compareNumbers(plain, Number(String(plain))) === 0
}

/** −1, 0 or 1. NaN equals itself and is below every other number; −0 equals 0. */
export function compareNumbers(a: Numeric, b: Numeric): number {
  if (typeof a === 'number' && typeof b === 'number') return compareDoubles(a, b)
  const x = unwrapNumber(a)
  const y = unwrapNumber(b)
  if (x instanceof Decimal128 || y instanceof Decimal128) return compareWithDecimal(x, y)
  if (Number.isNaN(x) || Number.isNaN(y)) return compareDoubles(Number(x), Number(y))
  return x < y ? -1 : x > y ? 1 : 0
}

function compareDoubles(a: number, b: number): number {
  if (a < b) return -1
  if (a > b) return 1
  if (a === b) return 0
  return (Number.isNaN(a) ? 0 : 1) - (Number.isNaN(b) ? 0 : 1)
}

/** numerator / denominator, denominator > 0. */
interface Rational {
  readonly numerator: bigint
  readonly denominator: bigint
}

function compareWithDecimal(a: number | bigint | Decimal128, b: number | bigint | Decimal128): number {
  const x = Number(String(a))
  const y = Number(String(b))
  // Different doubles order the numbers they are nearest to: rounding is monotone.
  if (x !== y || !Number.isFinite(x)) {
    if (Math.abs(x) !== Number.POSITIVE_INFINITY || x !== y || (isInfinite(a) && isInfinite(b))) {
      return compareDoubles(x, y)
    }
  }
  const left = toRational(a)
  const right = toRational(b)
  if (left === undefined || right === undefined) {
    const infinity = x > 0 ? 1 : -1
    return left === undefined ? infinity : -infinity
  }
  const difference = left.numerator * right.denominator - right.numerator * left.denominator
  return difference < 0n ? -1 : difference > 0n ? 1 : 0
}

function isInfinite(value: number | bigint | Decimal128): boolean {
  return /inf/i.test(String(value))
}

/** undefined for the infinities. */
function toRational(value: number | bigint | Decimal128): Rational | undefined {
  if (typeof value === 'bigint') return { numerator: value, denominator: 1n }
  if (typeof value === 'number') return Number.isFinite(value) ? doubleToRational(value) : undefined
  const text = value.toString()
  const parts = /^(-?)(\d+)(?:\.(\d+))?(?:E([+-]?\d+))?$/i.exec(text)
  if (parts === null) return undefined
  const [, sign, whole, fraction = '', exponent = '0'] = parts
  const digits = BigInt(`${whole}${fraction}`) * (sign === '-' ? -1n : 1n)
  const scale = Number(exponent) - fraction.length
  return scale >= 0
    ? { numerator: digits * 10n ** BigInt(scale), denominator: 1n }
    : { numerator: digits, denominator: 10n ** BigInt(-scale) }
}

const doubleView = new DataView(new ArrayBuffer(8))

function doubleToRational(value: number): Rational {
  doubleView.setFloat64(0, value)
  const bits = doubleView.getBigUint64(0)
  const biased = Number((bits >> 52n) & 0x7ffn)
  const fraction = bits & 0xf_ffff_ffff_ffffn
  const mantissa = biased === 0 ? fraction : fraction | 0x10_0000_0000_0000n
  const exponent = Math.max(biased, 1) - 1075
  const signed = bits >> 63n === 1n ? -mantissa : mantissa
  return exponent >= 0
    ? { numerator: signed << BigInt(exponent), denominator: 1n }
    : { numerator: signed, denominator: 1n << BigInt(-exponent) }
}
