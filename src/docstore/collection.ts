/**
 * A collection, as its users see it: MongoDB's names and shapes over finds, counts and mutations.
 */
import { PetalError } from '../model/errors.ts'
import { encodeKey } from '../model/key.ts'
import type { Document } from '../model/types.ts'
import { compileProjection } from '../query/projection.ts'
import { compileReplacement, compileUpdate, type Update } from '../query/update/update.ts'
import { documentFromFilter } from '../query/update/upsert.ts'
import type { IndexStats } from '../sharded-bloom/document-index.ts'
import { type RebuildReason, rebuildReason } from '../sharded-bloom/rebuild/policy.ts'
import type { TuneResult } from '../sharded-bloom/tune/tune-result.ts'
import type { Collections } from './collections.ts'
import { decodeRecord } from './documents/record.ts'
import { assertDocument } from './documents/stored-form.ts'
import type { ImportOptions, ImportResult, LineSource } from './import/import-lines.ts'
import { createIndex, dropIndex } from './indexes/create-index.ts'
import { type CreateIndexOptions, describeIndex, type IndexDescription, type IndexSpec } from './indexes/definition.ts'
import { indexNotFound } from './indexes/errors.ts'
import type { RebuildOptions, RebuildResult } from './jobs/rebuild-job.ts'
import { type TuneOptions, tuneCollection } from './jobs/tune.ts'
import type { OpenCollection } from './open-collection.ts'
import { noIndex } from './open-index.ts'
import type { CountOptions, FindOptions, ReadOptions, SortSpec } from './options.ts'
import { countFound } from './read/count.ts'
import { FindCursor } from './read/cursor.ts'
import { DistinctValues } from './read/distinct.ts'
import { compileFind, FindRun } from './read/find.ts'
import type { BulkWriteResult, DeleteResult, InsertManyResult, InsertOneResult, UpdateResult } from './results.ts'
import { type BulkWriteOperation, bulkWrite } from './write/bulk-write.ts'
import { type DocumentSource, type InsertManyOptions, insertMany } from './write/insert-many.ts'
import { remove, update } from './write/mutate.ts'

/** A filter in MongoDB's query language. */
export type Filter = Readonly<Record<string, unknown>>
/** Update operators; see compileUpdate for those understood. */
export type UpdateSpec = Readonly<Record<string, unknown>>

export interface UpdateOptions extends ReadOptions {
  /** Insert a document when none matches. Default false. */
  readonly upsert?: boolean
  readonly arrayFilters?: readonly Document[]
}

export interface FindOneAndDeleteOptions extends ReadOptions {
  readonly sort?: SortSpec
  readonly projection?: Readonly<Record<string, unknown>>
}

export interface FindOneAndUpdateOptions extends FindOneAndDeleteOptions {
  readonly upsert?: boolean
  readonly arrayFilters?: readonly Document[]
  /** Which version to return. Default `'before'`. */
  readonly returnDocument?: 'before' | 'after'
}

export interface CollectionIndex {
  stats(): Promise<IndexStats>

  /**
   * Predicts what other parameters of the index would cost and find, builds the likely ones over a sample of the
   * documents, asks them the queries, and takes the best. The choice is kept: segments to come get their parameters by
   * it, and all of them when the index is built again. What `open()` was told to use stays as it was told.
   * See docs/tuning.md.
   * @throws PetalError NamespaceNotFound, IllegalOperation for fewer than 256 documents, InvalidOptions; AbortedError
   * @example
   * const { choices, taken, reason } = await db.index.tune({ queries: [{ lang: 'en' }], targetFpr: 1e-5, dryRun: true })
   * console.log(reason, choices[taken].measured.bytesPerDocument)
   */
  tune(options?: TuneOptions): Promise<TuneResult>

  /**
   * Builds the index again from the documents, while reads and writes go on: what was deleted or replaced costs nothing
   * any more, small segments become large ones, and parameters are those that tune() chose, for the documents there are
   * now. Until the end the index is what it was, whatever happens; closing the database ends the rebuild.
   * @throws PetalError NamespaceNotFound, IllegalOperation while it is being built, or without an index; AbortedError
   * @example
   * await db.index.rebuild({ onProgress: ({ documents, total }) => console.log(`${documents} of ${total}`) })
   */
  rebuild(options?: RebuildOptions): Promise<RebuildResult>

