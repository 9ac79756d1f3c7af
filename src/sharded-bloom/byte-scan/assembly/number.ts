/**
 * Parses JSON numbers, rounding like JSON.parse. Three methods, all exact:
 *
 * 1. A coefficient of up to 2^53 and a power of ten between −22 and 22: both are doubles, so one multiplication or
 *    division rounds once (Clinger, How to read floating-point numbers accurately, 1990).
 * 2. An integer of up to 64 bits: the processor's own conversion rounds it.
 * 3. The rest by Lemire, Number parsing at a gigabyte per second, 2021, which detects when it cannot decide.
 *
 * Rejected are numbers with more than 19 digits after leading zeros, powers beyond 60, −0, and, in Extended JSON, which
 * preserves them, integers beyond 2^53.
 */
import { MAX_POWER, MAX_WIDE_POWER, POWERS, WIDE_POWERS } from './layout'

const MAX_EXACT: u64 = 1 << 53
/** Nineteen digits always fit 64 bits. */
const MAX_DIGITS: usize = 19

let result: f64 = 0

/** The number that scanNumber() parsed. */
// @ts-ignore: decorator
@inline
export function scannedNumber(): f64 {
  return result
}

/** @param p at the sign or the first digit; returns the address after the number, or 0 */
export function scanNumber(p: usize, refusesLong: bool): usize {
  const isNegative = load<u8>(p) == 0x2d
  if (isNegative) p++
  const start = p
  let coefficient = <u64>0
  if (hasEightDigits(load<u64>(p)) && load<u8>(p) != 0x30) {
    coefficient = eightDigits(load<u64>(p))
    p += 8
  }
  for (let digit = digitAt(p); digit < 10; digit = digitAt(p)) {
    coefficient = coefficient * 10 + <u64>digit
    p++
  }
  let digits = p - start
  if (digits == 0 || (load<u8>(start) == 0x30 && digits > 1)) return 0
  let power: i32 = 0
  let isInteger = true
  if (load<u8>(p) == 0x2e) {
    isInteger = false
    const fraction = ++p
    for (let digit = digitAt(p); digit < 10; digit = digitAt(p)) {
      coefficient = coefficient * 10 + <u64>digit
      p++
    }
    if (p == fraction) return 0
    digits += p - fraction
    power = -(<i32>(p - fraction))
  }
  if ((load<u8>(p) | 0x20) == 0x65) {
    isInteger = false
    p = scanExponent(p + 1)
    if (p == 0) return 0
    power += exponent
  }
  if (digits > MAX_DIGITS && digits - leadingZeros(start) > MAX_DIGITS) return 0
  let value = <f64>coefficient
  if (coefficient <= MAX_EXACT && power <= MAX_POWER && power >= -MAX_POWER) {
    if (power < 0) value /= load<f64>(POWERS + (<usize>-power << 3))
    else if (power > 0) value *= load<f64>(POWERS + (<usize>power << 3))
  } else if (!isInteger) {
    value = lemire(coefficient, power)
    if (value == 0) return 0
  } else if (refusesLong) return 0
  if (isNegative) {
    if (value == 0) return 0
    value = -value
  }
  result = value
  return p
}

/** Number of zeros before the first other digit, skipping the decimal point. */
function leadingZeros(p: usize): usize {
  let zeros: usize = 0
  for (; load<u8>(p) == 0x30 || load<u8>(p) == 0x2e; p++) if (load<u8>(p) == 0x30) zeros++
  return zeros
}

/** Returns coefficient · 10^power, or 0 if it cannot be decided. */
function lemire(coefficient: u64, power: i32): f64 {
  if (coefficient == 0 || power > MAX_WIDE_POWER || power < -MAX_WIDE_POWER) return 0
  const zeros = clz(coefficient)
  const normalised = coefficient << zeros
  const wide = WIDE_POWERS + (<usize>(power + MAX_WIDE_POWER) << 4)
  const factor = load<u64>(wide, 8)
  let high = highProduct(normalised, factor)
  let low = normalised * factor
  if ((high & 0x1ff) == 0x1ff && low + normalised < normalised) {
    // The product with the leading 64 bits does not determine the rounding.
    const rest = load<u64>(wide)
    const restLow = normalised * rest
    const sum = low + highProduct(normalised, rest)
    if (sum < low) high++
    low = sum
    if ((high & 0x1ff) == 0x1ff && low == ~(<u64>0) && restLow + normalised < normalised) return 0
  }
  const top = high >>> 63
  let mantissa = high >>> (top + 9)
  // Halfway between two doubles.
  if (low == 0 && (high & 0x1ff) == 0 && (mantissa & 3) == 1) return 0
  let biased = <i64>((217706 * power) >> 16) + 64 + 1023 - <i64>zeros - <i64>(1 ^ top)
  mantissa = (mantissa + (mantissa & 1)) >>> 1
  if (mantissa >>> 53 != 0) {
    mantissa >>>= 1
    biased++
  }
  return reinterpret<f64>((<u64>biased << 52) | (mantissa & 0xfffffffffffff))
}

/** Returns the upper 64 of the 128 bits of a product. */
// @ts-ignore: decorator
@inline
function highProduct(a: u64, b: u64): u64 {
  const aLow = a & 0xffffffff
  const aHigh = a >>> 32
  const bLow = b & 0xffffffff
  const bHigh = b >>> 32
  const middle = aHigh * bLow + ((aLow * bLow) >>> 32)
  const cross = aLow * bHigh + (middle & 0xffffffff)
  return aHigh * bHigh + (middle >>> 32) + (cross >>> 32)
}

let exponent: i32 = 0

function scanExponent(p: usize): usize {
  const sign = <u32>load<u8>(p)
  if (sign == 0x2b || sign == 0x2d) p++
  const start = p
  let value: i32 = 0
  for (let digit = digitAt(p); digit < 10; digit = digitAt(p)) {
    value = min(value * 10 + <i32>digit, 10_000)
    p++
  }
  exponent = sign == 0x2d ? -value : value
  return p == start ? 0 : p
}

/** The digit at `p`, or a number above 9. */
// @ts-ignore: decorator
@inline
function digitAt(p: usize): u32 {
  return <u32>load<u8>(p) - 0x30
}

// @ts-ignore: decorator
@inline
function hasEightDigits(bytes: u64): bool {
  return ((bytes & 0xf0f0f0f0f0f0f0f0) | (((bytes + 0x0606060606060606) & 0xf0f0f0f0f0f0f0f0) >>> 4)) == 0x3333333333333333
}

/** Three multiplications: pairs of digits, then fours, then all eight. */
// @ts-ignore: decorator
@inline
function eightDigits(bytes: u64): u64 {
  const pairs = ((bytes & 0x0f0f0f0f0f0f0f0f) * 2561) >>> 8
  const fours = ((pairs & 0x00ff00ff00ff00ff) * 6553601) >>> 16
  return ((fours & 0x0000ffff0000ffff) * 42949672960001) >>> 32
}
