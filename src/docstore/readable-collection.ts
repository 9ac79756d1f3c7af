/**
 * The read operations of a collection: find, count, distinct, aggregate and watch. Only pipelines with a final writing
 * stage write.
 */
import { PetalError } from '../model/errors.ts'
import { tryEncodeKey } from '../model/key.ts'
import { answered, deliver } from '../model/time-slice.ts'
import { type Document, describeType } from '../model/types.ts'
import { AggregationCursor } from './aggregate/cursor.ts'
import type { AggregateOptions, AggregationPipeline } from './aggregate/options.ts'
import { ChangeableCollection, type Changes } from './changeable-collection.ts'
import type { Collections } from './collections.ts'
import { assertOptions } from './option-checks.ts'
import {
  type CountOptions,
  type FindOptions,
  knownCountOptions,
  knownFindOptions,
  knownReadOptions,
  type NoOptions,
  type ReadOptions
} from './options.ts'
import { countDocuments } from './read/count.ts'
import { FindCursor } from './read/cursor.ts'
import { findDistinct } from './read/distinct.ts'
import { compileFind, FindRun, resultWithoutCollection } from './read/find.ts'
import { findById } from './read/find-by-id.ts'
import type { PathSummary } from './read/path-counts.ts'
import { summarisePaths } from './read/paths.ts'
import type { Readable } from './read/sliced-cursor.ts'
import type { DistinctValue, WithId } from './types/documents.ts'
import type { FieldOf } from './types/fields.ts'
import type { Filter, FilterArgument, IdArgument } from './types/filter.ts'
import type { ChangeEvent } from './watch/change-event.ts'
import { type ChangeStream, watchFeed } from './watch/change-stream.ts'
import type { ChangeStreamOptions } from './watch/watch-options.ts'

/**
 * The read half of a Collection, above the one that changes documents. `out`: a collection of documents of a narrower
 * type can be passed for one of a wider type. The compiler checks that, but does not infer it from filters that depend
 * on the type.
 */
export abstract class ReadableCollection<out T extends object = Document> extends ChangeableCollection<T> {
  readonly #collections: Collections
  readonly #readable: Readable

  protected constructor(collections: Collections, name: string, changes: Changes) {
    super(name, changes)
    this.#collections = collections
    this.#readable = () => collections.openForRead(name)
  }

  /**
   * Finds the documents that match a filter. Nothing is read until the first document is requested, not even the
   * filter, which must not be changed before then; an invalid filter or option fails that request.
   * @throws PetalError when the first document is requested: BadValue and other errors of the filter, MaxTimeMSExpired;
   *   AbortedError
   * @example
   * for await (const { text } of db.find({ lang: 'en', 'user.verified': true }, { limit: 10 })) console.log(text)
   */
  find(filter: FilterArgument<T> = {}, options: FindOptions = {}): FindCursor<WithId<T>> {
    const readable: Readable = () => {
      assertOptions('find', options, knownFindOptions)
      return this.#readable()
    }
    return new FindCursor<WithId<T>>(readable, filter, options)
  }

  /**
   * Returns the first match, or null if there is none.
   * @throws as find(), at this call
   * @example
   * const newest = await db.findOne({ lang: 'en' }, { sort: { at: -1 } })
   */
  async findOne(filter: FilterArgument<T> = {}, options: FindOptions = {}): Promise<WithId<T> | null> {
    try {
      assertOptions('findOne', options, knownFindOptions)
      const oneOf = { ...options, limit: 1 }
      const find = compileFind(filter, oneOf)
      const opening = this.#readable()
      const collection = opening instanceof Promise ? await opening : opening
      if (collection === undefined) return deliver(await resultWithoutCollection(find, null))
      const found = findById(collection, find, oneOf)
      if (found !== undefined) return deliver(found as WithId<T> | null)
      const run = new FindRun(collection, find, oneOf)
      const pulled = run.next()
      const slice = pulled instanceof Promise ? await pulled : pulled
      run.close()
      return deliver((slice?.[0] as WithId<T> | undefined) ?? null)
    } catch (error) {
      throw await deliver(error)
    }
  }

