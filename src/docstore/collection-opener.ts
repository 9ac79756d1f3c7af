/**
 * Creates and opens collections, with the database's options or those chosen for the collection, as far as they are
 * compatible with what is stored.
 *
 * Invariant: the kind of index in the catalog is the one whose records are up to date with the documents.
 */
import { PetalError } from '../model/errors.ts'
import { invalidOption } from '../model/invalid-option.ts'
import { loadHashChoice } from '../sharded-bloom/hash-choice.ts'
import { DocumentCacheBudget } from './documents/document-cache-budget.ts'
import { assertSameIds, checkIds, type IdsOption, idsOf, newHeader } from './ids/ids-option.ts'
import type { ReversibleIds } from './ids/reversible-ids.ts'
import { DeclaredIndexes } from './indexes/declared-indexes.ts'
import { IndexStore } from './indexes/index-store.ts'
import { OpenCollection } from './open-collection.ts'
import { assertIndexFor, checkSupport, createIndex, indexKind, indexOptions } from './open-index.ts'
import { autoRebuildOptions, documentCacheBytes, scanThreads, ttlIntervalSeconds } from './opening-options.ts'
import { assertBoolean, isOptions } from './option-checks.ts'
import type { CollectionOptions, IndexOptions, OpenOptions } from './options.ts'
import type { Catalog } from './store/catalog.ts'
import type { CatalogEntry, CollectionTraits } from './store/catalog-records.ts'
import { checkNewCollectionName } from './store/collection-name.ts'
import { CollectionStore } from './store/collection-store.ts'
import type { OpenedStore } from './store/open-store.ts'
import { soundState } from './store/sound-state.ts'
import { ChangeFeed, type ChangeFeeds } from './watch/change-feed.ts'

/**
 * Validates the options for opening collections, and returns the default index options.
 * @throws PetalError InvalidOptions, BadValue
 */
export function checkOptions(options: OpenOptions): IndexOptions {
  for (const option of ['readOnly', 'sync', 'createIfMissing', 'errorIfExists'] as const) {
    assertBoolean(option, options[option])
  }
  const index = indexOptions(options.index)
  autoRebuildOptions(options.autoRebuild)
  assertIndexFor(checkIds(options.ids ?? 'table'), indexKind(index, undefined))
  documentCacheBytes(options.documentCacheBytes)
  scanThreads(options.scanThreads)
  ttlIntervalSeconds(options.ttlIntervalSeconds)
  const { lsm } = options
  if (lsm !== undefined && !isOptions(lsm)) throw invalidOption('lsm', 'an object', lsm)
  const values = lsm?.values
  if (values !== undefined && typeof values !== 'boolean' && !isOptions(values)) {
    throw invalidOption('lsm.values', 'true, false or an object', values)
  }
  return index
}

export class CollectionOpener {
  readonly #opened: OpenedStore
  readonly #catalog: Catalog
  readonly #isReadOnly: boolean
  readonly #sync: boolean
  readonly #cacheBudget: DocumentCacheBudget
  readonly #scanThreads: number
  readonly #index: IndexOptions
  readonly #autoRebuild: OpenOptions['autoRebuild']
  readonly #ttlIntervalSeconds: number
  readonly #feeds: ChangeFeeds
  /** Default ids of new collections. */
  readonly #ids: IdsOption
  /** Options chosen for individual collections. */
  readonly #chosenOptions = new Map<string, CollectionOptions>()

  /** @param index as returned by checkOptions() */
  constructor(opened: OpenedStore, catalog: Catalog, options: OpenOptions, index: IndexOptions, feeds: ChangeFeeds) {
    checkSupport(index, opened.filters !== undefined)
    this.#opened = opened
    this.#catalog = catalog
    this.#isReadOnly = options.readOnly === true
    this.#sync = options.sync === true
    this.#cacheBudget = new DocumentCacheBudget(documentCacheBytes(options.documentCacheBytes))
    this.#scanThreads = scanThreads(options.scanThreads)
    this.#index = index
    this.#autoRebuild = options.autoRebuild
    this.#ttlIntervalSeconds = ttlIntervalSeconds(options.ttlIntervalSeconds)
    this.#feeds = feeds
    this.#ids = options.ids ?? 'table'
  }

