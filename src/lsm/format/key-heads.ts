/**
 * The four-byte heads of sorted keys in one array, for cache-friendly binary search. The prefix common to all keys is
 * left out, so that four bytes distinguish most keys of a table or a level. Whole keys are scattered over memory, and
 * each one inspected costs a cache miss.
 */

const noBytes = new Uint8Array(0)

export class KeyHeads {
  readonly #prefix: Uint8Array
  readonly #heads: Uint32Array
  /**
   * Results of locate(): keys before `low` are smaller, keys from `high` on are greater, those in between have the
   * same head.
   */
  low = 0
  high = 0

  private constructor(prefix: Uint8Array, heads: Uint32Array) {
    this.#prefix = prefix
    this.#heads = heads
  }

  /** @param keys ascending */
  static ofKeys(keys: readonly Uint8Array[]): KeyHeads {
    const first = keys[0]
    const last = keys.at(-1)
    if (first === undefined || last === undefined) return new KeyHeads(noBytes, new Uint32Array(0))
    const prefix = new Uint8Array(first.subarray(0, commonLength(first, 0, first.length, last, 0, last.length)))
    return new KeyHeads(
      prefix,
      Uint32Array.from(keys, (key) => headOf(key, prefix.length, key.length))
    )
  }

  /**
   * For contiguous keys.
   * @param offsets offsets of the keys in `bytes`, ascending, then the end of the last one
   */
  static ofRanges(bytes: Uint8Array, offsets: Uint32Array): KeyHeads {
    const heads = new Uint32Array(offsets.length - 1)
    if (heads.length === 0) return new KeyHeads(noBytes, heads)
    const start = offsets[0]!
    const last = heads.length - 1
    const length = commonLength(bytes, start, offsets[1]!, bytes, offsets[last]!, offsets[last + 1]!)
    for (let i = 0; i < heads.length; i++) heads[i] = headOf(bytes, offsets[i]! + length, offsets[i + 1]!)
    return new KeyHeads(new Uint8Array(bytes.subarray(start, start + length)), heads)
  }

  /** Finds the possible positions of `key` among the keys; see `low` and `high`. */
  locate(key: Uint8Array): void {
    const heads = this.#heads
    const prefix = this.#prefix
    for (let i = 0; i < prefix.length; i++) {
      // A key that ends here is smaller than those that continue.
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
      // At most one match is the common case.
      high = high === low ? low + 1 : firstFrom(heads, high, head + 1)
    }
    this.low = low
    this.high = high
  }

  get memoryBytes(): number {
    return this.#prefix.length + this.#heads.byteLength
  }
}

/** Index of the first head ≥ `head`, starting at `from`. */
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

/**
 * Up to four bytes as a number with the same order; padded with zeros, so that a smaller key never gets a greater
 * head.
 */
export function headOf(bytes: Uint8Array, start: number, end: number): number {
  const rest = end - start
  if (rest >= 4) {
    return ((bytes[start]! << 24) | (bytes[start + 1]! << 16) | (bytes[start + 2]! << 8) | bytes[start + 3]!) >>> 0
  }
  let head = 0
  for (let i = 0; i < rest; i++) head |= bytes[start + i]! << (24 - 8 * i)
  return head >>> 0
}

/** Length of the common prefix of two keys. */
function commonLength(
  a: Uint8Array,
  aStart: number,
  aEnd: number,
  b: Uint8Array,
  bStart: number,
  bEnd: number
): number {
  const limit = Math.min(aEnd - aStart, bEnd - bStart)
  let length = 0
  while (length < limit && a[aStart + length] === b[bStart + length]) length++
  return length
}
