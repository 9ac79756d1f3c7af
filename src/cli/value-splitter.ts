/**
 * Converts one JSON array, or documents spread over several lines, to newline-delimited JSON: each element or document
 * becomes a line. Invalid JSON stays invalid in its line; only white space between tokens is removed.
 */
import { PetalError } from '../model/errors.ts'

/** `array`: the elements of an array. `documents`: consecutive documents, with or without white space in between. */
export type ValueLayout = 'array' | 'documents'

const lineFeed = 0x0a
const carriageReturn = 0x0d
const space = 0x20
const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const openBracket = 0x5b
const backslash = 0x5c
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

/**
 * @example
 * const splitter = new ValueSplitter('array', 'two.json')
 * splitter.push(Buffer.from('[{"a": 1},\n {"b": 2}]')).toString() // '{"a":1}\n{"b":2}\n'
 * splitter.rest() // nothing
 * splitter.end()
 */
export class ValueSplitter {
  readonly #layout: ValueLayout
  readonly #name: string
  /** Offset of the current chunk. */
  #offset: number
  #failure: PetalError | undefined
  #hasBegun: boolean
  #hasEnded = false
  #values = 0
  /** Offset of the last value. */
  #valueOffset = 0
  /** Brackets open within the value. */
  #depth = 0
  /** A value has started. */
  #isInValue = false
  #isInText = false
  #isEscaped = false
  /** The last byte written belongs to a number or a word. */
  #isInWord = false
  /** White space followed a number or a word; a word that comes next is a separate token. */
  #isSpaced = false

  /**
   * @param name of the file, for messages
   * @param offset of the first chunk, in bytes
   */
  constructor(layout: ValueLayout, name: string, offset = 0) {
    this.#layout = layout
    this.#name = name
    this.#offset = offset
    this.#hasBegun = layout === 'documents'
  }

  /**
   * Splits a chunk.
   * @returns the lines so far; the last one may be incomplete
   * @throws PetalError FailedToParse, with file and offset, if values could no longer be separated in the previous
   *   chunk; everything before that place was returned
   */
  push(chunk: Uint8Array): Buffer {
    if (this.#failure !== undefined) throw this.#failure
    // May include a space pending from the previous chunk; documents may need an additional line feed.
    const out = Buffer.allocUnsafe(1 + chunk.length * (this.#layout === 'array' ? 1 : 2))
    let length = 0
    // Local copies of the fields that most bytes use.
    let isInText = this.#isInText
    let isEscaped = this.#isEscaped
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at]!
      if (isInText) {
        // A line feed is invalid in a string; so is a carriage return, which does not end the line.
        out[length++] = byte === lineFeed ? carriageReturn : byte
        if (isEscaped) isEscaped = false
        else if (byte === backslash) isEscaped = true
        else if (byte === quote) isInText = false
        continue
      }
      if (isSpace(byte)) {
        this.#isSpaced = this.#isInWord
        continue
      }
      if (this.#endsElement(byte)) {
        if (this.#isInValue) out[length++] = lineFeed
        this.#finishElement(byte, this.#offset + at)
      } else if (this.#isInValue || this.#beginsValue(byte, this.#offset + at)) {
        const isWord = isWordByte(byte)
        if (isWord && this.#isSpaced) out[length++] = space
        this.#isInWord = isWord
        this.#isSpaced = false
        // White space other than JSON's, which could make a line blank, becomes invalid.
        out[length++] = isWord && byte < space ? 0 : byte
        isInText = byte === quote
        if (!isWord && !isInText && this.#endsDocument(byte, this.#offset + at)) out[length++] = lineFeed
      }
      if (this.#failure !== undefined) break
    }
    this.#isInText = isInText
    this.#isEscaped = isEscaped
    this.#offset += chunk.length
    return out.subarray(0, length)
  }

  /** Returns the end of the last line if the input ends after a complete element. To be called before end(). */
  rest(): Uint8Array {
    const isWhole = this.#isInValue && this.#depth === 0 && !this.#isInText && !this.#isInWord
    if (!isWhole || this.#failure !== undefined) return new Uint8Array(0)
    this.#finishValue()
    return Uint8Array.of(lineFeed)
  }

  /** @throws PetalError FailedToParse if the input ends within an array or a document */
  end(): void {
    if (this.#isInValue) {
      const noun = this.#layout === 'array' ? 'element' : 'document'
      this.#fail(`${noun} ${this.#values} is not closed`, this.#valueOffset)
    }
    if (this.#layout === 'array' && !this.#hasEnded) this.#fail('the array is not closed', this.#offset)
    if (this.#failure !== undefined) throw this.#failure
  }

  /** Counts brackets; returns whether the byte ends a document. */
  #endsDocument(byte: number, offset: number): boolean {
    if (byte === openBrace || byte === openBracket) this.#depth++
    else if (byte === closeBrace || byte === closeBracket) {
      this.#depth--
      if (this.#depth < 0) this.#fail('unmatched closing bracket', offset)
      if (this.#depth === 0 && this.#layout === 'documents') {
        this.#finishValue()
        return true
      }
    }
    return false
  }

  /** Whether a byte outside of strings ends an element of the array, or the array. */
  #endsElement(byte: number): boolean {
    if (this.#layout !== 'array' || this.#depth > 0 || !this.#hasBegun || this.#hasEnded) return false
    return byte === comma || byte === closeBracket
  }

  #finishElement(byte: number, offset: number): void {
    const isEmptyArray = byte === closeBracket && this.#values === 0
    if (!this.#isInValue && !isEmptyArray) this.#fail('an element is missing', offset)
    this.#hasEnded = byte === closeBracket
    this.#finishValue()
  }

  /** Whether a byte starts a value, other than the array itself. */
  #beginsValue(byte: number, offset: number): boolean {
    if (this.#hasEnded) return this.#fail('unexpected data after the end of the array', offset)
    if (!this.#hasBegun) {
      this.#hasBegun = byte === openBracket
      return this.#hasBegun ? false : this.#fail('expected an array', offset)
    }
    if (this.#layout === 'documents' && byte !== openBrace) return this.#fail('expected a document', offset)
    this.#isInValue = true
    this.#valueOffset = offset
    this.#values++
    return true
  }

  #finishValue(): void {
    this.#isInValue = false
    this.#isInWord = false
    this.#isSpaced = false
  }

  /** Only the first failure is reported. */
  #fail(problem: string, offset: number): false {
    this.#failure ??= new PetalError('FailedToParse', `${this.#name}: ${problem}, at byte ${offset}`, {
      details: { file: this.#name, offset }
    })
    return false
  }
}

function isSpace(byte: number): boolean {
  return byte === space || byte === lineFeed || byte === carriageReturn || byte === 0x09
}

/** Whether the byte belongs to a number, a word such as `true`, or anything invalid outside of strings. */
function isWordByte(byte: number): boolean {
  switch (byte) {
    case quote:
    case comma:
    case colon:
    case openBracket:
    case closeBracket:
    case openBrace:
    case closeBrace:
      return false
    default:
      return true
  }
}
