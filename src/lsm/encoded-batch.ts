/**
 * A write batch that is encoded as it is built, into a buffer that the next batch reuses: no object per operation, no
 * copies of keys, and a single copy when it is written. Modelled on LevelDB's WriteBatch.
 *
 * Invariant: bytes[0, end) holds `count` operations in the format of format/write-batch.ts.
 */
import { EntryKind } from './format/entry.ts'
import { writeVarint } from './format/varint.ts'
import { copyInto, encodedDeleteBytes, encodedPutBytes } from './format/write-batch.ts'
import { checkedHashes } from './value/hashes-option.ts'

const firstBytes = 16 * 1024
/** clear() drops a buffer larger than this. */
const maxKeptBytes = 8 * 1024 * 1024
const noPrefix = new Uint8Array(0)

/** The pair hashes of one put's value. */
export interface PutHashes {
  /** Index of the operation in the batch, from 0. */
  readonly operation: number
  readonly hashes: Int32Array
}

/**
 * @example
 * const batch = new EncodedBatch()
 * batch.put(Buffer.from('a'), Buffer.from('1'))
 * batch.del(Buffer.from('b'))
 * await db.write(batch)
 */
export class EncodedBatch {
  #bytes: Uint8Array = Buffer.allocUnsafeSlow(firstBytes)
  #end = 0
  #count = 0
  #hashes: PutHashes[] = []

  /** Number of operations. */
  get count(): number {
    return this.#count
  }

  /** The encoded operations: a view, invalidated by the next call. */
  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#end)
  }

  /** Pair hashes of the puts that supplied them, in order; valid until clear(). */
  get hashes(): readonly PutHashes[] {
    return this.#hashes
  }

  /**
   * Retains none of its arguments.
   * @param prefix prepended to the key: a sublevel's prefix, for example
   * @param hashes of the value's pairs, see HashesOption
   * @throws TypeError for invalid hashes
   */
  put(key: Uint8Array, value: Uint8Array, prefix: Uint8Array = noPrefix, hashes?: Int32Array): void {
    const checked = hashes === undefined ? undefined : checkedHashes({ hashes })
    const keyLength = prefix.length + key.length
    this.#reserve(encodedPutBytes(keyLength, value.length))
    const bytes = this.#bytes
    const keyEnd = copyInto(bytes, this.#beginKey(EntryKind.put, keyLength, prefix), key)
    this.#end = copyInto(bytes, writeVarint(bytes, keyEnd, value.length), value)
    if (checked !== undefined) this.#hashes.push({ operation: this.#count, hashes: checked.slice() })
    this.#count++
  }

  /** @param prefix as in put() */
  del(key: Uint8Array, prefix: Uint8Array = noPrefix): void {
    const keyLength = prefix.length + key.length
    this.#reserve(encodedDeleteBytes(keyLength))
    this.#end = copyInto(this.#bytes, this.#beginKey(EntryKind.tombstone, keyLength, prefix), key)
    this.#count++
  }

  /** Removes all operations but keeps the buffer. */
  clear(): void {
    if (this.#bytes.length > maxKeptBytes) this.#bytes = Buffer.allocUnsafeSlow(firstBytes)
    this.#end = 0
    this.#count = 0
    if (this.#hashes.length > 0) this.#hashes = []
  }

  /** Writes everything that precedes the key itself; returns the offset after it. */
  #beginKey(kind: EntryKind, keyLength: number, prefix: Uint8Array): number {
    this.#bytes[this.#end] = kind
    return copyInto(this.#bytes, writeVarint(this.#bytes, this.#end + 1, keyLength), prefix)
  }

  #reserve(bytes: number): void {
    const needed = this.#end + bytes
    if (needed <= this.#bytes.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#bytes.length * 2))
    larger.set(this.bytes)
    this.#bytes = larger
  }
}
