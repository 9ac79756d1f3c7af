/**
 * What one read sees: the store, the index and the ordinal limit of one instant, captured without an `await`.
 */
import type { IndexView } from '../sharded-bloom/document-index.ts'
import type { CollectionStore, TextReadOptions } from './collection-store.ts'
import type { DocumentRange, DocumentReader } from './document-reader.ts'
import { notOpen } from './errors.ts'
import type { SharedSnapshot } from './snapshots.ts'

export class ReadView {
  /** Ordinals below it are visible. */
  readonly limit: number
  readonly index: IndexView
  readonly #store: CollectionStore
  readonly #snapshot: SharedSnapshot
  readonly #options: TextReadOptions
  readonly #onClose: (view: ReadView) => void
  /** Those in use: whoever drops a reading in the midst of a range closes nothing but the view. */
  readonly #readers = new Set<DocumentReader>()
  #isOpen = true

  constructor(store: CollectionStore, snapshot: SharedSnapshot, index: IndexView, onClose: (view: ReadView) => void) {
    this.limit = index.limit
    this.index = index
    this.#store = store
    this.#snapshot = snapshot
    this.#options = snapshot.options
    this.#onClose = onClose
  }

  get canReadSync(): boolean {
    return this.#store.canReadSync
  }

  /** REQUIRES: canReadSync. */
  record(ordinal: number): string | undefined {
    return this.#store.record(ordinal, this.#options)
  }

  records(ordinals: readonly number[]): Promise<(string | undefined)[]> {
    return this.#store.records(ordinals, this.#options)
  }

  ordinalsOf(keys: readonly Uint8Array[]): (number | undefined)[] | Promise<(number | undefined)[]> {
    return this.#store.ordinalsOf(keys, this.#options)
  }

  documents(range: DocumentRange): DocumentReader {
    const reader = this.#store.documents({ ...range, to: Math.min(range.to, this.limit) }, this.#options)
    this.#readers.add(reader)
    return reader
  }

  /** Ends a reading of documents(). */
  closeReader(reader: DocumentReader): void {
    this.#readers.delete(reader)
    // Whoever waits for the reader has its error; closing frees memory only.
    reader.close().catch(ignore)
  }

  /** @throws PetalError DatabaseNotOpen when the database was closed under the reader */
  assertOpen(): void {
    if (!this.#isOpen) throw notOpen('The database, or the collection,')
  }

  close(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    for (const reader of this.#readers) this.closeReader(reader)
    this.index.close()
    this.#snapshot.release()
    this.#onClose(this)
  }
}

function ignore(): void {}
