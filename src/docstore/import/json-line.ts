/**
 * A line of an import that may be stored as it stands: its `_id` is read from its first bytes, and the rest is left to
 * whoever scans the bytes.
 *
 * Invariant: if the bytes are one JSON object, that object's first `_id` is `id`.
 */
import { PetalError } from '../../model/errors.ts'
import { readJson } from '../../model/extended-json.ts'
import { type Document, isPlainObject, typeNames, typeOf } from '../../model/types.ts'

const leadingId = new TextEncoder().encode('{"_id":')
const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const closingBrace = 0x7d
/** Of 2^53. */
const maxDigits = 16
const maxIdCharacters = 1024

export class JsonLine {
  /** UTF-8, without the line's end. Not to be changed while the line is in use. */
  readonly bytes: Uint8Array
  readonly id: number | string

  private constructor(bytes: Uint8Array, id: number | string) {
    this.bytes = bytes
    this.id = id
  }

  /**
   * undefined for a line that does not begin with an `_id` that is a whole number or a string without escapes.
   * @param bytes valid UTF-8
   */
  static of(bytes: Uint8Array): JsonLine | undefined {
    for (let i = 0; i < leadingId.length; i++) if (bytes[i] !== leadingId[i]) return undefined
    const start = leadingId.length
    const id = bytes[start] === quote ? readText(bytes, start + 1) : readDigits(bytes, start)
    return id === undefined ? undefined : new JsonLine(bytes, id)
  }

  /**
   * @returns with the document, whether JSON.parse of the line gives it
   * @throws PetalError FailedToParse, or BadValue for what cannot be stored
   */
  parse(): { readonly document: Document; readonly isJson: boolean } {
    const parsed = readDocument(this.bytes)
    if (Object.is(parsed.document._id, this.id)) return parsed
    // JSON.parse keeps the last of equal keys.
    throw new PetalError('FailedToParse', 'The line has more than one _id', { details: { path: '_id' } })
  }
}

/** @throws PetalError FailedToParse for anything but one JSON object */
export function readDocument(bytes: Uint8Array): { readonly document: Document; readonly isJson: boolean } {
  const { value, isJson } = readJson(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8'))
  if (isPlainObject(value)) return { document: value, isJson }
  throw new PetalError('FailedToParse', `a document must be an object, not ${typeNames[typeOf(value)]}`)
}

function readDigits(bytes: Uint8Array, start: number): number | undefined {
  let value = 0
  let at = start
  for (; at < start + maxDigits; at++) {
    const digit = bytes[at]! - 0x30
    if (!(digit >= 0 && digit <= 9)) break
    value = value * 10 + digit
  }
  const hasLeadingZero = bytes[start] === 0x30 && at > start + 1
  return at === start || hasLeadingZero || !endsValue(bytes, at) || !Number.isSafeInteger(value) ? undefined : value
}

function readText(bytes: Uint8Array, start: number): string | undefined {
  const limit = Math.min(bytes.length, start + maxIdCharacters)
  for (let at = start; at < limit; at++) {
    const byte = bytes[at]!
    if (byte === quote) {
      if (!endsValue(bytes, at + 1)) return undefined
      return Buffer.from(bytes.buffer, bytes.byteOffset + start, at - start).toString('latin1')
    }
    if (byte === backslash || byte < 0x20 || byte > 0x7e) return undefined
  }
  return undefined
}

function endsValue(bytes: Uint8Array, at: number): boolean {
  return bytes[at] === comma || bytes[at] === closingBrace
}
