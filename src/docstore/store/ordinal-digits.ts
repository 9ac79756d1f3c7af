/** Ordinals in decimal digits, the format of the id table. */

/** Digits of the greatest safe integer. */
export const maxDigits = 16
const digits = new Uint8Array(maxDigits)
/** Views of the last n digits of `digits`, indexed by n. */
const digitViews = Array.from({ length: maxDigits + 1 }, (_, count) => digits.subarray(maxDigits - count))

/** Returns a whole number in decimal, in memory that the next call overwrites. */
export function scratchDigits(value: number): Uint8Array {
  let at = maxDigits
  let rest = value
  do {
    const tens = Math.floor(rest / 10)
    digits[--at] = 0x30 + rest - tens * 10
    rest = tens
  } while (rest > 0)
  return digitViews[maxDigits - at]!
}
