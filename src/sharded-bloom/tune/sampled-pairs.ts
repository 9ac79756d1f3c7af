/**
 * The distinct value pairs of a sample, numbered in the order in which they were first met, and the number of documents
 * that have each. Kept in arrays of numbers, since there are a hundred thousand of them. As long as there is room, the
 * arrays are in the memory of the scanner, which counts what it scans in place; pairs from elsewhere are counted here,
 * in the same arrays.
 *
 * Pairs are identified by half of their hash: two that collide share a number, which only makes an estimate less exact.
 */
import { runSteps } from '../../model/time-slice.ts'
import type { HashedPair } from '../segment/private-table.ts'
import type { CounterOwner, PairCounter } from './pair-counter.ts'
import { entryWords, hiAt, loAt, type PairList, unitsAt } from './pair-list.ts'
import { SampledValues } from './sampled-values.ts'

export interface SampledPair extends HashedPair {
  /** Number of documents in the sample that have the pair. */
  readonly count: number
}

const firstSlots = 16
const slotGrowth = 4
/** With more pairs than this, moving to the scanner's memory does not pay any more. */
const maxPairsToAttach = 4096
const pairsPerStep = 8192
/** Words of a pair: the hash's low half, number of documents that have it, last document counted, the high half. */
const pairWords = 4
const countAt = 1
const seenInAt = 2
const highAt = 3
/** Longer texts are not worth a private row: its record would contain a copy of the text. */
const maxTextUnits = 256

export class SampledPairs implements CounterOwner {
  /** Open addressing by the hash's low half, at most half full: the pair's number, −1 for none. */
  #slots: Int32Array = new Int32Array(firstSlots).fill(-1)
  /** Slots in use, a power of two. */
  #slotCount = firstSlots
  /** By number: everything that counting needs, in one cache line. */
  #pairs: Int32Array = new Int32Array((firstSlots / 2) * pairWords)
  #counter: PairCounter | undefined
  /** Allows entering only once: samples that took turns would only copy. */
  #mayAttach = true
  #size = 0
  readonly values = new SampledValues()
  /** Number of entries of the last document that were not counted: too long, or too many. */
  uncounted = 0

  get size(): number {
    return this.#size
  }

