import { countWhile } from '../../model/count-while.ts'

/** A row that usually has few documents: a sorted list of positions, or bits once the list would be larger. */
export class GrowingRow {
  readonly #capacity: number
  #count = 0
  #last = -1
  #positions = new Uint16Array(4)
  #words: Uint32Array | undefined

  /** @param capacity positions run from 0 to capacity − 1, at most 65,536 */
  constructor(capacity: number) {
    this.#capacity = capacity
  }

  get count(): number {
    return this.#count
  }

  /** Adds a position. REQUIRES: not below the last one; adding the last one again has no effect. */
  add(position: number): void {
    if (position === this.#last) return
    this.#last = position
    if (this.#words === undefined && this.#count === this.#positions.length) this.#grow()
    if (this.#words === undefined) this.#positions[this.#count] = position
    else this.#words[position >>> 5]! |= 1 << (position & 31)
    this.#count++
  }

  /** Writes the row's bits to `target`, which is zero. */
  writeTo(target: Uint32Array): void {
    if (this.#words !== undefined) {
      target.set(target.length < this.#words.length ? this.#words.subarray(0, target.length) : this.#words)
      return
    }
    for (let i = 0; i < this.#count; i++) {
      const position = this.#positions[i]!
      target[position >>> 5]! |= 1 << (position & 31)
    }
  }

  /** Returns the bits of positions [from, to), both multiples of 32, from bit 0 of the result. */
  words(from: number, to: number): Uint32Array {
    if (this.#words !== undefined) return this.#words.slice(from >>> 5, to >>> 5)
    const words = new Uint32Array((to - from) >>> 5)
    const first = countWhile(this.#count, (i) => this.#positions[i]! < from)
    for (let i = first; i < this.#count; i++) {
      const position = this.#positions[i]! - from
      if (position >= to - from) break
      words[position >>> 5]! |= 1 << (position & 31)
    }
    return words
  }

  /** Adds the set bits of `words`, bit 0 being position `from`. REQUIRES: all are above the positions already there. */
  addWords(words: Uint32Array, from: number): void {
    for (let w = 0; w < words.length; w++) {
      for (let rest = words[w]!; rest !== 0; rest &= rest - 1) this.add(from + w * 32 + 31 - Math.clz32(rest & -rest))
    }
  }

  /** Doubles the list, or switches to bits if a longer list would be larger than they are. */
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
