/** Copies a database into a new one, collection by collection: to change the store, or to drop accumulated garbage. */
import { PetalError, throwIfAborted } from '../../model/errors.ts'
import { shown } from '../../model/invalid-option.ts'
import type { Document } from '../../model/types.ts'
import type { Collection } from '../collection.ts'
import type { Database } from '../database.ts'
import type { IdsOption } from '../ids/ids-option.ts'
import type { Known } from '../known-options.ts'
import { open } from '../open.ts'
import { assertOptions } from '../option-checks.ts'
import type { IndexKind, StoreName } from '../options.ts'
import { checkNewCollectionName } from '../store/collection-name.ts'
import { absolutePath, assertPath } from '../store/location.ts'
import { fillNewDirectory } from './new-directory.ts'
import { ProgressReporter } from './progress-reporter.ts'

/** Options of copyDatabase(). */
export interface CopyOptions {
  /** Aborts copying with an AbortedError; a target directory does not appear. */
  readonly signal?: AbortSignal | undefined
  /** Called from time to time. */
  readonly onProgress?: ((progress: CopyProgress) => void) | undefined
  /** Storage engine of the new database if the target is a path. Default `lsm`. */
  readonly store?: Exclude<StoreName, 'memory'> | undefined
}

const knownCopyOptions = { signal: true, onProgress: true, store: true } satisfies Known<CopyOptions>

/** Progress of copyDatabase(). */
export interface CopyProgress {
  /** Name of the collection being copied. */
  readonly collection: string
  /** Documents copied so far, and the total, over all collections. */
  readonly documents: number
  readonly totalDocuments: number
}

/** Result of copyDatabase(): how many collections and documents were copied. */
export interface CopyResult {
  readonly collections: number
  readonly documents: number
}

const batchBytes = 4 * 1024 * 1024
const maxBatchDocuments = 1000

/**
 * Copies every collection: its documents in their order, its kinds of index and ids, and its declared indexes. Each
 * collection is copied as of when its copy starts. Reversible ids get a key of their own, and with it another order.
 * @param target path of a directory that does not exist or is empty: it appears once the copy is complete and durable.
 *   Or an open database without documents: if copying fails, it keeps what was copied.
 * @throws PetalError DatabaseExists for a path that is taken, IllegalOperation for a database that is not empty,
 *   InvalidNamespace for a collection with a reserved name, which has to be renamed before; nothing is written then.
 *   BadValue, StoreFailure, DataCorruption when the copy does not hold as many documents as were read; AbortedError
 * @example
 * await using source = await open('./tweets.db', { readOnly: true })
 * await copyDatabase(source, './copy.db', { store: 'level' })
 */
export async function copyDatabase(
  source: Database<object>,
  target: Database<object> | string,
  options: CopyOptions = {}
): Promise<CopyResult> {
  if (!isDatabase(source)) throw new PetalError('BadValue', 'copyDatabase() takes an open database to copy')
  assertOptions('copyDatabase', options, knownCopyOptions)
  for (const { name } of source.listCollections()) checkCopiedName(name)
  if (isDatabase(target)) return copyInto(source, target, options)
  assertPath('copyDatabase()', target)
  const { store = 'lsm', signal } = options
  if (!['lsm', 'level'].includes(store)) {
    throw new PetalError('BadValue', `The store of a copy must be 'lsm' or 'level', not ${shown(store)}`)
  }
  throwIfAborted(signal)
  const location = await absolutePath(target)
  const { collections } = await source.stats()
  const hasFilters = collections.some(({ index }) => index.kind === 'embedded')
  const reporter = new ProgressReporter(options.onProgress)
  const job = { ...options, ...(reporter.report && { onProgress: reporter.report }) }
  return createCopy(location, reporter, signal, async (create) =>
    copyInto(source, await create({ store, hasFilters }), job)
  )
}

/** A collection that an earlier version made may have a name that a new one cannot get. @throws PetalError InvalidNamespace */
function checkCopiedName(name: string): void {
  try {
    checkNewCollectionName(name)
  } catch (error) {
    const { message } = error as PetalError
    const advice = `rename it first, with renameCollection('${name}', newName)`
    throw new PetalError('InvalidNamespace', `The collection '${name}' cannot be copied; ${advice}. ${message}`, {
      cause: error,
      details: { collection: name }
    })
  }
}

interface CopyTraits {
  readonly store: Exclude<StoreName, 'memory'>
  /** Whether a collection has the embedded index. */
  readonly hasFilters: boolean
}

/**
 * Makes a database that appears complete and durable, or not at all.
 * @param fill calls the function it is given once to create the database, which is closed here
 * @param original absolute path of the database that is copied, if it may have lost its marker
 */
