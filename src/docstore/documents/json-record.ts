/**
 * A document that may be stored as the bytes it came in: its `_id` is read from the first of them, and the rest is left
 * to the scanner. Either a line of an import, or an existing record.
 *
 * Invariant: if the bytes are one document, its first `_id` is `id`.
 */
import { ObjectId } from 'bson'
import { PetalError } from '../../model/errors.ts'
import { parseJson, readJson } from '../../model/extended-json.ts'
import { wrappedMarkByte } from '../../model/record-marks.ts'
import { type Document, isPlainObject, typeNames, typeOf } from '../../model/types.ts'
import { acceptedForm, type JsonForm, type RecordForm } from '../../sharded-bloom/byte-scan/json-form.ts'
import {
  endOfLeadingId,
  isOnlyIdWrapped,
  isTextId,
  isWrappedId,
  leadingIdOffset,
  numberOfId,
  objectIdHexLength,
  wrappedDigitsOffset
} from './leading-id.ts'
import { formOfLine } from './line-form.ts'
import { decodeRecord, formOfRecord, markBytesOf, objectIdMark } from './record.ts'
import type { RecordArena } from './record-arena.ts'

const beforeDigits = new TextEncoder().encode(`${objectIdMark}{"_id":"`)

export class JsonRecord {
  /** UTF-8, without a line break. Must not be changed while the record is in use. */
  readonly bytes: Uint8Array
  readonly id: number | string | ObjectId
  /** How the JSON has to be read. */
  readonly form: JsonForm
  /** For a line that was parsed: its JSON, and whether it is plain JSON. */
  #text: string | undefined
  #isJson: boolean | undefined

  private constructor(bytes: Uint8Array, id: number | string | ObjectId, form: JsonForm) {
    this.bytes = bytes
    this.id = id
    this.form = form
  }

  /**
   * Returns undefined for a line that does not start with an `_id` that is a whole number, a string without escapes, or
   * an ObjectId.
   * @param bytes valid UTF-8; relaxed or canonical Extended JSON
   */
  static ofLine(bytes: Uint8Array): JsonRecord | undefined {
    const end = endOfLeadingId(bytes, 0, bytes.length, true)
    if (end < 0) return undefined
    const id = leadingId(bytes, 0, end)
    const isAlone = id instanceof ObjectId && isOnlyIdWrapped(bytes, 0, end, bytes.length)
    return isAlone ? JsonRecord.#ofExport(bytes, id) : new JsonRecord(bytes, id, 'extended')
  }

  /** Converts `{"_id":{"$oid":"…"}…` without other wrappers to the form with bare digits, in new bytes. */
  static #ofExport(line: Uint8Array, id: ObjectId): JsonRecord {
    const digits = leadingIdOffset + wrappedDigitsOffset
    const end = digits + objectIdHexLength
    const rest = line.subarray(end + 2)
    const bytes = new Uint8Array(beforeDigits.length + objectIdHexLength + 1 + rest.length)
    bytes.set(beforeDigits)
    bytes.set(line.subarray(digits, end + 1), beforeDigits.length)
    bytes.set(rest, beforeDigits.length + objectIdHexLength + 1)
    return new JsonRecord(bytes, id, 'extendedObjectId')
  }

  /**
   * Returns undefined for a record that does not start with such an `_id`.
   * @param bytes a record as encodeRecord() makes it
   */
  static ofRecord(bytes: Uint8Array): JsonRecord | undefined {
    const form = formOfRecord(bytes)
    if (form === undefined) return undefined
    const start = markBytesOf(form)
    const end = endOfLeadingId(bytes, start, bytes.length, form === 'wrapped')
    if (end < 0) return undefined
    const id = leadingId(bytes, start, end)
    return new JsonRecord(bytes, form === 'objectId' ? new ObjectId(String(id)) : id, form)
  }

  get isLine(): boolean {
    return this.form === 'extended' || this.form === 'extendedObjectId'
  }

  /** Offset of the JSON. */
  get start(): number {
    return markBytesOf(this.form)
  }

  /**
   * Returns the form for storing the bytes as they are, if a scan has not determined it; undefined for a line that must
   * be re-encoded.
   */
  verbatimForm(isPlain: boolean): RecordForm | undefined {
    const { form } = this
    if (form !== 'extended' && form !== 'extendedObjectId') return form
    const found = formOfLine(this.#json, this.#isJson)
    // Plain JSON that does not preserve its values: a −0.
    if (found === undefined || (found === 'json' && !isPlain)) return undefined
    return acceptedForm(form, found === 'wrapped')
  }

  /**
   * Returns the record. @param form for reading the bytes again @param arena for the new bytes of a line that needs a
   * mark
   */
  record(form: RecordForm, arena: RecordArena): Uint8Array {
    return form === 'wrapped' && this.form !== 'wrapped' ? arena.mark(wrappedMarkByte, this.bytes) : this.bytes
  }

  /** @throws PetalError FailedToParse, or BadValue for a value that cannot be stored */
  parse(): Document {
    if (!this.isLine) return decodeRecord(textOf(this.bytes))
    const { value, isJson } = readJson(this.#json)
    const document = asDocument(value)
    this.#isJson = isJson
    this.#assertOneId()
    document._id = this.id
    return document
  }

  get #json(): string {
    this.#text ??= textOf(this.bytes.subarray(this.start))
    return this.#text
  }

  /** JSON.parse() keeps the last of equal keys, however they are escaped. REQUIRES: the line is JSON */
  #assertOneId(): void {
    const text = this.#json
    if (!text.includes('"_id"', leadingIdOffset) && !text.includes('\\u')) return
    const idEnd = endOfLeadingId(this.bytes, this.start, this.bytes.length, true) - this.start
    const others = text.slice(text[idEnd] === ',' ? idEnd + 1 : idEnd)
    if (!Object.hasOwn(JSON.parse(`{${others}`) as Document, '_id')) return
    throw new PetalError('FailedToParse', 'The line has more than one _id', { details: { path: '_id' } })
  }
}

/**
 * Returns a JsonRecord if the `_id` can be read from the first bytes, or the decoded document. @throws PetalError
 * DataCorruption
 */
export function readRecord(bytes: Uint8Array): JsonRecord | Document {
  return JsonRecord.ofRecord(bytes) ?? decodeRecord(textOf(bytes))
}

/** @throws PetalError FailedToParse for anything but a single JSON object */
export function readDocument(bytes: Uint8Array): Document {
  return asDocument(parseJson(textOf(bytes)))
}

function asDocument(value: unknown): Document {
  if (isPlainObject(value)) return value
  throw new PetalError('FailedToParse', `a document must be an object, not ${typeNames[typeOf(value)]}`)
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8')
}

/** @param start offset of the JSON @param end end of the `_id`, from endOfLeadingId() */
function leadingId(bytes: Uint8Array, start: number, end: number): number | string | ObjectId {
  const from = start + leadingIdOffset
  // Without its quotes.
  if (isTextId(bytes, from)) return latin1(bytes, from + 1, end - from - 2)
  if (isWrappedId(bytes, from)) return new ObjectId(latin1(bytes, from + wrappedDigitsOffset, objectIdHexLength))
  return numberOfId(bytes, from, end)
}

function latin1(bytes: Uint8Array, from: number, length: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + from, length).toString('latin1')
}