  /** Returns the document with this `_id`, or undefined if there is none. @throws PetalError BadValue for undefined */
  async get(id: IdArgument<T>, options: NoOptions = {}): Promise<WithId<T> | undefined> {
    if (id === undefined) throw await deliver(new PetalError('BadValue', 'get takes an _id, got undefined'))
    return (await this.#documents('get', [id], options))[0]
  }

  /**
   * Returns documents by `_id`, in the order of the ids, with undefined for those that do not exist.
   * @throws PetalError BadValue unless given an array of `_id`s
   */
  getMany(ids: readonly IdArgument<T>[], options: NoOptions = {}): Promise<(WithId<T> | undefined)[]> {
    return this.#documents('getMany', ids, options)
  }

  /**
   * Counts the matches. Those that the index proves are counted without being read.
   * @throws as find()
   */
  countDocuments(filter: FilterArgument<T> = {}, options: CountOptions = {}): Promise<number> {
    return answered(() => {
      assertOptions('countDocuments', options, knownCountOptions)
      return countDocuments(this.#readable, filter, options)
    })
  }

  /** Returns the number of documents, from the collection's counter. */
  estimatedDocumentCount(options: NoOptions = {}): Promise<number> {
    return answered(async () => {
      assertOptions('estimatedDocumentCount', options, {})
      return (await this.#readable())?.state.documents ?? 0
    })
  }

  /**
   * Returns the distinct values of a path among the matches, in sort order, with array elements as separate values. For
   * a value that the index knows exactly, only one document is read.
   * @throws PetalError BadValue for an invalid path, and as find()
   * @example
   * await db.distinct('lang', { 'user.verified': true }) // ['de', 'en', 'es']
   */
  distinct<Path extends FieldOf<WithId<T>> | (string & {})>(
    path: Path,
    filter: FilterArgument<T> = {},
    options: ReadOptions = {}
  ): Promise<DistinctValue<T, Path>[]> {
    return answered(async () => {
      assertOptions('distinct', options, knownReadOptions)
      return (await findDistinct(this.#readable, path, filter, options)) as DistinctValue<T, Path>[]
    })
  }

  /**
   * Summarises which paths the matches have, and the types of their values: a schema overview for unfamiliar documents.
   * Counted from the index alone, without reading documents, where it covers all paths.
   * @returns ascending by path, with an example value for each
   * @throws PetalError as find()
   * @example
   * for (const { path, documents, types, example } of await db.paths({ lang: 'en' })) console.log(path, documents, types, example)
   */
  paths(filter: FilterArgument<T> = {}, options: ReadOptions = {}): Promise<PathSummary[]> {
    return answered(() => {
      assertOptions('paths', options, knownReadOptions)
      return summarisePaths(this.#readable, filter, options)
    })
  }

  /**
   * Runs an aggregation pipeline; docs/aggregation.md describes which parts the index answers. Nothing is read until
   * the first document is requested, not even the pipeline, which must not be changed before then, nor is anything
   * written if the last stage writes; an invalid pipeline fails that request.
   * @throws PetalError when the first document is requested: FailedToParse, BadValue, TypeMismatch,
   *   InvalidPipelineOperator, CommandNotSupported, InvalidNamespace, naming the stage; later BadValue from an
   *   expression, QueryExceededMemoryLimit, MaxTimeMSExpired; AbortedError; for a writing pipeline IllegalOperation in
   *   a read-only database, and as insertMany() and updateOne()
   * @example
   * await db.aggregate([{ $match: { lang: 'en' } }, { $group: { _id: '$user.id', n: { $sum: 1 } } }]).toArray()
   */
  aggregate<R extends object = Document>(
    pipeline: AggregationPipeline,
    options: AggregateOptions = {}
  ): AggregationCursor<R> {
    return new AggregationCursor<R>(this.collectionName, this.#collections, pipeline, options)
  }

  /**
   * Watches the changes that this process commits to the collection after the call, each reported once and in commit
   * order. Called on a database it watches the default collection, like every other method.
   * @param pipeline `$match` and `$project` stages over events; see docs/change-streams.md
   * @throws PetalError BadValue and other errors of the pipeline, CommandNotSupported for other stages and for resuming
   *   from earlier events; AbortedError
   * @example
   * await using changes = db.watch([{ $match: { operationType: { $in: ['insert', 'update'] } } }])
   * await db.insertOne({ lang: 'en' })
   * for await (const change of changes) {
   *   console.log(change.operationType)
   *   break
   * }
   */
  watch<E extends object = ChangeEvent<T>>(
    pipeline: readonly Filter[] = [],
    options: ChangeStreamOptions = {}
  ): ChangeStream<E> {
    return watchFeed<E>(this.#collections.feed(this.collectionName), pipeline, options)
  }

  async #documents(
    call: string,
    ids: readonly IdArgument<T>[],
    options: NoOptions
  ): Promise<(WithId<T> | undefined)[]> {
    try {
      assertOptions(call, options, {})
      if (!Array.isArray(ids))
        throw new PetalError('BadValue', `getMany takes an array of _ids, got ${describeType(ids)}`)
      const missing = ids.indexOf(undefined)
      if (missing >= 0) throw new PetalError('BadValue', `getMany takes _ids, got undefined at ${missing}`)
      const keys = ids.map(tryEncodeKey)
      const opening = this.#readable()
      const collection = opening instanceof Promise ? await opening : opening
      if (collection === undefined) return deliver(ids.map(() => undefined))
      const known = keys.filter((key) => key !== undefined)
      const reading = collection.documentsOf(known) as (WithId<T> | undefined)[] | Promise<(WithId<T> | undefined)[]>
      const found = reading instanceof Promise ? await reading : reading
      if (known.length === keys.length) return deliver(found)
      const documents = found.values()
      return deliver(keys.map((key) => (key === undefined ? undefined : documents.next().value)))
    } catch (error) {
      throw await deliver(error)
    }
  }
}
