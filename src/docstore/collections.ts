/**
 * The collections of a database: opens them when first used, drops them, closes them all.
 *
 * Invariants:
 * 1. A collection is open once, however many handles name it.
 * 2. Reading never creates one.
 * 3. What takes the place of a collection is whole and closed when it does.
 */
import { PetalError } from '../model/errors.ts'
import { loadHashChoice } from '../sharded-bloom/hash-choice.ts'
import { Closing } from './closing.ts'
import { CollectionOpener, checkOptions } from './collection-opener.ts'
import { commitFailed, fromStore, notOpen } from './errors.ts'
import type { IndexDefinition } from './indexes/definition.ts'
import { Leftovers } from './leftovers.ts'
import { OpenCollection } from './open-collection.ts'
import { prepareIndexes } from './open-index.ts'
import type { CollectionOptions, OpenOptions, Store, StoreName } from './options.ts'
import type { Catalog, CatalogEntry } from './store/catalog.ts'
import { withFilters } from './store/lsm-store.ts'
import { openCatalog } from './store/open-catalog.ts'
import type { OpenedStore } from './store/open-store.ts'
import { rethrow } from './store/store-errors.ts'
import { type ChangeFeed, ChangeFeeds } from './watch/change-feed.ts'

export class Collections {
  readonly closing = new Closing()
  readonly #opened: OpenedStore
  readonly #catalog: Catalog
  readonly #opener: CollectionOpener
  readonly #feeds: ChangeFeeds
  readonly #leftovers: Leftovers
  readonly #isReadOnly: boolean
  /** Open ones as they are; those being opened or dropped as promises. */
  readonly #open = new Map<string, OpenCollection | Promise<OpenCollection | undefined>>()
  /** Writes that were called and have not ended. */
  readonly #writes = new Set<Promise<unknown>>()
  #closing: Promise<void> | undefined

  private constructor(
    opened: OpenedStore,
    catalog: Catalog,
    opener: CollectionOpener,
    feeds: ChangeFeeds,
    isReadOnly: boolean
  ) {
    this.#opened = opened
    this.#catalog = catalog
    this.#opener = opener
    this.#feeds = feeds
    this.#leftovers = new Leftovers(opened.store, catalog, (number) => opener.store(number))
    this.#isReadOnly = isReadOnly
  }

  static async open(location: string | URL | Store, options: OpenOptions): Promise<Collections> {
    const index = checkOptions(options)
    await loadHashChoice(index.hash)
    const { opened, catalog } = await openCatalog(location, index.kind === 'embedded' ? withFilters(options) : options)
    try {
      const feeds = new ChangeFeeds()
      const opener = new CollectionOpener(opened, catalog, options, index, feeds)
      const collections = new Collections(opened, catalog, opener, feeds, options.readOnly === true)
      if (options.readOnly !== true) {
        await collections.#leftovers.deleteAll()
        await prepareIndexes(index)
      }
      return collections
    } catch (error) {
      await opened.close()
      throw fromStore(error)
    }
  }

  /** Remembers how a collection is to be opened. @throws PetalError InvalidOptions where it is open otherwise */
  choose(name: string, options: CollectionOptions): void {
    this.#assertOpen()
    this.#opener.choose(name, options, this.#open.has(name))
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

  /** Who watches the collection, whether it exists or not. */
  feed(name: string): ChangeFeed {
    this.#assertOpen()
    return this.#feeds.of(name)
  }

  /** The collection, undefined while it does not exist. A promise only when it has to be opened. */
  reading(name: string): OpenCollection | undefined | Promise<OpenCollection | undefined> {
    this.#assertOpen()
    const open = this.#open.get(name)
    if (open !== undefined) return open
    const entry = this.#catalog.entry(name)
    return entry === undefined ? undefined : this.#openAs(name, () => this.#opener.open(name, entry))
  }

  /**
   * Runs a write on the collection, created if need be. The write is queued before anything is awaited, so that writes
   * are decided in the order of the calls; close() waits for it.
   */
  write<R>(name: string, use: (collection: OpenCollection) => Promise<R>): Promise<R> {
    const collection = this.#writing(name)
    return this.#awaited(collection instanceof Promise ? collection.then(use) : use(collection))
  }

  /**
   * Gives a collection, created if need be, another content: `fill` is given an empty one, of the same options and with the same
   * declared indexes, which takes its place when it is filled, at once. Until then, and should anything fail, nothing has changed.
   * Whoever reads or writes the collection at that moment is told as if it was dropped.
   * @throws what `fill` throws; PetalError InvalidNamespace, CommandFailed
   */
  replace(name: string, fill: (collection: OpenCollection) => Promise<void>): Promise<void> {
    this.assertWritable()
    return this.#awaited(this.#replace(name, fill))
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
      // Another call, which waited for the same promise, is dropping it, or putting another in its place.
      await current
      return this.drop(name)
    }
    await this.#closed(name, async () => {
      await this.#catalog.drop(name)
      this.#feeds.dropped(name)
      await this.#leftovers.deleteOf(entry.number)
      return undefined
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

  /** close() waits for it. */
  #awaited<R>(writing: Promise<R>): Promise<R> {
    this.#writes.add(writing)
    const forget = (): void => {
      this.#writes.delete(writing)
    }
    writing.then(forget, forget)
    return writing
  }

