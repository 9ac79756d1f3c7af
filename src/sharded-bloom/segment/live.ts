/**
 * Tracks which documents of a segment are live.
 *
 * Copy on write: while a view keeps the words it captured, the next removal works on a copy, so a view sees exactly the
 * documents that were live when it was captured. A segment without dead documents keeps no words at all.
 */
import { popcount32 } from '../../bloom/bit-set.ts'

export class LiveBitmap {
  readonly #capacity: number
  #words: Uint32Array | undefined
  /** Unreleased captures of the current words. */
  #captures = 0
  #dead = 0

  constructor(capacity: number, words?: Uint32Array) {
    this.#capacity = capacity
    this.#words = words
    if (words !== undefined) for (const word of words) this.#dead += popcount32(~word)
  }

  /** Number of dead positions. */
  get dead(): number {
    return this.#dead
  }

  /** The current words, which the next removal may change; undefined when everything is live. */
  get words(): Uint32Array | undefined {
    return this.#words
  }

  /** Returns the current words, which will not change until release(); undefined when everything is live. */
  capture(): Uint32Array | undefined {
    if (this.#words !== undefined) this.#captures++
    return this.#words
  }

  /** Ends a capture. @param words as capture() returned them */
  release(words: Uint32Array | undefined): void {
    if (words !== undefined && words === this.#words) this.#captures--
  }

  /** Marks the position dead; returns whether it was live. */
  remove(position: number): boolean {
    if (this.#words === undefined) this.#words = new Uint32Array(this.#capacity / 32).fill(0xffff_ffff)
    else if ((this.#words[position >>> 5]! & (1 << (position & 31))) === 0) return false
    else if (this.#captures > 0) this.#words = this.#words.slice()
    this.#captures = 0
    this.#words[position >>> 5]! &= ~(1 << (position & 31))
    this.#dead++
    return true
  }

  /** Number of dead positions below `end`. */
  deadBelow(end: number): number {
    if (this.#words === undefined) return 0
    let dead = 0
    for (let w = 0; w < end >>> 5; w++) dead += popcount32(~this.#words[w]!)
    const rest = end & 31
    if (rest > 0) dead += popcount32(~this.#words[end >>> 5]! & ((1 << rest) - 1))
    return dead
  }
}

/**
 * Returns a copy of live words in which these positions are dead, too.
 * @param words undefined when everything is live
 * @param documents number of positions
 * @param dead may contain −1, for an ordinal without a position
 */
export function liveWithout(words: Uint32Array | undefined, documents: number, dead: readonly number[]): Uint32Array {
  const copy = words?.slice() ?? new Uint32Array(Math.ceil(documents / 32)).fill(0xffff_ffff)
  for (const position of dead) if (position >= 0) copy[position >>> 5]! &= ~(1 << (position & 31))
  return copy
}
