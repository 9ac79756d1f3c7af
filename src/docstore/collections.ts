/**
 * The collections of a database: opens them on first use, drops, replaces and renames them, and closes them all.
 *
 * Invariants:
 * 1. Reading never creates a collection.
 * 2. A replacement for a collection is complete and closed when it takes the collection's place.
 */
import { PetalError } from '../model/errors.ts'
import { loadHashChoice } from '../sharded-bloom/hash-choice.ts'
import { CloseSignal } from './close-signal.ts'
import { CollectionOpener, checkOptions } from './collection-opener.ts'
import { commitFailed, fromStore, notOpen, openedReadOnly } from './errors.ts'
import type { IndexDefinition } from './indexes/definition.ts'
import { Leftovers } from './leftovers.ts'
import { OpenCollection } from './open-collection.ts'
import { OpenCollections } from './open-collections.ts'
import type { CollectionOptions, OpenOptions, Store, StoreName } from './options.ts'
import { type NewName, renameCollection } from './rename-collection.ts'
import type { Catalog } from './store/catalog.ts'
import type { CatalogEntry } from './store/catalog-records.ts'
import { placeOf } from './store/location.ts'
import { withFilters } from './store/lsm-store.ts'
import { openCatalog } from './store/open-catalog.ts'
import type { OpenedStore } from './store/open-store.ts'
import { rethrow } from './store/store-errors.ts'
import { type ChangeFeed, ChangeFeeds } from './watch/change-feed.ts'
import { WriteQueue } from './write/write-queue.ts'

export class Collections {
  readonly closing = new CloseSignal()
  /** Tasks that take several collections, which might otherwise wait for each other. */
  readonly transactions = new WriteQueue()
  readonly isReadOnly: boolean
  /** The path of the database, for errors; undefined if the caller opened the store. */
  readonly #location: string | undefined
  readonly #opened: OpenedStore
  readonly #catalog: Catalog
  readonly #opener: CollectionOpener
  readonly #feeds: ChangeFeeds
  readonly #leftovers: Leftovers
  readonly #open: OpenCollections
  /** Writes that have been called and have not settled. */
  readonly #writes = new Set<Promise<unknown>>()
  #closing: Promise<void> | undefined

