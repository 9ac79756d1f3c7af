/**
 * Sums of numbers of all kinds, as exact as their kinds allow.
 *
 * Invariants:
 * 1. Doubles are added with their rounding errors kept, so that the order of documents hardly matters, and integers below 2^53
 *    not at all.
 * 2. Kinds mix as in MongoDB: anything with a Decimal128 is a Decimal128, 64-bit integers stay so beside integers, and
 *    become a double when the sum does not fit.
 */
import { Decimal128 } from 'bson'
import { addDecimals, type Decimal, parseDecimal, toDecimal, toDecimal128 } from '../model/decimal.ts'
import { unwrapNumber } from '../model/numbers.ts'
import { type Numeric, Type, typeOf } from '../model/types.ts'

/** Digits of a double that count in decimal arithmetic, as in MongoDB. */
const doubleDigits = 15
/** More digits than a Decimal128 holds: the quotient is rounded once. */
const quotientDigits = 40

export class ExactSum {
  /** The doubles are worth `#high + #low`. */
  #high = 0
  #low = 0
  /** NaN and infinities, which the rounding errors would spoil. */
  #special = 0
  #isInteger = true
  #longs: bigint | undefined
  #decimals: Decimal | undefined
  #specialDecimal: number | undefined
  #count = 0

  /** Numbers among what was added. */
  get count(): number {
    return this.#count
  }

  /** What is no number is passed over. */
  add(value: unknown): void {
    if (typeof value === 'number') {
      this.#count++
      this.#addDouble(value)
    } else if (typeof value === 'bigint' || typeOf(value) === Type.number) {
      this.#count++
      this.#addOther(unwrapNumber(value as Numeric))
    }
  }

  /** 0 when nothing was added. */
  total(): number | bigint | Decimal128 {
    if (this.#isDecimal) return this.#isSpecial ? this.#special128() : toDecimal128(this.#decimalTotal())
    return totalOf(this.#double(), this.#isInteger, this.#longs)
  }

  /** null when nothing was added. */
  average(): number | Decimal128 | null {
    if (this.#count === 0) return null
    if (!this.#isDecimal) return Number(this.total()) / this.#count
    if (this.#isSpecial) return this.#special128()
    const { coefficient, exponent } = this.#decimalTotal()
    const scaled = coefficient * 10n ** BigInt(quotientDigits)
    return toDecimal128({ coefficient: scaled / BigInt(this.#count), exponent: exponent - quotientDigits })
  }

  get #isDecimal(): boolean {
    return this.#decimals !== undefined || this.#specialDecimal !== undefined
  }

  /** No decimal: NaN or an infinity. */
  get #isSpecial(): boolean {
    return this.#specialDecimal !== undefined || !Number.isFinite(this.#double())
  }

  #addDouble(value: number): void {
    if (!Number.isFinite(value)) {
      this.#special += value
      this.#isInteger = false
      return
    }
    if (this.#isInteger && !Number.isSafeInteger(value)) this.#isInteger = false
    const sum = this.#high + value
    this.#low += roundingError(this.#high, value, sum)
    this.#high = sum
  }

  #addOther(value: number | bigint | Decimal128): void {
    if (typeof value === 'number') this.#addDouble(value)
    else if (typeof value === 'bigint') this.#longs = (this.#longs ?? 0n) + value
    else {
      const decimal = toDecimal(value)
      if (decimal === undefined) this.#specialDecimal = (this.#specialDecimal ?? 0) + Number(value.toString())
      else this.#decimals = this.#decimals === undefined ? decimal : addDecimals(this.#decimals, decimal)
    }
  }

  #double(): number {
    // A sum beyond all doubles has an infinity in #high and NaN in #low.
    return Number.isFinite(this.#high) ? this.#high + this.#low + this.#special : this.#high + this.#special
  }

  #decimalTotal(): Decimal {
    const zero: Decimal = { coefficient: 0n, exponent: 0 }
    const double = this.#double()
    const text = Number.isSafeInteger(double) ? String(double) : double.toPrecision(doubleDigits)
    const parts = [this.#decimals ?? zero, { coefficient: this.#longs ?? 0n, exponent: 0 }, parseDecimal(text) ?? zero]
    return parts.reduce(addDecimals)
  }

  #special128(): Decimal128 {
    return Decimal128.fromString(String((this.#specialDecimal ?? 0) + this.#double()))
  }
}

/** Of `a + b`, by Knuth: it is itself a double, unless the sum is beyond all doubles. */
export function roundingError(a: number, b: number, sum: number): number {
  const shadow = sum - a
  return a - (sum - shadow) + (b - shadow)
}

/**
 * @param doubles what they add up to
 * @param isInteger whether all of them are
 * @param longs undefined where there are no 64-bit integers
 */
export function totalOf(doubles: number, isInteger: boolean, longs: bigint | undefined): number | bigint {
  if (longs === undefined) return doubles
  if (!isInteger || !Number.isSafeInteger(doubles)) return doubles + Number(longs)
  const sum = longs + BigInt(doubles)
  return BigInt.asIntN(64, sum) === sum ? sum : Number(sum)
}