  /** Why a rebuild would pay: many dead documents, many small segments; undefined when it would not. */
  rebuildReason(): Promise<RebuildReason | undefined>
}

/**
 * @example
 * const tweets = db.collection('tweets')
 * await tweets.insertOne({ lang: 'en', text: 'hello' })
 * await tweets.find({ lang: 'en' }).toArray()
 */
export class Collection<T extends object = Document> {
  readonly collectionName: string
  /** The collection's index. */
  readonly index: CollectionIndex
  readonly #collections: Collections

  /** Collections come from Database.collection(). */
  constructor(collections: Collections, name: string) {
    this.collectionName = name
    this.#collections = collections
    this.index = {
      stats: async () => (await collections.reading(name))?.indexStats() ?? noIndex,
      tune: async (options = {}) => {
        const collection = await collections.reading(name)
        if (collection === undefined) throw noCollection(name)
        return options.dryRun === true
          ? tuneCollection(collection, options)
          : collections.write(name, (writable) => tuneCollection(writable, options))
      },
      rebuild: async (options = {}) => {
        if ((await collections.reading(name)) === undefined) throw noCollection(name)
        // Closing does not wait for the rebuild as it does for writes: it ends it.
        const { done } = await collections.write(name, async (writable) => ({ done: writable.rebuildIndex(options) }))
        return done
      },
      rebuildReason: async () => {
        const collection = await collections.reading(name)
        const tuning = collection?.indexTuning
        return collection && tuning && rebuildReason(collection.indexStats(), tuning.segmentDocuments)
      }
    }
  }

