/**
 * Which documents of a segment are live.
 *
 * Copy on write: a view keeps the words it captured, and the next removal works on a copy, so a view sees exactly the
 * documents that were live when it was captured. A segment in which nothing died keeps no words at all.
 */
import { popcount32 } from '../../bloom/bit-set.ts'

export class LiveBitmap {
  readonly #capacity: number
  #words: Uint32Array | undefined
  #isShared = false
  #dead = 0

  constructor(capacity: number, words?: Uint32Array) {
    this.#capacity = capacity
    this.#words = words
    if (words !== undefined) for (const word of words) this.#dead += popcount32(~word)
  }

  /** Positions known dead. */
  get dead(): number {
    return this.#dead
  }

  /** The words as they are now, for as long as the caller keeps them; undefined when everything is live. */
  capture(): Uint32Array | undefined {
    this.#isShared = true
    return this.#words
  }

  /** True when the position was live until now. */
  remove(position: number): boolean {
    if (this.#words === undefined) this.#words = new Uint32Array(this.#capacity / 32).fill(0xffff_ffff)
    else if ((this.#words[position >>> 5]! & (1 << (position & 31))) === 0) return false
    else if (this.#isShared) this.#words = this.#words.slice()
    this.#isShared = false
    this.#words[position >>> 5]! &= ~(1 << (position & 31))
    this.#dead++
    return true
  }

  /** Dead positions below `end`. */
  deadBelow(end: number): number {
    if (this.#words === undefined) return 0
    let dead = 0
    for (let w = 0; w < end >>> 5; w++) dead += popcount32(~this.#words[w]!)
    const rest = end & 31
    if (rest > 0) dead += popcount32(~this.#words[end >>> 5]! & ((1 << rest) - 1))
    return dead
  }
}
