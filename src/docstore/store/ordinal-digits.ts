/** Ordinals in decimal digits, the format of the id table. */

/** Digits of the greatest safe integer. */
export const maxDigits = 16
const zero = 0x30
const nine = 0x39
const digits = new Uint8Array(maxDigits)
/** Views of the last n digits of `digits`, indexed by n. */
const digitViews = Array.from({ length: maxDigits + 1 }, (_, count) => digits.subarray(maxDigits - count))

/** Returns a whole number in decimal, in memory that the next call overwrites. */
export function scratchDigits(value: number): Uint8Array {
  let at = maxDigits
  let rest = value
  do {
    const tens = Math.floor(rest / 10)
    digits[--at] = zero + rest - tens * 10
    rest = tens
  } while (rest > 0)
  return digitViews[maxDigits - at]!
}

/** Consecutive whole numbers in decimal, without a division for each. */
export class CountingDigits {
  readonly #digits = new Uint8Array(maxDigits)
  /** The first digit. */
  #start: number

  constructor(value: number) {
    const first = scratchDigits(value)
    this.#start = maxDigits - first.length
    this.#digits.set(first, this.#start)
  }

  /** Writes the number to target[at, …). @returns the end of its digits */
  writeTo(target: Uint8Array, at: number): number {
    const digits = this.#digits
    let to = at
    for (let from = this.#start; from < maxDigits; from++) target[to++] = digits[from]!
    return to
  }

  /** REQUIRES: the next number is safe, too. */
  increment(): void {
    const digits = this.#digits
    let at = maxDigits - 1
    while (digits[at] === nine) digits[at--] = zero
    if (at >= this.#start) digits[at]!++
    else {
      this.#start = at
      digits[at] = zero + 1
    }
  }
}
