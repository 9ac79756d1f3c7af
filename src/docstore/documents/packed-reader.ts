/**
 * Reads what packed-document.ts wrote: a document's values, one after the other, in the characters of one text.
 *
 * | first character | what follows                                                                        |
 * | --------------- | ----------------------------------------------------------------------------------- |
 * | 0…95            | a string of so many characters                                                      |
 * | 96…191          | nothing: an integer from 0 on                                                       |
 * | 192 and above   | see Tag                                                                             |
 *
 * Counts and larger integers stand in characters of seven bits, the lowest first, of which all but the last have 128 added.
 * No character beyond those of strings is above 255: where strings are of one byte a character, all is.
 */
import { ObjectId } from 'bson'
import type { Document } from '../../model/types.ts'

export const Tag = {
  null: 192,
  false: 193,
  true: 194,
  undefined: 195,
  /** Two and four characters, the lowest byte first. */
  uint16: 196,
  uint32: 197,
  /** From 2 ** 32 on, as a count is written. */
  integer: 198,
  /** Any other number: the eight bytes of the double. */
  double: 199,
  /** As its decimal digits, a string. */
  bigint: 200,
  /** A count, then the characters. */
  longString: 201,
  /** Milliseconds, as a double without a tag. */
  date: 202,
  /** 24 hexadecimal digits. */
  objectId: 203,
  /** A count, then the elements. */
  array: 204,
  /** A count, then a key and a value each. */
  object: 205
} as const

/** Strings of fewer characters have their length as their tag. */
export const shortStrings = 96
/** Integers below it have a tag of their own: their sum with `shortStrings`. */
export const smallIntegers = 96

export const hexDigits = 24

const doubles = new Float64Array(1)
const doubleBytes = new Uint8Array(doubles.buffer)

export class PackedReader {
  #text = ''
  #at = 0

  /** From the first value of another text on. */
  begin(text: string): void {
    this.#text = text
    this.#at = 0
  }

  value(): unknown {
    const text = this.#text
    const at = this.#at
    const tag = text.charCodeAt(at)
    if (tag < shortStrings) {
      this.#at = at + 1 + tag
      return text.substring(at + 1, at + 1 + tag)
    }
    this.#at = at + 1
    if (tag < Tag.null) return tag - shortStrings
    if (tag === Tag.null) return null
    if (tag === Tag.false) return false
    if (tag === Tag.true) return true
    if (tag === Tag.uint16) {
      this.#at = at + 3
      return text.charCodeAt(at + 1) | (text.charCodeAt(at + 2) << 8)
    }
    return this.#rarer(tag)
  }

  /** Of elements, or of characters. */
  count(): number {
    let count = 0
    for (let scale = 1; ; scale *= 128) {
      const digit = this.#text.charCodeAt(this.#at++)
      if (digit < 128) return count + digit * scale
      count += (digit - 128) * scale
    }
  }

  #rarer(tag: number): unknown {
    switch (tag) {
      case Tag.uint32: {
        const text = this.#text
        const at = this.#at
        this.#at = at + 4
        const low = text.charCodeAt(at) | (text.charCodeAt(at + 1) << 8) | (text.charCodeAt(at + 2) << 16)
        return low + text.charCodeAt(at + 3) * 2 ** 24
      }
      case Tag.integer:
        return this.count()
      case Tag.double:
        return this.#double()
      case Tag.longString:
        return this.#characters(this.count())
      case Tag.bigint:
        return BigInt(this.value() as string)
      case Tag.date:
        return new Date(this.#double())
      case Tag.objectId:
        return new ObjectId(this.#characters(hexDigits))
      case Tag.array:
        return this.#array()
      case Tag.object:
        return this.#object()
      default:
        return undefined
    }
  }

  #characters(count: number): string {
    const start = this.#at
    this.#at = start + count
    return this.#text.substring(start, this.#at)
  }

  #double(): number {
    for (let i = 0; i < doubleBytes.length; i++) doubleBytes[i] = this.#text.charCodeAt(this.#at++)
    return doubles[0]!
  }

  #array(): unknown[] {
    const elements: unknown[] = []
    for (let count = this.count(); count > 0; count--) elements.push(this.value())
    return elements
  }

  #object(): Document {
    const object: Document = {}
    for (let count = this.count(); count > 0; count--) {
      const key = this.value() as string
      setOwn(object, key, this.value())
    }
    return object
  }
}

/** The characters that PackedReader reads a double from. */
export function charactersOfDouble(value: number): string {
  doubles[0] = value
  return String.fromCharCode(...doubleBytes)
}

/** Gives the object a property of its own, also where Object.prototype has one of that name. */
export function setOwn(object: Document, key: string, value: unknown): void {
  if (!(key in Object.prototype)) object[key] = value
  else Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true })
}
