/**
 * A batch that is encoded while it is put together, in memory of its own that the next one uses again: no object per
 * operation, no key of one's own, and one copy when it is handed in. As LevelDB's WriteBatch.
 *
 * Invariant: bytes[0, end) are `count` operations as format/write-batch.ts reads them.
 */
import { EntryKind } from './format/entry.ts'
import { writeVarint } from './format/varint.ts'
import { copyInto, encodedDeleteBytes, encodedPutBytes } from './format/write-batch.ts'
import { checkedHashes } from './value/hashes-option.ts'

const firstBytes = 16 * 1024
/** Memory of larger batches is not kept. */
const maxKeptBytes = 8 * 1024 * 1024
const noPrefix = new Uint8Array(0)

/** Hashes of the pairs of a put's value. */
export interface PutHashes {
  /** Which operation of the batch, counted from 0. */
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

  /** Operations. */
  get count(): number {
    return this.#count
  }

  /** The operations, encoded; a view that the next call makes void. */
  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#end)
  }

  /** Of those puts that brought theirs along, in order; the next call of clear() makes them void. */
  get hashes(): readonly PutHashes[] {
    return this.#hashes
  }

  /**
   * None of the arguments is kept.
   * @param prefix what the key begins with: that of a sublevel, say
   * @param hashes of the pairs of the value, see HashesOption
   * @throws TypeError for hashes that are none
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

  /** @param prefix as of put() */
  del(key: Uint8Array, prefix: Uint8Array = noPrefix): void {
    const keyLength = prefix.length + key.length
    this.#reserve(encodedDeleteBytes(keyLength))
    this.#end = copyInto(this.#bytes, this.#beginKey(EntryKind.tombstone, keyLength, prefix), key)
    this.#count++
  }

  /** Forgets the operations and keeps the memory. */
  clear(): void {
    if (this.#bytes.length > maxKeptBytes) this.#bytes = Buffer.allocUnsafeSlow(firstBytes)
    this.#end = 0
    this.#count = 0
    if (this.#hashes.length > 0) this.#hashes = []
  }

  /** Writes what is in front of the key's own bytes; returns the offset behind it. */
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
