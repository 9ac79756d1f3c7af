/**
 * A line of an import that may be stored as it stands: its `_id` is read from its first bytes, and the rest is left to
 * whoever scans the bytes.
 *
 * Invariant: if the bytes are one JSON object, that object's first `_id` is `id`.
 */
import { PetalError } from '../../model/errors.ts'
import { readJson } from '../../model/extended-json.ts'
import { type Document, isPlainObject, typeNames, typeOf } from '../../model/types.ts'
import { endOfLeadingId, isTextId, leadingIdOffset, numberOfId } from './leading-id.ts'

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
    const end = endOfLeadingId(bytes, 0, bytes.length)
    if (end < 0) return undefined
    const id = isTextId(bytes, leadingIdOffset) ? textOfId(bytes, end) : numberOfId(bytes, leadingIdOffset, end)
    return new JsonLine(bytes, id)
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

/** Without its quotes. */
function textOfId(bytes: Uint8Array, end: number): string {
  const start = leadingIdOffset + 1
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - 1 - start).toString('latin1')
}
