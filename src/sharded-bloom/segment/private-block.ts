/**
 * The private pairs of the documents added last, as bits, before they go into their rows: a document touches a hundred
 * rows that lie all over memory, and 1,024 documents together touch each of them once.
 *
 * Invariants:
 * 1. All positions held are in one block of 1,024.
 * 2. Words of one range of 32 positions stand together, in slot order: what a document sets is in the first-level cache.
 * 3. The positions of a rare slot are in a list of their own: most of its words are zero, and most slots are rare.
 */
import type { GrowingRow } from './growing-row.ts'

const blockShift = 10
export const blockPositions = 1 << blockShift
const blockWords = blockPositions / 32
/** A slot with bits in fewer words of a block is rare from then on. */
const fewWords = 8
/** Rare positions of a block after which it is found out again which slots are rare. */
const manyRare = 32 * blockPositions
/** Of the first-level cache, in words. */
const lineWords = 16

export class PrivateBlock {
  /** Words of a range, for as many slots at least: odd in lines, so that one slot's words share no place in the cache. */
  readonly #stride: number
  readonly #words: Int32Array
  /** 1 for each rare slot. */
  readonly #isRare: Uint8Array
  /** Slot · 1,024 + position in the block, in the order of positions: the first `#rareCount`. */
  #rare = new Int32Array(blockPositions)
  #rareCount = 0
  /** The block's first position, and the words that may hold bits. */
  #start = 0
  #firstWord = blockWords
  #endWord = 0

  /** @param capacity slots there is room for */
  constructor(capacity: number) {
    this.#stride = (Math.ceil(capacity / lineWords) | 1) * lineWords
    this.#words = new Int32Array(this.#stride * blockWords)
    this.#isRare = new Uint8Array(capacity)
  }

  add(slot: number, position: number): void {
    const place = this.#place(position)
    if (this.#isRare[slot] === 0) this.#words[place + slot]! |= 1 << (position & 31)
    else {
      this.#reserve(1)
      this.#rare[this.#rareCount++] = slot * blockPositions + (position % blockPositions)
    }
  }

  /** Adds the first `count` slots, some of which may be named more than once. */
  addAll(slots: Int32Array, count: number, position: number): void {
    this.#reserve(count)
    const words = this.#words
    const isRare = this.#isRare
    const rare = this.#rare
    const place = this.#place(position)
    const bit = 1 << (position & 31)
    let rareCount = this.#rareCount
    for (let i = 0; i < count; i++) {
      const slot = slots[i]!
      if (isRare[slot] === 0) words[place + slot]! |= bit
      else rare[rareCount++] = slot * blockPositions + (position % blockPositions)
    }
    this.#rareCount = rareCount
  }

  /** Moves what is held into the rows, whose positions all come before. */
  flushTo(rows: readonly GrowingRow[]): void {
    const first = this.#firstWord
    const end = this.#endWord
    if (first >= end) return
    this.#firstWord = blockWords
    this.#endWord = 0
    const words = this.#words
    const isRare = this.#isRare
    const stride = this.#stride
    const start = this.#start
    const isWhole = first === 0 && end === blockWords
    for (let slot = 0; slot < rows.length; slot++) {
      if (isRare[slot] === 1) continue
      let filled = 0
      for (let word = first, place = first * stride + slot; word < end; word++, place += stride) {
        const bits = words[place]!
        if (bits === 0) continue
        filled++
        words[place] = 0
        rows[slot]!.addWord(bits, start + word * 32)
      }
      if (isWhole && filled < fewWords) isRare[slot] = 1
    }
    const rare = this.#rare
    for (let i = 0; i < this.#rareCount; i++) {
      rows[rare[i]! >>> blockShift]!.add(start + (rare[i]! % blockPositions))
    }
    if (this.#rareCount > manyRare) isRare.fill(0)
    this.#rareCount = 0
  }

  #reserve(count: number): void {
    if (this.#rare.length - this.#rareCount >= count) return
    const larger = new Int32Array(2 * (this.#rareCount + count))
    larger.set(this.#rare)
    this.#rare = larger
  }

  /** Where the words of the position's range begin. */
  #place(position: number): number {
    const word = (position >>> 5) % blockWords
    if (word >= this.#endWord) {
      this.#start = position & -blockPositions
      this.#endWord = word + 1
      if (word < this.#firstWord) this.#firstWord = word
    }
    return word * this.#stride
  }
}
