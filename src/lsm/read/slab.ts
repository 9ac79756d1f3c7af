/**
 * Copies short byte ranges into shared memory blocks, one after another: fewer and cheaper allocations than one per
 * range. Memory is never reused; the garbage collector frees a block with the last range in it.
 */
import { copyBytes } from '../../model/copy-bytes.ts'

/** Blocks grow: most scans copy little. */
const firstBlockBytes = 512
const maxBlockBytes = 8192
const growth = 4

export class Slab {
  #block = Buffer.allocUnsafeSlow(0)
  #used = 0

  /** A copy of source[start, end). */
  copy(source: Uint8Array, start: number, end: number): Buffer {
    const length = end - start
    if (this.#used + length > this.#block.length) {
      const bytes = Math.min(maxBlockBytes, Math.max(firstBlockBytes, growth * this.#block.length))
      this.#block = Buffer.allocUnsafeSlow(Math.max(bytes, length))
      this.#used = 0
    }
    const at = this.#used
    copyBytes(source, start, end, this.#block, at)
    this.#used = at + length
    return this.#block.subarray(at, at + length)
  }
}
