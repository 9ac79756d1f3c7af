/**
 * One collection's records in the store: documents by ordinal, ordinals by `_id`, the records of its index.
 *
 * Reads are synchronous where the store has getSync: a block that is cached costs less than a turn of the event loop.
 */
import type { AbstractSnapshot } from 'abstract-level'
import type { Ingest } from '../../lsm/engine/ingest.ts'
import { PetalError } from '../../model/errors.ts'
import { encodeKey } from '../../model/key.ts'
import type { Document } from '../../model/types.ts'
import type { DocumentSource, IndexStore, IndexView, IndexWrite } from '../../sharded-bloom/document-index.ts'
import type { StoredRun } from '../../sharded-bloom/stored-source.ts'
import { DocumentCache } from '../documents/document-cache.ts'
import type { DocumentRoom } from '../documents/document-room.ts'
import { decodeRecord } from '../documents/record.ts'
import { commitFailed } from '../errors.ts'
import type { ReversibleIds } from '../ids/reversible-ids.ts'
import type { Store } from '../options.ts'
import { type DocumentIterator, type DocumentRange, DocumentReader, runBytes } from '../read/document-reader.ts'
import { DocumentScan } from '../read/document-scan.ts'
import { PrunedView } from '../read/pruned-view.ts'
import { type PairFilters, TablePruning } from '../read/table-pruning.ts'
import { type CollectionState, WriteBatch } from '../write/write-batch.ts'
import { IdTable, maxKeysReadSync } from './id-table.ts'
import { IndexRecords } from './index-records.ts'
import { KeptIndexRecords } from './kept-index-records.ts'
import { Area } from './layout.ts'
import { decodeLoad, loadKeys, withLoad } from './load-records.ts'
import { accessTo, type StoreAccess, type TextReadOptions } from './store-access.ts'
import { orFail, rethrow } from './store-errors.ts'
import { runsOfReader, runsOfScan, storedDocument } from './stored-runs.ts'

const textOptions: TextReadOptions = { keyEncoding: 'view', valueEncoding: 'utf8' }

/** How a collection uses its store. */
interface StoreUse {
  readonly sync: boolean
  readonly readOnly: boolean
  readonly filters: PairFilters | undefined
  /** undefined for a table of ids. */
  readonly ids?: ReversibleIds | undefined
  /** For documents that are kept decoded. */
  readonly documentRoom: DocumentRoom
}

