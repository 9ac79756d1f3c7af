/**
 * Decimal numbers as coefficient and exponent: converts a Decimal128 or an integer to this form, and back.
 *
 * The `bson` package's Decimal128 has no arithmetic and many representations of one value (`1`, `1.0`, `10E-1`); keys
 * need a single representation, and `$inc` needs sums.
 */
import { Decimal128 } from 'bson'

/** coefficient × 10^exponent; −0 is not preserved. */
export interface Decimal {
  readonly coefficient: bigint
  readonly exponent: number
}

/** Maximum number of digits in a Decimal128. */
const maxDigits = 34
/** Digits of a quotient: more than a Decimal128 holds, so that rounding happens only once. */
const quotientDigits = 40
const minExponent = -6176
const maxExponent = 6111

/** Undefined for NaN and the infinities. */
export function toDecimal(value: Decimal128 | bigint): Decimal | undefined {
  return typeof value === 'bigint' ? { coefficient: value, exponent: 0 } : parseDecimal(value.toString())
}

/** Parses plain or scientific notation; undefined for anything else, including `NaN` and `Infinity`. */
export function parseDecimal(text: string): Decimal | undefined {
  const parts = /^([+-]?)(\d+)(?:\.(\d*))?(?:E([+-]?\d+))?$/i.exec(text)
  if (parts === null) return undefined
  const [, sign, whole, fraction = '', exponent = '0'] = parts
  const digits = BigInt(`${whole}${fraction}`)
  return { coefficient: sign === '-' ? -digits : digits, exponent: Number(exponent) - fraction.length }
}

/**
 * The unique representation of a nonzero decimal: sign, digits without zeros at either end, power of the first digit.
 */
export function normaliseDecimal(value: Decimal): {
  readonly isNegative: boolean
  readonly digits: string
  readonly power: number
} {
  const isNegative = value.coefficient < 0n
  const all = String(isNegative ? -value.coefficient : value.coefficient)
  return { isNegative, digits: all.replace(/0+$/, ''), power: value.exponent + all.length - 1 }
}

export function addDecimals(a: Decimal, b: Decimal): Decimal {
  const exponent = Math.min(a.exponent, b.exponent)
  return { coefficient: scaleTo(a, exponent) + scaleTo(b, exponent), exponent }
}

export function multiplyDecimals(a: Decimal, b: Decimal): Decimal {
  return { coefficient: a.coefficient * b.coefficient, exponent: a.exponent + b.exponent }
}

/** Drops trailing zeros. A quotient with more digits is only correct to 34 of them. REQUIRES: `b` is not zero. */
export function divideDecimals(a: Decimal, b: Decimal): Decimal {
  const digits = quotientDigits + String(b.coefficient).length
  const scaled = a.coefficient * 10n ** BigInt(digits)
  let coefficient = scaled / b.coefficient
  if (scaled % b.coefficient !== 0n) {
    // Whatever follows decides how the middle of two decimals is rounded.
    const more = scaled < 0n === b.coefficient < 0n ? 1n : -1n
    return { coefficient: coefficient * 10n + more, exponent: a.exponent - b.exponent - digits - 1 }
  }
  let left = digits
  for (; left > 0 && coefficient % 10n === 0n; left--) coefficient /= 10n
  return { coefficient, exponent: a.exponent - b.exponent - left }
}

/** REQUIRES: `b` is not zero. */
export function isMultiple(a: Decimal, b: Decimal): boolean {
  const exponent = Math.min(a.exponent, b.exponent)
  return scaleTo(a, exponent) % scaleTo(b, exponent) === 0n
}

/**
 * Rounds to 34 digits, half to even as in IEEE 754; beyond the greatest exponent the result is an infinity.
 * @param isZeroNegative whether a zero is −0
 */
