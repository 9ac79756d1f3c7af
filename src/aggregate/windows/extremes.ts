/** The least or the greatest value of a moving window. */
import { compareValues } from '../../model/compare.ts'
import { isNil } from '../expression-values.ts'
import type { Sliding } from './sliding.ts'

interface Candidate {
  readonly value: unknown
  readonly arrival: number
}

/**
 * Invariant: the candidates are in the order of the window, each better than all behind it or equal to them: the first is the result,
 * and the first of those that equal it.
 */
export class SlidingExtreme implements Sliding {
  readonly #sign: 1 | -1
  #candidates: Candidate[] = []
  /** Those before it have left. */
  #first = 0
  #arrivals = 0
  #departures = 0

  /** @param sign 1 for the least, -1 for the greatest */
  constructor(sign: 1 | -1) {
    this.#sign = sign
  }

  push(value: unknown): void {
    const arrival = this.#arrivals++
    if (isNil(value)) return
    const candidates = this.#candidates
    while (candidates.length > this.#first) {
      const last = candidates[candidates.length - 1] as Candidate
      if (this.#sign * compareValues(value, last.value) >= 0) break
      candidates.pop()
    }
    candidates.push({ value, arrival })
  }

  shift(): void {
    const departure = this.#departures++
    if (this.#candidates[this.#first]?.arrival !== departure) return
    this.#first++
    if (this.#first * 2 <= this.#candidates.length) return
    this.#candidates = this.#candidates.slice(this.#first)
    this.#first = 0
  }

  // biome-ignore lint/correctness/useYield: nothing to be interrupted
  *result(): Generator<undefined, unknown> {
    return this.#candidates[this.#first]?.value ?? null
  }
}
