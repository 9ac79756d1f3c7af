/**
 * The private pairs of the documents added last, as bits, before they go into their rows: a document touches a hundred
 * rows that lie all over memory, and 1,024 documents together touch each of them once.
 *
 * Invariants:
 * 1. All positions held are in one block of 1,024.
 * 2. Words of one range of 32 positions stand together, in slot order: what a document sets is in the first-level cache.
 */
import type { GrowingRow } from './growing-row.ts'

export const blockPositions = 1024
const blockWords = blockPositions / 32
/** Of the first-level cache, in words. */
const lineWords = 16

export class PrivateBlock {
  /** Words of a range, for as many slots at least: odd in lines, so that one slot's words share no place in the cache. */
  readonly #stride: number
  readonly #words: Int32Array
  /** The block's first position, and the words that may hold bits. */
  #start = 0
  #firstWord = blockWords
  #endWord = 0

  /** @param capacity slots there is room for */
  constructor(capacity: number) {
    this.#stride = (Math.ceil(capacity / lineWords) | 1) * lineWords
    this.#words = new Int32Array(this.#stride * blockWords)
  }

  add(slot: number, position: number): void {
    this.#words[this.#place(position) + slot]! |= 1 << (position & 31)
  }

  /** Adds the first `count` slots, some of which may be named more than once. */
  addAll(slots: Int32Array, count: number, position: number): void {
    const words = this.#words
    const place = this.#place(position)
    const bit = 1 << (position & 31)
    for (let i = 0; i < count; i++) words[place + slots[i]!]! |= bit
  }

  /** Moves what is held into the rows, whose positions all come before. */
  flushTo(rows: readonly GrowingRow[]): void {
    const first = this.#firstWord
    const end = this.#endWord
    if (first >= end) return
    this.#firstWord = blockWords
    this.#endWord = 0
    const words = this.#words
    const stride = this.#stride
    const start = this.#start
    for (let slot = 0; slot < rows.length; slot++) {
      for (let word = first, place = first * stride + slot; word < end; word++, place += stride) {
        const bits = words[place]!
        if (bits === 0) continue
        words[place] = 0
        rows[slot]!.addWord(bits, start + word * 32)
      }
    }
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
