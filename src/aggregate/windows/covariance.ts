/** `$covariancePop` and `$covarianceSamp`, computed with doubles. */
import { toDouble } from '../../model/numbers.ts'
import type { Accumulator } from '../accumulators.ts'
import { isNumber } from '../operators/operator.ts'

/** Takes arrays of two numbers; anything else is ignored. Welford's method, which retains no values. */
export class Covariance implements Accumulator {
  readonly #isSample: boolean
  #count = 0
  #meanX = 0
  #meanY = 0
  #products = 0

  constructor(isSample: boolean) {
    this.#isSample = isSample
  }

  add(pair: unknown): boolean {
    if (!Array.isArray(pair) || pair.length !== 2) return false
    const [first, second] = pair as readonly unknown[]
    if (!isNumber(first) || !isNumber(second)) return false
    const [x, y] = [toDouble(first), toDouble(second)]
    if (!Number.isFinite(x) || !Number.isFinite(y)) {
      this.#products += sumNonFinite(x, y)
      return false
    }
    this.#count++
    const distance = x - this.#meanX
    this.#meanX += distance / this.#count
    this.#meanY += (y - this.#meanY) / this.#count
    this.#products += distance * (y - this.#meanY)
    return false
  }

  result(): unknown {
    if (this.#count === 1 && !this.#isSample) return 0
    const divisor = this.#isSample ? this.#count - 1 : this.#count
    return divisor > 0 ? this.#products / divisor : null
  }
}

/** Returns what a pair with NaN or an infinity adds; such values are kept out of the means. */
function sumNonFinite(x: number, y: number): number {
  return [x, y].filter((each) => !Number.isFinite(each)).reduce((sum, each) => sum + each, 0)
}
