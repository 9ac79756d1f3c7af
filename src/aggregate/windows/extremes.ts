/** The minimum or maximum of a moving window. */
import { compareValues } from '../../model/compare.ts'
import { isNil } from '../expression-values.ts'
import type { Sliding } from './sliding.ts'

interface Candidate {
  readonly value: unknown
  readonly arrival: number
}

/**
 * Invariant: candidates are in window order, each better than or equal to all after it, so the first one is the result,
 * and the first of its equals.
 */
export class SlidingExtreme implements Sliding {
  readonly #sign: 1 | -1
  #candidates: Candidate[] = []
  /** Candidates before this have left the window. */
  #first = 0
  #arrivals = 0
  #departures = 0

  /** @param sign 1 for the minimum, -1 for the maximum */
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
