/**
 * The stored form of a document: a text in one of three forms, told apart by its first character.
 *
 * | first character | what follows                                                                              |
 * | --------------- | ----------------------------------------------------------------------------------------- |
 * | `{`             | the text is the document's JSON: JSON holds it exactly                                    |
 * | U+0002          | the same, except for an ObjectId as `_id`, written as its 24 hexadecimal digits            |
 * | U+0001          | Extended JSON v2: JSON, with canonical wrappers around the values that it cannot hold; see |
 * |                 | src/model/wrappers.ts for how keys that look like wrappers are escaped. An imported line   |
 * |                 | is stored as it came, possibly with relaxed dates                                          |
 *
 * Invariants:
 * 1. decodeRecord(encodeRecord(document)) is the document, in the types that PetalDB returns: 64-bit integers as
 *    bigint, Int32 and Double as number, BSONSymbol as string, class instances as plain objects.
 * 2. Decoding returns a document that shares nothing with any other.
 */
import { ObjectId } from 'bson'
import { PetalError } from '../../model/errors.ts'
import { objectIdDigits } from '../../model/object-id.ts'
import { objectIdMarkByte, wrappedMarkByte } from '../../model/record-marks.ts'
import { type Document, Type, typeNames, typeOf } from '../../model/types.ts'
import { unwrap, wrap } from '../../model/wrappers.ts'
import type { JsonForm, RecordForm } from '../../sharded-bloom/byte-scan/json-form.ts'

const openingBrace = 0x7b
const wrappedMark = String.fromCharCode(wrappedMarkByte)
export const objectIdMark = String.fromCharCode(objectIdMarkByte)

/**
 * @param isPlain JSON holds the document exactly, apart from an ObjectId as `_id`: only null, booleans, strings, finite
 *   numbers other than −0, arrays without undefined, and plain objects without toJSON
 * @throws PetalError BadValue for a value that no document can hold
 * @example
 * encodeRecord({ _id: 1, at: new Date(0) }, false) // '\u0001{"_id":1,"at":{"$date":{"$numberLong":"0"}}}'
 */
export function encodeRecord(document: Document, isPlain: boolean): string {
  if (!isPlain) return wrappedMark + JSON.stringify(wrap(document, 'stored'))
  const id = document._id
  const isObjectId = typeof id === 'object' && id !== null && typeOf(id) === Type.objectId
  if (!isObjectId) return JSON.stringify(document)
  return objectIdMark + JSON.stringify({ ...document, _id: objectIdDigits(id) })
}

/** @throws PetalError DataCorruption for a text that encodeRecord() cannot have written */
export function decodeRecord(text: string): Document {
  try {
    switch (text.charCodeAt(0)) {
      case openingBrace:
        return JSON.parse(text) as Document
      case objectIdMarkByte: {
        const document = JSON.parse(text.slice(1)) as Document
        const hex = document._id
        if (typeof hex !== 'string')
          throw new PetalError('FailedToParse', `Expected the digits of an ObjectId, got ${typeNames[typeOf(hex)]}`)
        // Assigning to an existing key keeps its position.
        document._id = new ObjectId(hex)
        return document
      }
      case wrappedMarkByte: {
        const document = unwrap(JSON.parse(text.slice(1)))
        if (typeOf(document) === Type.object) return document as Document
        throw new PetalError('FailedToParse', `A record must hold a document, not ${typeNames[typeOf(document)]}`)
      }
    }
  } catch (cause) {
    throw corrupt(text, cause)
  }
  throw corrupt(text)
}

/**
 * Returns how the JSON in a record's bytes has to be read; undefined if it is not a record.
 * @param at offset of the record
 */
export function formOfRecord(record: Uint8Array, at = 0): RecordForm | undefined {
  switch (record[at]) {
    case openingBrace:
      return 'json'
    case objectIdMarkByte:
      return 'objectId'
    case wrappedMarkByte:
      return 'wrapped'
    default:
      return undefined
  }
}

/** Returns the number of bytes before the JSON: a record's mark. */
export function markBytesOf(form: JsonForm): 0 | 1 {
  return form === 'json' || form === 'extended' ? 0 : 1
}

/**
 * Whether a newly encoded record holds the same document as a stored one. An imported line is stored as it was written:
 * with its own white space, escapes, number formats and dates.
 */
export function isSameDocument(encoded: string, stored: string): boolean {
  if (encoded === stored) return true
  if (encoded[0] !== stored[0]) return false
  switch (stored[0]) {
    case '{':
      return encoded === JSON.stringify(JSON.parse(stored))
    case objectIdMark:
      return encoded.slice(1) === JSON.stringify(JSON.parse(stored.slice(1)))
    case wrappedMark:
      return encoded.slice(1) === JSON.stringify(wrap(unwrap(JSON.parse(stored.slice(1))), 'stored'))
    default:
      return false
  }
}

function corrupt(text: string, cause?: unknown): PetalError {
  const start = JSON.stringify(text.slice(0, 20))
  return new PetalError(
    'DataCorruption',
    `A stored document is damaged: ${text.length} characters beginning with ${start}`,
    { cause }
  )
}
