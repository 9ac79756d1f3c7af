/**
 * A collection with MongoDB's method names and result shapes. Reads are in readable-collection.ts; this file adds
 * writes and declared indexes.
 */
import { answered } from '../model/time-slice.ts'
import type { Document } from '../model/types.ts'
import { answerRequest } from './answer-request.ts'
import { type CollectionIndex, collectionIndex } from './collection-index.ts'
import type { Collections } from './collections.ts'
import { assertDocument } from './documents/stored-form.ts'
import { checkImport, type ImportOptions } from './import/check-import.ts'
import type { ImportResult } from './import/import-run.ts'
import type { LineSource, OpenSource } from './import/line-source.ts'
import { createIndex, createIndexes, dropIndex, dropIndexes } from './indexes/create-index.ts'
import {
  type CreateIndexesOptions,
  type CreateIndexOptions,
  checkIndexes,
  describeIndex,
  type IndexDescription,
  type IndexSpec,
  type IndexToCreate,
  knownIndexCreation,
  knownIndexesCreation
} from './indexes/definition.ts'
import { indexNotFound } from './indexes/errors.ts'
import type { OpenCollection } from './open-collection.ts'
import { assertOptions } from './option-checks.ts'
import type { NoOptions } from './options.ts'
import { ReadableCollection } from './readable-collection.ts'
import { checkRename, type RenameOptions } from './rename-collection.ts'
import type { InsertManyResult, InsertOneResult } from './results.ts'
import type { Catalog } from './store/catalog.ts'
import { checkNewCollectionName } from './store/collection-name.ts'
import type { IdOf, MayHaveId } from './types/documents.ts'
import { bulkWrite, onCollection } from './write/bulk-write.ts'
import { checkInsertMany, type DocumentSource, type InsertManyOptions, insertMany } from './write/insert-many.ts'
import { remove, update } from './write/mutate.ts'

/**
 * A handle to a collection. Besides what they tell, calls throw DatabaseNotOpen once the database is closed, and those that
 * write IllegalOperation if it is read-only.
 * @example
 * const tweets = db.collection('tweets')
 * await tweets.insertOne({ lang: 'en', text: 'hello' })
 * await tweets.find({ lang: 'en' }).toArray()
 */
export class Collection<out T extends object = Document> extends ReadableCollection<T> {
  /** The collection's index over all pairs. */
  readonly index: CollectionIndex
  readonly #collections: Collections

  /** Not to be called directly: use Database.collection(). */
  constructor(collections: Collections, name: string) {
    super(collections, name, {
      update: (check) => write(collections, name, check, update),
      remove: (check) => write(collections, name, check, remove),
      bulkWrite: (check) =>
        answerRequest(check, (request) =>
          collections.write(name, (opened) => bulkWrite(onCollection(opened), request), request.checkOthers)
        )
    })
    this.#collections = collections
    this.index = collectionIndex(collections, name)
  }

