/**
 * The distinct value pairs of a sample, numbered in the order in which they were first met, and how many documents have
 * each. In arrays of numbers: there are a hundred thousand of them, and objects would cost more than the counting.
 *
 * Pairs are told apart by half of their hash: two that collide share a number, which costs nothing but an estimate.
 */
import type { HashedPair } from './private-table.ts'

/** The value and size pairs of a document in the order of flatten(), duplicates included. */
export interface PairList {
  readonly count: number
  lo(i: number): number
  /** Characters of the key, 0 of a number. */
  textLength(i: number): number
  pair(i: number): HashedPair
}

export interface SampledPair extends HashedPair {
  /** Documents of the sample that have the pair. */
  readonly count: number
}

const firstSlots = 1024

export class SampledPairs {
  /** Open addressing by the hash's low half, half full at most: the pair's number, −1 for none. */
  #slots = new Int32Array(firstSlots).fill(-1)
  #lo = new Int32Array(firstSlots)
  #counts = new Int32Array(firstSlots)
  /** The document that counted the pair last. */
  #seenIn = new Int32Array(firstSlots)
  readonly #pairs: HashedPair[] = []

  get size(): number {
    return this.#pairs.length
  }

  /** The number of the i-th pair of a document. */
  numberOf(list: PairList, i: number): number {
    const lo = list.lo(i)
    const slot = this.#slotOf(lo)
    const number = this.#slots[slot]!
    return number >= 0 ? number : this.#add(slot, lo, list.pair(i))
  }

  /** Counts the pair, once for each document; false when it was counted for this one before. */
  count(number: number, document: number): boolean {
    if (this.#seenIn[number] === document) return false
    this.#seenIn[number] = document
    this.#counts[number]!++
    return true
  }

  /** Takes back what count() did for one document. */
  uncount(number: number): void {
    this.#counts[number]!--
  }

  at(number: number): HashedPair {
    return this.#pairs[number]!
  }

  /** Those that at least `minCount` documents have, the most frequent first. */
  frequent(minCount: number): SampledPair[] {
    const pairs: SampledPair[] = []
    for (let number = 0; number < this.size; number++) {
      const count = this.#counts[number]!
      if (count >= minCount) pairs.push({ ...this.at(number), count })
    }
    return pairs.sort((a, b) => b.count - a.count)
  }

  /** By number, 1 for each of these pairs and 0 for the others. */
  marked(pairs: Iterable<HashedPair>): Uint8Array {
    const marks = new Uint8Array(this.size)
    for (const { lo } of pairs) {
      const number = this.#slots[this.#slotOf(lo)]!
      if (number >= 0) marks[number] = 1
    }
    return marks
  }

  /** Forgets the pairs that no document has; returns the new number of each that is left. */
  dropUncounted(): Int32Array {
    const renumbered = new Int32Array(this.size).fill(-1)
    let kept = 0
    for (let number = 0; number < renumbered.length; number++) {
      if (this.#counts[number] === 0) continue
      renumbered[number] = kept
      this.#lo[kept] = this.#lo[number]!
      this.#counts[kept] = this.#counts[number]!
      this.#seenIn[kept] = this.#seenIn[number]!
      this.#pairs[kept++] = this.#pairs[number]!
    }
    this.#pairs.length = kept
    this.#rehash(this.#slots.length)
    return renumbered
  }

  /** Where the pair is, or belongs. */
  #slotOf(lo: number): number {
    const slots = this.#slots
    const mask = slots.length - 1
    for (let slot = lo & mask; ; slot = (slot + 1) & mask) {
      const number = slots[slot]!
      if (number < 0 || this.#lo[number] === lo) return slot
    }
  }

  #add(slot: number, lo: number, pair: HashedPair): number {
    const number = this.#pairs.length
    if (number === this.#lo.length) this.#grow()
    this.#pairs.push(pair)
    this.#lo[number] = lo
    this.#counts[number] = 0
    this.#seenIn[number] = 0
    this.#slots[slot] = number
    if (this.#pairs.length * 2 > this.#slots.length) this.#rehash(this.#slots.length * 2)
    return number
  }

  #rehash(slots: number): void {
    this.#slots = new Int32Array(slots).fill(-1)
    for (let number = 0; number < this.size; number++) this.#slots[this.#slotOf(this.#lo[number]!)] = number
  }

  #grow(): void {
    const length = this.#lo.length * 2
    this.#lo = longer(this.#lo, length)
    this.#counts = longer(this.#counts, length)
    this.#seenIn = longer(this.#seenIn, length)
  }
}

function longer(numbers: Int32Array, length: number): Int32Array<ArrayBuffer> {
  const longer = new Int32Array(length)
  longer.set(numbers)
  return longer
}
