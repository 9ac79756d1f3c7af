/**
 * The private pairs of a sealed segment as one record, used in its stored form: a key is parsed only when its hash is
 * looked up. Pairs ascend by the `lo` of their hashes.
 *
 * | bytes     | for each pair, in turn                                                        |
 * | --------- | ----------------------------------------------------------------------------- |
 * | 4 · pairs | `lo` of its hash                                                              |
 * | 4 · pairs | its row number: −1 for no document, −2 for every document                     |
 * | 4 · pairs | where the text of its key ends, from the end of these lists                   |
 * | 2 · pairs | the number of its path                                                        |
 * | 1 · pairs | its tag                                                                       |
 * | …         | the text of its key, JSON as in segment-record.ts                             |
 * | …         | once for all pairs: the paths, a JSON list                                    |
 *
 * Invariant: as in PrivateTable, a lookup compares the pair itself, so membership of a private row is exact.
 */
import { runSteps } from '../../model/time-slice.ts'
import type { PairHash } from '../pairs/pair-hash.ts'
import { Tag, type TaggedPair } from '../pairs/pair-tags.ts'
import { PairTexts } from './pair-texts.ts'
import type { HashedPair } from './private-table.ts'
import { ALL_DOCUMENTS } from './row-codec.ts'
import { parseKey } from './segment-record.ts'

const bytesPerPair = 15
const marksPerPair = 16
const pairsPerStep = 64

/** A table as stored. */
export interface StoredPairTable {
  readonly bytes: Uint8Array
  /** Number of different paths. */
  readonly paths: number
}

/** A pair and the part of its hash that tables are sorted by. */
export type SortedPair = TaggedPair & Pick<HashedPair, 'lo'>

/** @param rows each pair's row number */
export function encodePairTable(pairs: readonly SortedPair[], rows: readonly number[]): StoredPairTable {
  return runSteps(pairTableSteps(pairs, rows, new PairTexts()))
}

/** As encodePairTable(), in steps: thousands of pairs take several milliseconds. @param texts may lack some pairs */
export function* pairTableSteps(
  pairs: readonly SortedPair[],
  rows: readonly number[],
  texts: PairTexts
): Generator<void, StoredPairTable> {
  yield* texts.addSteps(pairs)
  const order = Array.from(pairs, (_, i) => i).sort((a, b) => pairs[a]!.lo - pairs[b]!.lo)
  yield
  const numbers = new Map<string, number>()
  for (const { path } of pairs) if (!numbers.has(path)) numbers.set(path, numbers.size)
  const paths = encoder.encode(JSON.stringify([...numbers.keys()]))
  const length = lengthOfLists(pairs.length)
  const bytes = new Uint8Array(length + texts.keyBytes + paths.length)
  const { hashes, rowOf, ends, pathOf, tags } = listsOf(bytes.buffer, pairs.length)
  let end = 0
  for (let i = 0; i < order.length; i++) {
    const slot = order[i]!
    const { lo, path, tag } = pairs[slot]!
    const text = texts.key(slot)
    bytes.set(text, length + end)
    end += text.length
    hashes[i] = lo
    rowOf[i] = rows[slot]!
    ends[i] = end
    pathOf[i] = numbers.get(path)!
    tags[i] = tag
  }
  bytes.set(paths, length + end)
  return { bytes, paths: numbers.size }
}

/** Bytes of the lists at the beginning of a table. */
export function lengthOfLists(pairs: number): number {
  return bytesPerPair * pairs
}

/** Returns the lists at the beginning of a table. */
export function listsOf(buffer: ArrayBuffer, pairs: number) {
  return {
    hashes: new Int32Array(buffer, 0, pairs),
    rowOf: new Int32Array(buffer, 4 * pairs, pairs),
    ends: new Uint32Array(buffer, 8 * pairs, pairs),
    pathOf: new Uint16Array(buffer, 12 * pairs, pairs),
    tags: new Uint8Array(buffer, 14 * pairs, pairs)
  }
}

export class PairTable {
  readonly #lists: ReturnType<typeof listsOf>
  readonly #keys: Uint8Array
  readonly #paths: readonly string[]
  /** A one-probe Bloom filter over the lowest bits of hashes: most pairs looked up have no row. */
  readonly #marks: Uint32Array
  readonly #markMask: number
  readonly #parsed = new Map<number, TaggedPair>()

