/**
 * The distinct value pairs of a sample, numbered in the order in which they were first met, and how many documents have
 * each. In arrays of numbers: there are a hundred thousand of them. As long as there is room they stand in the memory of the
 * scanner, which counts there what it has scanned; what comes otherwise is counted here, in the same arrays.
 *
 * Pairs are told apart by half of their hash: two that collide share a number, which costs nothing but an estimate.
 */
import { runSteps } from '../../model/time-slice.ts'
import type { HashedPair } from '../segment/private-table.ts'
import type { CounterOwner, PairCounter } from './pair-counter.ts'
import { entryWords, hiAt, loAt, type PairList, unitsAt } from './pair-list.ts'
import { SampledValues } from './sampled-values.ts'

export interface SampledPair extends HashedPair {
  /** Documents of the sample that have the pair. */
  readonly count: number
}

const firstSlots = 256
const slotGrowth = 4
/** More than these have cost more already than the scanner's memory would save. */
const maxPairsToEnter = 4096
const pairsPerStep = 8192
/** Words of a pair: the hash's low half, documents that have it, the one that counted it last, the hash's high half. */
const pairWords = 4
const countAt = 1
const seenInAt = 2
const highAt = 3
/** Longer texts are not worth a private row: the row's record would keep a copy of the text. */
const maxTextUnits = 256

export class SampledPairs implements CounterOwner {
  /** Open addressing by the hash's low half, half full at most: the pair's number, −1 for none. */
  #slots: Int32Array = new Int32Array(firstSlots).fill(-1)
  /** Slots in use, a power of two. */
  #slotCount = firstSlots
  /** By number: all that counting needs is in one line of the cache. */
  #pairs: Int32Array = new Int32Array(firstSlots * pairWords)
  #counter: PairCounter | undefined
  /** Once only: samples that take it in turns would do nothing but copy. */
  #isToEnter = true
  #size = 0
  readonly values = new SampledValues()
  /** Entries of the document observed last that were not counted: too long, or too many. */
  uncounted = 0

  get size(): number {
    return this.#size
  }

  /**
   * Counts a document's pairs, each once, where they stand if that can be.
   * @param document its number, above 0 and of no other document
   * @param members gets the pairs' numbers from `start` on, up to `limit` of them
   * @returns where they end
   */
  observe(list: PairList, document: number, members: Int32Array, start: number, limit: number): number {
    if (this.#isToEnter && list.counter !== undefined) this.#enter(list.counter, list)
    const counter = this.#counter
    if (counter === undefined || counter !== list.counter || !this.#hasRoom(counter, list, limit))
      return this.observeHere(list, document, members, start, limit)
    return this.#countScanned(counter, list, document, members, start, limit)
  }

  /** As observe(), of pairs that stand in no scanner. */
  observeHere(list: PairList, document: number, members: Int32Array, start: number, limit: number): number {
    if (this.#counter !== undefined && !this.#hasRoom(this.#counter, list, limit)) this.leave()
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

  /** Goes on in the scanner's memory: the first documents, of which it does not know the paths, come as objects. */
  #enter(counter: PairCounter, { paths }: PairList): void {
    this.#isToEnter = false
    const { slots, pairs } = counter.arrays
    if (this.#size > maxPairsToEnter) return
    counter.take(this)
    this.#counter = counter
    pairs.set(this.#pairs.subarray(0, this.#size * pairWords))
    this.#pairs = pairs
    this.#slots = slots
    this.values.enter(counter.arrays, paths, this.#size)
    this.#rehash(this.#slotCount)
  }

  leave(): void {
    this.#isToEnter = false
    if (this.#counter === undefined) return
    this.#counter.giveBack(this)
    this.#counter = undefined
    this.#slots = this.#slots.slice(0, this.#slotCount)
    this.#pairs = this.#pairs.slice(0, this.#size * pairWords)
    this.values.leave(this.#size)
  }

  /** Gives up the scanner's memory, and what stands there. REQUIRES: nothing is asked any more. */
  close(): void {
    this.#counter?.giveBack(this)
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

  /** Takes back what observe() did for one document that has the pair. */
  uncount(number: number): void {
    this.#pairs[number * pairWords + countAt]!--
  }

  at(number: number): HashedPair {
    const { path, tag, key, lo, hi } = this.#counted(number)
    return { path, tag, key, lo, hi }
  }

  /** Those that at least `minCount` documents have, the most frequent first. */
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

  /** By number, 1 for each of these pairs and 0 for the others. */
  marked(pairs: Iterable<HashedPair>): Uint8Array {
    const marks = new Uint8Array(this.#size)
    for (const { lo } of pairs) {
      const number = this.#slots[this.#slotOf(lo)]!
      if (number >= 0) marks[number] = 1
    }
    return marks
  }

  /** Forgets the pairs that no document has; returns the new number of each that is left. */
  dropUncounted(): Int32Array {
    this.leave()
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

  /** Where the pair is, or belongs. */
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

/** Enough to be half full at most. */
function slotsFor(pairs: number, slots: number): number {
  let enough = slots
  while (pairs * 2 > enough) enough *= slotGrowth
  return enough
}
