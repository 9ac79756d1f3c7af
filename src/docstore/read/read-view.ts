/** What one read sees: the store, the index and the ordinal limit of one instant, captured without an `await`. */
import type { IndexView } from '../../sharded-bloom/document-index.ts'
import type { OrdinalSet } from '../../sharded-bloom/ordinal-set.ts'
import type { DocumentCache } from '../documents/document-cache.ts'
import { collectionGone } from '../errors.ts'
import type { CollectionStore, SharedDocuments } from '../store/collection-store.ts'
import type { SharedSnapshot } from '../store/snapshots.ts'
import type { TextReadOptions } from '../store/store-access.ts'
import type { DocumentRange, DocumentReader } from './document-reader.ts'
import type { DocumentScan } from './document-scan.ts'
import { PrunedView } from './pruned-view.ts'

/** What a view is captured for. */
interface ViewUse {
  /** False if the documents that are read are about to be replaced or deleted. */
  readonly fillsCache: boolean
  /** Ordinals of documents that are not to be seen. */
  readonly hidden: OrdinalSet
}

/** A reader of the store that has to be closed. */
interface Reader {
  close(): Promise<void>
}

export class ReadView {
  /** Ordinals below this are visible. */
  readonly limit: number
  readonly index: IndexView
  readonly #store: CollectionStore
  readonly #snapshot: SharedSnapshot
  readonly #options: TextReadOptions
  readonly #documentBytes: number
  readonly #onClose: (view: ReadView) => void
  readonly #use: ViewUse
  /** Open readers. Whoever abandons a range in the middle only closes the view. */
  #readers: Set<Reader> | undefined
  #isOpen = true

  /**
   * @param index shows none of the hidden documents
   * @param documentBytes approximate size of all documents
   */
  constructor(
    store: CollectionStore,
    snapshot: SharedSnapshot,
    index: IndexView,
    documentBytes: number,
    onClose: (view: ReadView) => void,
    use: ViewUse
  ) {
    this.limit = index.limit
    this.index = store.pruned(index, snapshot.options.snapshot)
    this.#store = store
    this.#snapshot = snapshot
    this.#options = snapshot.options
    this.#documentBytes = documentBytes
    this.#onClose = onClose
    this.#use = use
  }

  /** Whether the view has a document at this ordinal, if there is one: for ordinals that do not come from its index. */
  shows(ordinal: number): boolean {
    return ordinal < this.limit && !this.#use.hidden.has(ordinal)
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

  /** Whether scan() is available. */
  get canScan(): boolean {
    return this.#store.canScan
  }

  /** Decoded documents. */
  get cache(): DocumentCache {
    return this.#store.cache
  }

  /** Where to offer documents that were decoded; undefined if they are about to be replaced or deleted. */
  get cacheToFill(): DocumentCache | undefined {
    return this.#use.fillsCache ? this.#store.cache : undefined
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

  /** Like documents(), but reads records in place; undefined if the store cannot. */
  scan(range: DocumentRange): DocumentScan | undefined {
    const scan = this.#store.scan({ ...range, to: Math.min(range.to, this.limit) }, this.#options, this.#documentBytes)
    if (scan !== undefined) this.addReader(scan)
    return scan
  }

  /** Most threads that a scan may use besides this one. */
  get scanThreads(): number {
    return this.#store.scanThreads
  }

  /** Lets a thread read the documents of this view. REQUIRES: scanThreads > 0 */
  shareDocuments(): SharedDocuments {
    return this.#store.shareDocuments(this.#options)
  }

  /** For reads of the store that do not go through this view. */
  get snapshot(): TextReadOptions['snapshot'] {
    return this.#options.snapshot
  }

  /** Closes the reader together with the view, unless closeReader() does so before. */
  addReader(reader: Reader): void {
    this.#readers ??= new Set()
    this.#readers.add(reader)
  }

  /** Closes a reader returned by documents() or scan(), or added by addReader(). */
  closeReader(reader: Reader): void {
    this.#readers?.delete(reader)
    // Errors go to whoever waits for the reader; closing only frees memory.
    reader.close().catch(() => {})
  }

  /** @throws PetalError DatabaseNotOpen if the database was closed during the read */
  assertOpen(): void {
    if (!this.#isOpen) throw collectionGone()
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
