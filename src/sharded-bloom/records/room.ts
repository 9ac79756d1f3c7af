/**
 * Memory for records on their way to the store: what a batch of them takes is used again by the next one.
 *
 * An array of its own for each record was, to V8, memory beside the heap that it gets back only by marking the whole heap
 * (docs/ingest.md).
 *
 * Invariant: what was taken is written over by nobody until the room is closed, and may be from then on.
 */

/** Larger than most batches. */
const roomBytes = 1024 * 1024
/** Kept for batches to come, of all indexes. */
const maxIdle = 4
const idle: Uint8Array[] = []
const noMemory = new Uint8Array(0)

/**
 * @example
 * const room = new Room()
 * const bytes = room.take(3)
 * bytes.fill(1)
 * room.close()
 */
export class Room {
  #memory = idle.pop() ?? new Uint8Array(roomBytes)
  #used = 0

  /** Bytes of any contents; outside the room when they do not fit. */
  take(bytes: number): Uint8Array {
    const start = this.#used
    if (bytes > this.#memory.length - start) return new Uint8Array(bytes)
    this.#used += bytes
    return this.#memory.subarray(start, this.#used)
  }

  copyOf(bytes: Uint8Array): Uint8Array {
    const copy = this.take(bytes.length)
    copy.set(bytes)
    return copy
  }

  /**
   * Nobody reads any more what was taken. Not for a `finally`, where a store that failed may still be reading: a room that is
   * never closed is garbage.
   */
  close(): void {
    if (this.#memory !== noMemory && idle.length < maxIdle) idle.push(this.#memory)
    this.#memory = noMemory
    this.#used = 0
  }
}
