/** Decodes the elements that value sections have in common, checking every length. */
import { corruption } from '../errors.ts'
import { readU32 } from '../format/bytes.ts'
import { readVarint, varintBytes } from '../format/varint.ts'

/** A position in a section's bytes. A read past the end or of an invalid number throws LEVEL_CORRUPTION. */
export class Decoder {
  readonly bytes: Uint8Array
  /** The file's path, for errors. */
  readonly path: string
  #at = 0

  constructor(bytes: Uint8Array, path: string) {
    this.bytes = bytes
    this.path = path
  }

  get rest(): number {
    return this.bytes.length - this.#at
  }

  byte(what: string): number {
    return this.take(1, what)[0] ?? 0
  }

  u32(what: string): number {
    return readU32(this.take(4, what), 0)
  }

  varint(what: string): number {
    const value = readVarint(this.bytes, this.#at, this.bytes.length)
    if (value < 0) throw this.damaged(`${what} is not a valid number`)
    this.#at += varintBytes(value)
    return value
  }

  /** A view of the next `length` bytes. */
  take(length: number, what: string): Uint8Array {
    if (length > this.rest) throw this.damaged(`${what} of ${length} bytes, but only ${this.rest} are left`)
    this.#at += length
    return this.bytes.subarray(this.#at - length, this.#at)
  }

  end(): void {
    if (this.rest !== 0) throw this.damaged(`${this.rest} trailing bytes`)
  }

  damaged(what: string): Error {
    return corruption(`value section: ${what}`, { path: this.path, offset: this.#at })
  }
}
