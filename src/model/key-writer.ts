/**
 * A growing byte buffer for order-preserving keys: every encoding it writes sorts by bytes as its value sorts, and no
 * encoding is a prefix of another, so that encodings can follow one another in one key.
 */
import { PetalError } from './errors.ts'

/** Maximum key length in bytes. */
export const maxKeyBytes = 1 << 20
const initialBytes = 256

/**
 * Ends a text or a container. It is smaller than any byte of a text and any type tag, so the shorter of two sorts
 * first.
 */
const terminator = 0x00
/** Precedes the bytes 00 and 01 of a text, which are then written as 01 and 02. */
const escapeByte = 0x01

/** Thrown for a value whose key would exceed `maxKeyBytes`. */
export class KeyTooLongError extends PetalError {
  /** @param place where the value is, if that is known */
  constructor(place?: { readonly path: string; readonly type: string }) {
    const limit = `A key may have at most ${maxKeyBytes} bytes`
    if (place === undefined) super('BadValue', `${limit}; this value needs more`)
    else super('BadValue', `${limit}; the ${place.type} at '${place.path}' needs more`, { details: place })
  }
}

export class KeyWriter {
  #bytes: Uint8Array = new Uint8Array(initialBytes)
  #view = new DataView(this.#bytes.buffer)
  #length = 0
  #maxBytes = maxKeyBytes

  reset(maxBytes = maxKeyBytes): void {
    this.#length = 0
    this.#maxBytes = maxBytes
    // The length is checked only when the buffer is full.
    if (this.#bytes.length > maxBytes) this.#moveTo(new Uint8Array(initialBytes))
  }

  /** A copy of the bytes written since reset(). */
  finish(): Uint8Array {
    return this.#bytes.slice(0, this.#length)
  }

  byte(value: number): void {
    this.#reserve(1)
    this.#bytes[this.#length++] = value
  }

  terminate(): void {
    this.byte(terminator)
  }

  uint32(value: number): void {
    this.#reserve(4)
    this.#view.setUint32(this.#length, value)
    this.#length += 4
  }

  /** Eight bytes that sort as numbers do, NaN first. REQUIRES: −0 was replaced by 0. */
  double(value: number): void {
    this.#reserve(8)
    const at = this.#length
    this.#length += 8
    if (Number.isNaN(value)) {
      this.#bytes.fill(0, at, at + 8)
      return
    }
    this.#view.setFloat64(at, value)
    const bytes = this.#bytes
    if (bytes[at]! < 0x80) bytes[at]! |= 0x80
    else for (let i = at; i < at + 8; i++) bytes[i]! ^= 0xff
  }

  raw(bytes: Uint8Array): void {
    this.#reserve(bytes.length)
    this.#bytes.set(bytes, this.#length)
    this.#length += bytes.length
  }

  /**
   * Text by code point, 00 and 01 escaped, terminated. A lone surrogate gets its own encoding (WTF-8), whereas UTF-8
   * encoders would turn all of them into the same replacement character.
   */
  text(value: string): void {
    this.#reserve(value.length + 1)
    for (let i = 0; i < value.length; i++) {
      const unit = value.charCodeAt(i)
      if (unit > escapeByte && unit < 0x80) {
        if (this.#length + 1 >= this.#bytes.length) this.#reserve(value.length - i + 1)
        this.#bytes[this.#length++] = unit
      } else {
        i += this.#rareUnit(value, i, unit)
      }
    }
    this.terminate()
  }

  /** @returns code units consumed beyond the first */
  #rareUnit(value: string, i: number, unit: number): number {
    this.#reserve(4)
    const bytes = this.#bytes
    if (unit <= escapeByte) {
      bytes[this.#length++] = escapeByte
      bytes[this.#length++] = unit + 1
      return 0
    }
    if (unit < 0x800) {
      bytes[this.#length++] = 0xc0 | (unit >> 6)
      bytes[this.#length++] = 0x80 | (unit & 0x3f)
      return 0
    }
    const code = value.codePointAt(i) ?? unit
    if (code < 0x10000) {
      bytes[this.#length++] = 0xe0 | (code >> 12)
    } else {
      bytes[this.#length++] = 0xf0 | (code >> 18)
      bytes[this.#length++] = 0x80 | ((code >> 12) & 0x3f)
    }
    bytes[this.#length++] = 0x80 | ((code >> 6) & 0x3f)
    bytes[this.#length++] = 0x80 | (code & 0x3f)
    return code < 0x10000 ? 0 : 1
  }

  #reserve(count: number): void {
    const needed = this.#length + count
    if (needed <= this.#bytes.length) return
    if (needed > this.#maxBytes) throw new KeyTooLongError()
    const grown = new Uint8Array(Math.min(this.#maxBytes, Math.max(needed, this.#bytes.length * 2)))
    grown.set(this.#bytes.subarray(0, this.#length))
    this.#moveTo(grown)
  }

  #moveTo(bytes: Uint8Array): void {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer)
  }
}
