/**
 * What one read sees: the store, the index and the ordinal limit of one instant, captured without an `await`.
 */
import type { IndexView } from '../../sharded-bloom/document-index.ts'
import type { DocumentCache } from '../documents/document-cache.ts'
import { notOpen } from '../errors.ts'
import type { CollectionStore } from '../store/collection-store.ts'
import type { SharedSnapshot } from '../store/snapshots.ts'
import type { TextReadOptions } from '../store/store-access.ts'
import type { DocumentRange, DocumentReader } from './document-reader.ts'
import type { DocumentScan } from './document-scan.ts'
import { PrunedView } from './pruned-view.ts'

/** What reads on in the store until it is closed. */
interface Reader {
  close(): Promise<void>
}

export class ReadView {
  /** Ordinals below it are visible. */
  readonly limit: number
  readonly index: IndexView
  readonly #store: CollectionStore
  readonly #snapshot: SharedSnapshot
  readonly #options: TextReadOptions
  readonly #documentBytes: number
  readonly #onClose: (view: ReadView) => void
  /** Those in use: whoever drops a reading in the midst of a range closes nothing but the view. */
  #readers: Set<Reader> | undefined
  #isOpen = true

  /** @param documentBytes of all documents, about */
  constructor(
    store: CollectionStore,
    snapshot: SharedSnapshot,
    index: IndexView,
    documentBytes: number,
    onClose: (view: ReadView) => void
  ) {
    this.limit = index.limit
    this.index = store.pruned(index, snapshot.options.snapshot)
    this.#store = store
    this.#snapshot = snapshot
    this.#options = snapshot.options
    this.#documentBytes = documentBytes
    this.#onClose = onClose
  }

  /** Tables with documents of the collection, and how many the last evaluation ruled out. */
  get tables(): { readonly total: number; readonly pruned: number } {
    const { index } = this
    return index instanceof PrunedView ? { total: index.tables, pruned: index.tablesPruned } : { total: 0, pruned: 0 }
  }

  get readOptions(): TextReadOptions {
    return this.#options
  }

  get canReadSync(): boolean {
    return this.#store.canReadSync
  }

  /** Whether there is scan(). */
  get canScan(): boolean {
    return this.#store.canScan
  }

  /** Documents that are at hand decoded; whoever decodes one offers it. */
  get cache(): DocumentCache {
    return this.#store.cache
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
    this.addReader(reader)
    return reader
  }

  /** As documents(), where the store lets records be read where they lie; undefined elsewhere. */
  scan(range: DocumentRange): DocumentScan | undefined {
    const scan = this.#store.scan({ ...range, to: Math.min(range.to, this.limit) }, this.#options, this.#documentBytes)
    if (scan !== undefined) this.addReader(scan)
    return scan
  }

  /** For those who read beside the documents. */
  get snapshot(): TextReadOptions['snapshot'] {
    return this.#options.snapshot
  }

  /** Closes the reader with the view, unless closeReader() does before. */
  addReader(reader: Reader): void {
    this.#readers ??= new Set()
    this.#readers.add(reader)
  }

  /** Ends a reading of documents(), or of what was added. */
  closeReader(reader: Reader): void {
    this.#readers?.delete(reader)
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
    if (this.#readers !== undefined) for (const reader of this.#readers) this.closeReader(reader)
    this.index.close()
    this.#snapshot.release()
    this.#onClose(this)
  }
}

function ignore(): void {}
