/**
 * The private pairs of a sealed segment as one record, used in its stored form: a pair is parsed only when its hash is
 * looked up. Pairs ascend by the `lo` of their hashes.
 *
 * | bytes     | for each pair, in turn                                                        |
 * | --------- | ----------------------------------------------------------------------------- |
 * | 4 · pairs | `lo` of its hash                                                              |
 * | 4 · pairs | its row number: −1 for no document, −2 for every document                     |
 * | 4 · pairs | where its text ends, from the end of these lists                              |
 * | …         | its text, JSON as in segment-record.ts: `[path, tag, key]`                    |
 *
 * Invariant: as in PrivateTable, a lookup compares the pair itself, so membership of a private row is exact.
 */
import { runSteps } from '../../model/time-slice.ts'
import type { PairHash } from '../pairs/pair-hash.ts'
import { Tag, type TaggedPair } from '../pairs/pair-tags.ts'
import { PairTexts } from './pair-texts.ts'
import type { HashedPair } from './private-table.ts'
import { parsePair } from './segment-record.ts'

const numbersPerPair = 3
const marksPerPair = 16
const pairsPerStep = 64

/** @param rows each pair's row number */
export function encodePairTable(pairs: readonly HashedPair[], rows: readonly number[]): Uint8Array {
  return runSteps(pairTableSteps(pairs, rows, new PairTexts()))
}

/** As encodePairTable(), in steps: thousands of pairs take several milliseconds. @param texts may lack some pairs */
export function* pairTableSteps(
  pairs: readonly HashedPair[],
  rows: readonly number[],
  texts: PairTexts
): Generator<void, Uint8Array> {
  yield* texts.addSteps(pairs)
  const order = Array.from(pairs, (_, i) => i).sort((a, b) => pairs[a]!.lo - pairs[b]!.lo)
  yield
  const start = numbersPerPair * 4 * pairs.length
  // All texts, without the commas in between.
  const bytes = new Uint8Array(start + texts.list(pairs).length - Math.max(0, pairs.length - 1))
  const numbers = new Int32Array(bytes.buffer, 0, numbersPerPair * pairs.length)
  let end = 0
  for (let i = 0; i < order.length; i++) {
    const pair = order[i]!
    const text = texts.text(pair)
    bytes.set(text, start + end)
    end += text.length
    numbers[i] = pairs[pair]!.lo
    numbers[pairs.length + i] = rows[pair]!
    numbers[2 * pairs.length + i] = end
  }
  return bytes
}

export class PairTable {
  readonly #hashes: Int32Array
  readonly #rows: Int32Array
  readonly #ends: Uint32Array
  readonly #texts: Uint8Array
  /** A one-probe Bloom filter over the lowest bits of hashes: most pairs looked up have no row. */
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

  /** Returns undefined for bytes that are not a table of this many pairs. */
  static decode(bytes: Uint8Array, pairs: number): PairTable | undefined {
    const start = numbersPerPair * 4 * pairs
    if (bytes.length < start) return undefined
    // Copied: numbers have to be aligned, and the record may be part of a larger block.
    const table = new PairTable(bytes.slice(), pairs)
    return start + (table.#ends[pairs - 1] ?? 0) === bytes.length ? table : undefined
  }

  get size(): number {
    return this.#hashes.length
  }

  /** Returns the pair's row number; undefined when it has no row. */
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
    return runSteps(this.pairSteps(pairHash))
  }

  /** As pairs(), in steps: thousands of pairs take several milliseconds the first time. */
  *pairSteps(pairHash: PairHash): Generator<void, HashedPair[]> {
    const pairs: HashedPair[] = []
    for (let i = 0; i < this.size; i++) {
      pairs.push(pairHash.hash(this.#pairAt(i)))
      if (pairs.length % pairsPerStep === 0) yield
    }
    return pairs
  }

  /** All pairs on a path. */
  pairsOn(path: string): TaggedPair[] {
    const beginning = encoder.encode(`[${JSON.stringify(path)},`)
    const pairs: TaggedPair[] = []
    for (let i = 0; i < this.size; i++) {
      const text = this.#textAt(i)
      if (beginning.every((byte, at) => text[at] === byte)) pairs.push(this.#pairAt(i))
    }
    return pairs
  }

  /** All TYPE pairs, stored as `["path",17,type]`. They cannot be confused with text keys, which end with a quote. */
  typePairs(): TaggedPair[] {
    const pairs: TaggedPair[] = []
    for (let i = 0; i < this.size; i++) {
      if (typeEnding.test(unitsOf.decode(this.#textAt(i).subarray(-typeEndingBytes)))) pairs.push(this.#pairAt(i))
    }
    return pairs
  }

  #pairAt(i: number): TaggedPair {
    let pair = this.#parsed.get(i)
    if (pair === undefined) {
      pair = parsePair(JSON.parse(decoder.decode(this.#textAt(i))))
      this.#parsed.set(i, pair)
    }
    return pair
  }

  #textAt(i: number): Uint8Array {
    return this.#texts.subarray(i === 0 ? 0 : this.#ends[i - 1], this.#ends[i])
  }
}

const typeEnding = new RegExp(`",${Tag.type},\\d+\\]$`)
const typeEndingBytes = `",${Tag.type},15]`.length
/** A single-byte decoder, because the text may be cut within a character. */
const unitsOf = new TextDecoder('latin1')
const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true })
