/**
 * Treats numbers of all kinds as one type: 1 = 1.0 = 1n = NumberLong(1) = Decimal128('1').
 *
 * Comparison is exact across kinds: nothing is rounded before it is compared.
 */
import { Decimal128, Double, Int32, Long } from 'bson'
import { parseDecimal } from './decimal.ts'
import type { Numeric } from './types.ts'

/** Converts a Long, Int32 or Double to a JavaScript number or bigint; Decimal128 stays as it is. */
export function unwrapNumber(value: Numeric): number | bigint | Decimal128 {
  if (typeof value === 'number' || typeof value === 'bigint') return value
  if (value instanceof Int32 || value instanceof Double) return value.valueOf()
  if (Long.isLong(value)) return value.toBigInt()
  // Another copy of the bson package has different classes: rely on their tag.
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

/** The nearest double; −0 becomes 0. The index hashes this. */
export function toDouble(value: Numeric): number {
  if (typeof value === 'number') return value + 0
  const plain = unwrapNumber(value)
  if (plain instanceof Decimal128) return Number(plain.toString()) + 0
  return Number(plain) + 0
}

/** True if the nearest double is the number itself, so that equal doubles mean equal numbers. */
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
  // If the nearest doubles differ, they order the numbers, because rounding is monotone; NaN differs from itself.
  if (x !== y) return compareDoubles(x, y)
  const left = toRational(a)
  const right = toRational(b)
  if (left === undefined && right === undefined) return 0
  // One is an infinity, the other a decimal beyond all doubles.
  if (left === undefined || right === undefined) return left === undefined ? Math.sign(x) : -Math.sign(x)
  const difference = left.numerator * right.denominator - right.numerator * left.denominator
  return difference < 0n ? -1 : difference > 0n ? 1 : 0
}

/** Undefined for the infinities. */
function toRational(value: number | bigint | Decimal128): Rational | undefined {
  if (typeof value === 'bigint') return { numerator: value, denominator: 1n }
  if (typeof value === 'number') return Number.isFinite(value) ? doubleToRational(value) : undefined
  const decimal = parseDecimal(value.toString())
  if (decimal === undefined) return undefined
  const { coefficient, exponent } = decimal
  return exponent >= 0
    ? { numerator: coefficient * 10n ** BigInt(exponent), denominator: 1n }
    : { numerator: coefficient, denominator: 10n ** BigInt(-exponent) }
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
