/**
 * The beginnings of sorted keys, four bytes of each, where a search can go through them: what all keys begin with is
 * left out, so that four bytes tell most keys of a table or a level apart. Whole keys lie all over the memory, and each
 * one that is looked at makes the processor wait.
 */

/** The key in bytes[start, end). */
export interface KeyRange {
  readonly bytes: Uint8Array
  readonly start: number
  readonly end: number
}

export class KeyHeads {
  readonly #prefix: Uint8Array
  readonly #heads: Uint32Array
  /** Answers of locate(): keys before `low` are smaller, keys from `high` on greater, and those between begin alike. */
  low = 0
  high = 0

  /** @param keyAt the keys in ascending order, `count` of them */
  constructor(count: number, keyAt: (index: number) => KeyRange) {
    this.#prefix = count === 0 ? new Uint8Array(0) : sharedPrefix(keyAt(0), keyAt(count - 1))
    this.#heads = new Uint32Array(count)
    for (let i = 0; i < count; i++) {
      const { bytes, start, end } = keyAt(i)
      this.#heads[i] = headOf(bytes, start + this.#prefix.length, end)
    }
  }

  /** Finds where `key` can be among the keys; see `low` and `high`. */
  locate(key: Uint8Array): void {
    const heads = this.#heads
    const prefix = this.#prefix
    for (let i = 0; i < prefix.length; i++) {
      // A key that ends here is smaller than those that go on.
      const difference = i < key.length ? key[i]! - prefix[i]! : -1
      if (difference === 0) continue
      this.low = difference < 0 ? 0 : heads.length
      this.high = this.low
      return
    }
    const head = headOf(key, prefix.length, key.length)
    const low = firstFrom(heads, 0, head)
    let high = low
    while (high < heads.length && heads[high] === head) {
      // Mostly there is one, if any.
      high = high === low ? low + 1 : firstFrom(heads, high, head + 1)
    }
    this.low = low
    this.high = high
  }

  get memoryBytes(): number {
    return this.#prefix.length + this.#heads.byteLength
  }
}

/** Index of the first head ≥ `head` from `from` on. */
function firstFrom(heads: Uint32Array, from: number, head: number): number {
  let low = from
  let high = heads.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (heads[middle]! < head) low = middle + 1
    else high = middle
  }
  return low
}

/** Four bytes as a number that orders as they do; zeros behind the end, so that no smaller key gets a greater one. */
function headOf(bytes: Uint8Array, start: number, end: number): number {
  const rest = end - start
  if (rest >= 4) {
    return ((bytes[start]! << 24) | (bytes[start + 1]! << 16) | (bytes[start + 2]! << 8) | bytes[start + 3]!) >>> 0
  }
  let head = 0
  for (let i = 0; i < rest; i++) head |= bytes[start + i]! << (24 - 8 * i)
  return head >>> 0
}

/** What two keys begin with, in bytes of its own. */
function sharedPrefix(a: KeyRange, b: KeyRange): Uint8Array {
  const limit = Math.min(a.end - a.start, b.end - b.start)
  let length = 0
  while (length < limit && a.bytes[a.start + length] === b.bytes[b.start + length]) length++
  return new Uint8Array(a.bytes.subarray(a.start, a.start + length))
}