  /**
   * Counts a document's pairs, each once, in place if possible.
   * @param document its number, positive and unique
   * @param members receives at most `limit` numbers of pairs, from `start` on
   * @returns the end of the numbers
   */
  observe(list: PairList, document: number, members: Int32Array, start: number, limit: number): number {
    if (this.#mayAttach && list.counter !== undefined) this.#attach(list.counter, list)
    const counter = this.#counter
    if (counter === undefined || counter !== list.counter || !this.#hasRoom(counter, list, limit))
      return this.observeHere(list, document, members, start, limit)
    return this.#countScanned(counter, list, document, members, start, limit)
  }

  /** As observe(), for pairs that are not in a scanner's memory. */
  observeHere(list: PairList, document: number, members: Int32Array, start: number, limit: number): number {
    if (this.#counter !== undefined && !this.#hasRoom(this.#counter, list, limit)) this.detach()
    return this.#count(list, document, members, start, limit)
  }

  #countScanned(
    counter: PairCounter,
    list: PairList,
    document: number,
    members: Int32Array,
    start: number,
    limit: number
  ): number {
    const most = this.#size + Math.min(list.count, limit)
    if (most * 2 > this.#slotCount) this.#rehash(slotsFor(most, this.#slotCount))
    const { values } = this
    this.#size = counter.count(document, this.#size, this.#slotCount, values.bytesLength, limit, maxTextUnits)
    values.bytesLength = counter.textBytes
    this.uncounted = counter.uncounted
    members.set(counter.members.subarray(0, counter.memberCount), start)
    return start + counter.memberCount
  }

  #count(list: PairList, document: number, members: Int32Array, start: number, limit: number): number {
    const { words, count } = list
    const known = this.#size
    let end = start
    let uncounted = 0
    for (let i = 0, at = 0; i < count; i++, at += entryWords) {
      if (end - start === limit || words[at + unitsAt]! > maxTextUnits) {
        uncounted++
        continue
      }
      const slot = this.#slotOf(words[at + loAt]!)
      let number = this.#slots[slot]!
      if (number < 0) number = this.#add(slot, list, i)
      const pair = number * pairWords
      if (this.#pairs[pair + seenInAt] === document) continue
      this.#pairs[pair + seenInAt] = document
      this.#pairs[pair + countAt]!++
      members[end++] = number
    }
    this.values.keep(list, known, this.#size)
    this.uncounted = uncounted
    return end
  }

  /**
   * Moves to the scanner's memory once it knows paths: the first documents, whose paths it does not know, come as
   * objects.
   */
  #attach(counter: PairCounter, { paths }: PairList): void {
    this.#mayAttach = false
    const { slots, pairs } = counter.arrays
    if (this.#size > maxPairsToAttach) return
    counter.acquire(this)
    this.#counter = counter
    pairs.set(this.#pairs.subarray(0, this.#size * pairWords))
    this.#pairs = pairs
    this.#slots = slots
    this.values.attach(counter.arrays, paths, this.#size)
    this.#rehash(this.#slotCount)
  }

  detach(): void {
    this.#mayAttach = false
    if (this.#counter === undefined) return
    this.#counter.release(this)
    this.#counter = undefined
    this.#slots = this.#slots.slice(0, this.#slotCount)
    this.#pairs = this.#pairs.slice(0, this.#size * pairWords)
    this.values.detach(this.#size)
  }

  /** Gives up the scanner's memory and the data in it. REQUIRES: the sample is not used any more. */
  close(): void {
    this.#counter?.release(this)
    this.#counter = undefined
  }

  #hasRoom({ arrays, maxMembers }: PairCounter, { count, textBytes }: PairList, limit: number): boolean {
    const { pairs, texts } = arrays
    return (
      limit <= maxMembers &&
      (this.#size + Math.min(count, limit)) * pairWords <= pairs.length &&
      this.values.bytesLength + textBytes <= texts.length
    )
  }

  /** Reverts observe() for one document that has the pair. */
  uncount(number: number): void {
    this.#pairs[number * pairWords + countAt]!--
  }

  at(number: number): HashedPair {
    const { path, tag, key, lo, hi } = this.#counted(number)
    return { path, tag, key, lo, hi }
  }

  /** Returns the pairs that at least `minCount` documents have, the most frequent first. */
  frequent(minCount: number): SampledPair[] {
    return runSteps(this.frequentSteps(minCount))
  }

  /** As frequent(), in steps. */
  *frequentSteps(minCount: number): Generator<void, SampledPair[]> {
    const pairs: SampledPair[] = []
    for (let from = 0; from < this.#size; from += pairsPerStep) {
      const numbers = this.#frequentFrom(from, Math.min(this.#size, from + pairsPerStep), minCount)
      for (let i = 0; i < numbers.length; i++) pairs.push(this.#counted(numbers[i]!))
      yield
    }
    return pairs.sort((a, b) => b.count - a.count)
  }

  #counted(number: number): SampledPair {
    const pair = number * pairWords
    const { values } = this
    return {
      path: values.path(number),
      tag: values.tag(number),
      key: values.key(number),
      lo: this.#pairs[pair]!,
      hi: this.#pairs[pair + highAt]!,
      count: this.#pairs[pair + countAt]!
    }
  }

  #frequentFrom(from: number, to: number, minCount: number): number[] {
    const numbers: number[] = []
    const pairs = this.#pairs
    for (let number = from; number < to; number++)
      if (pairs[number * pairWords + countAt]! >= minCount) numbers.push(number)
    return numbers
  }

  /** Returns, by number, 1 for each of these pairs and 0 for the others. */
  marked(pairs: Iterable<HashedPair>): Uint8Array {
    const marks = new Uint8Array(this.#size)
    for (const { lo } of pairs) {
      const number = this.#slots[this.#slotOf(lo)]!
      if (number >= 0) marks[number] = 1
    }
    return marks
  }

  /** Drops the pairs that no document has; returns the new number of each remaining pair. */
  dropUncounted(): Int32Array {
    this.detach()
    const renumbered = new Int32Array(this.#size).fill(-1)
    const kept = new Int32Array(this.#size)
    let count = 0
    for (let number = 0; number < renumbered.length; number++) {
      const pair = number * pairWords
      if (this.#pairs[pair + countAt] === 0) continue
      renumbered[number] = count
      this.#pairs.copyWithin(count * pairWords, pair, pair + pairWords)
      kept[count++] = number
    }
    this.#size = count
    this.values.drop(kept.subarray(0, count))
    this.#rehash(this.#slotCount)
    return renumbered
  }

  /** The slot that holds the pair's number, or should. */
  #slotOf(lo: number): number {
    const slots = this.#slots
    const mask = this.#slotCount - 1
    for (let slot = lo & mask; ; slot = (slot + 1) & mask) {
      const number = slots[slot]!
      if (number < 0 || this.#pairs[number * pairWords] === lo) return slot
    }
  }

  #add(slot: number, list: PairList, i: number): number {
    const number = this.#size++
    const pair = number * pairWords
    if (pair + pairWords > this.#pairs.length) this.#grow()
    this.#pairs[pair] = list.words[i * entryWords + loAt]!
    this.#pairs[pair + countAt] = 0
    this.#pairs[pair + seenInAt] = 0
    this.#pairs[pair + highAt] = list.words[i * entryWords + hiAt]!
    this.values.add(number, list, i)
    this.#slots[slot] = number
    if (this.#size * 2 > this.#slotCount) this.#rehash(slotsFor(this.#size, this.#slotCount))
    return number
  }

  #rehash(slots: number): void {
    this.#slotCount = slots
    if (this.#counter !== undefined) {
      this.#counter.rehash(this.#size, slots)
      return
    }
    this.#slots = new Int32Array(slots).fill(-1)
    for (let number = 0; number < this.#size; number++)
      this.#slots[this.#slotOf(this.#pairs[number * pairWords]!)] = number
  }

  #grow(): void {
    const pairs = new Int32Array(this.#size * 2 * pairWords)
    pairs.set(this.#pairs)
    this.#pairs = pairs
  }
}

/** Returns enough slots for them to be at most half full. */
function slotsFor(pairs: number, slots: number): number {
  let enough = slots
  while (pairs * 2 > enough) enough *= slotGrowth
  return enough
}
