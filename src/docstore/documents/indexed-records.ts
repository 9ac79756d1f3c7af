/**
 * A document on its way in: into the index, and as the record that the store gets, by the shortest way there is. Its bytes
 * are read by the index as they will be stored wherever they tell what it holds.
 *
 * Invariant: a document that is refused has changed nothing.
 */
import { isIdentical } from '../../model/clone.ts'
import type { Document } from '../../model/types.ts'
import type { DocumentIndex } from '../../sharded-bloom/document-index.ts'
import type { JsonRecord } from './json-record.ts'
import { decodeRecord, isSameDocument, markBytesOf } from './record.ts'
import type { RecordArena } from './record-arena.ts'
import { type FlatRecord, RecordEncoder } from './record-encoder.ts'
import { assertStorable } from './stored-form.ts'

/** What takes one document after the other, and knows each by the number of its version. */
export type RecordIndex = Pick<DocumentIndex, 'flatten' | 'add' | 'write' | 'addBytes'>

/** A document that is stored, and how. */
export interface StoredRecord {
  readonly document: Document
  readonly record: string
}

/** Whoever else has to agree: called with the document as it will be read back, before the index has it. */
export type Admission = (document: Document) => void

/** A record begins with a character that is no byte order mark. */
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
   * As add(), of a document in the place of another one.
   * @returns undefined, and nothing was added, where the same would be stored
   */
  replace(
    version: number,
    old: StoredRecord,
    document: Document,
    arena: RecordArena,
    admit?: Admission
  ): string | Uint8Array | undefined {
    if (isIdentical(old.document, document)) return undefined
    // Of the values that bytes are written of none is stored as another one is.
    const plain = this.#addPlain(version, document, arena, admit)
    if (plain !== undefined) return plain
    const flat = this.#encoder.flat(document)
    return isSameDocument(flat.record, old.record) ? undefined : this.#addFlat(version, flat, admit)
  }

  /**
   * As add(), of JSON: stored as it stands, where its bytes tell what it holds. A line with keys that questions of
   * stored text would not find, or values that are read in another way, is written anew.
   * @param isTried it is known that they do not
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
    // Who has to agree asks the document, not its bytes.
    const parsed = admit && json.parse()
    if (parsed !== undefined) admit?.(parsed)
    const told = !isTried && this.#index.addBytes?.(version, bytes, start, bytes.length - start, json.form)
    if (told) return json.record(told, arena)
    const document = parsed ?? json.parse()
    const flat = this.#index.flatten(document)
    const form = json.formAsItStands(flat.isPlain)
    if (form === undefined) return this.add(version, document, arena)
    this.#index.add(version, flat)
    return json.record(form, arena)
  }

  #addFlat(version: number, { flat, record }: FlatRecord, admit: Admission | undefined): string {
    admit?.(decodeRecord(record))
    this.#index.add(version, flat)
    return record
  }

  /** The short way: the bytes that the index reads are those that the store keeps. */
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
