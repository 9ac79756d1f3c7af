/**
 * The collections of a database: opens them when first used, drops them, closes them all.
 *
 * Invariants:
 * 1. A collection is open once, however many handles name it.
 * 2. Reading never creates one.
 */
import { PetalError } from '../model/errors.ts'
import { commitFailed, notOpen } from './errors.ts'
import { assertSameIds, checkIds, type IdsOption, idsOf, newHeader } from './ids/ids-option.ts'
import type { ReversibleIds } from './ids/reversible-ids.ts'
import { DeclaredIndexes } from './indexes/declared-indexes.ts'
import type { IndexDefinition } from './indexes/definition.ts'
import { IndexStore } from './indexes/index-store.ts'
import { OpenCollection } from './open-collection.ts'
import { assertIndexFor, checkSupport, createIndex, indexKind, indexOptions } from './open-index.ts'
import {
  autoRebuildOptions,
  type CollectionOptions,
  documentCacheBytes,
  type IndexOptions,
  type OpenOptions,
  type Store,
  type StoreName
} from './options.ts'
import { Catalog, type CatalogEntry, type Clearing, checkCollectionName } from './store/catalog.ts'
import { CollectionStore } from './store/collection-store.ts'
import { withFilters } from './store/lsm-store.ts'
import { type OpenedStore, openStore } from './store/open-store.ts'

export class Collections {
  readonly #opened: OpenedStore
  readonly #catalog: Catalog
  readonly #isReadOnly: boolean
  readonly #sync: boolean
  readonly #documentCacheBytes: number
  readonly #index: IndexOptions
  readonly #autoRebuild: OpenOptions['autoRebuild']
  /** Of collections that are made. */
  readonly #ids: IdsOption
  /** Of collections that were given options of their own. */
  readonly #chosen = new Map<string, CollectionOptions>()
  /** Open ones as they are; those being opened or dropped as promises. */
  readonly #open = new Map<string, OpenCollection | Promise<OpenCollection | undefined>>()
  /** Writes that were called and have not ended. */
  readonly #writes = new Set<Promise<unknown>>()
  #closing: Promise<void> | undefined

  private constructor(opened: OpenedStore, catalog: Catalog, options: OpenOptions, index: IndexOptions) {
    this.#opened = opened
    this.#catalog = catalog
    this.#isReadOnly = options.readOnly === true
    this.#sync = options.sync === true
    this.#documentCacheBytes = documentCacheBytes(options.documentCacheBytes)
    this.#index = index
    this.#autoRebuild = options.autoRebuild
    this.#ids = options.ids ?? 'table'
  }

  static async open(location: string | Store, options: OpenOptions): Promise<Collections> {
    const index = indexOptions(options.index)
    autoRebuildOptions(options.autoRebuild)
    checkIds(options.ids ?? 'table')
    documentCacheBytes(options.documentCacheBytes)
    const { opened, catalog } = await openCatalog(location, index.kind === 'embedded' ? withFilters(options) : options)
    try {
      checkSupport(index, opened.filters !== undefined)
      const collections = new Collections(opened, catalog, options, index)
      await collections.#finishDrops()
      return collections
    } catch (error) {
      await opened.close()
      throw error
    }
  }