  async #replace(name: string, fill: (collection: OpenCollection) => Promise<void>): Promise<void> {
    const model = await this.reading(name)
    const entry = await this.#opener.reserve(name)
    let before: CatalogEntry | undefined
    let isInstalling = false
    const assertInstallable = (): void => {
      before = this.#catalog.entry(name)
      assertSameIndexes(name, entry, before)
      this.#opener.assertChosen(name, entry)
    }
    try {
      await filled(await this.#opener.openReserved(name, entry, model), fill)
      // Before others are sent away from it.
      assertInstallable()
      let refusal: unknown
      await this.#closed(name, async () => {
        try {
          assertInstallable()
        } catch (error) {
          // It is of no concern to whoever asks for the collection now.
          refusal = error
          return before && this.#opener.open(name, before)
        }
        isInstalling = true
        return this.#opener.install(name, entry)
      })
      if (refusal !== undefined) throw refusal
    } catch (error) {
      // Where installing it has failed the store may hold it all the same: the next open knows which of the two is to be deleted.
      if (!isInstalling) await this.#leftovers.deleteOf(entry.number).catch(ignore)
      throw fromStore(error)
    }
    if (before !== undefined) await this.#leftovers.deleteOf(before.number).catch(rethrow)
  }

  /** Runs what changes a collection while it is closed; whoever asks for it meanwhile gets what the task gives. */
  async #closed(name: string, task: () => Promise<OpenCollection | undefined>): Promise<void> {
    // Whoever opens or drops it comes first.
    let open = this.#open.get(name)
    for (; open instanceof Promise; open = this.#open.get(name)) await open.catch(ignore)
    const collection = open
    await this.#openAs(name, async () => {
      try {
        await collection?.close()
        return await task()
      } catch (error) {
        throw commitFailed(error)
      }
    })
  }

  #writing(name: string): OpenCollection | Promise<OpenCollection> {
    this.assertWritable()
    const open = this.reading(name)
    if (open instanceof OpenCollection) return open
    const opening = open ?? this.#openAs(name, () => this.#opener.create(name))
    return opening.then((collection) => collection ?? this.#writing(name))
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
        throw fromStore(error)
      }
    )
    this.#open.set(name, opening)
    return opening
  }

  async #close(): Promise<void> {
    this.closing.begin()
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
    this.#feeds.end()
    await this.#opened.close()
    if (errors.length > 0) throw commitFailed(errors[0])
  }

  #assertOpen(): void {
    if (this.#closing !== undefined) throw notOpen('The database')
  }
}

/** Fills a collection and closes it, whatever happens. */
async function filled(collection: OpenCollection, fill: (collection: OpenCollection) => Promise<void>): Promise<void> {
  try {
    await fill(collection)
  } catch (error) {
    await collection.close().catch(ignore)
    throw error
  }
  await collection.close()
}

/** @throws PetalError CommandFailed where indexes were declared or dropped while the collection was filled */
function assertSameIndexes(name: string, filled: CatalogEntry, now: CatalogEntry | undefined): void {
  const text = (entry: CatalogEntry | undefined): string => JSON.stringify(entry?.declared ?? [])
  if (text(filled) === text(now)) return
  throw new PetalError(
    'CommandFailed',
    `The indexes of the collection '${name}' were changed while it was written anew`
  )
}

/** Whoever waits for it, or is told of another error, has it. */
function ignore(): void {}
