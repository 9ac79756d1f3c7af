/** Caches the JSON texts (segment-record.ts) of an open segment's private pairs, for every checkpoint and the seal. */
import type { TaggedPair } from '../pairs/pair-tags.ts'
import { storedPair } from './segment-record.ts'

const pairsPerStep = 128
const encoder = new TextEncoder()
const comma = 0x2c

export class PairTexts {
  /** The texts, separated by commas. */
  #bytes = new Uint8Array(0)
  readonly #ends: number[] = []

  /** Returns the texts of all pairs as a list without its brackets. Valid until the next call. */
  list(pairs: readonly TaggedPair[]): Uint8Array {
    this.#add(pairs, pairs.length)
    return this.#bytes.subarray(0, this.#ends.at(-1) ?? 0)
  }

  /** Returns the text of the i-th pair. REQUIRES: it was made. Valid until texts are added. */
  text(i: number): Uint8Array {
    return this.#bytes.subarray(i === 0 ? 0 : this.#ends[i - 1]! + 1, this.#ends[i])
  }

  /** Makes the missing texts, in steps. @param pairs those passed before, then new ones */
  *addSteps(pairs: readonly TaggedPair[]): Generator<undefined, void> {
    while (this.#ends.length < pairs.length) {
      this.#add(pairs, Math.min(pairs.length, this.#ends.length + pairsPerStep))
      yield
    }
  }

  #add(pairs: readonly TaggedPair[], until: number): void {
    for (let i = this.#ends.length; i < until; i++) {
      const text = encoder.encode(JSON.stringify(storedPair(pairs[i]!)))
      const start = i === 0 ? 0 : this.#ends[i - 1]! + 1
      this.#reserve(start + text.length)
      if (i > 0) this.#bytes[start - 1] = comma
      this.#bytes.set(text, start)
      this.#ends.push(start + text.length)
    }
  }

  #reserve(length: number): void {
    if (length <= this.#bytes.length) return
    const larger = new Uint8Array(Math.max(length, 2 * this.#bytes.length))
    larger.set(this.#bytes)
    this.#bytes = larger
  }
}
