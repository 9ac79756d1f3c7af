/**
 * Reusable memory for what an index builds and soon discards: the rows of a segment, and records on their way to the
 * store.
 *
 * Separate arrays were, to V8, external memory, of which 8 MB make it mark the whole heap, on all cores
 * (docs/ingest.md).
 *
 * Invariant: memory that was taken is not overwritten until the arena is closed, and may be from then on.
 */

/** The first page of an arena is smaller: every collection with some thousand documents not sealed yet keeps one. */
const firstPageBytes = 64 * 1024
const pageBytes = 256 * 1024
/** Maximum number of idle pages of a size, shared by all indexes: some more than sealing a segment takes. */
const maxIdle = 24
const idle = new Map<number, Uint8Array[]>([
  [firstPageBytes, []],
  [pageBytes, []]
])
const noMemory = new Uint8Array(0)
const alignment = 8

/**
 * @example
 * const arena = new ScratchArena()
 * const bytes = arena.take(3)
 * bytes.fill(1)
 * arena.close()
 */
export class ScratchArena {
  #pages: Uint8Array[] = []
  /** The last page. */
  #page: Uint8Array = noMemory
  #used = 0

  /** Allocates bytes of unspecified contents, at a multiple of 8; outside the arena if they do not fit in a page. */
  take(bytes: number): Uint8Array {
    if (bytes > pageBytes) return new Uint8Array(bytes)
    if (bytes > this.#page.length - this.#used) {
      const size = this.#pages.length === 0 && bytes <= firstPageBytes ? firstPageBytes : pageBytes
      this.#page = idle.get(size)?.pop() ?? new Uint8Array(size)
      this.#pages.push(this.#page)
      this.#used = 0
    }
    const start = this.#used
    this.#used += Math.ceil(bytes / alignment) * alignment
    return this.#page.subarray(start, start + bytes)
  }

  /** As take(), for unsigned integers of 32 bits. */
  takeWords(length: number): Uint32Array {
    const { buffer, byteOffset } = this.take(4 * length)
    return new Uint32Array(buffer, byteOffset, length)
  }

  /** As take(), for doubles. */
  takeDoubles(length: number): Float64Array {
    const { buffer, byteOffset } = this.take(8 * length)
    return new Float64Array(buffer, byteOffset, length)
  }

  copyOf(bytes: Uint8Array): Uint8Array {
    const copy = this.take(bytes.length)
    copy.set(bytes)
    return copy
  }

  copyOfWords(words: Uint32Array): Uint32Array {
    const copy = this.takeWords(words.length)
    copy.set(words)
    return copy
  }

  copyOfDoubles(doubles: Float64Array): Float64Array {
    const copy = this.takeDoubles(doubles.length)
    copy.set(doubles)
    return copy
  }

  /**
   * Recycles the memory. REQUIRES: nobody reads what was taken. Do not call it in a `finally`, where a store that
   * failed may still be reading: an arena that is never closed is garbage collected.
   */
  close(): void {
    for (const page of this.#pages) {
      const pages = idle.get(page.length)
      if (pages !== undefined && pages.length < maxIdle) pages.push(page)
    }
    this.#pages = []
    this.#page = noMemory
    this.#used = 0
  }
}