  /**
   * Inserts one document, generating an `_id` if it has none. @throws PetalError DuplicateKey, BadValue,
   * DocumentTooLarge
   */
  async insertOne(document: MayHaveId<T>, options: NoOptions = {}): Promise<InsertOneResult<T>> {
    assertOptions('insertOne', options, {})
    const check = (): Document => {
      const given: unknown = document
      assertDocument(given)
      return given
    }
    const insert = ({ writer }: OpenCollection, given: Document): Promise<unknown> => writer.insertOne(given)
    const insertedId = await write(this.#collections, this.collectionName, check, insert)
    return { acknowledged: true, insertedId: insertedId as IdOf<T> }
  }

  /**
   * Inserts documents as the source yields them, so the source may be larger than memory. With processors to spare,
   * worker threads share the work of a long insert (`threads`). If the source throws, or yields something that is not
   * an object, which ends an unordered insert too, the documents it had yielded by then are inserted.
   * @param documents an `_id` is generated for those without one
   * @throws BulkWriteError when documents are rejected; with `ordered: false` all others are inserted; AbortedError
   * @example
   * const { insertedCount } = await db.insertMany([{ lang: 'en' }, { lang: 'de' }])
   */
  async insertMany(
    documents: Iterable<MayHaveId<T>> | AsyncIterable<MayHaveId<T>>,
    options: InsertManyOptions = {}
  ): Promise<InsertManyResult<T>> {
    checkInsertMany(options)
    const { closing } = this.#collections
    const source = documents as DocumentSource
    const inserted = await this.#write((collection) => insertMany(collection, source, options, closing))
    return inserted as InsertManyResult<T>
  }

  /**
   * Imports newline-delimited JSON, including relaxed or canonical Extended JSON, from a file or as a source yields it,
   * so it may be larger than memory. Faster than parsing and insertMany(): most lines are indexed and stored as raw
   * bytes, and with processors to spare, worker threads take load off the calling thread in a long import (`threads`).
   * @param source path or `file:` URL of a file, or UTF-8 bytes, split anywhere
   * @throws BadLine with `strict`, for the first line that cannot be imported; FileStreamFailed for a file that cannot
   *   be read, BadValue for a compressed one; AbortedError
   * @example
   * const { insertedCount } = await db.importLines('tweets.ndjson', {
   *   onSkipped: ({ message }) => console.error(message)
   * })
   */
  async importLines(source: LineSource, options: ImportOptions = {}): Promise<ImportResult> {
    checkImport(source, options)
    const { closing } = this.#collections
    // Imported lazily because it needs Node's files and UTF-8 check; inside the write, so that close() waits for it.
    const module = (): Promise<typeof import('./import/import-lines.ts')> => import('./import/import-lines.ts')
    let opening: Promise<OpenSource> | undefined
    const opened = (): Promise<OpenSource> => {
      opening ??= module().then(({ openSource }) => openSource(source))
      return opening
    }
    const use = async (collection: OpenCollection): Promise<ImportResult> =>
      (await module()).importLines(collection, await opened(), options, closing)
    try {
      // A mistyped path leaves no collection behind.
      return await this.#write(use, async () => void (await opened()))
    } finally {
      const end = ({ close }: OpenSource): void => close()
      opening?.then(end, () => {})
    }
  }

  /**
   * Creates a declared index: an exact, ordered index over the given fields. No query needs one; it enforces
   * uniqueness, and serves sorts and ranges without reading more documents than are returned. Reads and writes continue
   * while it is built. Creating an existing index has no effect; if it is still being built, the call waits for that
   * build.
   * @returns the name of the index
   * @throws PetalError DuplicateKey when documents share a unique key, CannotIndexParallelArrays, IndexOptionsConflict,
   *   IndexKeySpecsConflict, CannotCreateIndex and InvalidIndexSpecificationOption for `expireAfterSeconds`, BadValue;
   *   AbortedError. A failed build leaves nothing behind.
   * @example
   * await db.createIndex({ 'user.id': 1, at: -1 })
   * await db.createIndex({ email: 1 }, { unique: true, sparse: true })
   * await db.createIndex({ seenAt: 1 }, { expireAfterSeconds: 3600 })
   */
  async createIndex(spec: IndexSpec, options: CreateIndexOptions = {}): Promise<string> {
    assertOptions('createIndex', options, knownIndexCreation)
    return this.#alter((collection, catalog) => createIndex(collection, catalog, spec, options))
  }

  /**
   * Declares several indexes, one after the other.
   * @returns their names
   * @throws as createIndex(). Malformed specifications are rejected before any index is built; if one cannot be built,
   *   those before it remain
   * @example
   * await db.createIndexes([
   *   { key: { email: 1 }, unique: true, sparse: true },
   *   { key: { seenAt: 1 }, expireAfterSeconds: 3600 }
   * ])
   */
  async createIndexes(indexes: readonly IndexToCreate[], options: CreateIndexesOptions = {}): Promise<string[]> {
    assertOptions('createIndexes', options, knownIndexesCreation)
    checkIndexes(indexes)
    return this.#alter((collection, catalog) => createIndexes(collection, catalog, indexes, options))
  }

  /** Drops a declared index, given its name or key pattern. @throws PetalError IndexNotFound */
  async dropIndex(index: IndexSpec, options: NoOptions = {}): Promise<void> {
    await answered(async () => {
      assertOptions('dropIndex', options, {})
      if (this.#collections.declared(this.collectionName).length === 0) throw indexNotFound(index)
      await this.#collections.alter(this.collectionName, (open, catalog) => dropIndex(open, catalog, index))
    })
  }

  /** Drops all declared indexes. */
  async dropIndexes(options: NoOptions = {}): Promise<void> {
    await answered(async () => {
      assertOptions('dropIndexes', options, {})
      this.#collections.assertWritable()
      if (this.#collections.declared(this.collectionName).length === 0) return
      await this.#collections.alter(this.collectionName, dropIndexes)
    })
  }

  /**
   * Lists the declared indexes. The list is returned synchronously; toArray() is for code written for MongoDB's driver.
   */
  listIndexes(options: NoOptions = {}): readonly IndexDescription[] & { toArray(): Promise<IndexDescription[]> } {
    assertOptions('listIndexes', options, {})
    const list = this.#collections.declared(this.collectionName).map(describeIndex)
    return Object.assign([...list], { toArray: async () => list })
  }

  /** The list of listIndexes(), as a promise. */
  async indexes(options: NoOptions = {}): Promise<IndexDescription[]> {
    assertOptions('indexes', options, {})
    return this.listIndexes().toArray()
  }

  /**
   * Drops the collection with everything in it, like dropCollection() of the database; the next write creates it again.
   * Called on a database, it drops the default collection.
   * @returns false if the collection did not exist
   */
  async drop(options: NoOptions = {}): Promise<boolean> {
    return answered(() => {
      assertOptions('drop', options, {})
      return this.#collections.drop(this.collectionName)
    })
  }

  /**
   * Renames the collection, atomically, with its documents and indexes; open cursors over it fail. This handle keeps the
   * old name.
   * @returns a handle to the collection under its new name
   * @throws PetalError NamespaceNotFound, NamespaceExists, InvalidNamespace, InvalidOptions; IllegalOperation for the
   *   name it already has, and in a read-only database
   * @example
   * await db.collection('orders-new').insertOne({ total: 5 })
   * const orders = await db.collection('orders-new').rename('orders', { dropTarget: true })
   */
  async rename(name: string, options: RenameOptions = {}): Promise<Collection<T>> {
    checkNewCollectionName(name)
    checkRename(options)
    await answered(() => this.#collections.rename({ from: this.collectionName, to: name, ...options }))
    return new Collection<T>(this.#collections, name)
  }

  #write<R>(use: (collection: OpenCollection) => Promise<R>, beforeCreating?: () => Promise<void>): Promise<R> {
    return write(this.#collections, this.collectionName, () => {}, use, beforeCreating)
  }

  #alter<R>(use: (collection: OpenCollection, catalog: Catalog) => Promise<R>): Promise<R> {
    return answered(() => this.#collections.alter(this.collectionName, use))
  }
}

/** @param check checks the caller's arguments, before the write is queued */
function write<Request, R>(
  collections: Collections,
  name: string,
  check: () => Request,
  use: (collection: OpenCollection, request: Request) => Promise<R>,
  beforeCreating?: () => Promise<void>
): Promise<R> {
  return answerRequest(check, (request) =>
    collections.write(name, (collection) => use(collection, request), beforeCreating)
  )
}
