/** The ordinal of each position of a segment being built, relative to its first ordinal. */
export class OffsetList {
  readonly #capacity: number
  #length = 0
  /** undefined while each offset is its position. */
  #offsets: Uint32Array | undefined

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  push(offset: number): void {
    const position = this.#length++
    if (offset !== position) this.#offsets ??= consecutive(position, this.#capacity)
    if (this.#offsets !== undefined) this.#offsets[position] = offset
  }

  /** Returns a new array. */
  toArray(): Uint32Array {
    return this.#offsets?.slice(0, this.#length) ?? consecutive(this.#length, this.#length)
  }
}

/** Returns an array of this length whose first `count` elements are their indexes. */
function consecutive(count: number, length: number): Uint32Array {
  const indexes = new Uint32Array(length)
  for (let i = 0; i < count; i++) indexes[i] = i
  return indexes
}
