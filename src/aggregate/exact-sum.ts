/**
 * Sums numbers of all types, as exactly as their types allow.
 *
 * Invariants:
 * 1. The sum of the doubles is exact until it is read, so the order of documents, and whether parts of them were summed
 *    separately, does not matter unless it comes close to an overflow.
 * 2. Types mix as in MongoDB: the sum of anything and a Decimal128 is a Decimal128, the sum of a 64-bit integer and
 *    integers is a 64-bit integer, or a double if it does not fit.
 */
import { Decimal128 } from 'bson'
import { addDecimals, type Decimal, divideDecimals, parseDecimal, toDecimal, toDecimal128 } from '../model/decimal.ts'
import { unwrapNumber } from '../model/numbers.ts'
import { type Numeric, Type, typeOf } from '../model/types.ts'

/** Significant digits of a double in decimal arithmetic, as in MongoDB. */
const doubleDigits = 15
/** Beyond it, the sum of more doubles may overflow on the way, which then depends on their order. */
const mostOfPart = 2 ** 1000

/** A sum as data. */
export interface SumState {
  readonly high: number
  readonly low: number
  readonly rest: readonly number[]
  readonly special: number
  readonly isInteger: boolean
  readonly longs: bigint | undefined
  readonly decimals: Decimal | undefined
  readonly specialDecimal: number | undefined
  readonly count: number
}

export class ExactSum {
  /** The sum of the doubles is exactly `#high + #low`, and that of `#rest`, which is nearly always empty. */
  #high = 0
  #low = 0
  readonly #rest: number[] = []
  /** Whether `#high` was ever beyond `mostOfPart`. */
  #isHuge = false
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

  /** @throws RangeError if the sum of doubles came close to an overflow: with those before, it might have overflowed */
  state(): SumState {
    if (this.#isHuge) throw new RangeError('The sum may overflow')
    return {
      high: this.#high,
      low: this.#low,
      rest: [...this.#rest],
      special: this.#special,
      isInteger: this.#isInteger,
      longs: this.#longs,
      decimals: this.#decimals,
      specialDecimal: this.#specialDecimal,
      count: this.#count
    }
  }

  /** Adds all that another sum is of. */
  merge({ high, low, rest, special, isInteger, longs, decimals, specialDecimal, count }: SumState): void {
    this.#count += count
    for (const part of [high, low, ...rest]) this.#addFinite(part)
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
    this.#addFinite(value)
  }

  #addFinite(value: number): void {
    const before = this.#high
    const sum = before + value
    this.#high = sum
    if (sum > mostOfPart || sum < -mostOfPart) this.#isHuge = true
    const error = roundingError(before, value, sum)
    if (error !== 0 && Number.isFinite(error)) this.#addError(error)
  }

  #addError(error: number): void {
    const before = this.#low
    this.#low = before + error
    const lost = roundingError(before, error, this.#low)
    if (lost !== 0) addExact(this.#rest, lost)
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
    const parts = this.#rest
    // When the sum overflows, #high is an infinity.
    const isPlain = parts.length === 0 || !Number.isFinite(this.#high)
    return (isPlain ? this.#high + this.#low : rounded(parts, this.#low, this.#high)) + this.#special
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
 * Adds a number to an exact sum, without losing anything (Shewchuk, Adaptive Precision Floating-Point Arithmetic).
 * @param parts of the sum: numbers of ascending magnitude that do not overlap
 */
function addExact(parts: number[], value: number): void {
  let carry = value
  let kept = 0
  for (const part of parts) {
    const sum = carry + part
    const error = roundingError(carry, part, sum)
    if (error !== 0) parts[kept++] = error
    carry = sum
  }
  parts.length = kept
  if (carry !== 0) parts.push(carry)
}

/** Returns the sum of an exact sum and two more numbers, rounded once. */
function rounded(parts: readonly number[], low: number, high: number): number {
  const exact = [...parts]
  addExact(exact, low)
  addExact(exact, high)
  let sum = 0
  for (let i = exact.length - 1; i >= 0; i--) {
    const before = sum
    sum += exact[i]!
    const error = exact[i]! - (sum - before)
    if (error === 0) continue
    // If the error is half of the last bit, the sum was rounded to even, but what follows may decide otherwise.
    const next = exact[i - 1] ?? 0
    const closer = sum + 2 * error
    return error * next > 0 && closer - sum === 2 * error ? closer : sum
  }
  return sum
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
