/**
 * A document that may be stored as the bytes it came as: its `_id` is read from the first of them, and the rest is left to whoever
 * scans them. A line of an import, or a record that was written before.
 *
 * Invariant: if the bytes are one document, its first `_id` is `id`.
 */
import { ObjectId } from 'bson'
import { PetalError } from '../../model/errors.ts'
import { readJson } from '../../model/extended-json.ts'
import { type Document, isPlainObject, typeNames, typeOf } from '../../model/types.ts'
import type { JsonForm } from '../../sharded-bloom/byte-scan/scanner.ts'
import {
  digitsOfId,
  endOfLeadingId,
  isTextId,
  leadingIdOffset,
  leadingObjectIdDigits,
  numberOfId
} from './leading-id.ts'
import { decodeRecord, jsonStart, objectIdMark } from './record.ts'

const beforeDigits = new TextEncoder().encode(`${objectIdMark}{"_id":"`)

export class JsonRecord {
  /** UTF-8, without the line's end. Not to be changed while the record is in use. */
  readonly bytes: Uint8Array
  readonly id: number | string | ObjectId
  /** How the JSON has to be read. */
  readonly form: JsonForm
  /** Where the JSON begins. */
  readonly start: number

  private constructor(bytes: Uint8Array, id: number | string | ObjectId, form: JsonForm, start: number) {
    this.bytes = bytes
    this.id = id
    this.form = form
    this.start = start
  }

  /**
   * undefined for a line that does not begin with an `_id` that is a whole number, a string without escapes, or an ObjectId.
   * @param bytes valid UTF-8; relaxed or canonical Extended JSON
   */
  static ofLine(bytes: Uint8Array): JsonRecord | undefined {
    const end = endOfLeadingId(bytes, 0, bytes.length)
    return end < 0 ? JsonRecord.#ofExport(bytes) : new JsonRecord(bytes, leadingId(bytes, 0, end), 'extended', 0)
  }

  /** Of `{"_id":{"$oid":"…"}…` a record that has the digits alone: other bytes than the line's. */
  static #ofExport(line: Uint8Array): JsonRecord | undefined {
    const digits = leadingObjectIdDigits(line)
    if (digits < 0) return undefined
    const end = digits + digitsOfId
    const rest = line.subarray(end + 2)
    const bytes = new Uint8Array(beforeDigits.length + digitsOfId + 1 + rest.length)
    bytes.set(beforeDigits)
    bytes.set(line.subarray(digits, end + 1), beforeDigits.length)
    bytes.set(rest, beforeDigits.length + digitsOfId + 1)
    const hex = Buffer.from(line.buffer, line.byteOffset + digits, digitsOfId).toString('latin1')
    return new JsonRecord(bytes, new ObjectId(hex), 'extendedObjectId', 1)
  }

  /**
   * undefined for a record that does not begin with such an `_id`, or an ObjectId.
   * @param bytes a record as encodeRecord() makes it
   */
  static ofRecord(bytes: Uint8Array): JsonRecord | undefined {
    const start = jsonStart(bytes)
    const end = start === undefined ? -1 : endOfLeadingId(bytes, start, bytes.length)
    if (start === undefined || end < 0) return undefined
    const id = leadingId(bytes, start, end)
    return start === 0
      ? new JsonRecord(bytes, id, 'json', start)
      : new JsonRecord(bytes, new ObjectId(String(id)), 'objectId', start)
  }

  /**
   * @returns with the document, whether the record holds it exactly as it stands
   * @throws PetalError FailedToParse, or BadValue for what cannot be stored
   */
  parse(): { readonly document: Document; readonly isExact: boolean } {
    if (this.form === 'json' || this.form === 'objectId') {
      return { document: decodeRecord(textOf(this.bytes)), isExact: true }
    }
    const { document, isJson } = readDocument(this.bytes.subarray(this.start))
    const { id } = this
    const written = id instanceof ObjectId ? id.toHexString() : id
    // JSON.parse keeps the last of equal keys.
    if (!Object.is(document._id, written)) {
      throw new PetalError('FailedToParse', 'The line has more than one _id', { details: { path: '_id' } })
    }
    document._id = id
    return { document, isExact: isJson }
  }
}

/** What a record holds: itself, where its first bytes tell the `_id`. @throws PetalError DataCorruption */
export function readRecord(bytes: Uint8Array): JsonRecord | Document {
  return JsonRecord.ofRecord(bytes) ?? decodeRecord(textOf(bytes))
}

/** @throws PetalError FailedToParse for anything but one JSON object */
export function readDocument(bytes: Uint8Array): { readonly document: Document; readonly isJson: boolean } {
  const { value, isJson } = readJson(textOf(bytes))
  if (isPlainObject(value)) return { document: value, isJson }
  throw new PetalError('FailedToParse', `a document must be an object, not ${typeNames[typeOf(value)]}`)
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8')
}

/** @param start where the JSON begins @param end where the `_id` ends, as endOfLeadingId() has found it */
function leadingId(bytes: Uint8Array, start: number, end: number): number | string {
  const from = start + leadingIdOffset
  if (!isTextId(bytes, from)) return numberOfId(bytes, from, end)
  // Without its quotes.
  return Buffer.from(bytes.buffer, bytes.byteOffset + from + 1, end - from - 2).toString('latin1')
}
