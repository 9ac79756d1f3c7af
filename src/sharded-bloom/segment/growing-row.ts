/**
 * A private row while its segment is open: positions as a sorted list, as bits once the list would be larger.
 */
import { popcount32 } from '../../bloom/bit-set.ts'
import { encodePositions, encodeRow, encodingRoom } from './row-codec.ts'

/** For rows that are copied out at once. */
let scratch = new Uint8Array(0)

/** Where the positions of a row are that it had before its segment was opened again. */
export interface RowSource {
  /** Adds them. */
  readTo(row: GrowingRow, slot: number): void
}

export class GrowingRow {
  readonly #capacity: number
  /** Not read yet. */
  #source: RowSource | undefined
  #slot = 0
  #count = 0
  #last = -1
  #positions = new Uint16Array(4)
  #words: Uint32Array | undefined

  /** @param capacity positions run from 0 to capacity − 1, at most 65,536 */
  constructor(capacity: number) {
    this.#capacity = capacity
  }

  /** The row has positions already, which are read when it is first touched. REQUIRES: an empty row. */
  restoreFrom(source: RowSource, slot: number): void {
    this.#source = source
    this.#slot = slot
  }

  get count(): number {
    this.#settle()
    return this.#count
  }

  /** Positions come in ascending order; the last one may come again. */
  add(position: number): void {
    this.#settle()
    if (position === this.#last) return
    this.#last = position
    if (this.#words === undefined && this.#count === this.#positions.length) this.#grow()
    if (this.#words === undefined) this.#positions[this.#count] = position
    else this.#words[position >>> 5]! |= 1 << (position & 31)
    this.#count++
  }

  /** ORs the row's bits into `target`, which has room for `capacity` bits. */
  writeTo(target: Uint32Array): void {
    this.#settle()
    if (this.#words !== undefined) {
      target.set(target.length < this.#words.length ? this.#words.subarray(0, target.length) : this.#words)
      return
    }
    for (let i = 0; i < this.#count; i++) {
      const position = this.#positions[i]!
      target[position >>> 5]! |= 1 << (position & 31)
    }
  }

  /** The bits of positions [from, to), both multiples of 32, from bit 0 of the result. */
  words(from: number, to: number): Uint32Array {
    this.#settle()
    if (this.#words !== undefined) return this.#words.slice(from >>> 5, to >>> 5)
    const words = new Uint32Array((to - from) >>> 5)
    for (let i = this.#lowerBound(from); i < this.#count; i++) {
      const position = this.#positions[i]! - from
      if (position >= to - from) break
      words[position >>> 5]! |= 1 << (position & 31)
    }
    return words
  }

  /**
   * The row's stored form over the positions [from, from + documents); see row-codec.ts.
   * @param from a multiple of 32
   */
  encode(from: number, documents: number, rowBytes: number): Uint8Array {
    if (scratch.length < encodingRoom(rowBytes)) scratch = new Uint8Array(encodingRoom(rowBytes))
    return scratch.slice(0, this.encodeTo(scratch, 0, from, documents, rowBytes))
  }

  /** As encode(), to `out` at `at`, where there is encodingRoom(); returns how many bytes. */
  encodeTo(out: Uint8Array, at: number, from: number, documents: number, rowBytes: number): number {
    this.#settle()
    if (this.#words === undefined) {
      const begin = this.#lowerBound(from)
      const end = this.#lowerBound(from + documents)
      const length = encodePositions(this.#positions, begin, end, from, documents, rowBytes, out, at)
      if (length > 0) return length
    }
    const encoded = encodeRow(this.words(from, from + rowBytes * 8), documents, rowBytes)
    out.set(encoded, at)
    return encoded.length
  }

  /** Adds the set bits of `words`, bit 0 being position `from`. All of them come after what is there. */
  addWords(words: Uint32Array, from: number): void {
    for (let w = 0; w < words.length; w++) this.addWord(words[w]!, from + w * 32)
  }

  /** As addWords() of one word; `from` is a multiple of 32. */
  addWord(word: number, from: number): void {
    this.#settle()
    if (this.#words === undefined) {
      for (let rest = word; rest !== 0; rest &= rest - 1) this.add(from + 31 - Math.clz32(rest & -rest))
    } else if (word !== 0) {
      const before = this.#words[from >>> 5]!
      this.#words[from >>> 5] = before | word
      this.#count += popcount32(word & ~before)
      this.#last = from + 31 - Math.clz32(word)
    }
  }

  #settle(): void {
    const source = this.#source
    if (source === undefined) return
    this.#source = undefined
    source.readTo(this, this.#slot)
  }

  /** Index of the first listed position that is not below `from`. */
  #lowerBound(from: number): number {
    let low = 0
    let high = this.#count
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#positions[middle]! < from) low = middle + 1
      else high = middle
    }
    return low
  }

  /** A longer list, or bits where a longer list would take more room than they do. */
  #grow(): void {
    const length = this.#positions.length * 2
    if (length * 2 <= this.#capacity / 8) {
      const positions = new Uint16Array(length)
      positions.set(this.#positions)
      this.#positions = positions
      return
    }
    const words = new Uint32Array(this.#capacity / 32)
    this.writeTo(words)
    this.#words = words
    this.#positions = new Uint16Array(0)
  }
}
