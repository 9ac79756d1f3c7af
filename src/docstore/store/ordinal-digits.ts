/** An ordinal as the table of ids keeps it: its decimal digits. */

/** Of the greatest safe integer. */
export const maxDigits = 16
const digits = new Uint8Array(maxDigits)
/** The last digits of `digits`, by how many they are. */
const digitViews = Array.from({ length: maxDigits + 1 }, (_, count) => digits.subarray(maxDigits - count))

/** A whole number in decimal, in memory that the next call writes over. */
export function passingDigits(value: number): Uint8Array {
  let at = maxDigits
  let rest = value
  do {
    const tens = Math.floor(rest / 10)
    digits[--at] = 0x30 + rest - tens * 10
    rest = tens
  } while (rest > 0)
  return digitViews[maxDigits - at]!
}
