/**
 * Sums numbers of all types, as exactly as their types allow.
 *
 * Invariants:
 * 1. Doubles are summed with compensation, so that the order of documents hardly matters; for integers below 2^53 it
 *    does not matter at all.
 * 2. Types mix as in MongoDB: the sum of anything and a Decimal128 is a Decimal128, the sum of a 64-bit integer and
 *    integers is a 64-bit integer, or a double if it does not fit.
 */
import { Decimal128 } from 'bson'
import { addDecimals, type Decimal, divideDecimals, parseDecimal, toDecimal, toDecimal128 } from '../model/decimal.ts'
import { unwrapNumber } from '../model/numbers.ts'
import { type Numeric, Type, typeOf } from '../model/types.ts'

/** Significant digits of a double in decimal arithmetic, as in MongoDB. */
const doubleDigits = 15

/** A sum as data. */
export interface SumState {
  readonly high: number
  readonly low: number
  readonly special: number
  readonly isInteger: boolean
  readonly longs: bigint | undefined
  readonly decimals: Decimal | undefined
  readonly specialDecimal: number | undefined
  readonly count: number
}

export class ExactSum {
  /** The sum of the doubles is `#high + #low`. */
  #high = 0
  #low = 0
  /** NaN and infinities, kept apart because they would spoil the rounding errors. */
  #special = 0
  #isInteger = true
  #longs: bigint | undefined
  #decimals: Decimal | undefined
  #specialDecimal: number | undefined
  #count = 0

  /** Number of numeric values added. */
  get count(): number {
    return this.#count
  }

  /** Adds a value; non-numeric values are ignored. */
  add(value: unknown): void {
    if (typeof value === 'number') {
      this.#count++
      this.#addDouble(value)
    } else if (typeof value === 'bigint' || typeOf(value) === Type.number) {
      this.#count++
      this.#addOther(unwrapNumber(value as Numeric))
    }
  }

  /** @throws RangeError if the sum of doubles is too large for one: with those of other parts it might not be */
  state(): SumState {
    if (!Number.isFinite(this.#high)) throw new RangeError('The sum overflows')
    return {
      high: this.#high,
      low: this.#low,
      special: this.#special,
      isInteger: this.#isInteger,
      longs: this.#longs,
      decimals: this.#decimals,
      specialDecimal: this.#specialDecimal,
      count: this.#count
    }
  }

  /** Adds all that another sum is of. */
  merge({ high, low, special, isInteger, longs, decimals, specialDecimal, count }: SumState): void {
    this.#count += count
    const sum = this.#high + high
    this.#low += roundingError(this.#high, high, sum) + low
    this.#high = sum
    this.#special += special
    this.#isInteger &&= isInteger
    if (longs !== undefined) this.#longs = (this.#longs ?? 0n) + longs
    if (decimals !== undefined)
      this.#decimals = this.#decimals === undefined ? decimals : addDecimals(this.#decimals, decimals)
    if (specialDecimal !== undefined) this.#specialDecimal = (this.#specialDecimal ?? 0) + specialDecimal
  }

  /** Returns 0 if nothing was added. */
  total(): number | bigint | Decimal128 {
    if (this.#isDecimal) return this.#isSpecial ? this.#special128() : toDecimal128(this.#decimalTotal())
    return totalOf(this.#double(), this.#isInteger, this.#longs)
  }

  /** Returns null if nothing was added. */
  average(): number | Decimal128 | null {
    if (this.#count === 0) return null
    if (!this.#isDecimal) return Number(this.total()) / this.#count
    if (this.#isSpecial) return this.#special128()
    return toDecimal128(divideDecimals(this.#decimalTotal(), { coefficient: BigInt(this.#count), exponent: 0 }))
  }

  get #isDecimal(): boolean {
    return this.#decimals !== undefined || this.#specialDecimal !== undefined
  }

  /** The decimal result would be NaN or an infinity. */
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
    // When the sum overflows, #high is an infinity, and #low is NaN.
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

/** Returns the rounding error of `a + b` (Knuth's TwoSum), which is exactly representable unless the sum overflows. */
export function roundingError(a: number, b: number, sum: number): number {
  const shadow = sum - a
  return a - (sum - shadow) + (b - shadow)
}

/**
 * @param doubles sum of the doubles
 * @param isInteger whether all of them are integers
 * @param longs sum of the 64-bit integers; undefined if there are none
 */
export function totalOf(doubles: number, isInteger: boolean, longs: bigint | undefined): number | bigint {
  if (longs === undefined) return doubles
  if (!isInteger || !Number.isSafeInteger(doubles)) return plusLong(doubles, longs)
  const sum = longs + BigInt(doubles)
  return BigInt.asIntN(64, sum) === sum ? sum : Number(sum)
}

/** Adds without losing the last digits of a 64-bit integer that is not a double. */
function plusLong(double: number, long: bigint): number {
  const high = Number(long)
  const sum = double + high
  if (!Number.isFinite(sum)) return sum
  return sum + (roundingError(double, high, sum) + Number(long - BigInt(high)))
}
