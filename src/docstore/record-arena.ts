/**
 * Room for the records of a batch as UTF-8, so that the bytes the index scans are the bytes the store gets.
 *
 * Nothing is ever written over what was handed out: a store may keep the bytes.
 */

const firstChunkBytes = 16 * 1024
const maxChunkBytes = 1024 * 1024
const encoder = new TextEncoder()

export class RecordArena {
  #chunk = new Uint8Array(0)
  #used = 0

  /** The UTF-8 bytes of a text, at `offset` of a chunk that holds other records, too. */
  encode(text: string): Uint8Array {
    // A UTF-16 unit takes three bytes at most.
    const room = text.length * 3
    if (this.#chunk.length - this.#used < room) this.#addChunk(room)
    const start = this.#used
    const { written } = encoder.encodeInto(text, this.#chunk.subarray(start))
    this.#used += written
    return this.#chunk.subarray(start, this.#used)
  }

  #addChunk(room: number): void {
    const bytes = Math.min(maxChunkBytes, Math.max(firstChunkBytes, this.#chunk.length * 2))
    this.#chunk = new Uint8Array(Math.max(bytes, room))
    this.#used = 0
  }
}
