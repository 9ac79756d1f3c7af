/**
 * Reads stored bytes in order. Every length is checked before use: damage throws PetalError DataCorruption with the
 * offset, never a RangeError, and nothing larger than the input can fill is allocated.
 */
import { PetalError } from '../../model/errors.ts'

export class ByteReader {
  readonly #bytes: Uint8Array
  readonly #view: DataView
  readonly #what: string
  #offset = 0

  /** @param what names the bytes in error messages */
  constructor(bytes: Uint8Array, what: string) {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#what = what
  }

  get remaining(): number {
    return this.#bytes.length - this.#offset
  }

  u32(): number {
    this.#need(4)
    const value = this.#view.getUint32(this.#offset, true)
    this.#offset += 4
    return value
  }

  /** A number of at most 2^53. */
  u64(): number {
    const low = this.u32()
    const high = this.u32()
    if (high >= 2 ** 21) throw this.corrupt('a number beyond 2^53')
    return high * 2 ** 32 + low
  }

  /** A LEB128 number, at most `max`. */
  varint(max: number): number {
    let value = 0
    for (let factor = 1; ; factor *= 0x80) {
      this.#need(1)
      const byte = this.#bytes[this.#offset++]!
      value += (byte & 0x7f) * factor
      if (value > max || factor > 2 ** 35) throw this.corrupt(`a number beyond ${max}`)
      if (byte < 0x80) return value
    }
  }

  /** A view, not a copy. */
  take(length: number): Uint8Array {
    this.#need(length)
    const bytes = this.#bytes.subarray(this.#offset, this.#offset + length)
    this.#offset += length
    return bytes
  }

  corrupt(problem: string): PetalError {
    return new PetalError('DataCorruption', `Damaged ${this.#what} at byte ${this.#offset}: ${problem}`, {
      details: { offset: this.#offset }
    })
  }

  #need(length: number): void {
    if (length <= this.remaining) return
    throw this.corrupt(`expected ${length} more bytes, got ${this.remaining}`)
  }
}
