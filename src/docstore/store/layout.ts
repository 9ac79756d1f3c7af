/**
 * The key layout of the store. Prefixes are those of abstract-level's sublevels, so that `store.sublevel('1.docs')`
 * shows a collection's documents.
 *
 * | area        | key                       | value                    |
 * | ----------- | ------------------------- | ------------------------ |
 * | `meta`      | see catalog-records.ts    | JSON                     |
 * | `<n>.docs`  | ordinal, 8 bytes, big-endian | record text           |
 * | `<n>.ids`   | encodeKey(_id)            | ordinal, decimal; empty where ordinals are computed (ids/) |
 * | `<n>.index` | the index's own           | the index's own          |
 *
 * Keys are built here and passed to the store complete: a sublevel's own operations cost more than the writing.
 */
import { PetalError } from '../../model/errors.ts'

export const ordinalBytes = 8
const encoder = new TextEncoder()

/** An area of the store: all keys with its prefix. */
export class Area {
  /** Lower bound of the area's keys. */
  readonly first: Uint8Array
  /** Upper bound of the area's keys, exclusive. */
  readonly end: Uint8Array
  readonly #scratch: Uint8Array

  /** @param name in ASCII. No sublevel is created, because the store would keep it until it is closed. */
  constructor(name: string) {
    this.first = encoder.encode(`!${name}!`)
    this.end = this.first.slice()
    // The separator that ends the prefix, plus one: no other sublevel lies in between.
    this.end[this.end.length - 1] = (this.end.at(-1) ?? 0) + 1
    this.#scratch = new Uint8Array(this.first.length + ordinalBytes)
    this.#scratch.set(this.first)
  }

  key(suffix: Uint8Array): Uint8Array {
    const key = new Uint8Array(this.first.length + suffix.length)
    key.set(this.first)
    key.set(suffix, this.first.length)
    return key
  }

  textKey(suffix: string): Uint8Array {
    return this.key(encoder.encode(suffix))
  }

  ordinalKey(ordinal: number): Uint8Array {
    return writeOrdinal(this.#scratch.slice(), this.first.length, ordinal)
  }

  /** Like ordinalKey(), in memory that the next call reuses: for synchronous reads only. */
  scratchOrdinalKey(ordinal: number): Uint8Array {
    return writeOrdinal(this.#scratch, this.first.length, ordinal)
  }

  /** Returns the key without the prefix; a view, not a copy. */
  suffix(key: Uint8Array): Uint8Array {
    return key.subarray(this.first.length)
  }

  /** Returns the ordinal of a key in key[start, end). */
  ordinalOf(key: Uint8Array, start = 0, end = key.length): number {
    const at = start + this.first.length
    if (end !== at + ordinalBytes) {
      throw new PetalError('DataCorruption', `a document key has ${end - at} bytes, expected ${ordinalBytes}`)
    }
    const high = ((key[at + 1]! << 16) | (key[at + 2]! << 8) | key[at + 3]!) >>> 0
    const low = ((key[at + 4]! << 24) | (key[at + 5]! << 16) | (key[at + 6]! << 8) | key[at + 7]!) >>> 0
    return high * 0x1_0000_0000 + low
  }
}

const scratchSuffix = new Uint8Array(ordinalBytes)

/** Returns the part of an ordinal's key after the prefix, in memory that the next call reuses. */
export function ordinalSuffix(ordinal: number): Uint8Array {
  return writeOrdinal(scratchSuffix, 0, ordinal)
}

/** Writes the part of an ordinal's key after the prefix to key[at, …). */
export function writeOrdinal(key: Uint8Array, at: number, ordinal: number): Uint8Array {
  const high = Math.floor(ordinal / 0x1_0000_0000)
  key[at] = 0
  key[at + 1] = high >>> 16
  key[at + 2] = high >>> 8
  key[at + 3] = high
  key[at + 4] = ordinal >>> 24
  key[at + 5] = ordinal >>> 16
  key[at + 6] = ordinal >>> 8
  key[at + 7] = ordinal
  return key
}

/** Returns the area with this prefix. */
export function areaOf(prefix: Uint8Array): Area {
  return new Area(new TextDecoder().decode(prefix.subarray(1, -1)))
}

/** Compares bytewise, in the order of the store: −1, 0 or 1. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const shared = Math.min(a.length, b.length)
  for (let i = 0; i < shared; i++) {
    const difference = a[i]! - b[i]!
    if (difference !== 0) return difference < 0 ? -1 : 1
  }
  return Math.sign(a.length - b.length)
}
