/**
 * A growing list of u32 entries that is sorted when it is read.
 *
 * Invariant: after sorted(), the entries are ascending, and distinct unless the bucket counts.
 */

export class Bucket {
  readonly #isCounting: boolean
  #entries = new Uint32Array(0)
  #length = 0
  #isSorted = true

  constructor(isCounting: boolean) {
    this.#isCounting = isCounting
  }

  get byteLength(): number {
    return this.#entries.byteLength
  }

  push(entry: number): void {
    if (this.#length === this.#entries.length) this.reserve(Math.max(8, this.#length + (this.#length >>> 1)))
    this.#isSorted &&= this.#length === 0 || this.#isInOrder(this.#entries[this.#length - 1]!, entry)
    this.#entries[this.#length++] = entry
  }

  reserve(capacity: number): void {
    if (capacity <= this.#entries.length) return
    const entries = new Uint32Array(capacity)
    entries.set(this.#entries)
    this.#entries = entries
  }

  /** A view, valid until the next change. */
  sorted(): Uint32Array {
    if (!this.#isSorted) {
      this.#entries.subarray(0, this.#length).sort()
      if (!this.#isCounting) this.#dropRepeated()
      this.#isSorted = true
    }
    return this.#entries.subarray(0, this.#length)
  }

  /** Index of the first entry that is not below `entry`. REQUIRES: sorted() since the last push. */
  firstFrom(entry: number): number {
    let low = 0
    let high = this.#length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#entries[middle]! < entry) low = middle + 1
      else high = middle
    }
    return low
  }

  /** REQUIRES: the entry is there, and sorted() since the last push. */
  removeOne(entry: number): void {
    const index = this.firstFrom(entry)
    this.#entries.copyWithin(index, index + 1, this.#length)
    this.#length--
  }

  countDistinct(): number {
    const entries = this.sorted()
    let count = 0
    for (let i = 0; i < entries.length; i++) if (i === 0 || entries[i] !== entries[i - 1]) count++
    return count
  }

  #isInOrder(before: number, entry: number): boolean {
    return this.#isCounting ? before <= entry : before < entry
  }

  #dropRepeated(): void {
    const entries = this.#entries
    let kept = 0
    for (let i = 0; i < this.#length; i++) {
      if (i === 0 || entries[i] !== entries[kept - 1]) entries[kept++] = entries[i]!
    }
    this.#length = kept
  }
}