/** Bytes of keys fetched at a time; classic-level's default of 16 KiB makes many more calls. */
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
  /** undefined for a table of ids. */
  readonly ids: ReversibleIds | undefined
  /** False for stores without getSync: reads of documents then go through getMany. */
  readonly canReadSync: boolean
  /** Of documents that are read one by one. */
  readonly cache: DocumentCache
  /** What the index keeps in the store. */
  readonly indexStore: IndexStore
  readonly #records: IndexRecords

  constructor(store: Store, number: number, stateKey: Uint8Array, options: StoreUse) {
    this.#store = store
    this.#access = accessTo(store)
    this.#docs = new Area(`${number}.docs`)
    this.#index = new Area(`${number}.index`)
    this.#stateKey = stateKey
    this.#sync = options.sync
    this.#readOnly = options.readOnly
    this.#filters = options.filters
    this.cache = new DocumentCache(options.documentRoom)
    this.ids = options.ids
    // Its manifest says so; abstract-level's type of it does not.
    this.canReadSync = (store.supports as { readonly getSync?: boolean }).getSync === true
    const readText = this.canReadSync ? this.#readText.bind(this) : undefined
    this.#ids = new IdTable(store, new Area(`${number}.ids`), readText)
    this.#records = new IndexRecords(store, this.#index, this.canReadSync, {
      write: (operations) => this.#writeIndex(operations),
      assertWritable: () => this.#assertWritable()
    })
    this.indexStore = options.readOnly ? new KeptIndexRecords(this.#records) : this.#records
  }

  /** Whether the store knows which of its tables may have a pair. */
  get hasFilters(): boolean {
    return this.#filters !== undefined
  }

  /** The view less what the store's filters rule out; itself where there are none. */
  pruned(view: IndexView, snapshot: AbstractSnapshot | undefined): IndexView {
    const filters = this.#filters
    return filters === undefined ? view : new PrunedView(view, new TablePruning(filters, this.#docs, snapshot))
  }

  /** Whether there is scan(). */
  get canScan(): boolean {
    return this.#access.scanBytes !== undefined
  }

  /** Read options for the state of now, or of a snapshot. */
  readOptions(snapshot?: AbstractSnapshot): TextReadOptions {
    return snapshot === undefined ? textOptions : { keyEncoding: 'view', valueEncoding: 'utf8', snapshot }
  }

  snapshot(): AbstractSnapshot {
    return orFail(() => this.#store.snapshot())
  }

  /** REQUIRES: canReadSync. */
  record(ordinal: number, options: TextReadOptions): string | undefined {
    return orFail(() => this.#readText(this.#docs.passingOrdinalKey(ordinal), options))
  }

  records(ordinals: readonly number[], options: TextReadOptions): Promise<(string | undefined)[]> {
    const keys = ordinals.map((ordinal) => this.#docs.ordinalKey(ordinal))
    return this.#store.getMany<Uint8Array, string | undefined>(keys, options).catch(rethrow)
  }

  /**
   * Ordinals of encoded `_id`s; undefined where there is none. Where they are computed, a document may be missing at one all
   * the same. Few keys are read synchronously.
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
  areThere(keys: readonly Uint8Array[]): boolean[] | Promise<boolean[]> {
    const ordinals = this.ordinalsOf(keys, textOptions)
    if (ordinals instanceof Promise) return ordinals.then((found) => found.map(isDefined))
    if (this.ids === undefined) return ordinals.map(isDefined)
    if (this.canReadSync && keys.length <= maxKeysReadSync) {
      return ordinals.map((ordinal) => ordinal !== undefined && this.record(ordinal, textOptions) !== undefined)
    }
    return this.#recordsAt(ordinals).then((records) => records.map(isDefined))
  }

  /** Documents of an ordinal range. The caller closes the iterator. */
  documents(range: DocumentRange, options: TextReadOptions): DocumentReader {
    const iterate = ({ from, to, reverse = false }: DocumentRange): DocumentIterator =>
      this.#store.iterator<Uint8Array, string>({
        ...options,
        gte: this.#docs.ordinalKey(from),
        lt: this.#docs.ordinalKey(to),
        reverse,
        // Unknown to abstract-level, known to classic-level: bytes fetched at a time.
        ...{ highWaterMarkBytes: runBytes }
      }) as unknown as DocumentIterator
    return new DocumentReader(range, iterate, (key) => this.#docs.ordinalOf(key), {
      blocksAhead: this.#access.readsOnThread ? 1 : 3,
      isSparse: this.ids !== undefined
    })
  }

  /**
   * As documents(), on this thread and without decoding; undefined where the store has no such scan.
   * @param expectedBytes of all documents: few enough stay in the store's cache
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
      orFail(() => scanBytes(range)),
      ordinalOf
    )
  }

  /** Where each `_id` of the table leads to. */
  idOrdinals(options: TextReadOptions): AsyncIterable<number> {
    return this.#ids.ordinals(options)
  }

  /** The greatest encoded `_id`, undefined in an empty collection. */
  async greatestId({ nextId }: CollectionState): Promise<Uint8Array | undefined> {
    return nextId === undefined ? this.#ids.greatest() : encodeKey(nextId - 1)
  }

  /** Where the table of `_id`s is; undefined where ordinals are computed. */
  get idTable(): Area | undefined {
    return this.ids === undefined ? this.#ids.area : undefined
  }

  /** Documents at ordinals, as committed now. */
  readonly documentsAt = async (ordinals: readonly number[]): Promise<(Document | undefined)[]> =>
    (await this.#recordsAt(ordinals)).map((record) => (record === undefined ? undefined : decodeRecord(record)))

  /** Undefined where tables that were written elsewhere are of no use. */
  get beginIngest(): (() => Promise<Ingest>) | undefined {
    return this.#readOnly ? undefined : this.#access.beginIngest
  }

  /** What the keys of documents, ids and index records begin with. */
  get prefixes(): { readonly docs: Uint8Array; readonly ids: Uint8Array; readonly index: Uint8Array } {
    return { docs: this.#docs.first, ids: this.#ids.area.first, index: this.#index.first }
  }

  /** The state, loads counted that it does not have yet: from now on the stored one has them. */
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

  newBatch(): WriteBatch {
    return new WriteBatch(this.#access.newSink(), this.#docs, this.idTable, this.#index, this.#stateKey)
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

  /** Where the index re-reads documents. */
  readonly source: DocumentSource = {
    read: (from, to) => this.#readDocuments(from, to),
    stored: { read: (from, to) => this.#readStored(from, to), document: storedDocument }
  }

  /** Deletes everything of the collection but its catalog entry. Not atomic: the catalog remembers to repeat it. */
  async clear(): Promise<void> {
    for (const area of [this.#docs, this.#ids.area, this.#index]) {
      await this.#store.clear<Uint8Array>({ gte: area.first, lt: area.end, keyEncoding: 'view' })
    }
    const batch = this.newBatch()
    batch.deleteState()
    await this.commit(batch)
  }

  /** Every stored ordinal below `limit`, ascending, in runs. */
  async *ordinals(limit: number): AsyncIterable<readonly number[]> {
    if (limit === 0) return
    const range = { gte: this.#docs.ordinalKey(0), lt: this.#docs.ordinalKey(limit), keyEncoding: 'view' } as const
    const iterator = this.#store.keys<Uint8Array>({ ...range, ...{ highWaterMarkBytes: readAheadBytes } })
    try {
      for (
        let keys = await iterator.nextv(entriesPerRead);
        keys.length > 0;
        keys = await iterator.nextv(entriesPerRead)
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
    // Nobody reads them again: they would only push others out of the cache.
    const scan = this.scan(range, textOptions, Number.POSITIVE_INFINITY)
    yield* scan === undefined ? runsOfReader(this.documents(range, textOptions)) : runsOfScan(scan)
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
    if (this.#readOnly) throw new PetalError('IllegalOperation', 'The database was opened read-only')
  }
}

function isDefined(value: unknown): boolean {
  return value !== undefined
}
