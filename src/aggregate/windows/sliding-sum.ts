/**
 * Sums and averages of moving windows, subtracting the numbers that leave.
 *
 * Invariants:
 * 1. The result equals that of an ExactSum of the window, bit by bit. If that is not certain, an ExactSum is computed.
 * 2. It is certain if all doubles are multiples of a power of two that is small enough relative to their sum: then
 *    the errors kept here are not rounded, and the true sum is rounded once, as an ExactSum always does.
 */
import { unwrapNumber } from '../../model/numbers.ts'
import { type Numeric, Type, typeOf } from '../../model/types.ts'
import { ExactSum, roundingError, totalOf } from '../exact-sum.ts'
import type { Queue, Sliding } from './sliding.ts'
import { stepsPerTurn } from './window-function.ts'

/** Bits of the two doubles that hold a sum, together. */
const heldBits = 106
/** Far enough from infinity that no intermediate sum overflows. */
const greatest = 2 ** 1000

export class SlidingSum implements Sliding {
  readonly #isAverage: boolean
  #doubles = new DoubleSum()
  #longs = 0n
  #longCount = 0
  /** Doubles that are not safe integers. */
  #nonIntegerCount = 0
  /** NaN, infinities and Decimal128 values, which force recomputation. */
  #otherCount = 0

  constructor(isAverage: boolean) {
    this.#isAverage = isAverage
  }

  push(value: unknown): void {
    this.#change(value, 1)
  }

  shift(value: unknown): void {
    this.#change(value, -1)
  }

  *result(window: Queue): Generator<undefined, unknown> {
    if (this.#otherCount > 0 || !this.#doubles.isExact) return yield* this.#recompute(window)
    const { count, total } = this.#doubles
    const longs = this.#longCount > 0 ? this.#longs : undefined
    const sum = totalOf(total, this.#nonIntegerCount === 0, longs)
    if (!this.#isAverage) return sum
    const numbers = count + this.#longCount
    return numbers > 0 ? Number(sum) / numbers : null
  }

  #change(value: unknown, by: 1 | -1): void {
    const number = numberOf(value)
    if (number === undefined) return
    if (typeof number === 'bigint') {
      this.#longs += by === 1 ? number : -number
      this.#longCount += by
    } else if (typeof number === 'number' && Number.isFinite(number)) {
      this.#doubles.change(number, by)
      if (!Number.isSafeInteger(number)) this.#nonIntegerCount += by
    } else this.#otherCount += by
  }

  /** Recomputes the sum, and drops the values that have left, which may have been the ones too large or too small. */
  *#recompute(window: Queue): Generator<undefined, unknown> {
    const sum = new ExactSum()
    this.#doubles = new DoubleSum()
    let steps = 0
    for (const value of window) {
      sum.add(value)
      const number = numberOf(value)
      if (typeof number === 'number' && Number.isFinite(number)) this.#doubles.change(number, 1)
      if (++steps % stepsPerTurn === 0) yield undefined
    }
    return this.#isAverage ? sum.average() : sum.total()
  }
}

function numberOf(value: unknown): ReturnType<typeof unwrapNumber> | undefined {
  if (typeof value === 'number') return value
  return value === undefined || typeOf(value) !== Type.number ? undefined : unwrapNumber(value as Numeric)
}

/** A sum of finite doubles, held as two doubles: the second is the error of the first. */
class DoubleSum {
  #high = 0
  #low = 0
  #count = 0
  /** The exponent of the lowest bit, and the greatest magnitude, of all values ever added. */
  #lowestBit = Number.POSITIVE_INFINITY
  #largest = 0
  #isExact = true

  get count(): number {
    return this.#count
  }

  /** Whether the total equals that of an ExactSum of the same doubles. */
  get isExact(): boolean {
    return this.#isExact
  }

  get total(): number {
    return this.#high
  }

  change(value: number, by: 1 | -1): void {
    this.#count += by
    if (value === 0) return
    if (by === 1) {
      this.#lowestBit = Math.min(this.#lowestBit, lowestBitOf(value))
      this.#largest = Math.max(this.#largest, Math.abs(value))
      // Intermediate sums are at most twice the sum of all magnitudes; the accumulated errors of `count` sums are at
      // most `count` times their last bit.
      const bound = 2 * this.#count * this.#count * this.#largest
      if (!(bound < greatest && bound <= 2 ** (this.#lowestBit + heldBits))) this.#isExact = false
    }
    const change = by === 1 ? value : -value
    const sum = this.#high + change
    const low = this.#low + roundingError(this.#high, change, sum)
    this.#high = sum + low
    this.#low = roundingError(sum, low, this.#high)
  }
}

const view = new DataView(new ArrayBuffer(8))

/** REQUIRES: finite, not 0. */
function lowestBitOf(value: number): number {
  view.setFloat64(0, value)
  const high = view.getUint32(0)
  const low = view.getUint32(4)
  const biased = (high >>> 20) & 0x7ff
  const fraction = high & 0xf_ffff
  const zeros = low !== 0 ? trailingZeros(low) : fraction !== 0 ? 32 + trailingZeros(fraction) : 52
  return Math.max(biased, 1) - 1075 + zeros
}

function trailingZeros(bits: number): number {
  return 31 - Math.clz32(bits & -bits)
}