export function toDecimal128(value: Decimal, isZeroNegative = false): Decimal128 {
  let { coefficient, exponent } = value
  const sign = coefficient < 0n || (coefficient === 0n && isZeroNegative) ? '-' : ''
  if (coefficient < 0n) coefficient = -coefficient
  const excess = Math.max(String(coefficient).length - maxDigits, minExponent - exponent)
  if (excess > 0) {
    coefficient = roundHalfEven(coefficient, excess)
    exponent += excess
    // 999…9 rounded up has one digit more.
    if (String(coefficient).length > maxDigits) {
      coefficient /= 10n
      exponent++
    }
  }
  if (coefficient === 0n) exponent = Math.min(exponent, maxExponent)
  while (exponent > maxExponent && String(coefficient).length < maxDigits) {
    coefficient *= 10n
    exponent--
  }
  if (exponent > maxExponent) return Decimal128.fromString(`${sign}Infinity`)
  return Decimal128.fromString(`${sign}${coefficient}E${exponent}`)
}

/**
 * Removes digits below 10^`exponent`.
 * @param mode half to even, or towards zero
 */
export function cutDecimal(value: Decimal, exponent: number, mode: 'round' | 'truncate'): Decimal {
  const excess = exponent - value.exponent
  if (excess <= 0) return value
  const isNegative = value.coefficient < 0n
  const magnitude = isNegative ? -value.coefficient : value.coefficient
  const cut = mode === 'round' ? roundHalfEven(magnitude, excess) : magnitude / 10n ** BigInt(excess)
  return { coefficient: isNegative ? -cut : cut, exponent }
}

/** `round` half to even, `truncate` towards zero, `up` and `down` towards the infinities. */
export type RoundingMode = 'round' | 'truncate' | 'up' | 'down'

/**
 * Rounds to a multiple of 10^`exponent`, and spells the result with all digits down to there, or with 34 if these are
 * more. Keeps the sign of a zero; NaN and the infinities are unchanged.
 */
export function quantizeDecimal(value: Decimal128, exponent: number, mode: RoundingMode): Decimal128 {
  const text = value.toString()
  const isNegative = text.startsWith('-')
  const magnitude = parseDecimal(isNegative ? text.slice(1) : text)
  if (magnitude === undefined) return value
  const result = toDecimal128(withExponent(magnitude, exponent, ofMagnitude(mode, isNegative)))
  return isNegative ? Decimal128.fromString(`-${result}`) : result
}

function ofMagnitude(mode: RoundingMode, isNegative: boolean): 'round' | 'truncate' | 'enlarge' {
  if (mode === 'round' || mode === 'truncate') return mode
  return (mode === 'up') === isNegative ? 'truncate' : 'enlarge'
}

/** REQUIRES: the value is not negative. */
function withExponent(value: Decimal, exponent: number, mode: 'round' | 'truncate' | 'enlarge'): Decimal {
  const { coefficient } = value
  if (exponent > value.exponent) {
    const cut = cutDecimal(value, exponent, mode === 'round' ? mode : 'truncate')
    const isLess = mode === 'enlarge' && coefficient % 10n ** BigInt(exponent - value.exponent) !== 0n
    return isLess ? { coefficient: cut.coefficient + 1n, exponent } : cut
  }
  const room = coefficient === 0n ? Number.POSITIVE_INFINITY : maxDigits - String(coefficient).length
  const added = Math.min(value.exponent - exponent, room)
  return { coefficient: coefficient * 10n ** BigInt(added), exponent: value.exponent - added }
}

function scaleTo(value: Decimal, exponent: number): bigint {
  return value.coefficient * 10n ** BigInt(value.exponent - exponent)
}

function roundHalfEven(coefficient: bigint, droppedDigits: number): bigint {
  const unit = 10n ** BigInt(droppedDigits)
  const quotient = coefficient / unit
  const twice = (coefficient % unit) * 2n
  const roundsUp = twice > unit || (twice === unit && quotient % 2n === 1n)
  return roundsUp ? quotient + 1n : quotient
}
