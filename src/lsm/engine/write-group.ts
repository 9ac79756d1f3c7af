/**
 * Batches that go to the log as one record: encoded side by side in the arena of their memtable, with room for the
 * record header in front.
 *
 * Invariant: only the last group of a memtable may be open, so that it can grow in place.
 */

import { copyShared } from '../../model/copy-bytes.ts'
import { notSupported } from '../errors.ts'
import { maxPayloadBytes, recordHeaderBytes } from '../format/log-record.ts'
import {
  batchHeaderBytes,
  decodeBatches,
  encodeDelete,
  encodedDeleteBytes,
  encodedPutBytes,
  encodePut,
  writeBatchHeader
} from '../format/write-batch.ts'
import type { WriteBuffer } from './write-buffer.ts'

export type WriteOperation =
  | {
      readonly type: 'put'
      readonly key: Uint8Array
      readonly value: Uint8Array
      readonly hashes?: Int32Array | undefined
    }
  | { readonly type: 'del'; readonly key: Uint8Array }

export class WriteGroup {
  readonly buffer: WriteBuffer
  /** Settled when the group is applied, or when writing has failed. */
  readonly promise: Promise<void>
  resolve!: () => void
  reject!: (error: Error) => void
  /** Number of the arena chunk. */
  readonly chunk: number
  /** Sequence number of the last operation. */
  lastSequence = 0
  /** Whether any of its batches asked for sync. */
  sync = false
  /** Whether its writers have already been slowed down. */
  isPaced = false
  readonly #bytes: Buffer
  readonly #start: number
  /** End of the last batch. */
  #end: number
  #isClosed = false

  /**
   * REQUIRES: no other group of this memtable is open.
   * @param batchBytes size of the first batch
   * @throws LEVEL_NOT_SUPPORTED for a batch too large for a log record
   */
  constructor(buffer: WriteBuffer, batchBytes: number) {
    if (batchBytes > maxPayloadBytes) {
      throw notSupported(`A batch of ${batchBytes} bytes is too large: the limit is ${maxPayloadBytes}`)
    }
    const { chunk, bytes, offset } = buffer.memtable.arena.reserve(recordHeaderBytes + batchBytes)
    this.buffer = buffer
    this.chunk = chunk
    this.#bytes = bytes
    this.#start = offset
    this.#end = offset + recordHeaderBytes
    this.promise = new Promise((resolve, reject) => {
      this.resolve = resolve
      this.reject = reject
    })
  }

  /** Encoded size of a batch of one put. */
  static putBytes(key: Uint8Array, value: Uint8Array): number {
    return batchHeaderBytes + encodedPutBytes(key.length, value.length)
  }

  /** Encoded size of a batch of one delete. */
  static deleteBytes(key: Uint8Array): number {
    return batchHeaderBytes + encodedDeleteBytes(key.length)
  }

  static batchBytes(operations: readonly WriteOperation[]): number {
    let bytes = batchHeaderBytes
    for (const operation of operations) {
      bytes +=
        operation.type === 'put'
          ? encodedPutBytes(operation.key.length, operation.value.length)
          : encodedDeleteBytes(operation.key.length)
    }
    return bytes
  }

  /** Encoded size of a batch of operations that are already encoded. */
  static encodedBytes(operations: Uint8Array): number {
    return batchHeaderBytes + operations.length
  }

  /** True for a group without batches, which only marks the switch from one memtable to the next. */
  get isEmpty(): boolean {
    return this.recordBytes === recordHeaderBytes
  }

  /** Bytes of the log record. */
  get recordBytes(): number {
    return this.#end - this.#start
  }

  /** The log record: room for its header, then the batches. */
  get record(): Uint8Array {
    return this.#bytes.subarray(this.#start, this.#end)
  }

  /** Where the batches begin in the arena chunk. */
  get payloadStart(): number {
    return this.#start + recordHeaderBytes
  }

  get payloadEnd(): number {
    return this.#end
  }

  /** Whether `bytes` more fit in. */
  hasRoom(bytes: number, maxBytes: number): boolean {
    const end = this.#end + bytes
    return !this.#isClosed && !this.isEmpty && end - this.#start <= maxBytes && end <= this.#bytes.length
  }

  /** REQUIRES, as for the three below: hasRoom(), or the batch is the one that the group was created for. */
  put(sequence: number, key: Uint8Array, value: Uint8Array): void {
    this.#end = encodePut(this.#bytes, writeBatchHeader(this.#bytes, this.#end, sequence, 1), key, value)
    this.lastSequence = sequence
  }

  delete(sequence: number, key: Uint8Array): void {
    this.#end = encodeDelete(this.#bytes, writeBatchHeader(this.#bytes, this.#end, sequence, 1), key)
    this.lastSequence = sequence
  }

  /** @param sequence of the first operation */
  batch(sequence: number, operations: readonly WriteOperation[]): void {
    const bytes = this.#bytes
    let at = writeBatchHeader(bytes, this.#end, sequence, operations.length)
    for (const operation of operations) {
      at =
        operation.type === 'put'
          ? encodePut(bytes, at, operation.key, operation.value)
          : encodeDelete(bytes, at, operation.key)
    }
    this.#end = at
    this.lastSequence = sequence + operations.length - 1
  }

  /**
   * @param sequence of the first operation
   * @param operations encoded
   */
  addEncoded(sequence: number, count: number, operations: Uint8Array): void {
    const at = writeBatchHeader(this.#bytes, this.#end, sequence, count)
    copyShared(operations, this.#bytes, at)
    this.#end = at + operations.length
    this.lastSequence = sequence + count - 1
  }

  /** Visits the keys of all operations. */
  visitKeys(visit: (key: Uint8Array) => void): void {
    decodeBatches(
      this.#bytes,
      this.payloadStart,
      this.payloadEnd,
      { path: 'a waiting write' },
      ({ keyBytes, keyStart, keyEnd }) => visit(keyBytes.subarray(keyStart, keyEnd))
    )
  }

  /** Ends the group: the next group of this memtable may begin. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    if (!this.isEmpty) this.buffer.memtable.arena.commit(this.payloadEnd)
  }
}
