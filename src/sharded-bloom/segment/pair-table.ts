/**
 * The private pairs of a sealed segment as one record, read as it lies: nothing is made of it, and a pair is parsed when
 * its hash is asked for. Pairs ascend by `lo` of their hashes.
 *
 * | bytes     | for each pair, in turn                                                        |
 * | --------- | ----------------------------------------------------------------------------- |
 * | 4 · pairs | `lo` of its hash                                                              |
 * | 4 · pairs | the number of its row: −1 for no document, −2 for every document              |
 * | 4 · pairs | where its text ends, from the end of these lists                              |
 * | …         | its text, JSON as in segment-record.ts: `[path, tag, key]`                    |
 *
 * Invariant: as PrivateTable, a lookup compares the pair itself, so membership of a private row is exact.
 */
import { runSteps } from '../../model/time-slice.ts'
import type { PairHash } from '../pairs/pair-hash.ts'
import type { TaggedPair } from '../pairs/pair-tags.ts'
import type { HashedPair } from './private-table.ts'
import { parsePair, storedPair } from './segment-record.ts'

const numbersPerPair = 3
const marksPerPair = 16
const pairsPerStep = 128

/** @param rows the number of each pair's row */
export function encodePairTable(pairs: readonly HashedPair[], rows: readonly number[]): Uint8Array {
  return runSteps(pairTableSteps(pairs, rows))
}

/** As encodePairTable(), in steps: thousands of pairs take several milliseconds. */
export function* pairTableSteps(pairs: readonly HashedPair[], rows: readonly number[]): Generator<void, Uint8Array> {
  const encoder = new TextEncoder()
  const entries: { readonly lo: number; readonly row: number; readonly text: Uint8Array }[] = []
  for (const pair of pairs) {
    const text = encoder.encode(JSON.stringify(storedPair(pair)))
    entries.push({ lo: pair.lo, row: rows[entries.length]!, text })
    if (entries.length % pairsPerStep === 0) yield
  }
  entries.sort((a, b) => a.lo - b.lo)
  yield
  const start = numbersPerPair * 4 * pairs.length
  const bytes = new Uint8Array(entries.reduce((sum, { text }) => sum + text.length, start))
  const view = new DataView(bytes.buffer)
  let end = 0
  entries.forEach(({ lo, row, text }, i) => {
    bytes.set(text, start + end)
    end += text.length
    view.setInt32(4 * i, lo, true)
    view.setInt32(4 * (pairs.length + i), row, true)
    view.setUint32(4 * (2 * pairs.length + i), end, true)
  })
  return bytes
}

export class PairTable {
  readonly #hashes: Int32Array
  readonly #rows: Int32Array
  readonly #ends: Uint32Array
  readonly #texts: Uint8Array
  /** A bit for each hash, by its lowest bits: most pairs that are asked for have no row. */
  readonly #marks: Uint32Array
  readonly #markMask: number
  readonly #parsed = new Map<number, TaggedPair>()

  private constructor(bytes: Uint8Array<ArrayBuffer>, pairs: number) {
    this.#hashes = new Int32Array(bytes.buffer, 0, pairs)
    this.#rows = new Int32Array(bytes.buffer, 4 * pairs, pairs)
    this.#ends = new Uint32Array(bytes.buffer, 8 * pairs, pairs)
    this.#texts = bytes.subarray(numbersPerPair * 4 * pairs)
    const marks = 2 ** Math.ceil(Math.log2(Math.max(32, marksPerPair * pairs)))
    this.#markMask = marks - 1
    this.#marks = new Uint32Array(marks / 32)
    for (const lo of this.#hashes) this.#marks[(lo & this.#markMask) >>> 5]! |= 1 << (lo & 31)
  }

  /** undefined for bytes that are no table of so many pairs. */
  static decode(bytes: Uint8Array, pairs: number): PairTable | undefined {
    const start = numbersPerPair * 4 * pairs
    if (bytes.length < start) return undefined
    // A copy of its own: numbers have to be aligned, and the record may be part of a larger block.
    const table = new PairTable(bytes.slice(), pairs)
    return start + (table.#ends[pairs - 1] ?? 0) === bytes.length ? table : undefined
  }

  get size(): number {
    return this.#hashes.length
  }

  /** The number of the pair's row; undefined for a pair that has none. */
  find({ lo, path, tag, key }: HashedPair): number | undefined {
    if ((this.#marks[(lo & this.#markMask) >>> 5]! & (1 << (lo & 31))) === 0) return undefined
    const hashes = this.#hashes
    let low = 0
    let high = hashes.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (hashes[middle]! < lo) low = middle + 1
      else high = middle
    }
    for (let i = low; hashes[i] === lo; i++) {
      const pair = this.#pairAt(i)
      if (pair.tag === tag && Object.is(pair.key, key) && pair.path === path) return this.#rows[i]
    }
    return undefined
  }

  /** All pairs, hashed. */
  pairs(pairHash: PairHash): HashedPair[] {
    return Array.from(this.#hashes, (_, i) => pairHash.hash(this.#pairAt(i)))
  }

  #pairAt(i: number): TaggedPair {
    let pair = this.#parsed.get(i)
    if (pair === undefined) {
      const text = this.#texts.subarray(i === 0 ? 0 : this.#ends[i - 1], this.#ends[i])
      pair = parsePair(JSON.parse(decoder.decode(text)))
      this.#parsed.set(i, pair)
    }
    return pair
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true })
