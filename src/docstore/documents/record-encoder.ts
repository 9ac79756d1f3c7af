/**
 * Encodes a document as a record in the cheapest exact way: directly to bytes if JSON holds it, apart from dates and
 * ObjectIds, which both the index and the store can use; otherwise to text, from the flattened document.
 */

import type { Document } from '../../model/types.ts'
import type { RecordForm } from '../../sharded-bloom/byte-scan/json-form.ts'
import { type JsonWriter, jsonWriter, type NotWritten } from '../../sharded-bloom/byte-scan/json-writer.ts'
import { jsonFormOf } from '../../sharded-bloom/byte-scan/plain.ts'
import type { DocumentIndex } from '../../sharded-bloom/document-index.ts'
import type { FlatDocument } from '../../sharded-bloom/pairs/flatten.ts'
import { encodeRecord, formOfRecord } from './record.ts'
import type { RecordArena } from './record-arena.ts'
import { assertStorable, checkedSize, guardRead, unreadable } from './stored-form.ts'

export interface PlainRecord {
  readonly form: RecordForm
  /** For the index; valid until the next document. */
  readonly written: Uint8Array
  readonly record: Uint8Array
}

/** A flattened document and its record. */
export interface FlatRecord {
  /** Valid until the index flattens the next document. */
  readonly flat: FlatDocument
  readonly record: string
  /** UTF-8 length of the record. */
  readonly bytes: number
}

export class RecordEncoder {
  readonly #index: Pick<DocumentIndex, 'write' | 'flatten'>
  #writer: JsonWriter | undefined

  constructor(index: Pick<DocumentIndex, 'write' | 'flatten'>) {
    this.#index = index
  }

  /**
   * @param version number that the document will get
   * @returns undefined for a document that has to be flattened
   * @throws PetalError DocumentTooLarge, as early as possible; BadValue if the document cannot be read
   */
  plain(version: number, document: Document, arena: RecordArena): PlainRecord | undefined {
    try {
      const written = this.#index.write?.(version, document) ?? this.#write(document)
      if (typeof written !== 'string') {
        return { form: formOfRecord(written)!, written, record: arena.keep(written) }
      }
      const form = written === 'noRoom' ? jsonFormOf(document) : undefined
      if (form === undefined) return undefined
      const text = encodeRecord(document, true)
      // UTF-8 is never shorter than the text: one that is too long need not be encoded.
      assertStorable(text.length)
      const record = arena.encode(text)
      assertStorable(record.length)
      return { form, written: record, record }
    } catch (cause) {
      throw unreadable(cause)
    }
  }

  /** @throws PetalError for a document that cannot be stored */
  flat(document: Document): FlatRecord {
    return guardRead(() => {
      const flat = this.#index.flatten(document)
      const record = encodeRecord(document, flat.isPlain)
      return { flat, record, bytes: checkedSize(record) }
    })
  }

  #write(document: Document): Uint8Array | NotWritten {
    this.#writer ??= jsonWriter()
    return this.#writer?.write(document) ?? 'noRoom'
  }
}
