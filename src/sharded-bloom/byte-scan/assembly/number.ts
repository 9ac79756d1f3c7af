/**
 * JSON numbers whose double can be had exactly by one multiplication or division of exact doubles (Clinger 1990): a
 * coefficient of up to 2^53 and a power of ten between −22 and 22. Others are refused, and −0.
 */
import { MAX_POWER, POWERS } from './layout'

const MAX_EXACT: u64 = 1 << 53
/** Nineteen digits always fit 64 bits. */
const MAX_DIGITS: usize = 19

let result: f64 = 0

/** The number that scanNumber() has read. */
// @ts-ignore: decorator
@inline
export function scannedNumber(): f64 {
  return result
}

/** @param p at the sign or the first digit; returns the address behind the number, or 0 */
export function scanNumber(p: usize): usize {
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
  const next = <u32>load<u8>(p)
  if (next == 0x2e) {
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
    p = scanExponent(p + 1)
    if (p == 0) return 0
    power += exponent
  }
  if (digits > MAX_DIGITS || coefficient > MAX_EXACT || power > MAX_POWER || power < -MAX_POWER) return 0
  let value = <f64>coefficient
  if (power < 0) value /= load<f64>(POWERS + (<usize>-power << 3))
  else if (power > 0) value *= load<f64>(POWERS + (<usize>power << 3))
  if (isNegative) {
    if (value == 0) return 0
    value = -value
  }
  result = value
  return p
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

/** The digit at `p`, or a number beyond 9. */
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
