/** The encoded `_id`s of a unit, as they come: in one array, and which of them are the first and the last in order. */
import { compareBytes } from '../store/layout.ts'
import type { LoadedIds } from './load-unit.ts'

const firstBytes = 64 * 1024

export class IdKeys {
  #keys = new Uint8Array(firstBytes)
  #length = 0
  readonly #ends: Uint32Array
  #count = 0
  #smallest: Uint8Array = new Uint8Array(0)
  #greatest: Uint8Array = new Uint8Array(0)
  /** Each is above the one before. */
  #isAscending = true

  /** @param capacity of keys */
  constructor(capacity: number) {
    this.#ends = new Uint32Array(capacity)
  }

  /** @param key is kept */
  add(key: Uint8Array): void {
    if (this.#count === 0) {
      this.#smallest = key
      this.#greatest = key
    } else if (compareBytes(key, this.#greatest) > 0) this.#greatest = key
    else {
      this.#isAscending = false
      if (compareBytes(key, this.#smallest) < 0) this.#smallest = key
    }
    if (this.#length + key.length > this.#keys.length) this.#grow(key.length)
    this.#keys.set(key, this.#length)
    this.#length += key.length
    this.#ends[this.#count++] = this.#length
  }

  /** False where two of them are the same. */
  get areDifferent(): boolean {
    if (this.#isAscending) return true
    const seen = new Set<string>()
    const keys = Buffer.from(this.#keys.buffer)
    for (let i = 0, start = 0; i < this.#count; i++) {
      const end = this.#ends[i]!
      seen.add(keys.toString('latin1', start, end))
      start = end
    }
    return seen.size === this.#count
  }

  /** REQUIRES: there are some. */
  get loaded(): LoadedIds {
    return {
      smallest: this.#smallest.slice(),
      greatest: this.#greatest.slice(),
      keys: this.#keys.slice(0, this.#length),
      ends: this.#ends.slice(0, this.#count)
    }
  }

  #grow(bytes: number): void {
    const larger = new Uint8Array(Math.max(2 * this.#keys.length, this.#length + bytes))
    larger.set(this.#keys.subarray(0, this.#length))
    this.#keys = larger
  }
}

/** One after the other, as views. */
export function* keysOf({ keys, ends }: LoadedIds): Generator<Uint8Array, void, undefined> {
  let start = 0
  for (const end of ends) {
    yield keys.subarray(start, end)
    start = end
  }
}