  private constructor(lists: ReturnType<typeof listsOf>, keys: Uint8Array, paths: readonly string[]) {
    this.#lists = lists
    this.#keys = keys
    this.#paths = paths
    const marks = 2 ** Math.ceil(Math.log2(Math.max(32, marksPerPair * lists.hashes.length)))
    this.#markMask = marks - 1
    this.#marks = new Uint32Array(marks / 32)
    mark(lists.hashes, this.#marks)
  }

  /**
   * Returns undefined for bytes that are not a table of so many pairs and paths. The texts of keys are not looked at:
   * whatever parses one throws an IndexDamaged if it is malformed.
   * @param storedRows row numbers are below it
   */
  static decode({ bytes, paths }: StoredPairTable, pairs: number, storedRows: number): PairTable | undefined {
    const length = lengthOfLists(pairs)
    if (bytes.length < length) return undefined
    // Copied: numbers have to be aligned, and the record may be part of a larger block.
    const own = new Uint8Array(bytes)
    const lists = listsOf(own.buffer, pairs)
    const texts = own.subarray(length)
    const keyBytes = lists.ends[pairs - 1] ?? 0
    const list = parsePaths(texts.subarray(keyBytes))
    if (list?.length !== paths || !areSound(lists, paths, storedRows)) return undefined
    return new PairTable(lists, texts.subarray(0, keyBytes), list)
  }

  get size(): number {
    return this.#lists.hashes.length
  }

  /** Returns the pair's row number; undefined when it has no row. @throws PetalError IndexDamaged */
  find({ lo, path, tag, key }: SortedPair): number | undefined {
    if ((this.#marks[(lo & this.#markMask) >>> 5]! & (1 << (lo & 31))) === 0) return undefined
    const { hashes, rowOf } = this.#lists
    let low = 0
    let high = hashes.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (hashes[middle]! < lo) low = middle + 1
      else high = middle
    }
    for (let i = low; hashes[i] === lo; i++) {
      const pair = this.#pairAt(i)
      if (pair.tag === tag && Object.is(pair.key, key) && pair.path === path) return rowOf[i]
    }
    return undefined
  }

  /** All pairs, hashed. @throws PetalError IndexDamaged */
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

  /** All pairs on a path. @throws PetalError IndexDamaged */
  pairsOn(path: string): TaggedPair[] {
    const number = this.#paths.indexOf(path)
    return number < 0 ? [] : this.#pairsWhere(this.#lists.pathOf, number)
  }

  /** All TYPE pairs. @throws PetalError IndexDamaged */
  typePairs(): TaggedPair[] {
    return this.#pairsWhere(this.#lists.tags, Tag.type)
  }

  #pairsWhere(list: Uint8Array | Uint16Array, value: number): TaggedPair[] {
    const pairs: TaggedPair[] = []
    for (let i = 0; i < this.size; i++) if (list[i] === value) pairs.push(this.#pairAt(i))
    return pairs
  }

  #pairAt(i: number): TaggedPair {
    let pair = this.#parsed.get(i)
    if (pair === undefined) {
      const { ends, pathOf, tags } = this.#lists
      const key = parseText(this.#keys.subarray(i === 0 ? 0 : ends[i - 1], ends[i]))
      pair = { path: this.#paths[pathOf[i]!]!, tag: tags[i]!, key }
      this.#parsed.set(i, pair)
    }
    return pair
  }
}

// Loops of their own, because many tables are decoded before V8 has compiled anything.

function mark(hashes: Int32Array, marks: Uint32Array): void {
  const mask = 32 * marks.length - 1
  for (let i = 0; i < hashes.length; i++) {
    const lo = hashes[i]!
    marks[(lo & mask) >>> 5]! |= 1 << (lo & 31)
  }
}

/** Whether all numbers are in range, and the hashes ascend. */
function areSound({ hashes, rowOf, pathOf }: ReturnType<typeof listsOf>, paths: number, storedRows: number): boolean {
  let previous = hashes[0] ?? 0
  for (let i = 0; i < hashes.length; i++) {
    const lo = hashes[i]!
    const row = rowOf[i]!
    if (lo < previous || row < ALL_DOCUMENTS || row >= storedRows || pathOf[i]! >= paths) return false
    previous = lo
  }
  return true
}

/** @throws PetalError IndexDamaged */
function parseText(bytes: Uint8Array): TaggedPair['key'] {
  let value: unknown
  try {
    value = JSON.parse(decoder.decode(bytes))
  } catch {
    // Not JSON in UTF-8: undefined is no key, either.
  }
  return parseKey(value)
}

function parsePaths(bytes: Uint8Array): string[] | undefined {
  try {
    const list: unknown = JSON.parse(decoder.decode(bytes))
    return Array.isArray(list) && list.every((path) => typeof path === 'string') ? list : undefined
  } catch {
    // Not JSON in UTF-8.
    return undefined
  }
}

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true })
