/**
 * One collection's records in the store: documents by ordinal, ordinals by `_id`, and the records of its index.
 *
 * Reads are synchronous where the store has getSync(): reading a cached block costs less than an event-loop turn.
 */
import type { AbstractSnapshot } from 'abstract-level'
import type { Ingest } from '../../lsm/engine/ingest.ts'
import type { SharedView } from '../../lsm/engine/share-view.ts'
import { encodeKey } from '../../model/key.ts'
import type { Document } from '../../model/types.ts'
import type { DocumentSource, IndexStore, IndexView, IndexWrite } from '../../sharded-bloom/document-index.ts'
import type { StoredRun } from '../../sharded-bloom/stored-source.ts'
import { DocumentCache } from '../documents/document-cache.ts'
import type { DocumentCacheBudget } from '../documents/document-cache-budget.ts'
import { decodeRecord } from '../documents/record.ts'
import { commitFailed, openedReadOnly } from '../errors.ts'
import type { ReversibleIds } from '../ids/reversible-ids.ts'
import type { Store } from '../options.ts'
import { type DocumentIterator, type DocumentRange, DocumentReader, runBytes } from '../read/document-reader.ts'
import { DocumentScan } from '../read/document-scan.ts'
import { PrunedView } from '../read/pruned-view.ts'
import { type PairFilters, TablePruning } from '../read/table-pruning.ts'
import { type CollectionState, WriteBatch } from '../write/write-batch.ts'
import { IdTable, maxKeysReadSync } from './id-table.ts'
import { IndexRecords } from './index-records.ts'
import { Area } from './layout.ts'
import { decodeLoad, loadKeys, withLoad } from './load-records.ts'
import { OverlayIndexRecords } from './overlay-index-records.ts'
import { accessTo, type BatchSink, type StoreAccess, type TextReadOptions } from './store-access.ts'
import { rethrow, wrapStoreErrors } from './store-errors.ts'
import { storedRunsOfReader, storedRunsOfScan } from './stored-runs.ts'

const textOptions: TextReadOptions = { keyEncoding: 'view', valueEncoding: 'utf8' }

/** How a collection uses its store. */
interface CollectionStoreOptions {
  readonly sync: boolean
  readonly readOnly: boolean
  readonly filters: PairFilters | undefined
  /** undefined with an id table. */
  readonly ids?: ReversibleIds | undefined
  /** Most threads that a scan may use besides this one. */
  readonly scanThreads: number
  /** Memory for cached decoded documents. */
  readonly cacheBudget: DocumentCacheBudget
}

/** What another thread needs to read documents. */
export interface SharedDocuments {
  readonly view: SharedView
  /** Prefix of their keys. */
  readonly docs: Uint8Array
}

/** Bytes of keys fetched at a time; classic-level's default of 16 KiB needs many more calls. */
const readAheadBytes = 256 * 1024
const entriesPerRead = 1000

export class CollectionStore {
  readonly #store: Store
  readonly #access: StoreAccess
  readonly #docs: Area
  readonly #ids: IdTable
  readonly #index: Area
  readonly #stateKey: Uint8Array
  readonly #sync: boolean
  readonly #readOnly: boolean
  readonly #filters: PairFilters | undefined
  /** undefined with an id table. */
  readonly ids: ReversibleIds | undefined
  /** False for stores without getSync(): documents are then read with getMany(). */
  readonly canReadSync: boolean
  /** Most threads that a scan may use besides this one; 0 if they cannot read the store. */
  readonly scanThreads: number
  /** Cache for documents that are read individually. */
  readonly cache: DocumentCache
  /** The index's records. */
  readonly indexStore: IndexStore
  readonly #records: IndexRecords

