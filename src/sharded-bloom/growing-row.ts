/**
 * A private row while its segment is open: positions as a sorted list, as bits once the list would be larger.
 */
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

  /** Positions come in ascending order; the last one may come again. */
  add(position: number): void {
    if (position === this.#last) return
    this.#last = position
    if (this.#words === undefined && this.#count === this.#positions.length) this.#grow()
    if (this.#words === undefined) this.#positions[this.#count] = position
    else this.#words[position >>> 5]! |= 1 << (position & 31)
    this.#count++
  }

  /** ORs the row's bits into `target`, which has room for `capacity` bits. */
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

  /** Positions in [from, to), ascending. */
  *positions(from = 0, to = this.#capacity): Generator<number> {
    if (this.#words === undefined) {
      for (let i = 0; i < this.#count; i++) {
        const position = this.#positions[i]!
        if (position >= from && position < to) yield position
      }
      return
    }
    for (let position = from; position < to; position++) {
      if ((this.#words[position >>> 5]! & (1 << (position & 31))) !== 0) yield position
    }
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
