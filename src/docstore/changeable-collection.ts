/** The calls that update, replace and delete documents, of a collection and of one in a transaction. */
import type { Document } from '../model/types.ts'
import type {
  FindOneAndDeleteOptions,
  FindOneAndUpdateOptions,
  ReadOptions,
  UpdateOneOptions,
  UpdateOptions
} from './options.ts'
import { type BulkWriteResult, type DeleteResult, type UpdateResult, updateResult } from './results.ts'
import type { Replacement, WithId } from './types/documents.ts'
import type { FilterArgument } from './types/filter.ts'
import type { UpdateSpec } from './types/update.ts'
import { type BulkRequest, type BulkWriteOperation, type BulkWriteOptions, bulkRequest } from './write/bulk-write.ts'
import type { Removed, Updated } from './write/mutate.ts'
import {
  type Compile,
  compileReplace,
  compileSpec,
  type DeleteRequest,
  deleteRequest,
  findOneAndDeleteRequest,
  findOneAndUpdateRequest,
  type UpdateRequest,
  updateRequest
} from './write/mutation-request.ts'

/** Carries out requests in their turn; `check` makes one, at the call. */
export interface Changes {
  update(check: () => UpdateRequest): Promise<Updated>
  remove(check: () => DeleteRequest): Promise<Removed>
  bulkWrite(check: () => BulkRequest): Promise<BulkWriteResult>
}

export abstract class ChangeableCollection<out T extends object = Document> {
  readonly collectionName: string
  readonly #changes: Changes

  protected constructor(name: string, changes: Changes) {
    this.collectionName = name
    this.#changes = changes
  }

  /**
   * Updates the first match, in `sort` order if given; with `upsert`, inserts a document if none matches.
   * @param spec update operators, or an aggregation pipeline
   * @throws PetalError BadValue for a missing filter; for an invalid update ImmutableField, PathNotViable,
   *   TypeMismatch, ConflictingUpdateOperators, NotSingleValueField and NotExactValueField (upserts), DuplicateKey,
   *   DocumentTooLarge; for a pipeline also FailedToParse, InvalidPipelineOperator, and InvalidOptions for a stage that
   *   updates do not allow; AbortedError
   * @example
   * await db.updateOne({ _id: 7 }, { $set: { lang: 'en' }, $inc: { edits: 1 } }, { upsert: true })
   * await db.updateOne({ _id: 7 }, [{ $set: { total: { $add: ['$views', '$edits'] } } }, { $unset: 'edits' }])
   */
  updateOne(filter: FilterArgument<T>, spec: UpdateSpec<T>, options: UpdateOneOptions = {}): Promise<UpdateResult<T>> {
    return this.#updateUpTo('updateOne', 1, filter, () => compileSpec(spec, filter, options), options)
  }

  /** Updates every document that matches when the update starts, each once. @throws as updateOne() */
  updateMany(filter: FilterArgument<T>, spec: UpdateSpec<T>, options: UpdateOptions = {}): Promise<UpdateResult<T>> {
    return this.#updateUpTo('updateMany', 0, filter, () => compileSpec(spec, filter, options), options)
  }

  /** Replaces the first match, in `sort` order if given, keeping its `_id`. @throws as updateOne() */
  replaceOne(
    filter: FilterArgument<T>,
    replacement: Replacement<T>,
    options: Omit<UpdateOneOptions, 'arrayFilters'> = {}
  ): Promise<UpdateResult<T>> {
    return this.#updateUpTo('replaceOne', 1, filter, () => compileReplace(replacement, options), options)
  }

  /** Deletes the first match. @throws PetalError BadValue for a missing filter; AbortedError */
  deleteOne(filter: FilterArgument<T>, options: ReadOptions = {}): Promise<DeleteResult> {
    return this.#deleteUpTo('deleteOne', 1, filter, options)
  }

  /** Deletes every match; `{}` matches all documents. @throws as deleteOne() */
  deleteMany(filter: FilterArgument<T>, options: ReadOptions = {}): Promise<DeleteResult> {
    return this.#deleteUpTo('deleteMany', 0, filter, options)
  }

  /**
   * Updates the first match, in `sort` order if given.
   * @returns the document before the update, or after it with `returnDocument: 'after'`; null if none matched
   * @throws as updateOne()
   */
  findOneAndUpdate(
    filter: FilterArgument<T>,
    spec: UpdateSpec<T>,
    options: FindOneAndUpdateOptions = {}
  ): Promise<WithId<T> | null> {
    const compile: Compile = () => compileSpec(spec, filter, options)
    return this.#findOneAndChange('findOneAndUpdate', filter, compile, options)
  }

  /** Like findOneAndUpdate(), but replaces the whole document. @throws as updateOne() */
  findOneAndReplace(
    filter: FilterArgument<T>,
    replacement: Replacement<T>,
    options: Omit<FindOneAndUpdateOptions, 'arrayFilters'> = {}
  ): Promise<WithId<T> | null> {
    return this.#findOneAndChange('findOneAndReplace', filter, () => compileReplace(replacement, options), options)
  }

  /** Deletes the first match. @returns the deleted document; null if none matched @throws as deleteOne() */
  async findOneAndDelete(filter: FilterArgument<T>, options: FindOneAndDeleteOptions = {}): Promise<WithId<T> | null> {
    const { returned } = await this.#changes.remove(() => findOneAndDeleteRequest('findOneAndDelete', filter, options))
    return (returned as WithId<T> | undefined) ?? null
  }

  /**
   * Executes write operations one after the other, stopping at the first rejected one unless `ordered` is false.
   * @throws BulkWriteError when operations are rejected; AbortedError, MaxTimeMSExpired, and DatabaseNotOpen when the
   *   collection is dropped or renamed meanwhile: the operations done by then stay done
   * @example
   * await db.bulkWrite([{ insertOne: { document: { n: 1 } } }, { deleteMany: { filter: { n: { $lt: 0 } } } }])
   */
  async bulkWrite(
    operations: readonly BulkWriteOperation<T>[],
    options: BulkWriteOptions = {}
  ): Promise<BulkWriteResult<T>> {
    const written = await this.#changes.bulkWrite(() => bulkRequest(operations, options))
    return written as BulkWriteResult<T>
  }

  async #updateUpTo(
    call: string,
    limit: number,
    filter: FilterArgument<T>,
    compile: Compile,
    options: UpdateOneOptions
  ): Promise<UpdateResult<T>> {
    return updateResult<T>(await this.#changes.update(() => updateRequest(call, limit, filter, compile, options)))
  }

  async #deleteUpTo(
    call: string,
    limit: number,
    filter: FilterArgument<T>,
    options: ReadOptions
  ): Promise<DeleteResult> {
    const { deleted } = await this.#changes.remove(() => deleteRequest(call, limit, filter, options))
    return { acknowledged: true, deletedCount: deleted }
  }

  async #findOneAndChange(
    call: string,
    filter: FilterArgument<T>,
    compile: Compile,
    options: FindOneAndUpdateOptions
  ): Promise<WithId<T> | null> {
    const { returned } = await this.#changes.update(() => findOneAndUpdateRequest(call, filter, compile, options))
    return (returned as WithId<T> | undefined) ?? null
  }
}