  constructor(store: Store, number: number, stateKey: Uint8Array, options: CollectionStoreOptions) {
    this.#store = store
    this.#access = accessTo(store)
    this.#docs = new Area(`${number}.docs`)
    this.#index = new Area(`${number}.index`)
    this.#stateKey = stateKey
    this.#sync = options.sync
    this.#readOnly = options.readOnly
    this.#filters = options.filters
    this.cache = new DocumentCache(options.cacheBudget)
    this.ids = options.ids
    // Declared in its manifest, but not in abstract-level's type of it.
    this.canReadSync = (store.supports as { readonly getSync?: boolean }).getSync === true
    this.scanThreads = this.#access.shareView === undefined ? 0 : options.scanThreads
    const readText = this.canReadSync ? this.#readText.bind(this) : undefined
    this.#ids = new IdTable(store, new Area(`${number}.ids`), readText)
    this.#records = new IndexRecords(store, this.#index, this.canReadSync, {
      write: (operations) => this.#writeIndex(operations),
      assertWritable: () => this.#assertWritable()
    })
    this.indexStore = options.readOnly ? new OverlayIndexRecords(this.#records) : this.#records
  }

  /** Returns the view without what the store's filters rule out; the view itself if there are no filters. */
  pruned(view: IndexView, snapshot: AbstractSnapshot | undefined): IndexView {
    const filters = this.#filters
    return filters === undefined ? view : new PrunedView(view, new TablePruning(filters, this.#docs, snapshot))
  }

  /** Whether scan() is available. */
  get canScan(): boolean {
    return this.#access.scanBytes !== undefined
  }

  /** Returns read options for the current state, or for a snapshot. */
  readOptions(snapshot?: AbstractSnapshot): TextReadOptions {
    return snapshot === undefined ? textOptions : { keyEncoding: 'view', valueEncoding: 'utf8', snapshot }
  }

  snapshot(): AbstractSnapshot {
    return wrapStoreErrors(() => this.#store.snapshot())
  }

  /** REQUIRES: canReadSync. */
  record(ordinal: number, options: TextReadOptions): string | undefined {
    return wrapStoreErrors(() => this.#readText(this.#docs.scratchOrdinalKey(ordinal), options))
  }

  records(ordinals: readonly number[], options: TextReadOptions): Promise<(string | undefined)[]> {
    const keys = ordinals.map((ordinal) => this.#docs.ordinalKey(ordinal))
    return this.#store.getMany<Uint8Array, string | undefined>(keys, options).catch(rethrow)
  }

  /**
   * Returns the ordinals of encoded `_id`s; undefined for those that do not exist. Computed ordinals may have no
   * document. A small number of keys is read synchronously.
   */
  ordinalsOf(
    keys: readonly Uint8Array[],
    options: TextReadOptions
  ): (number | undefined)[] | Promise<(number | undefined)[]> {
    const { ids } = this
    if (ids !== undefined) return keys.map((key) => ids.ordinalOfKey(key))
    return this.#ids.ordinalsOf(keys, options)
  }

  /** Whether documents with these encoded `_id`s are stored. */
  contains(keys: readonly Uint8Array[]): boolean[] | Promise<boolean[]> {
    const ordinals = this.ordinalsOf(keys, textOptions)
    if (ordinals instanceof Promise) return ordinals.then((found) => found.map(isDefined))
    if (this.ids === undefined) return ordinals.map(isDefined)
    if (this.canReadSync && keys.length <= maxKeysReadSync) {
      return ordinals.map((ordinal) => ordinal !== undefined && this.record(ordinal, textOptions) !== undefined)
    }
    return this.#recordsAt(ordinals).then((records) => records.map(isDefined))
  }

  /** Reads the documents of an ordinal range. The caller closes the reader. */
  documents(range: DocumentRange, options: TextReadOptions): DocumentReader {
    const iterate = ({ from, to, reverse = false }: DocumentRange): DocumentIterator =>
      this.#store.iterator<Uint8Array, string>({
        ...options,
        gte: this.#docs.ordinalKey(from),
        lt: this.#docs.ordinalKey(to),
        reverse,
        // Unknown to abstract-level, but not to classic-level: bytes fetched at a time.
        ...{ highWaterMarkBytes: runBytes }
      }) as unknown as DocumentIterator
    return new DocumentReader(range, iterate, (key) => this.#docs.ordinalOf(key), {
      blocksAhead: this.#access.readsOnThread ? 1 : 3,
      isSparse: this.ids !== undefined
    })
  }

  /**
   * Like documents(), but on this thread and without decoding; undefined if the store has no such scan.
   * @param expectedBytes size of all documents to be scanned: if small enough, they stay in the store's cache
   */
  scan(
    { from, to, reverse }: DocumentRange,
    { snapshot }: TextReadOptions,
    expectedBytes: number
  ): DocumentScan | undefined {
    const { scanBytes } = this.#access
    if (scanBytes === undefined) return undefined
    const docs = this.#docs
    const range = { gte: docs.ordinalKey(from), lt: docs.ordinalKey(to), reverse, snapshot, expectedBytes }
    const ordinalOf = (key: Uint8Array, start: number, end: number): number => docs.ordinalOf(key, start, end)
    return new DocumentScan(
      wrapStoreErrors(() => scanBytes(range)),
      ordinalOf
    )
  }

  /** Lets a thread read all documents, with a ThreadView. REQUIRES: scanThreads > 0 */
  shareDocuments({ snapshot }: TextReadOptions): SharedDocuments {
    const { first, end } = this.#docs
    return { view: wrapStoreErrors(() => this.#access.shareView!(first, end, snapshot)), docs: first }
  }

  /** Yields the ordinal of each entry of the id table. */
  idOrdinals(options: TextReadOptions): AsyncIterable<number> {
    return this.#ids.ordinals(options)
  }

  /** Returns the greatest encoded `_id`; undefined for an empty collection. */
  async greatestId({ nextId }: CollectionState): Promise<Uint8Array | undefined> {
    return nextId === undefined ? this.#ids.greatest() : encodeKey(nextId - 1)
  }

  /** Area of the id table; undefined with computed ordinals. */
  get idTable(): Area | undefined {
    return this.ids === undefined ? this.#ids.area : undefined
  }

  /** Returns the documents at ordinals, as currently committed. */
  readonly documentsAt = async (ordinals: readonly number[]): Promise<(Document | undefined)[]> =>
    (await this.#recordsAt(ordinals)).map((record) => (record === undefined ? undefined : decodeRecord(record)))

  /** undefined if the store cannot ingest tables written by other threads. */
  get beginIngest(): (() => Promise<Ingest>) | undefined {
    return this.#readOnly ? undefined : this.#access.beginIngest
  }

  /** Key prefixes of documents, ids and index records. */
  get prefixes(): { readonly docs: Uint8Array; readonly ids: Uint8Array; readonly index: Uint8Array } {
    return { docs: this.#docs.first, ids: this.#ids.area.first, index: this.#index.first }
  }

  /** Returns the state including bulk loads that it does not count yet, and updates the stored state accordingly. */
  async withLoads(state: CollectionState): Promise<CollectionState> {
    const writes: IndexWrite[] = []
    let counted = state
    for await (const [key, value] of this.indexStore.scan(...loadKeys)) {
      counted = withLoad(counted, decodeLoad(value))
      writes.push({ key, value: undefined })
    }
    if (writes.length === 0 || this.#readOnly) return counted
    const batch = this.newBatch()
    for (const write of writes) batch.putIndexRecord(write)
    batch.putState(counted)
    await this.commit(batch)
    return counted
  }

  /** Deletes all records of the index. */
  clearIndex(): Promise<void> {
    return this.#records.clearAll()
  }

  /** @param sink of a batch that is shared with other collections */
  newBatch(sink = this.newSink()): WriteBatch {
    return new WriteBatch(sink, this.#docs, this.idTable, this.#index, this.#stateKey)
  }

  newSink(): BatchSink {
    return this.#access.newSink()
  }

  async commit(batch: WriteBatch): Promise<void> {
    this.#assertWritable()
    if (batch.isEmpty) return
    try {
      await batch.commit(this.#sync)
    } catch (error) {
      throw commitFailed(error)
    }
  }

  /** For the index to re-read documents. */
  readonly source: DocumentSource = {
    read: (from, to) => this.#readDocuments(from, to),
    stored: { read: (from, to) => this.#readStored(from, to) }
  }

  /** Deletes everything of the collection except its catalog entry. Not atomic: the catalog remembers to repeat it. */
  async clear(): Promise<void> {
    for (const area of [this.#docs, this.#ids.area, this.#index]) {
      await this.#store.clear<Uint8Array>({ gte: area.first, lt: area.end, keyEncoding: 'view' })
    }
    const batch = this.newBatch()
    batch.deleteState()
    await this.commit(batch)
  }

  /** Yields all stored ordinals from `first` on and below `limit`, ascending, in runs. */
  async *ordinals(limit: number, first = 0): AsyncIterable<readonly number[]> {
    if (first >= limit) return
    const range = { gte: this.#docs.ordinalKey(first), lt: this.#docs.ordinalKey(limit), keyEncoding: 'view' } as const
    const iterator = this.#store.keys<Uint8Array>({ ...range, ...{ highWaterMarkBytes: readAheadBytes } })
    try {
      for (
        let keys = await iterator.nextv(entriesPerRead).catch(rethrow);
        keys.length > 0;
        keys = await iterator.nextv(entriesPerRead).catch(rethrow)
      ) {
        yield keys.map((key) => this.#docs.ordinalOf(key))
      }
    } finally {
      await iterator.close()
    }
  }

  async *#readDocuments(from: number, to: number): AsyncIterable<readonly [number, Document]> {
    if (from >= to) return
    const reader = this.documents({ from, to }, textOptions)
    try {
      for (let entries = await reader.next(); entries.length > 0; entries = await reader.next()) {
        for (const [key, text] of entries) yield [reader.ordinalOf(key), decodeRecord(text)]
      }
    } finally {
      await reader.close()
    }
  }

  async *#readStored(from: number, to: number): AsyncIterable<StoredRun> {
    if (from >= to) return
    const range = { from, to }
    // They are read only once, and would evict other blocks from the cache.
    const scan = this.scan(range, textOptions, Number.POSITIVE_INFINITY)
    yield* scan === undefined ? storedRunsOfReader(this.documents(range, textOptions)) : storedRunsOfScan(scan)
  }

  async #recordsAt(ordinals: readonly (number | undefined)[]): Promise<(string | undefined)[]> {
    const known = ordinals.filter((ordinal) => ordinal !== undefined)
    const records = await this.records(known as readonly number[], textOptions)
    let next = 0
    return ordinals.map((ordinal) => (ordinal === undefined ? undefined : records[next++]))
  }

  #readText(key: Uint8Array, options: TextReadOptions): string | undefined {
    const { readText } = this.#access
    return readText === undefined
      ? this.#store.getSync<Uint8Array, string>(key, options)
      : readText(key, options.snapshot)
  }

  #writeIndex(operations: readonly IndexWrite[]): Promise<void> {
    const batch = this.newBatch()
    for (const write of operations) batch.putIndexRecord(write)
    return this.commit(batch)
  }

  #assertWritable(): void {
    if (this.#readOnly) throw openedReadOnly()
  }
}

function isDefined(value: unknown): boolean {
  return value !== undefined
}