  /** Inserts one document; gives it an `_id` if it has none. @throws PetalError DuplicateKey, BadValue, DocumentTooLarge */
  async insertOne(document: T): Promise<InsertOneResult> {
    const given: unknown = document
    assertDocument(given)
    return { acknowledged: true, insertedId: await this.#write(({ writer }) => writer.insertOne(given)) }
  }

  /**
   * Inserts documents as they come: the source may be larger than memory.
   * @throws BulkWriteError when documents are refused; with `ordered: false` all others are inserted
   */
  async insertMany(
    documents: Iterable<T> | AsyncIterable<T>,
    options: InsertManyOptions = {}
  ): Promise<InsertManyResult> {
    return this.#write((collection) => insertMany(collection, documents as DocumentSource, options))
  }

  /**
   * Imports newline-delimited JSON, relaxed or canonical Extended JSON among it, as it comes: the source may be larger
   * than memory. Faster than parsing and insertMany: most lines are indexed and stored as the bytes they are.
   * @param source bytes of UTF-8, cut anywhere
   * @throws BadLine with `strict`, for the first line that cannot be imported; AbortedError
   * @example
   * const { insertedCount } = await db.importLines(createReadStream('tweets.ndjson'), {
   *   onSkipped: ({ line, message }) => console.error(line, message)
   * })
   */
  async importLines(source: LineSource, options: ImportOptions = {}): Promise<ImportResult> {
    // Loaded here and not above: it needs Node's own UTF-8 check.
    const { checkImport, importLines } = await import('./import/import-lines.ts')
    checkImport(source, options)
    return this.#write((collection) => importLines(collection, source, options))
  }

  /** Nothing is read before the cursor is. A malformed filter fails the first pull. */
  find(filter: Filter = {}, options: FindOptions = {}): FindCursor<T> {
    return new FindCursor<T>(() => this.#collections.reading(this.collectionName), filter, options)
  }

  /** The first match; null when there is none. */
  async findOne(filter: Filter = {}, options: FindOptions = {}): Promise<T | null> {
    const oneOf = { ...options, limit: 1 }
    const find = compileFind(filter, oneOf)
    const opening = this.#collections.reading(this.collectionName)
    const collection = opening instanceof Promise ? await opening : opening
    if (collection === undefined) return null
    const run = new FindRun(collection, find, oneOf)
    const pulled = run.next()
    const slice = pulled instanceof Promise ? await pulled : pulled
    run.close()
    return (slice?.[0] as T | undefined) ?? null
  }

  /** The document with this `_id`; undefined when there is none. */
  async get(id: unknown): Promise<T | undefined> {
    return (await this.getMany([id]))[0]
  }

  /** Documents by `_id`, in the order of the ids; undefined where there is none. */
  async getMany(ids: readonly unknown[]): Promise<(T | undefined)[]> {
    const keys = ids.map(encodeKey)
    const opening = this.#collections.reading(this.collectionName)
    const collection = opening instanceof Promise ? await opening : opening
    if (collection === undefined) return ids.map(() => undefined)
    const records = collection.recordsOf(keys)
    return (records instanceof Promise ? await records : records).map((record) =>
      record === undefined ? undefined : (decodeRecord(record) as T)
    )
  }

  async countDocuments(filter: Filter = {}, options: CountOptions = {}): Promise<number> {
    return countFound(await this.#collections.reading(this.collectionName), filter, options)
  }

  /** The number of documents, from the collection's counter. */
  async estimatedDocumentCount(): Promise<number> {
    return (await this.#collections.reading(this.collectionName))?.state.documents ?? 0
  }

  /** The different values on a path among the matches, elements of arrays one by one, in order. */
  async distinct(path: string, filter: Filter = {}, options: ReadOptions = {}): Promise<unknown[]> {
    const values = new DistinctValues(path)
    for await (const document of this.find(filter, options)) values.add(document as Document)
    return values.toArray()
  }

  updateOne(filter: Filter, spec: UpdateSpec, options: UpdateOptions = {}): Promise<UpdateResult> {
    return this.#updateUpTo(1, filter, () => compileUpdate(spec, updateOptions(filter, options)), options)
  }

  /** Changes every document that matches when the update starts, each once. */
  updateMany(filter: Filter, spec: UpdateSpec, options: UpdateOptions = {}): Promise<UpdateResult> {
    return this.#updateUpTo(0, filter, () => compileUpdate(spec, updateOptions(filter, options)), options)
  }

  replaceOne(
    filter: Filter,
    replacement: T | Omit<T, '_id'>,
    options: Omit<UpdateOptions, 'arrayFilters'> = {}
  ): Promise<UpdateResult> {
    return this.#updateUpTo(1, filter, () => compileReplacement(replacement), options)
  }

  deleteOne(filter: Filter, options: ReadOptions = {}): Promise<DeleteResult> {
    return this.#deleteUpTo(1, filter, options)
  }

  deleteMany(filter: Filter, options: ReadOptions = {}): Promise<DeleteResult> {
    return this.#deleteUpTo(0, filter, options)
  }

  /** Runs writes one after the other. @throws BulkWriteError when some are refused */
  bulkWrite(
    operations: readonly BulkWriteOperation<T>[],
    options: { readonly ordered?: boolean } = {}
  ): Promise<BulkWriteResult> {
    return bulkWrite(this, operations, options)
  }

  /** Changes the first match; returns it, or null when none matched. */
  findOneAndUpdate(filter: Filter, spec: UpdateSpec, options: FindOneAndUpdateOptions = {}): Promise<T | null> {
    return this.#findOneAndChange(filter, () => compileUpdate(spec, updateOptions(filter, options)), options)
  }

  findOneAndReplace(
    filter: Filter,
    replacement: T | Omit<T, '_id'>,
    options: FindOneAndUpdateOptions = {}
  ): Promise<T | null> {
    return this.#findOneAndChange(filter, () => compileReplacement(replacement), options)
  }

  async findOneAndDelete(filter: Filter, options: FindOneAndDeleteOptions = {}): Promise<T | null> {
    const find = compileFind(required(filter), oneOf(options))
    const project = compileProjection(options.projection)
    const { first } = await this.#write((collection) => remove(collection, find, options))
    return first === undefined ? null : (project(first) as T)
  }

  /**
   * Declares an index: an exact one, over the fields it names, in their order. No question needs it; it serves for
   * uniqueness, and for sorting and ranges without reading more than is returned. Reads and writes go on while it is
   * built. Harmless when repeated.
   * @returns the index's name
   * @throws PetalError DuplicateKey when documents share a unique key, CannotIndexParallelArrays, IndexOptionsConflict,
   *   IndexKeySpecsConflict, BadValue; AbortedError. Nothing of the index then stays.
   * @example
   * await db.createIndex({ 'user.id': 1, at: -1 })
   * await db.createIndex({ email: 1 }, { unique: true, sparse: true })
   */
  createIndex(spec: IndexSpec, options: CreateIndexOptions = {}): Promise<string> {
    return this.#collections.alter(this.collectionName, (collection, catalog) =>
      createIndex(collection, catalog, spec, options)
    )
  }

  /** Deletes a declared index, told by its name or its key pattern. @throws PetalError IndexNotFound */
  async dropIndex(index: IndexSpec): Promise<void> {
    if (this.#collections.declared(this.collectionName).length === 0) throw indexNotFound(index)
    return this.#collections.alter(this.collectionName, (collection, catalog) => dropIndex(collection, catalog, index))
  }

  /** The declared indexes. The list is at hand; toArray() is for code written against a driver. */
  listIndexes(): readonly IndexDescription[] & { toArray(): Promise<IndexDescription[]> } {
    const list = this.#collections.declared(this.collectionName).map(describeIndex)
    return Object.assign([...list], { toArray: async () => list })
  }

  #write<R>(use: (collection: OpenCollection) => Promise<R>): Promise<R> {
    return this.#collections.write(this.collectionName, use)
  }

  async #updateUpTo(
    limit: number,
    filter: Filter,
    compile: () => Update,
    options: UpdateOptions
  ): Promise<UpdateResult> {
    const find = compileFind(required(filter), { ...options, limit })
    const request = { find, change: compile(), upsertSeed: upsertSeed(filter, options), options }
    const updated = await this.#write((collection) => update(collection, request))
    return {
      acknowledged: true,
      matchedCount: updated.matched,
      modifiedCount: updated.modified,
      upsertedCount: updated.hasUpserted ? 1 : 0,
      upsertedId: updated.upsertedId
    }
  }

  async #deleteUpTo(limit: number, filter: Filter, options: ReadOptions): Promise<DeleteResult> {
    const find = compileFind(required(filter), { ...options, limit })
    const { deleted } = await this.#write((collection) => remove(collection, find, options))
    return { acknowledged: true, deletedCount: deleted }
  }

  async #findOneAndChange(filter: Filter, compile: () => Update, options: FindOneAndUpdateOptions): Promise<T | null> {
    const find = compileFind(required(filter), oneOf(options))
    const project = compileProjection(options.projection)
    const request = { find, change: compile(), upsertSeed: upsertSeed(filter, options), options }
    const updated = await this.#write((collection) => update(collection, request))
    const document = options.returnDocument === 'after' ? updated.after : updated.before
    return document === undefined ? null : (project(document) as T)
  }
}

function noCollection(name: string): PetalError {
  return new PetalError('NamespaceNotFound', `There is no collection '${name}'`)
}

/** A write says what it is for: a variable that happens to be undefined must not change every document. */
function required(filter: Filter | null | undefined): Filter {
  if (filter !== undefined && filter !== null) return filter
  throw new PetalError('BadValue', `A write needs a filter, got ${filter}; {} stands for every document`)
}

function oneOf({ sort, signal, maxTimeMS, hint }: FindOneAndDeleteOptions): FindOptions {
  return {
    limit: 1,
    ...(sort !== undefined && { sort }),
    ...(signal && { signal }),
    ...(maxTimeMS !== undefined && { maxTimeMS }),
    ...(hint && { hint })
  }
}

function updateOptions(filter: Filter, { arrayFilters }: UpdateOptions) {
  return arrayFilters === undefined ? { filter } : { filter, arrayFilters }
}

/** Made now, while the filter is as it was given; what is wrong with it matters only when nothing matches. */
function upsertSeed(filter: Filter, { upsert }: UpdateOptions): (() => Document) | undefined {
  if (upsert !== true) return undefined
  try {
    const seed = documentFromFilter(filter)
    return () => seed
  } catch (error) {
    return () => {
      throw error
    }
  }
}
