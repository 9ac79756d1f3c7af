/**
 * Where things stand in the store: key prefixes as abstract-level's sublevels lay them out, so that
 * `store.sublevel('1.docs')` shows what we wrote.
 *
 * | area        | key                       | value                    |
 * | ----------- | ------------------------- | ------------------------ |
 * | `meta`      | see catalog.ts            | JSON                     |
 * | `<n>.docs`  | ordinal, 8 bytes, big-endian | record text           |
 * | `<n>.ids`   | encodeKey(_id)            | ordinal, decimal; nothing is kept where ordinals are computed (ids/) |
 * | `<n>.index` | the index's own           | the index's own          |
 *
 * Keys are built here and given to the store ready-made: a sublevel's own operations cost more than the writing.
 */
import { PetalError } from '../../model/errors.ts'

export const ordinalBytes = 8
const encoder = new TextEncoder()

/** One area of the store: all keys that begin with its prefix. */
export class Area {
  /** Below every key of the area. */
  readonly first: Uint8Array
  /** Above every key of the area. */
  readonly end: Uint8Array
  readonly #scratch: Uint8Array

  /** @param name of ASCII. No sublevel is made: the store would keep it until it is closed. */
  constructor(name: string) {
    this.first = encoder.encode(`!${name}!`)
    this.end = this.first.slice()
    // The separator that closes the prefix, plus one: nothing of another sublevel lies between.
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

  /** As ordinalKey(), in memory that the next call reuses: for synchronous reads only. */
  passingOrdinalKey(ordinal: number): Uint8Array {
    return writeOrdinal(this.#scratch, this.first.length, ordinal)
  }

  /** The key less the prefix; a view, not a copy. */
  suffix(key: Uint8Array): Uint8Array {
    return key.subarray(this.first.length)
  }

  /** Of a key in key[start, end). */
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

const passingSuffix = new Uint8Array(ordinalBytes)

/** What follows the prefix in an ordinal's key, in memory that the next call reuses. */
export function ordinalSuffix(ordinal: number): Uint8Array {
  return writeOrdinal(passingSuffix, 0, ordinal)
}

/** Writes what follows the prefix in an ordinal's key to key[at, …). */
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

/** −1, 0 or 1 in the order of the store: bytewise. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const shared = Math.min(a.length, b.length)
  for (let i = 0; i < shared; i++) {
    const difference = a[i]! - b[i]!
    if (difference !== 0) return difference < 0 ? -1 : 1
  }
  return Math.sign(a.length - b.length)
}