  /** Remembers how a collection is to be opened. @throws PetalError InvalidOptions where it is open otherwise */
  choose(name: string, options: CollectionOptions): void {
    this.#assertOpen()
    const known = this.#chosen.get(name)
    const chosen: CollectionOptions = { ...known, ...options }
    checkSupport(indexOptions(chosen.index), this.#opened.filters !== undefined)
    autoRebuildOptions(chosen.autoRebuild)
    const entry = this.#catalog.entry(name)
    if (entry === undefined) checkIds(chosen.ids ?? this.#ids)
    else assertSameIds(name, entry.ids, options.ids)
    if (this.#open.has(name)) {
      const differs = (of: (options: CollectionOptions) => unknown): boolean =>
        JSON.stringify(of(chosen)) !== JSON.stringify(of(known ?? {}))
      if (differs(({ index }) => this.#indexOr(index))) throw openOtherwise(name, 'index')
      if (differs(({ autoRebuild = this.#autoRebuild }) => autoRebuildOptions(autoRebuild) ?? false)) {
        throw openOtherwise(name, 'autoRebuild')
      }
    }
    this.#chosen.set(name, chosen)
  }

  get store(): Store {
    this.#assertOpen()
    return this.#opened.store
  }

  /** Engine of the store, undefined where the caller opened it. */
  get storeName(): StoreName | undefined {
    this.#assertOpen()
    return this.#opened.name
  }

  get names(): readonly string[] {
    this.#assertOpen()
    return this.#catalog.names
  }

  /** What names a collection's areas; undefined while it does not exist. */
  numberOf(name: string): number | undefined {
    this.#assertOpen()
    return this.#catalog.entry(name)?.number
  }

  /** The collection, undefined while it does not exist. A promise only when it has to be opened. */
  reading(name: string): OpenCollection | undefined | Promise<OpenCollection | undefined> {
    this.#assertOpen()
    const open = this.#open.get(name)
    if (open !== undefined) return open
    const entry = this.#catalog.entry(name)
    return entry === undefined ? undefined : this.#openAs(name, () => this.#openEntry(name, entry))
  }

  /**
   * Runs a write on the collection, created if need be. The write is queued before anything is awaited, so that writes
   * are decided in the order of the calls; close() waits for it.
   */
  write<R>(name: string, use: (collection: OpenCollection) => Promise<R>): Promise<R> {
    const collection = this.#writing(name)
    const writing = collection instanceof Promise ? collection.then(use) : use(collection)
    this.#writes.add(writing)
    const forget = (): void => {
      this.#writes.delete(writing)
    }
    writing.then(forget, forget)
    return writing
  }

  /** Indexes that createIndex() made. */
  declared(name: string): readonly IndexDefinition[] {
    this.#assertOpen()
    return this.#catalog.entry(name)?.declared ?? []
  }

  /** As write(), for what changes the catalog, too. */
  alter<R>(name: string, use: (collection: OpenCollection, catalog: Catalog) => Promise<R>): Promise<R> {
    return this.write(name, (collection) => use(collection, this.#catalog))
  }

  /** Decided before anything is awaited where the collection is open. @returns false when there was none */
  async drop(name: string): Promise<boolean> {
    this.assertWritable()
    const reading = this.reading(name)
    const collection = reading instanceof Promise ? await reading : reading
    const entry = this.#catalog.entry(name)
    if (collection === undefined || entry === undefined) return false
    const current = this.#open.get(name)
    if (current !== collection) {
      // Another call, which waited for the same promise, is dropping it.
      await current
      return false
    }
    await this.#openAs(name, async () => {
      try {
        await collection.close()
        await this.#catalog.drop(name)
        await this.#deleteRecords(entry.number)
        return undefined
      } catch (error) {
        throw commitFailed(error)
      }
    })
    return true
  }

  /** @throws PetalError IllegalOperation in a read-only database */
  assertWritable(): void {
    this.#assertOpen()
    if (this.#isReadOnly) throw new PetalError('IllegalOperation', 'The database was opened read-only')
  }

  /** Waits for writes, then closes everything. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  #writing(name: string): OpenCollection | Promise<OpenCollection> {
    this.assertWritable()
    const open = this.reading(name)
    if (open instanceof OpenCollection) return open
    return (open ?? this.#create(name)).then((collection) => collection ?? this.#writing(name))
  }

  #create(name: string): Promise<OpenCollection | undefined> {
    return this.#openAs(name, async () => {
      checkCollectionName(name)
      const kind = indexKind(this.#indexOptions(name), undefined)
      const ids = newHeader(this.#chosen.get(name)?.ids ?? this.#ids)
      assertIndexFor(ids, kind)
      return this.#openEntry(name, await this.#catalog.create(name, kind, ids))
    })
  }

  /** Runs what changes a collection's being open; whoever asks meanwhile waits for it. */
  #openAs(name: string, task: () => Promise<OpenCollection | undefined>): Promise<OpenCollection | undefined> {
    const opening = task().then(
      (collection) => {
        if (collection === undefined) this.#open.delete(name)
        else this.#open.set(name, collection)
        return collection
      },
      (error: unknown) => {
        this.#open.delete(name)
        throw error
      }
    )
    this.#open.set(name, opening)
    return opening
  }

  async #openEntry(name: string, entry: CatalogEntry): Promise<OpenCollection> {
    assertSameIds(name, entry.ids, this.#chosen.get(name)?.ids)
    const store = this.#collectionStore(entry.number, idsOf(name, entry.ids))
    // Another kind would have to be written.
    const options = this.#indexOptions(name)
    const kind = indexKind(this.#isReadOnly ? {} : options, entry.index)
    assertIndexFor(entry.ids, kind)
    if (kind !== entry.index) {
      // The records of the other kind have not followed the deletions since.
      await store.clearIndex()
      await this.#catalog.changeIndex(name, entry, kind)
    }
    const index = createIndex(kind, options, store, this.#isReadOnly)
    const indexStore = new IndexStore(this.#opened.store, entry.number)
    const declared = await DeclaredIndexes.open(name, indexStore, entry.declared ?? [])
    const { autoRebuild = this.#autoRebuild } = this.#chosen.get(name) ?? {}
    const rebuilding = this.#isReadOnly ? undefined : autoRebuildOptions(autoRebuild)
    return OpenCollection.open(name, store, index, declared, await this.#catalog.state(entry.number), rebuilding)
  }

  #indexOptions(name: string): IndexOptions {
    return this.#indexOr(this.#chosen.get(name)?.index)
  }

  #indexOr(index: CollectionOptions['index']): IndexOptions {
    return index === undefined ? this.#index : indexOptions(index)
  }

  #collectionStore(number: number, ids?: ReversibleIds): CollectionStore {
    const options = {
      sync: this.#sync,
      readOnly: this.#isReadOnly,
      filters: this.#opened.filters,
      ids,
      // It knows documents by ordinals that are never used again.
      documentCacheBytes: ids === undefined ? this.#documentCacheBytes : 0
    }
    return new CollectionStore(this.#opened.store, number, this.#catalog.stateKey(number), options)
  }

  async #finishDrops(): Promise<void> {
    if (this.#isReadOnly) return
    for (const number of await this.#catalog.dropped()) await this.#deleteRecords(number)
    await this.#finishClearings(() => true)
  }

  /** Deletes what is left of declared indexes that were dropped, or whose building was interrupted. */
  async #finishClearings(isWanted: (clearing: Clearing) => boolean): Promise<void> {
    for (const clearing of await this.#catalog.clearings()) {
      if (!isWanted(clearing)) continue
      const store = new IndexStore(this.#opened.store, clearing.number)
      await store.clear(store.area(clearing.id))
      await this.#catalog.finishClearing(clearing)
    }
  }

  async #deleteRecords(number: number): Promise<void> {
    await this.#finishClearings((clearing) => clearing.number === number)
    await this.#collectionStore(number).clear()
    await this.#catalog.finishDrop(number)
  }

  async #close(): Promise<void> {
    await Promise.allSettled(this.#writes)
    const errors: unknown[] = []
    for (const opening of this.#open.values()) {
      try {
        await (await opening)?.close()
      } catch (error) {
        // An index cannot leave a checkpoint in a read-only database; nothing of it was to be kept.
        if (!this.#isReadOnly) errors.push(error)
      }
    }
    await this.#opened.close()
    if (errors.length > 0) throw commitFailed(errors[0])
  }

  #assertOpen(): void {
    if (this.#closing !== undefined) throw notOpen('The database')
  }
}

function openOtherwise(name: string, option: string): PetalError {
  return new PetalError('InvalidOptions', `The collection '${name}' is open with another ${option}`, {
    details: { option }
  })
}

/** The store and what it says it holds: opened with filters where a collection has no index but them. */
async function openCatalog(
  location: string | Store,
  options: OpenOptions
): Promise<{ readonly opened: OpenedStore; readonly catalog: Catalog }> {
  const opened = await openStore(location, options)
  try {
    const catalog = await Catalog.open(opened.store)
    const isMissing = opened.filters === undefined && opened.couldHaveFilters && options.lsm?.values === undefined
    if (!isMissing || !catalog.hasIndex('embedded')) return { opened, catalog }
  } catch (error) {
    await opened.close()
    throw error
  }
  await opened.close()
  return openCatalog(location, withFilters(options))
}
