/**
 * Reusable memory for records on their way to the store: the next batch reuses the memory of the last one.
 *
 * Separate arrays for each record were, to V8, external memory that it reclaims only by marking the whole heap
 * (docs/ingest.md).
 *
 * Invariant: memory that was taken is not overwritten until the arena is closed, and may be from then on.
 */

/** Larger than most batches. */
const arenaBytes = 1024 * 1024
/** Maximum number of idle arenas, shared by all indexes. */
const maxIdle = 4
const idle: Uint8Array[] = []
const noMemory = new Uint8Array(0)

/**
 * @example
 * const arena = new ScratchArena()
 * const bytes = arena.take(3)
 * bytes.fill(1)
 * arena.close()
 */
export class ScratchArena {
  #memory = idle.pop() ?? new Uint8Array(arenaBytes)
  #used = 0

  /** Allocates bytes of unspecified contents; outside the arena when they do not fit. */
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
   * Recycles the memory. REQUIRES: nobody reads what was taken. Do not call it in a `finally`, where a store that
   * failed may still be reading: an arena that is never closed is garbage collected.
   */
  close(): void {
    if (this.#memory !== noMemory && idle.length < maxIdle) idle.push(this.#memory)
    this.#memory = noMemory
    this.#used = 0
  }
}
