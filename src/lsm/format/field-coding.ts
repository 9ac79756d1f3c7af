/** Encodes and decodes the fields of a version edit: a sequence of varints and length-prefixed bytes. */
import { corruption, type Place } from '../errors.ts'
import { readVarint, varintBytes, writeVarint } from './varint.ts'

export class FieldWriter {
  #bytes: Uint8Array
  #at: number

  /** @param reserved bytes left free at the front */
  constructor(reserved: number) {
    this.#bytes = new Uint8Array(Math.max(256, reserved * 2))
    this.#at = reserved
  }

  number(value: number): void {
    this.#ensure(varintBytes(value))
    this.#at = writeVarint(this.#bytes, this.#at, value)
  }

  bytes(value: Uint8Array): void {
    this.number(value.length)
    this.#ensure(value.length)
    this.#bytes.set(value, this.#at)
    this.#at += value.length
  }

  text(value: string): void {
    this.bytes(Buffer.from(value))
  }

  /** The encoded fields, with the reserved bytes in front. */
  finish(): Uint8Array {
    return this.#bytes.subarray(0, this.#at)
  }

  #ensure(more: number): void {
    if (this.#at + more <= this.#bytes.length) return
    const larger = new Uint8Array(Math.max(this.#at + more, 2 * this.#bytes.length))
    larger.set(this.#bytes)
    this.#bytes = larger
  }
}

export class FieldReader {
  readonly #bytes: Uint8Array
  readonly #place: Place
  #at = 0

  constructor(bytes: Uint8Array, place: Place) {
    // Not a Buffer, whose slice() would not copy.
    this.#bytes = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length)
    this.#place = place
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length
  }

  /** @throws LEVEL_CORRUPTION if the number is missing or not in least…most */
  number(what: string, least = 0, most = Number.MAX_SAFE_INTEGER): number {
    const value = readVarint(this.#bytes, this.#at, this.#bytes.length)
    if (value < 0) throw this.damage(`${what} is truncated or too long at byte ${this.#at}`)
    if (value < least || value > most) throw this.damage(`${what} is ${value}, not in ${least}…${most}`)
    this.#at += varintBytes(value)
    return value
  }

  /** A copy with its own memory: it outlives the payload and can be sent to another thread by itself. */
  bytes(what: string): Uint8Array {
    const length = this.number(`length of ${what}`, 0, this.#bytes.length)
    if (length > this.#bytes.length - this.#at) throw this.damage(`${what} of ${length} bytes is truncated`)
    const start = this.#at
    this.#at += length
    return this.#bytes.slice(start, this.#at)
  }

  text(what: string): string {
    return Buffer.from(this.bytes(what)).toString()
  }

  damage(what: string): Error {
    return corruption(what, this.#place)
  }
}
