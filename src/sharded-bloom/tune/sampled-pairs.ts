/**
 * The distinct value pairs of a sample, numbered in the order in which they were first met, and how many documents have
 * each. In arrays of numbers: there are a hundred thousand of them, and objects would cost more than the counting.
 *
 * Pairs are told apart by half of their hash: two that collide share a number, which costs nothing but an estimate.
 */
import { runSteps } from '../../model/time-slice.ts'
import type { HashedPair } from '../segment/private-table.ts'

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
const pairsPerStep = 8192
/** Words of an entry: the hash's low half, documents that have the pair, and the one that counted it last. */
const entryWords = 4
const countAt = 1
const seenInAt = 2

export class SampledPairs {
  /** Open addressing by the hash's low half, half full at most: the pair's number, −1 for none. */
  #slots = new Int32Array(firstSlots).fill(-1)
  /** An entry for each pair, by number: all that counting needs is in one line of the cache. */
  #entries = new Int32Array(firstSlots * entryWords)
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
    const entry = number * entryWords
    if (this.#entries[entry + seenInAt] === document) return false
    this.#entries[entry + seenInAt] = document
    this.#entries[entry + countAt]!++
    return true
  }

  /** Takes back what count() did for one document. */
  uncount(number: number): void {
    this.#entries[number * entryWords + countAt]!--
  }

  at(number: number): HashedPair {
    return this.#pairs[number]!
  }

  /** Those that at least `minCount` documents have, the most frequent first. */
  frequent(minCount: number): SampledPair[] {
    return runSteps(this.frequentSteps(minCount))
  }

  /** As frequent(), in steps. */
  *frequentSteps(minCount: number): Generator<void, SampledPair[]> {
    const pairs: SampledPair[] = []
    const { size } = this
    for (let number = 0; number < size; number++) {
      if (number % pairsPerStep === pairsPerStep - 1) yield
      const count = this.#entries[number * entryWords + countAt]!
      if (count < minCount) continue
      const { path, tag, key, lo, hi } = this.at(number)
      pairs.push({ path, tag, key, lo, hi, count })
    }
    yield
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
      const entry = number * entryWords
      if (this.#entries[entry + countAt] === 0) continue
      renumbered[number] = kept
      this.#entries.copyWithin(kept * entryWords, entry, entry + entryWords)
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
      if (number < 0 || this.#entries[number * entryWords] === lo) return slot
    }
  }

  #add(slot: number, lo: number, pair: HashedPair): number {
    const number = this.#pairs.length
    const entry = number * entryWords
    if (entry === this.#entries.length) this.#grow()
    this.#pairs.push(pair)
    this.#entries[entry] = lo
    this.#entries[entry + countAt] = 0
    this.#entries[entry + seenInAt] = 0
    this.#slots[slot] = number
    if (this.#pairs.length * 2 > this.#slots.length) this.#rehash(this.#slots.length * 2)
    return number
  }

  #rehash(slots: number): void {
    this.#slots = new Int32Array(slots).fill(-1)
    for (let number = 0; number < this.size; number++)
      this.#slots[this.#slotOf(this.#entries[number * entryWords]!)] = number
  }

  #grow(): void {
    const entries = new Int32Array(this.#entries.length * 2)
    entries.set(this.#entries)
    this.#entries = entries
  }
}