export async function createCopy<T>(
  location: string,
  reporter: ProgressReporter<never>,
  signal: AbortSignal | undefined,
  fill: (create: (traits: CopyTraits) => Promise<Database>) => Promise<T>,
  original?: string
): Promise<T> {
  const fillDirectory = async (directory: string): Promise<T> => {
    let copy: Database | undefined
    try {
      const result = await fill(async ({ store, hasFilters }) => {
        const values = store === 'lsm' && hasFilters
        copy = await open(directory, { store, ...(values && { lsm: { values } }) })
        return copy
      })
      await copy?.close()
      return result
    } catch (error) {
      // The copy is discarded, so an error of closing it does not matter.
      await copy?.close().catch(() => undefined)
      throw error
    }
  }
  return fillNewDirectory(location, signal, fillDirectory, original).catch((error: unknown) => {
    throw reporter.failure(() => error)
  })
}

/** Not by instanceof: a program may load several copies of the library. */
function isDatabase(value: unknown): value is Database<object> {
  return typeof value === 'object' && value !== null && 'stats' in value && 'listCollections' in value
}

async function copyInto(source: Database<object>, target: Database<object>, options: CopyOptions): Promise<CopyResult> {
  const { collections, documents: totalDocuments } = await source.stats()
  if ((await target.stats()).documents > 0) {
    throw new PetalError('IllegalOperation', 'A database can only be copied into an empty one')
  }
  let documents = 0
  for (const { name, documents: count, documentBytes, index, ids } of collections) {
    const copy = new CollectionCopy(source.collection(name), collectionIn(target, name, index.kind, ids))
    const maxDocuments = Math.min(maxBatchDocuments, Math.ceil((batchBytes * count) / Math.max(1, documentBytes)))
    for await (const copied of copy.run(maxDocuments, options.signal)) {
      options.onProgress?.({ collection: name, documents: documents + copied, totalDocuments })
    }
    documents += await copy.check()
    await copy.declareIndexes(options.signal)
  }
  return { collections: collections.length, documents }
}

class CollectionCopy {
  readonly #source: Collection
  readonly #target: Collection
  #documents = 0

  constructor(source: Collection, target: Collection) {
    this.#source = source
    this.#target = target
  }

  /** Yields the number of documents copied so far. */
  async *run(batchDocuments: number, signal: AbortSignal | undefined): AsyncGenerator<number, void> {
    // Creates the collection even if there are no documents.
    let inFlight = awaitedLater(this.#target.insertMany([]))
    let batch: Document[] = []
    const found = this.#source.find({}, { sort: { $natural: 1 }, ...(signal && { signal }) })
    try {
      for await (const document of found) {
        if (batch.push(document) < batchDocuments) continue
        await inFlight
        inFlight = awaitedLater(this.#insert(batch))
        batch = []
        yield this.#documents
      }
    } finally {
      // However the copy ends, no insert may still be running; the first error takes precedence over that insert's.
      await inFlight.catch(() => undefined)
    }
    await inFlight
    await this.#insert(batch)
    yield this.#documents
  }

  /**
   * Called after the documents are copied, since building an index is faster than maintaining it, and after check(),
   * since a TTL index may delete documents.
   */
  async declareIndexes(signal: AbortSignal | undefined): Promise<void> {
    for (const { key, ...options } of this.#source.listIndexes()) {
      await this.#target.createIndex(Object.entries(key), { ...options, ...(signal && { signal }) })
    }
  }

  /** Returns the number of copied documents. @throws PetalError DataCorruption when not all of them arrived */
  async check(): Promise<number> {
    const count = await this.#target.countDocuments()
    if (count === this.#documents) return count
    throw new PetalError(
      'DataCorruption',
      `${this.#documents} documents of a collection were read, but its copy has ${count}`
    )
  }

  async #insert(batch: readonly Document[]): Promise<void> {
    this.#documents += batch.length
    await this.#target.insertMany(batch)
  }
}

/** A write may fail long before the next batch is read and waits for it: until then its error is not unhandled. */
function awaitedLater(writing: Promise<unknown>): Promise<unknown> {
  writing.catch(() => undefined)
  return writing
}

/** Falls back to the default index on a store without filters, which the embedded index needs. */
export function collectionIn(target: Database<object>, name: string, index: IndexKind, ids: IdsOption): Collection {
  try {
    return target.collection(name, { index, ids })
  } catch (error) {
    if (!(error instanceof PetalError) || error.codeName !== 'CommandNotSupported') throw error
    return target.collection(name, { index: 'sharded', ids })
  }
}
