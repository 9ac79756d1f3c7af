/**
 * Seeded random numbers and the two distributions that the workload needs.
 *
 * Invariants:
 * 1. The same seed and stream give the same numbers on every machine and in every version: only 32-bit integer
 *    arithmetic, and IEEE operations whose results are specified exactly.
 * 2. Streams are independent, so that document i can be generated without its predecessors.
 */

/** Doty-Humphrey's sfc32: 128 bits of state, passes PractRand, four additions and three shifts per number. */
export class Random {
  #a = 0
  #b = 0
  #c = 0
  #counter = 1

  constructor(seed: number, stream = 0) {
    this.reset(seed, stream)
  }

  /** Starts over as `new Random(seed, stream)` would, without an allocation. */
  reset(seed: number, stream: number): void {
    this.#a = seed | 0
    this.#b = stream | 0
    this.#c = (stream / 2 ** 32) | 0
    this.#counter = 1
    for (let i = 0; i < 12; i++) this.uint32()
  }

  /** 0 ≤ n < 2^32 */
  uint32(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#counter) | 0
    this.#counter = (this.#counter + 1) | 0
    this.#a = this.#b ^ (this.#b >>> 9)
    this.#b = (this.#c + (this.#c << 3)) | 0
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0
    return sum >>> 0
  }

  /** 0 ≤ x < 1, a multiple of 2^−32 */
  float(): number {
    return this.uint32() / 2 ** 32
  }

  /** 0 ≤ n < bound; bound ≤ 2^32. The bias is below bound / 2^32. */
  below(bound: number): number {
    return Math.floor(this.float() * bound)
  }

  chance(probability: number): boolean {
    return this.float() < probability
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!
  }
}

/** Draws index i with a probability proportional to weights[i], in constant time (Walker and Vose's alias method). */
export class Weighted {
  readonly #threshold: Float64Array
  readonly #alias: Uint32Array

  constructor(weights: ArrayLike<number>) {
    const size = weights.length
    let total = 0
    for (let i = 0; i < size; i++) total += weights[i]!
    this.#threshold = new Float64Array(size)
    this.#alias = new Uint32Array(size)
    const small: number[] = []
    const large: number[] = []
    for (let i = 0; i < size; i++) {
      this.#threshold[i] = (weights[i]! * size) / total
      if (this.#threshold[i]! < 1) small.push(i)
      else large.push(i)
    }
    while (small.length > 0 && large.length > 0) {
      const light = small.pop()!
      const heavy = large.at(-1)!
      this.#alias[light] = heavy
      this.#threshold[heavy] = this.#threshold[heavy]! + this.#threshold[light]! - 1
      if (this.#threshold[heavy]! < 1) small.push(large.pop()!)
    }
    // The remaining entries are 1, apart from rounding errors.
    for (const i of [...small, ...large]) this.#threshold[i] = 1
  }

  draw(random: Random): number {
    const scaled = random.float() * this.#threshold.length
    const index = Math.floor(scaled)
    return scaled - index < this.#threshold[index]! ? index : this.#alias[index]!
  }
}

/** Zipf–Mandelbrot: rank i is drawn in proportion to 1 / (i + offset). A small offset makes a steep head. */
export function zipf(size: number, offset: number): Weighted {
  return new Weighted(Float64Array.from({ length: size }, (_, rank) => 1 / (rank + offset)))
}

/** A count with a heavy tail: 0 in half of the draws, and at least n in about 1 / n of them. */
export function heavyTailed(random: Random): number {
  const magnitude = Math.clz32(random.uint32())
  return magnitude === 0 ? 0 : 2 ** magnitude - 1 + random.below(2 ** magnitude)
}
