/** Bytes that are used again and again, on this thread, by whoever needs some for a moment. */
const maxKeptBytes = 1 << 20

export class Scratch {
  #bytes = Buffer.alloc(0)

  /** So many bytes with anything in them, until the next call. Many are not kept for it. */
  take(bytes: number): Buffer {
    if (bytes > maxKeptBytes) return Buffer.allocUnsafeSlow(bytes)
    if (bytes > this.#bytes.length) this.#bytes = Buffer.allocUnsafeSlow(Math.max(bytes, 2 * this.#bytes.length))
    return this.#bytes.subarray(0, bytes)
  }
}
