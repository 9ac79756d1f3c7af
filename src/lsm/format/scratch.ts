/** A reusable temporary buffer for this thread. */
const maxKeptBytes = 1 << 20

export class Scratch {
  #bytes = Buffer.alloc(0)

  /** A buffer of this size with arbitrary contents, valid until the next call. Large buffers are not retained. */
  take(bytes: number): Buffer {
    if (bytes > maxKeptBytes) return Buffer.allocUnsafeSlow(bytes)
    if (bytes > this.#bytes.length) this.#bytes = Buffer.allocUnsafeSlow(Math.max(bytes, 2 * this.#bytes.length))
    return this.#bytes.subarray(0, bytes)
  }
}
