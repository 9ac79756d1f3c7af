/** Numbers of every kind as 64-bit integers, for the operators defined only on those (`$mod`, `$bits…`). */
import { Decimal128 } from 'bson'
import { parseDecimal } from './decimal.ts'
import { unwrapNumber } from './numbers.ts'
import type { Numeric } from './types.ts'

const limit = 2 ** 63

/** The integer part, rounded toward zero; undefined for NaN, infinities and values that do not fit 64 signed bits. */
export function truncateToInt64(value: Numeric): bigint | undefined {
  const plain = unwrapNumber(value)
  if (typeof plain === 'bigint') return BigInt.asIntN(64, plain) === plain ? plain : undefined
  if (plain instanceof Decimal128) return truncateDecimal(plain.toString())
  const whole = Math.trunc(plain)
  return whole >= -limit && whole < limit ? BigInt(whole) : undefined
}

/** The number itself if it is a signed 64-bit integer, otherwise undefined. */
export function exactInt64(value: Numeric): bigint | undefined {
  const plain = unwrapNumber(value)
  if (typeof plain === 'number') return Number.isInteger(plain) ? truncateToInt64(plain) : undefined
  if (plain instanceof Decimal128 && !isWhole(plain.toString())) return undefined
  return truncateToInt64(plain)
}

function truncateDecimal(text: string): bigint | undefined {
  const parts = parseDecimal(text)
  if (parts === undefined) return undefined
  if (parts.coefficient === 0n) return 0n
  if (parts.exponent > 19) return undefined
  const power = 10n ** BigInt(Math.abs(parts.exponent))
  const whole = parts.exponent >= 0 ? parts.coefficient * power : parts.coefficient / power
  return BigInt.asIntN(64, whole) === whole ? whole : undefined
}

function isWhole(text: string): boolean {
  const parts = parseDecimal(text)
  if (parts === undefined) return false
  return parts.exponent >= 0 || parts.coefficient % 10n ** BigInt(-parts.exponent) === 0n
}