  private constructor(
    opened: OpenedStore,
    catalog: Catalog,
    opener: CollectionOpener,
    feeds: ChangeFeeds,
    isReadOnly: boolean,
    place: string | Store
  ) {
    this.#opened = opened
    this.#catalog = catalog
    this.#opener = opener
    this.#feeds = feeds
    this.#open = new OpenCollections(async (name) => {
      const entry = catalog.entry(name)
      return entry && opener.open(name, entry)
    })
    this.#leftovers = new Leftovers(opened.store, catalog, (number) => opener.store(number))
    this.isReadOnly = isReadOnly
    this.#location = typeof place === 'string' ? place : undefined
  }

  static async open(location: string | URL | Store, options: OpenOptions): Promise<Collections> {
    const index = checkOptions(options)
    // Before anything else is awaited.
    const place = await placeOf(location, options.store)
    await loadHashChoice(index.hash)
    const { opened, catalog } = await openCatalog(place, index.kind === 'embedded' ? withFilters(options) : options)
    try {
      const feeds = new ChangeFeeds()
      const opener = new CollectionOpener(opened, catalog, options, index, feeds)
      const collections = new Collections(opened, catalog, opener, feeds, options.readOnly === true, place)
      if (options.readOnly !== true) await collections.#leftovers.deleteAll()
      return collections
    } catch (error) {
      await opened.close()
      throw fromStore(error)
    }
  }

  /** Stores the options to open a collection with. @throws PetalError InvalidOptions if it is open with others */
  setOptions(name: string, options: CollectionOptions): void {
    this.#assertOpen()
    this.#opener.setOptions(name, options, this.#open.has(name))
  }

  get store(): Store {
    this.#assertOpen()
    return this.#opened.store
  }

  /** Engine of the store; undefined if the caller opened it. */
  get storeName(): StoreName | undefined {
    this.#assertOpen()
    return this.#opened.name
  }

  get names(): readonly string[] {
    this.#assertOpen()
    return this.#catalog.names
  }

  /** The number that prefixes the collection's areas; undefined while it does not exist. */
  numberOf(name: string): number | undefined {
    this.#assertOpen()
    return this.#catalog.entry(name)?.number
  }

  /** Change feed of the collection, whether it exists or not. */
  feed(name: string): ChangeFeed {
    this.#assertOpen()
    return this.#feeds.of(name)
  }

  /** Returns the collection, or undefined if it does not exist. A promise only if it has to be opened. */
  openForRead(name: string): OpenCollection | undefined | Promise<OpenCollection | undefined> {
    this.#assertOpen()
    return this.#openExisting(name)
  }

  /**
   * Runs a write on the collection, creating it if necessary. The write is queued before anything is awaited, so that
   * writes take effect in the order of the calls; close() waits for it.
   * @param beforeCreating has to succeed before a collection is created
   */
  write<R>(
    name: string,
    use: (collection: OpenCollection) => Promise<R>,
    beforeCreating?: () => Promise<void>
  ): Promise<R> {
    const collection = this.#openForWrite(name, beforeCreating)
    return this.#track(collection instanceof Promise ? collection.then(use) : use(collection))
  }

  /**
   * Atomically replaces the contents of a collection, creating it if necessary. `fill` gets an empty collection with
   * the same options and declared indexes, which takes the place of the old one once it is filled. Until then, and
   * after any failure, nothing has changed. Readers and writers of the old collection see it as dropped.
   * @param beforeInstalling called when writes before this have ended, and once more; by throwing it keeps the old one
   * @throws errors thrown by `fill` and `beforeInstalling`; PetalError InvalidNamespace, CommandFailed
   */
  replace(
    name: string,
    fill: (collection: OpenCollection) => Promise<void>,
    beforeInstalling: () => void
  ): Promise<void> {
    this.assertWritable()
    return this.#track(this.#replace(name, fill, beforeInstalling))
  }

  /** Definitions of the indexes created by createIndex(). */
  declared(name: string): readonly IndexDefinition[] {
    this.#assertOpen()
    return this.#catalog.entry(name)?.declared ?? []
  }

  /** Like write(), for operations that also change the catalog. */
  alter<R>(name: string, use: (collection: OpenCollection, catalog: Catalog) => Promise<R>): Promise<R> {
    return this.write(name, (collection) => use(collection, this.#catalog))
  }

  /** If the collection is open, the drop is ordered before anything is awaited. @returns false if there was none */
  async drop(name: string): Promise<boolean> {
    this.assertWritable()
    const reading = this.openForRead(name)
    const collection = reading instanceof Promise ? await reading : reading
    const entry = this.#catalog.entry(name)
    if (collection === undefined || entry === undefined) return false
    const current = this.#open.get(name)
    if (current !== collection) {
      // Another call that waited for the same promise is dropping or replacing the collection.
      await current
      return this.drop(name)
    }
    await this.#open.whileClosed([name], async () => {
      await this.#catalog.drop(name)
      this.#feeds.dropped(name)
      await this.#leftovers.deleteOf(entry.number)
    })
    return true
  }

  /**
   * Renames a collection, atomically. Readers and writers of it, and of the one it replaces, see theirs as dropped.
   * @throws as renameCollection()
   */
  rename(names: NewName): Promise<void> {
    this.assertWritable()
    // In the order of the calls, unless a transaction runs.
    if (this.transactions.length > 0) return this.#track(this.transactions.run(() => this.#rename(names)))
    const renaming = this.#rename(names)
    return this.#track(this.transactions.run(() => renaming))
  }

  /** @throws PetalError IllegalOperation in a read-only database */
  assertWritable(): void {
    this.#assertOpen()
    if (this.isReadOnly) throw openedReadOnly(this.#location)
  }

  /** Waits for writes, then closes everything. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  /** Registers a write that close() has to wait for. */
  #track<R>(writing: Promise<R>): Promise<R> {
    this.#writes.add(writing)
    const forget = (): void => {
      this.#writes.delete(writing)
    }
    writing.then(forget, forget)
    return writing
  }

  async #replace(
    name: string,
    fill: (collection: OpenCollection) => Promise<void>,
    beforeInstalling: () => void
  ): Promise<void> {
    const model = await this.openForRead(name)
    const entry = await this.#opener.reserve(name)
    let before: CatalogEntry | undefined
    let isInstalling = false
    const assertInstallable = (): void => {
      before = this.#catalog.entry(name)
      assertSameIndexes(name, entry, before)
      this.#opener.assertChosenIds(name, entry)
      beforeInstalling()
    }
    try {
      await fillAndClose(await this.#opener.openReserved(name, entry, model), fill)
      let refusal: unknown
      const install = async (): Promise<void> => {
        try {
          assertInstallable()
        } catch (error) {
          // Not an error for callers that are waiting for the collection.
          refusal = error
          return
        }
        isInstalling = true
        await this.#opener.install(name, entry)
      }
      const begin = async (): Promise<{ readonly done: Promise<void> }> => {
        // Checked before callers are turned away from the old collection.
        assertInstallable()
        return { done: this.#open.whileClosed([name], install) }
      }
      // Not before the writes that were called earlier have ended: a transaction may take long, and others would wait.
      const old = this.#open.get(name)
      const { done } = await (old instanceof OpenCollection ? old.writer.exclusive(begin) : begin())
      await done
      if (refusal !== undefined) throw refusal
    } catch (error) {
      // If installing failed, the store may nevertheless contain the new entry: the next open knows which of the two to
      // delete.
      if (!isInstalling) await this.#leftovers.deleteOf(entry.number).catch(() => {})
      throw fromStore(error)
    }
    if (before !== undefined) await this.#leftovers.deleteOf(before.number).catch(rethrow)
  }

  async #rename(names: NewName): Promise<void> {
    const replaced = await renameCollection(names, this.#catalog, this.#opener, this.#open)
    if (replaced !== undefined) await this.#leftovers.deleteOf(replaced.number).catch(rethrow)
  }

  #openForWrite(name: string, beforeCreating?: () => Promise<void>): OpenCollection | Promise<OpenCollection> {
    this.assertWritable()
    // A close() that begins meanwhile waits for this write.
    if (beforeCreating !== undefined && this.#openExisting(name) === undefined)
      return beforeCreating().then(() => this.#openOrCreate(name))
    return this.#openOrCreate(name)
  }

  #openExisting(name: string): OpenCollection | undefined | Promise<OpenCollection | undefined> {
    const open = this.#open.get(name)
    if (open !== undefined) return open
    return this.#catalog.entry(name) === undefined ? undefined : this.#open.open(name)
  }

  #openOrCreate(name: string): OpenCollection | Promise<OpenCollection> {
    const open = this.#openExisting(name)
    if (open instanceof OpenCollection) return open
    const opening = open ?? this.#open.open(name, () => this.#opener.create(name))
    return opening.then((collection) => collection ?? this.#openForWrite(name))
  }

  async #close(): Promise<void> {
    this.closing.begin()
    await Promise.allSettled(this.#writes)
    const errors: unknown[] = []
    for (const opening of this.#open.values()) {
      try {
        await (await opening)?.close()
      } catch (error) {
        // An index cannot write its checkpoint in a read-only database; nothing needed to be persisted.
        if (!this.isReadOnly) errors.push(error)
      }
    }
    this.#feeds.end()
    await this.#opened.close()
    if (errors.length > 0) throw commitFailed(errors[0])
  }

  #assertOpen(): void {
    if (this.#closing !== undefined) throw notOpen()
  }
}

/** Fills a collection and closes it, even if filling fails. */
async function fillAndClose(
  collection: OpenCollection,
  fill: (collection: OpenCollection) => Promise<void>
): Promise<void> {
  try {
    await fill(collection)
  } catch (error) {
    await collection.close().catch(() => {})
    throw error
  }
  await collection.close()
}

/** @throws PetalError CommandFailed if indexes were created or dropped while the collection was being filled */
function assertSameIndexes(name: string, filled: CatalogEntry, now: CatalogEntry | undefined): void {
  const text = (entry: CatalogEntry | undefined): string => JSON.stringify(entry?.declared ?? [])
  if (text(filled) === text(now)) return
  throw new PetalError(
    'CommandFailed',
    `The indexes of the collection '${name}' were changed while it was being rewritten`
  )
}
