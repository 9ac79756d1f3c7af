/**
 * Adds a document to the index and produces the record to store, in the cheapest way possible: wherever its bytes
 * suffice for indexing, the index scans the very bytes that will be stored.
 *
 * Invariant: a rejected document has changed nothing.
 */
import { isIdentical } from '../../model/clone.ts'
import type { Document } from '../../model/types.ts'
import type { DocumentIndex } from '../../sharded-bloom/document-index.ts'
import type { JsonRecord } from './json-record.ts'
import { decodeRecord, isSameDocument, markBytesOf } from './record.ts'
import type { RecordArena } from './record-arena.ts'
import { type FlatRecord, RecordEncoder } from './record-encoder.ts'
import { assertStorable } from './stored-form.ts'

/** An index that takes documents one by one, identified by version number. */
export type RecordIndex = Pick<DocumentIndex, 'flatten' | 'add' | 'write' | 'addBytes'>

/** A stored document, and its record. */
export interface StoredRecord {
  readonly document: Document
  readonly record: string
}

/** Called with the document as it will be read back, before it is added to the index; throws to reject it. */
export type Admission = (document: Document) => void

/** Fine without ignoreBOM, since no record starts with a byte order mark. */
const decoder = new TextDecoder()

export class IndexedRecords {
  readonly #encoder: RecordEncoder
  readonly #index: RecordIndex

  constructor(index: RecordIndex) {
    this.#index = index
    this.#encoder = new RecordEncoder(index)
  }

  /**
   * @param arena for the record's bytes
   * @throws PetalError for a document that cannot be stored, and what `admit` throws
   */
  add(version: number, document: Document, arena: RecordArena, admit?: Admission): string | Uint8Array {
    const plain = this.#addPlain(version, document, arena, admit)
    return plain ?? this.#addFlat(version, this.#encoder.flat(document), admit)
  }

  /**
   * Like add(), for a document that replaces another one.
   * @returns undefined, with nothing added, if the stored document would be the same
   */
  replace(
    version: number,
    old: StoredRecord,
    document: Document,
    arena: RecordArena,
    admit?: Admission
  ): string | Uint8Array | undefined {
    if (isIdentical(old.document, document)) return undefined
    // Of the values that can be written as bytes, no two different ones are stored alike.
    const plain = this.#addPlain(version, document, arena, admit)
    if (plain !== undefined) return plain
    const flat = this.#encoder.flat(document)
    return isSameDocument(flat.record, old.record) ? undefined : this.#addFlat(version, flat, admit)
  }

  /**
   * Like add(), for JSON: stored as is if its bytes can be indexed. A line with keys that queries over stored text
   * would not find, or with values that are represented differently, is re-encoded.
   * @param isTried the bytes are already known not to be indexable
   */
  addJson(
    version: number,
    json: JsonRecord,
    arena: RecordArena,
    admit?: Admission,
    isTried = false
  ): string | Uint8Array {
    const { bytes, start } = json
    assertStorable(bytes.length)
    // Admission looks at the document, not at its bytes.
    const parsed = admit && json.parse()
    if (parsed !== undefined) admit?.(parsed)
    const detectedForm = !isTried && this.#index.addBytes?.(version, bytes, start, bytes.length - start, json.form)
    if (detectedForm) return json.record(detectedForm, arena)
    const document = parsed ?? json.parse()
    const flat = this.#index.flatten(document)
    const form = json.verbatimForm(flat.isPlain)
    if (form === undefined) return this.add(version, document, arena)
    this.#index.add(version, flat)
    return json.record(form, arena)
  }

  #addFlat(version: number, { flat, record }: FlatRecord, admit: Admission | undefined): string {
    admit?.(decodeRecord(record))
    this.#index.add(version, flat)
    return record
  }

  /** The fast path: the index scans the bytes that will be stored. */
  #addPlain(
    version: number,
    document: Document,
    arena: RecordArena,
    admit: Admission | undefined
  ): Uint8Array | undefined {
    if (this.#index.addBytes === undefined) return undefined
    const plain = this.#encoder.plain(version, document, arena)
    if (plain === undefined) return undefined
    const { form, written, record } = plain
    admit?.(decodeRecord(decoder.decode(record)))
    const markBytes = markBytesOf(form)
    if (!this.#index.addBytes(version, written, markBytes, record.length - markBytes, form)) {
      this.#index.add(version, this.#index.flatten(document))
    }
    return record
  }
}
