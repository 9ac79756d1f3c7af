/**
 * The positions of a table's data blocks and the separator keys between them, kept in memory as stored in the file.
 *
 * Invariants:
 * 1. separator(i) is at or after the last key of block i, and before the first key of block i + 1 unless both blocks
 *    hold versions of that key. The last separator is the table's last key.
 * 2. Data blocks are contiguous from offset 0.
 *
 * Payload: count u32 | count × (payload bytes u32 | end of the separator u32) | separators.
 */
import { corruption, type Place } from '../errors.ts'
import { readU32, writeU32 } from './bytes.ts'
import { trailerBytes } from './codec.ts'
import { compareRanges } from './entry.ts'
import { KeyHeads } from './key-heads.ts'

export class BlockIndexBuilder {
  readonly #separators: Uint8Array[] = []
  readonly #payloadBytes: number[] = []
  #separatorBytes = 0

  /** @param separator retained; must not be changed afterwards */
  add(payloadBytes: number, separator: Uint8Array): void {
    this.#payloadBytes.push(payloadBytes)
    this.#separators.push(separator)
    this.#separatorBytes += separator.length
  }

  get count(): number {
    return this.#payloadBytes.length
  }

  /** Current size of the result of finish(). */
  get bytes(): number {
    return 4 + 8 * this.count + this.#separatorBytes
  }

  finish(): Uint8Array {
    const bytes = Buffer.allocUnsafeSlow(this.bytes)
    const first = 4 + 8 * this.count
    writeU32(bytes, 0, this.count)
    let end = first
    for (let i = 0; i < this.count; i++) {
      const key = this.#separators[i]!
      bytes.set(key, end)
      end += key.length
      writeU32(bytes, 4 + 8 * i, this.#payloadBytes[i]!)
      writeU32(bytes, 8 + 8 * i, end - first)
    }
    return bytes
  }
}

export class BlockIndex {
  /** Number of data blocks. */
  readonly count: number
  /** Total bytes of the data blocks in the file: the offset of their end. */
  readonly dataBytes: number
  readonly #bytes: Uint8Array
  /** Offsets of the blocks in the file, then the end of the last one. */
  readonly #offsets: Float64Array
  /** Offsets of the separators in #bytes, then the end of the last one. */
  readonly #keys: Uint32Array
  /** Created by the first search: tables that are only scanned do not need it. */
  #heads: KeyHeads | undefined

  /**
   * @param bytes the payload; retained
   * @throws LEVEL_CORRUPTION if it is incomplete
   */
  constructor(bytes: Uint8Array, place: Place) {
    const count = bytes.length < 4 ? 0 : readU32(bytes, 0)
    const first = 4 + 8 * count
    if (count === 0 || first > bytes.length)
      throw corruption(`an index of ${count} blocks in ${bytes.length} bytes`, place)
    const offsets = new Float64Array(count + 1)
    const keys = new Uint32Array(count + 1)
    keys[0] = first
    for (let i = 0; i < count; i++) {
      offsets[i + 1] = offsets[i]! + readU32(bytes, 4 + 8 * i) + trailerBytes
      const end = first + readU32(bytes, 8 + 8 * i)
      if (end < keys[i]! || end > bytes.length) throw corruption('a separator extends beyond the index', place)
      keys[i + 1] = end
    }
    this.count = count
    this.dataBytes = offsets[count]!
    this.#bytes = bytes
    this.#offsets = offsets
    this.#keys = keys
  }

  /** The first block that may hold a key ≥ `key`; `count` if every key is smaller. */
  find(key: Uint8Array): number {
    const heads = this.#heads ?? KeyHeads.ofRanges(this.#bytes, this.#keys)
    this.#heads = heads
    heads.locate(key)
    let { low, high } = heads
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.compareSeparator(middle, key) < 0) low = middle + 1
      else high = middle
    }
    return low
  }

  /** Negative, 0 or positive if the separator of a block is before, equal to or after `key`. */
  compareSeparator(block: number, key: Uint8Array): number {
    const keys = this.#keys
    return compareRanges(this.#bytes, keys[block]!, keys[block + 1]!, key, 0, key.length)
  }

  /** Whether the separator of a block equals the key in bytes[start, end). */
  isSeparator(block: number, bytes: Uint8Array, start: number, end: number): boolean {
    const keys = this.#keys
    return compareRanges(this.#bytes, keys[block]!, keys[block + 1]!, bytes, start, end) === 0
  }

  /** Offset of a block in the file; for `count`, the end of the last block. */
  offset(block: number): number {
    return this.#offsets[block]!
  }

  payloadBytes(block: number): number {
    return this.#offsets[block + 1]! - this.#offsets[block]! - trailerBytes
  }

  get memoryBytes(): number {
    return this.#bytes.length + this.#offsets.byteLength + this.#keys.byteLength + (this.#heads?.memoryBytes ?? 0)
  }
}
