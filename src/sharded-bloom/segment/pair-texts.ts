/** Caches the JSON texts (segment-record.ts) of an open segment's private pairs, for checkpoints and the seal. */
import type { TaggedPair } from '../pairs/pair-tags.ts'
import { storedPair } from './segment-record.ts'

const pairsPerStep = 128
const encoder = new TextEncoder()
const comma = 0x2c
const openingBracket = 0x5b
const closingBracket = 0x5d

export class PairTexts {
  /** The texts, separated by commas. */
  #bytes = new Uint8Array(0)
  readonly #ends: number[] = []
  /** Bytes of the text of each pair's key, and of all. */
  readonly #lengths: number[] = []
  #keyBytes = 0

  /** Returns the texts of all pairs as a JSON list. */
  list(pairs: readonly TaggedPair[]): Uint8Array {
    this.#add(pairs, pairs.length)
    const length = this.#ends.at(-1) ?? 0
    const list = new Uint8Array(length + 2)
    list[0] = openingBracket
    list.set(this.#bytes.subarray(0, length), 1)
    list[length + 1] = closingBracket
    return list
  }

  /** Bytes of the texts of all keys made so far. */
  get keyBytes(): number {
    return this.#keyBytes
  }

  /** Returns the text of the i-th pair's key. REQUIRES: it was made. Valid until texts are added. */
  key(i: number): Uint8Array {
    const end = this.#ends[i]! - 1
    return this.#bytes.subarray(end - this.#lengths[i]!, end)
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
      const [path, tag, key] = storedPair(pairs[i]!)
      const head = encoder.encode(`[${JSON.stringify(path)},${tag},`)
      const keyText = encoder.encode(JSON.stringify(key))
      const start = i === 0 ? 0 : this.#ends[i - 1]! + 1
      const end = start + head.length + keyText.length + 1
      this.#reserve(end)
      if (i > 0) this.#bytes[start - 1] = comma
      this.#bytes.set(head, start)
      this.#bytes.set(keyText, start + head.length)
      this.#bytes[end - 1] = closingBracket
      this.#ends.push(end)
      this.#lengths.push(keyText.length)
      this.#keyBytes += keyText.length
    }
  }

  #reserve(length: number): void {
    if (length <= this.#bytes.length) return
    const larger = new Uint8Array(Math.max(length, 2 * this.#bytes.length))
    larger.set(this.#bytes)
    this.#bytes = larger
  }
}
