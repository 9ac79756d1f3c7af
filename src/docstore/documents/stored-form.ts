/** The stored form of a caller's document: it has an `_id`, as its first key. */
import { ObjectId } from 'bson'
import { PetalError } from '../../model/errors.ts'
import { type Document, describeType, Type, typeOf } from '../../model/types.ts'

/** MongoDB's limit, in UTF-8 bytes of the record. */
const maxDocumentBytes = 16 * 1024 * 1024

/** @param position in the caller's list, if there is one @throws PetalError BadValue for anything but an object */
export function assertDocument(value: unknown, position?: number): asserts value is Document {
  if (typeOf(value) === Type.object) return
  const place = position === undefined ? '' : `, at ${position}`
  throw new PetalError('BadValue', `Expected a document to be an object, got ${describeType(value)}${place}`, {
    details: position === undefined ? {} : { position }
  })
}

/** Generates a missing `_id`, as MongoDB's driver does: the only change ever made to a caller's object. */
export function ensureId(document: Document): void {
  if (hasId(document)) return
  try {
    document._id = new ObjectId()
  } catch {
    // A frozen document: storedForm() generates the id of the stored copy.
  }
}

/**
 * Like ensureId(), with the next integer, which no document ever had. @throws PetalError BadValue for a frozen document
 */
export function assignId(document: Document, id: number): void {
  if (hasId(document)) return
  try {
    document._id = id
  } catch (cause) {
    const why = 'A frozen document needs its own _id in a collection that generates integer ids'
    throw new PetalError('BadValue', why, { cause, details: { path: '_id' } })
  }
}

/** Reads the key once, because each lookup in documents of many shapes costs a search. */
function hasId({ _id }: Document): boolean {
  return _id !== undefined && _id !== null
}

/** Returns the document with `_id` as its first key; the document itself if it already is. */
export function storedForm(document: Document): Document {
  for (const key in document) {
    if (key === '_id') return document
    break
  }
  const { _id, ...rest } = document
  return { _id: _id ?? new ObjectId(), ...rest }
}

/**
 * Runs code that reads a caller's document: a getter or a proxy may throw anything.
 * @throws PetalError, with other errors converted to BadValue
 */
export function guardRead<T>(read: () => T): T {
  try {
    return read()
  } catch (cause) {
    throw unreadable(cause)
  }
}

/** Returns what guardRead() throws for an error, for use where a closure per document would be too expensive. */
export function unreadable(cause: unknown): PetalError {
  if (cause instanceof PetalError) return cause
  const why = cause instanceof Error ? cause.message : String(cause)
  return new PetalError('BadValue', `The document cannot be read: ${why}`, { cause })
}

/** @throws PetalError DocumentTooLarge @returns the record's UTF-8 length */
export function checkedSize(record: string): number {
  const bytes = utf8Bytes(record)
  assertStorable(bytes)
  return bytes
}

/** @throws PetalError DocumentTooLarge for a record that is too long */
export function assertStorable(bytes: number): void {
  if (bytes <= maxDocumentBytes) return
  throw new PetalError(
    'DocumentTooLarge',
    `The document has ${bytes} bytes when encoded; the maximum is ${maxDocumentBytes}`,
    { details: { bytes, maxBytes: maxDocumentBytes } }
  )
}

const encoder = new TextEncoder()

export const utf8Bytes: (text: string) => number =
  typeof Buffer === 'function' ? (text) => Buffer.byteLength(text) : (text) => encoder.encode(text).length