  /** Stores the options to open a collection with. @throws PetalError InvalidOptions if it is open with others */
  setOptions(name: string, options: CollectionOptions, isOpen: boolean): void {
    const known = this.#chosenOptions.get(name)
    const chosen: CollectionOptions = { ...known, ...options }
    checkSupport(indexOptions(chosen.index), this.#opened.filters !== undefined)
    autoRebuildOptions(chosen.autoRebuild)
    const entry = this.#catalog.entry(name)
    if (entry === undefined) {
      assertIndexFor(checkIds(chosen.ids ?? this.#ids), indexKind(this.#indexOr(chosen.index), undefined))
    } else assertSameIds(name, entry.ids, options.ids)
    if (isOpen) {
      const differs = (of: (options: CollectionOptions) => unknown): boolean =>
        JSON.stringify(of(chosen)) !== JSON.stringify(of(known ?? {}))
      if (differs(({ index }) => this.#indexOr(index))) throw openWithOther(name, 'index')
      if (differs(({ autoRebuild = this.#autoRebuild }) => autoRebuildOptions(autoRebuild) ?? false)) {
        throw openWithOther(name, 'autoRebuild')
      }
    }
    this.#chosenOptions.set(name, chosen)
  }

  /** Creates a collection that is not in the catalog. @throws PetalError InvalidNamespace, InvalidOptions */
  async create(name: string): Promise<OpenCollection> {
    return this.open(name, await this.#catalog.create(name, await this.#newTraits(name)))
  }

  /**
   * Reserves a collection to be filled before it gets a name, with the traits of the collection of this name, or of a
   * new one.
   * @throws PetalError InvalidNamespace, InvalidOptions
   */
  async reserve(name: string): Promise<CatalogEntry> {
    const known = this.#catalog.entry(name)
    if (known === undefined) return this.#catalog.reserve(await this.#newTraits(name))
    const { number: _, ...traits } = known
    return this.#catalog.reserve(traits)
  }

  /**
   * Opens a reserved collection, without change streams.
   * @param model the collection it will replace, if any: segment size and hash stay the same
   */
  openReserved(name: string, entry: CatalogEntry, model: OpenCollection | undefined): Promise<OpenCollection> {
    const { segmentDocuments: segmentBits, hash } = model?.indexTuning ?? {}
    const shape = segmentBits === undefined || hash === undefined ? {} : { segmentBits, hash }
    return this.#open(name, entry, new ChangeFeed(name), { ...this.#indexOptions(name), ...shape })
  }

  /** @throws PetalError InvalidOptions if the collection's ids differ from those chosen for the name */
  assertChosenIds(name: string, { ids }: CatalogEntry): void {
    assertSameIds(name, ids, this.#chosenOptions.get(name)?.ids)
  }

  /** Makes a reserved collection, filled and closed, replace the one of this name. */
  async install(name: string, entry: CatalogEntry): Promise<void> {
    await this.#catalog.install(name, entry)
    this.#feeds.dropped(name)
  }

  /** Renames a closed collection, replacing one of the new name; options chosen for the old name also apply to the new. */
  async rename(from: string, to: string): Promise<void> {
    const replaces = this.#catalog.entry(to) !== undefined
    await this.#catalog.rename(from, to)
    const chosen = this.#chosenOptions.get(from)
    if (chosen !== undefined && !this.#chosenOptions.has(to)) this.#chosenOptions.set(to, chosen)
    if (replaces) this.#feeds.dropped(to)
    this.#feeds.dropped(from, to)
  }

  async open(name: string, entry: CatalogEntry): Promise<OpenCollection> {
    const feed = this.#feeds.of(name)
    feed.hold(true)
    try {
      return await this.#open(name, entry, feed, this.#indexOptions(name))
    } catch (error) {
      feed.hold(false)
      throw error
    }
  }

  async #open(name: string, entry: CatalogEntry, feed: ChangeFeed, options: IndexOptions): Promise<OpenCollection> {
    this.assertChosenIds(name, entry)
    const store = this.store(entry.number, idsOf(name, entry.ids))
    const state = await soundState(store, await store.withLoads(await this.#catalog.state(entry.number)))
    // A read-only database keeps the stored kind, since another would have to be written.
    await loadHashChoice(options.hash)
    const kind = indexKind(this.#isReadOnly ? {} : options, entry.index)
    assertIndexFor(entry.ids ?? 'table', kind)
    if (kind !== entry.index) {
      // The stored records of the other kind have missed the deletions since.
      await store.clearIndex()
      await this.#catalog.changeIndex(name, entry, kind)
    }
    const index = createIndex(kind, options, store, this.#isReadOnly)
    const indexStore = new IndexStore(this.#opened.store, entry.number)
    const declared = await DeclaredIndexes.open(name, indexStore, store.idTable, entry.declared ?? [])
    const { autoRebuild = this.#autoRebuild } = this.#chosenOptions.get(name) ?? {}
    const background = this.#isReadOnly
      ? undefined
      : { autoRebuild: autoRebuildOptions(autoRebuild), ttlIntervalSeconds: this.#ttlIntervalSeconds }
    try {
      return await OpenCollection.open({ feed, store, index, declared, state, background })
    } catch (error) {
      throw storedHashMissing(name, error) ?? error
    }
  }

  /** Returns the store of a collection's records. */
  store(number: number, ids?: ReversibleIds): CollectionStore {
    const options = {
      sync: this.#sync,
      // The caller's writes are rejected earlier; with a store that discards writes, the index may still catch up with
      // the documents.
      readOnly: this.#isReadOnly && !this.#opened.discardsWrites,
      filters: this.#opened.filters,
      ids,
      scanThreads: this.#scanThreads,
      // The cache identifies documents by ordinals, which must never be reused.
      cacheBudget: ids === undefined ? this.#cacheBudget : new DocumentCacheBudget(0)
    }
    return new CollectionStore(this.#opened.store, number, this.#catalog.stateKey(number), options)
  }

  /** Returns the traits of a collection that is not in the catalog. */
  async #newTraits(name: string): Promise<CollectionTraits> {
    checkNewCollectionName(name)
    const options = this.#indexOptions(name)
    await loadHashChoice(options.hash)
    const index = indexKind(options, undefined)
    const ids = newHeader(this.#chosenOptions.get(name)?.ids ?? this.#ids)
    assertIndexFor(ids ?? 'table', index)
    return { index, ...(ids && { ids }) }
  }

  #indexOptions(name: string): IndexOptions {
    return this.#indexOr(this.#chosenOptions.get(name)?.index)
  }

  #indexOr(index: CollectionOptions['index']): IndexOptions {
    return index === undefined ? this.#index : indexOptions(index)
  }
}

function openWithOther(name: string, option: string): PetalError {
  return new PetalError('InvalidOptions', `The collection '${name}' is already open with a different ${option}`, {
    details: { option }
  })
}

/**
 * Explains that the hash of a stored index cannot be loaded (a requested hash has been loaded before); undefined for
 * other errors.
 */
function storedHashMissing(collection: string, error: unknown): PetalError | undefined {
  if (!(error instanceof PetalError) || error.details.option !== 'hash') return undefined
  const { value: stored } = error.details
  const { cause } = error
  const reason = cause instanceof Error ? cause.message : error.message
  return new PetalError(
    'CommandNotSupported',
    `The index of the collection '${collection}' was built with hash: '${String(stored)}', but the package ${String(stored)} cannot ` +
      `be loaded: ${reason}; install it, or open with index: { hash: 'murmur' }, which rebuilds the index`,
    { cause, details: { option: 'hash', stored, collection } }
  )
}
