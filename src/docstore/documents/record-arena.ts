/**
 * Memory for the records of a batch as UTF-8, so that the bytes the index scans are the bytes the store gets.
 *
 * Returned bytes are never overwritten, unless the records are 'transient': a store may keep them.
 */

import { copyShared } from '../../model/copy-bytes.ts'

const firstChunkBytes = 16 * 1024
const maxChunkBytes = 1024 * 1024
const encoder = new TextEncoder()

export class RecordArena {
  #chunk = new Uint8Array(0)
  #used = 0

  readonly #isTransient: boolean

  /** @param records 'transient' if each is only used until the next one is encoded */
  constructor(records: 'kept' | 'transient') {
    this.#isTransient = records === 'transient'
  }

  /** Returns the UTF-8 bytes of a text, at an offset of a chunk shared with other records. */
  encode(text: string): Uint8Array {
    // A UTF-16 unit takes three bytes at most.
    const room = text.length * 3
    if (this.#isTransient) this.#forget()
    if (this.#chunk.length - this.#used < room) this.#addChunk(room)
    const start = this.#used
    const { written } = encoder.encodeInto(text, this.#chunk.subarray(start))
    this.#used += written
    return this.#chunk.subarray(start, this.#used)
  }

  /** Like encode(), for bytes already encoded, in memory that will be overwritten. */
  keep(bytes: Uint8Array): Uint8Array {
    if (this.#isTransient) return bytes
    if (this.#chunk.length - this.#used < bytes.length) this.#addChunk(bytes.length)
    const start = this.#used
    this.#used += bytes.length
    this.#chunk.set(bytes, start)
    return this.#chunk.subarray(start, this.#used)
  }

  /** Returns the bytes prefixed with another one. */
  mark(byte: number, bytes: Uint8Array): Uint8Array {
    const length = bytes.length + 1
    if (this.#isTransient) this.#forget()
    if (this.#chunk.length - this.#used < length) this.#addChunk(length)
    const start = this.#used
    this.#used += length
    this.#chunk[start] = byte
    copyShared(bytes, this.#chunk, start + 1)
    return this.#chunk.subarray(start, this.#used)
  }

  #forget(): void {
    this.#used = 0
    // A very large record is rarely followed by another.
    if (this.#chunk.length > maxChunkBytes) this.#chunk = new Uint8Array(0)
  }

  #addChunk(room: number): void {
    const bytes = Math.min(maxChunkBytes, Math.max(firstChunkBytes, this.#chunk.length * 2))
    this.#chunk = new Uint8Array(Math.max(bytes, room))
    this.#used = 0
  }
}
