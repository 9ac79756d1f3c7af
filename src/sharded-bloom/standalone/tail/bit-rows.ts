/**
 * Rows of M bits; when counting, each bit has a four-bit counter of how often it was set.
 *
 * Invariants:
 * 1. With counters, a bit is set exactly when its counter is not 0.
 * 2. A counter that has reached 15 stays there: the true count is no longer known, and clearing the bit too early would
 *    cause false negatives.
 * 3. Bits at and beyond M in the last word of a row are 0.
 *
 * As bytes: the bits or, when counting, the counters, low nibble first; each row in whole words of 32 positions.
 * @see Fan, Cao, Almeida and Broder, Summary cache, 2000, for counting and why four bits are enough
 */
import { popcount32 } from '../../../bloom/bit-set.ts'
import { PetalError } from '../../../model/errors.ts'

const STUCK = 15

export class BitRows {
  readonly rows: number
  readonly bits: number
  readonly #wordsPerRow: number
  readonly #words: Uint32Array<ArrayBuffer>
  /** undefined: rows that do not count. */
  readonly #counters: Uint8Array | undefined

  constructor(rows: number, bits: number, isCounting: boolean) {
    this.rows = rows
    this.bits = bits
    this.#wordsPerRow = Math.ceil(bits / 32)
    this.#words = new Uint32Array(rows * this.#wordsPerRow)
    this.#counters = isCounting ? new Uint8Array(this.#words.length * 16) : undefined
  }

  /** Number of bytes that toBytes() writes for such rows. */
  static serialisedBytes(rows: number, bits: number, isCounting: boolean): number {
    return rows * Math.ceil(bits / 32) * (isCounting ? 16 : 4)
  }

  get byteLength(): number {
    return this.#words.byteLength + (this.#counters?.byteLength ?? 0)
  }

  set(row: number, position: number): void {
    const word = row * this.#wordsPerRow + (position >>> 5)
    this.#words[word] = this.#words[word]! | (1 << (position & 31))
    const counters = this.#counters
    if (counters === undefined) return
    const at = word * 16 + ((position & 31) >>> 1)
    const shift = (position & 1) * 4
    const count = (counters[at]! >>> shift) & 15
    if (count < STUCK) counters[at] = counters[at]! + (1 << shift)
  }

  /** Reverts one set(); returns false, and changes nothing, when the counter is 0. REQUIRES: counting rows. */
  unset(row: number, position: number): boolean {
    const counters = this.#counters
    if (counters === undefined) throw new PetalError('InternalError', 'Bits cannot be removed without counters')
    const word = row * this.#wordsPerRow + (position >>> 5)
    const at = word * 16 + ((position & 31) >>> 1)
    const shift = (position & 1) * 4
    const count = (counters[at]! >>> shift) & 15
    if (count === 0) return false
    if (count < STUCK) counters[at] = counters[at]! - (1 << shift)
    if (count === 1) this.#words[word] = this.#words[word]! & ~(1 << (position & 31))
    return true
  }

  isSet(row: number, position: number): boolean {
    return ((this.#words[row * this.#wordsPerRow + (position >>> 5)]! >>> (position & 31)) & 1) === 1
  }

  /** Copies the row to `out`. */
  copyTo(row: number, out: Uint32Array): void {
    out.set(this.#words.subarray(row * this.#wordsPerRow, (row + 1) * this.#wordsPerRow))
  }

  /** ANDs the row into `out`. */
  andInto(row: number, out: Uint32Array): void {
    const words = this.#words
    const first = row * this.#wordsPerRow
    for (let i = 0; i < out.length; i++) out[i] = out[i]! & words[first + i]!
  }

  countSet(): number {
    let count = 0
    for (const word of this.#words) count += popcount32(word)
    return count
  }

  toBytes(): Uint8Array {
    return this.#counters?.slice() ?? new Uint8Array(this.#words.buffer.slice(0))
  }

  /** @throws PetalError DataCorruption */
  load(bytes: Uint8Array): void {
    const stored = this.#counters ?? new Uint8Array(this.#words.buffer)
    if (bytes.length !== stored.length) {
      throw new PetalError('DataCorruption', `Damaged rows: expected ${stored.length} bytes, got ${bytes.length}`)
    }
    stored.set(bytes)
    if (this.#counters !== undefined) this.#deriveBits(this.#counters)
    this.#checkPadding()
  }

  #deriveBits(counters: Uint8Array): void {
    for (let word = 0; word < this.#words.length; word++) {
      let set = 0
      for (let i = 0; i < 16; i++) {
        const two = counters[word * 16 + i]!
        if ((two & 15) !== 0) set |= 1 << (2 * i)
        if (two >>> 4 !== 0) set |= 2 << (2 * i)
      }
      this.#words[word] = set
    }
  }

  #checkPadding(): void {
    const rest = this.bits & 31
    if (rest === 0) return
    for (let last = this.#wordsPerRow - 1; last < this.#words.length; last += this.#wordsPerRow) {
      if (this.#words[last]! >>> rest === 0) continue
      throw new PetalError('DataCorruption', `Damaged rows: a bit beyond the ${this.bits} of a row is set`)
    }
  }
}
