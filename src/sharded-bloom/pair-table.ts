/**
 * The private pairs of a sealed segment as one record, read as it lies: nothing but a table of hashes is made of it, and
 * a pair is parsed when its hash is asked for.
 *
 * | bytes     | for each slot, in turn                                                        |
 * | --------- | ----------------------------------------------------------------------------- |
 * | 4 · pairs | `lo` of the pair's hash                                                       |
 * | 4 · pairs | the number of its row, as in segment-record.ts                                |
 * | 4 · pairs | where its text ends, from the end of these lists                              |
 * | …         | its text, JSON as in segment-record.ts: `[path, tag, key]`                    |
 *
 * Invariants:
 * 1. As PrivateTable: a lookup compares the pair itself, so membership of a private row is exact.
 * 2. Whatever bytes decode() is given, the result is a table of `pairs` readable numbers within bounds, or none.
 */
import type { PairHash } from './pair-hash.ts'
import type { TaggedPair } from './pair-tags.ts'
import type { HashedPair } from './private-table.ts'
import { ALL_DOCUMENTS } from './row-codec.ts'
import { parsePair, storedPair } from './segment-record.ts'

const numbersPerPair = 3

/** @param rows the number of each pair's row */
export function encodePairTable(pairs: readonly HashedPair[], rows: readonly number[]): Uint8Array {
  const encoder = new TextEncoder()
  const texts = pairs.map((pair) => encoder.encode(JSON.stringify(storedPair(pair))))
  const start = numbersPerPair * 4 * pairs.length
  const bytes = new Uint8Array(texts.reduce((sum, { length }) => sum + length, start))
  const view = new DataView(bytes.buffer)
  let end = 0
  texts.forEach((text, slot) => {
    bytes.set(text, start + end)
    end += text.length
    view.setInt32(4 * slot, pairs[slot]!.lo, true)
    view.setInt32(4 * (pairs.length + slot), rows[slot]!, true)
    view.setUint32(4 * (2 * pairs.length + slot), end, true)
  })
  return bytes
}

export class PairTable {
  readonly #hashes: Int32Array
  readonly #rows: Int32Array
  readonly #ends: Uint32Array
  readonly #texts: Uint8Array
  readonly #parsed: (TaggedPair | undefined)[]
  /** Slot + 1 by hash, open addressing; 0 where there is none. */
  readonly #slots: Int32Array

  private constructor(hashes: Int32Array, rows: Int32Array, ends: Uint32Array, texts: Uint8Array) {
    this.#hashes = hashes
    this.#rows = rows
    this.#ends = ends
    this.#texts = texts
    this.#parsed = new Array<TaggedPair | undefined>(hashes.length)
    this.#slots = new Int32Array(2 ** Math.ceil(Math.log2(2 * hashes.length + 2)))
    const mask = this.#slots.length - 1
    for (let slot = 0; slot < hashes.length; slot++) {
      let i = hashes[slot]! & mask
      while (this.#slots[i] !== 0) i = (i + 1) & mask
      this.#slots[i] = slot + 1
    }
  }

  /** undefined for bytes that are no table of so many pairs. @param storedRows row numbers are below it */
  static decode(bytes: Uint8Array, pairs: number, storedRows: number): PairTable | undefined {
    const start = numbersPerPair * 4 * pairs
    if (bytes.length < start) return undefined
    // A copy of its own: numbers have to be aligned, and the record may be part of a larger block.
    const copy = bytes.slice()
    const rows = new Int32Array(copy.buffer, 4 * pairs, pairs)
    const ends = new Uint32Array(copy.buffer, 8 * pairs, pairs)
    let end = 0
    for (let slot = 0; slot < pairs; slot++) {
      if (ends[slot]! < end || rows[slot]! < ALL_DOCUMENTS || rows[slot]! >= storedRows) return undefined
      end = ends[slot]!
    }
    if (start + end !== copy.length) return undefined
    return new PairTable(new Int32Array(copy.buffer, 0, pairs), rows, ends, copy.subarray(start))
  }

  /** A table of pairs that were read from elsewhere. */
  static of(pairs: readonly HashedPair[], rows: readonly number[], storedRows: number): PairTable | undefined {
    return PairTable.decode(encodePairTable(pairs, rows), pairs.length, storedRows)
  }

  get size(): number {
    return this.#hashes.length
  }

  /** The slot of a pair, or −1. */
  find({ lo, path, tag, key }: HashedPair): number {
    const slots = this.#slots
    const mask = slots.length - 1
    for (let i = lo & mask; ; i = (i + 1) & mask) {
      const slot = slots[i]! - 1
      if (slot < 0) return -1
      if (this.#hashes[slot] !== lo) continue
      const pair = this.#pairAt(slot)
      if (pair?.tag === tag && Object.is(pair.key, key) && pair.path === path) return slot
    }
  }

  /** The number of the slot's row. */
  rowOf(slot: number): number {
    return this.#rows[slot]!
  }

  /** All pairs in slot order, hashed. */
  pairs(pairHash: PairHash): HashedPair[] {
    return Array.from(this.#hashes, (_, slot) => this.#pairAt(slot)).map((pair) => pairHash.hash(pair))
  }

  #pairAt(slot: number): TaggedPair {
    const text = this.#texts.subarray(slot === 0 ? 0 : this.#ends[slot - 1]!, this.#ends[slot])
    this.#parsed[slot] ??= parsePair(JSON.parse(decoder.decode(text)))
    return this.#parsed[slot]
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true })
