/**
 * Builds segments of documents that are not stored yet, outside their index: in another thread, for a bulk load.
 *
 * Invariants:
 * 1. The records are those that the index would have written, including the segment's own and its live bitmap: once all
 *    are stored, the segments are part of the index, which learns of them from adopt() or finds them when it is opened.
 * 2. Segments are keyed by their first ordinals, which no other segment of the index ever had.
 */
import type { Document } from '../../model/types.ts'
import type { AcceptedForm, JsonForm } from '../byte-scan/json-form.ts'
import type { NotWritten } from '../byte-scan/json-writer.ts'
import type { IndexStore, IndexWrite } from '../document-index.ts'
import type { IndexParts } from '../index-parts.ts'
import type { FlatDocument } from '../pairs/flatten.ts'
import { SegmentBuilder } from '../rebuild/segment-builder.ts'
import { IndexArea, indexKey } from '../records/index-keys.ts'
import { encodeSegmentRecord } from '../segment/segment-record.ts'
import type { StoredRun } from '../stored-source.ts'
import type { ChoiceKeeper } from '../tune/earlier-choice.ts'
import type { BuiltSegment, SegmentPlan } from './bulk-plan.ts'
import type { EarlierChoices } from './earlier-choices.ts'
import { partsFor } from './parts-for.ts'

/** Reads the documents, repeatedly if asked: samples are taken of documents still to come. */
export type StoredDocuments = (from: number, to: number) => AsyncIterable<StoredRun>

export class BulkSegments {
  readonly #parts: IndexParts
  readonly #builder: SegmentBuilder
  readonly #store: IndexStore
  readonly #built: BuiltSegment[] = []

  private constructor(parts: IndexParts, readStored: StoredDocuments, store: IndexStore, keeper: ChoiceKeeper) {
    this.#parts = parts
    this.#store = store
    this.#builder = new SegmentBuilder({ ...parts.building, readStored }, { keeper })
  }

  /**
   * @param write receives the records; it must copy what it keeps
   * @param earlier choices of the same thread: parameters are not chosen anew if those of its last segment fit
   */
  static async create(
    plan: SegmentPlan,
    readStored: StoredDocuments,
    write: (record: IndexWrite) => void,
    earlier: EarlierChoices
  ): Promise<BulkSegments> {
    const { parts, store } = await partsFor(plan, write)
    return new BulkSegments(parts, readStored, store, earlier.of(plan))
  }

  /** True when the next document can be added; otherwise call begin() first. */
  get isReady(): boolean {
    return this.#builder.isOpen && !this.#builder.isFull
  }

  /**
   * Seals the current segment, if any, and begins the next with the document at `ordinal`. @param to all ordinals are
   * below it
   */
  async begin(ordinal: number, to: number): Promise<void> {
    if (this.#builder.isOpen) await this.#seal()
    await this.#builder.begin(ordinal, ordinal, to, to - ordinal)
  }

  /** @throws PetalError BadValue for a document that cannot be stored */
  flatten(document: Document): FlatDocument {
    return this.#parts.flattener.flatten(document)
  }

  /** REQUIRES: isReady, and the ordinal after the previous one; so do the other methods that take an ordinal. */
  add(ordinal: number, flat: FlatDocument): void {
    this.#builder.addFlat(ordinal, flat)
  }

  addBytes(ordinal: number, bytes: Uint8Array, offset: number, length: number, form: JsonForm = 'json'): AcceptedForm {
    return this.#builder.addBytes(ordinal, bytes, offset, length, form)
  }

  /** Accepts the bytes of several documents, each then added by addStaged(); false when addBytes() has to be used. */
  stage(bytes: Uint8Array): boolean {
    return this.#builder.stage(bytes)
  }

  /** As addBytes(), for a document among those staged last. REQUIRES: no other call came in between. */
  addStaged(ordinal: number, offset: number, length: number, form: JsonForm): AcceptedForm {
    return this.#builder.addStaged(ordinal, offset, length, form)
  }

  write(_ordinal: number, document: Document): Uint8Array | NotWritten | undefined {
    return this.#builder.write(document)
  }

  /** Seals the last segment. @returns all segments; their records were written */
  async finish(): Promise<readonly BuiltSegment[]> {
    if (this.#builder.isOpen) await this.#seal()
    return this.#built
  }

  /** Frees all memory. */
  close(): void {
    this.#builder.close()
    this.#parts.close()
  }

  async #seal(): Promise<void> {
    const record = await this.#builder.seal(this.#store)
    const value = encodeSegmentRecord(record)
    await this.#store.write([
      { key: indexKey(IndexArea.segment, record.firstOrdinal), value },
      { key: indexKey(IndexArea.live, record.storedAt), value: allLive }
    ])
    this.#built.push({ record, directoryBytes: value.length })
  }
}

const allLive = new Uint8Array(0)
