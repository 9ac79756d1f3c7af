/** A collection as a transaction sees it: as committed, with the transaction's own changes. */
import { PetalError } from '../../model/errors.ts'
import { tryEncodeKey } from '../../model/key.ts'
import { deliver } from '../../model/time-slice.ts'
import { type Document, describeType } from '../../model/types.ts'
import { assertDocument } from '../documents/stored-form.ts'
import { leadingToCaller } from '../errors.ts'
import { assertOptions } from '../option-checks.ts'
import {
  type CountOptions,
  type FindOneAndDeleteOptions,
  type FindOneAndUpdateOptions,
  type FindOptions,
  knownCountOptions,
  knownFindOptions,
  type NoOptions,
  type ReadOptions,
  type UpdateOneOptions,
  type UpdateOptions
} from '../options.ts'
import { Control } from '../read/control.ts'
import { compileFind, resultWithoutCollection } from '../read/find.ts'
import {
  type DeleteResult,
  type InsertManyResult,
  type InsertOneResult,
  type UpdateResult,
  updateResult
} from '../results.ts'
import type { IdOf, MayHaveId, WithId, WithoutId } from '../types/documents.ts'
import type { FilterArgument, IdArgument } from '../types/filter.ts'
import type { UpdateSpec } from '../types/update.ts'
import { isIterable } from '../write/insert-many.ts'
import {
  type Compile,
  compileReplace,
  compileSpec,
  deleteRequest,
  findOneAndDeleteRequest,
  findOneAndUpdateRequest,
  updateRequest
} from '../write/mutation-request.ts'
import { assertDocuments } from './room.ts'
import type { Session } from './session.ts'
import type { StagedChanges } from './staged-changes.ts'
import { TransactionCursor } from './transaction-cursor.ts'

/**
 * The calls are those of Collection, with the same arguments, results and errors. What they write is visible to others
 * once the transaction is committed, all at once; one that fails has changed nothing.
 */
export class TransactionCollection<out T extends object = Document> {
  readonly collectionName: string
  readonly #session: Session

  /** Not to be called directly: use Transaction.collection(). */
  constructor(session: Session, name: string) {
    this.collectionName = name
    this.#session = session
  }

  /** Finds documents; all of them are read when the first one is requested. */
  find(filter: FilterArgument<T> = {}, options: FindOptions = {}): TransactionCursor<WithId<T>> {
    return new TransactionCursor<WithId<T>>((asked) => this.#find('find', filter, asked), options)
  }

  async findOne(filter: FilterArgument<T> = {}, options: FindOptions = {}): Promise<WithId<T> | null> {
    const [first] = await this.#find('findOne', filter, options, { limit: 1 })
    return (first as WithId<T> | undefined) ?? null
  }

  async get(id: IdArgument<T>): Promise<WithId<T> | undefined> {
    const found = await this.#read(
      () => {
        if (id === undefined) throw new PetalError('BadValue', 'get takes an _id, got undefined')
        return tryEncodeKey(id)
      },
      (staged, key) => (key === undefined ? undefined : staged?.documentOf(key))
    )
    return found as WithId<T> | undefined
  }

  countDocuments(filter: FilterArgument<T> = {}, options: CountOptions = {}): Promise<number> {
    const check = () => {
      assertOptions('countDocuments', options, knownCountOptions)
      return { find: compileFind(filter, options), control: new Control(options) }
    }
    return this.#read(check, async (staged, { find, control }) => {
      return staged === undefined ? resultWithoutCollection(find, 0) : (await staged.find(find, control)).length
    })
  }

  async insertOne(document: MayHaveId<T>, options: NoOptions = {}): Promise<InsertOneResult<T>> {
    const [insertedId] = await this.#insert(() => {
      assertOptions('insertOne', options, {})
      const given: unknown = document
      assertDocument(given)
      return [given]
    })
    return { acknowledged: true, insertedId: insertedId as IdOf<T> }
  }

  /** Inserts all the documents, or none. @throws PetalError for the first one that is rejected */
  async insertMany(documents: Iterable<MayHaveId<T>>, options: NoOptions = {}): Promise<InsertManyResult<T>> {
    const ids = await this.#insert(() => {
      assertOptions('insertMany of a transaction', options, {})
      return listOf(documents)
    })
    return { acknowledged: true, insertedCount: ids.length, insertedIds: { ...(ids as IdOf<T>[]) } }
  }

  updateOne(filter: FilterArgument<T>, spec: UpdateSpec<T>, options: UpdateOneOptions = {}): Promise<UpdateResult<T>> {
    return this.#updateUpTo('updateOne', 1, filter, () => compileSpec(spec, filter, options), options)
  }

  updateMany(filter: FilterArgument<T>, spec: UpdateSpec<T>, options: UpdateOptions = {}): Promise<UpdateResult<T>> {
    return this.#updateUpTo('updateMany', 0, filter, () => compileSpec(spec, filter, options), options)
  }

  replaceOne(
    filter: FilterArgument<T>,
    replacement: T | WithoutId<T>,
    options: Omit<UpdateOneOptions, 'arrayFilters'> = {}
  ): Promise<UpdateResult<T>> {
    return this.#updateUpTo('replaceOne', 1, filter, () => compileReplace(replacement, options), options)
  }

  deleteOne(filter: FilterArgument<T>, options: ReadOptions = {}): Promise<DeleteResult> {
    return this.#deleteUpTo('deleteOne', 1, filter, options)
  }

  deleteMany(filter: FilterArgument<T>, options: ReadOptions = {}): Promise<DeleteResult> {
    return this.#deleteUpTo('deleteMany', 0, filter, options)
  }

  findOneAndUpdate(
    filter: FilterArgument<T>,
    spec: UpdateSpec<T>,
    options: FindOneAndUpdateOptions = {}
  ): Promise<WithId<T> | null> {
    return this.#findOneAndChange('findOneAndUpdate', filter, () => compileSpec(spec, filter, options), options)
  }

  findOneAndReplace(
    filter: FilterArgument<T>,
    replacement: T | WithoutId<T>,
    options: Omit<FindOneAndUpdateOptions, 'arrayFilters'> = {}
  ): Promise<WithId<T> | null> {
    return this.#findOneAndChange('findOneAndReplace', filter, () => compileReplace(replacement, options), options)
  }

  async findOneAndDelete(filter: FilterArgument<T>, options: FindOneAndDeleteOptions = {}): Promise<WithId<T> | null> {
    const check = () => findOneAndDeleteRequest('findOneAndDelete', filter, options)
    const { returned } = await this.#write(check, (staged, request) => staged.remove(request))
    return (returned as WithId<T> | undefined) ?? null
  }

  /** @param own options that are not the caller's */
  #find(call: string, filter: unknown, options: FindOptions, own: FindOptions = {}): Promise<readonly Document[]> {
    const check = () => {
      assertOptions(call, options, knownFindOptions)
      return { find: compileFind(filter, { ...options, ...own }), control: new Control(options) }
    }
    return this.#read(check, (staged, { find, control }) => {
      return staged === undefined ? resultWithoutCollection(find, []) : staged.find(find, control)
    })
  }

  #insert(check: () => readonly Document[]): Promise<readonly unknown[]> {
    return this.#write(check, (staged, documents) => staged.insert(documents))
  }

  async #updateUpTo(
    call: string,
    limit: number,
    filter: unknown,
    compile: Compile,
    options: UpdateOneOptions
  ): Promise<UpdateResult<T>> {
    const updated = await this.#write(
      () => updateRequest(call, limit, filter, compile, options),
      (staged, request) => staged.update(request)
    )
    return updateResult<T>(updated)
  }

  async #deleteUpTo(call: string, limit: number, filter: unknown, options: ReadOptions): Promise<DeleteResult> {
    const { deleted } = await this.#write(
      () => deleteRequest(call, limit, filter, options),
      (staged, request) => staged.remove(request)
    )
    return { acknowledged: true, deletedCount: deleted }
  }

  async #findOneAndChange(
    call: string,
    filter: unknown,
    compile: Compile,
    options: FindOneAndUpdateOptions
  ): Promise<WithId<T> | null> {
    const { returned } = await this.#write(
      () => findOneAndUpdateRequest(call, filter, compile, options),
      (staged, request) => staged.update(request)
    )
    return (returned as WithId<T> | undefined) ?? null
  }

  /** @param run gets undefined while the collection does not exist */
  #read<Request, R>(
    check: () => Request,
    run: (staged: StagedChanges | undefined, request: Request) => R | Promise<R>
  ): Promise<R> {
    return this.#call(check, (request) => this.#session.read(this.collectionName, (staged) => run(staged, request)))
  }

  #write<Request, R>(check: () => Request, run: (staged: StagedChanges, request: Request) => Promise<R>): Promise<R> {
    return this.#call(check, (request) => this.#session.write(this.collectionName, (staged) => run(staged, request)))
  }

  /** @param check checks the caller's arguments, when the call is made */
  async #call<Request, R>(check: () => Request, run: (request: Request) => Promise<R>): Promise<R> {
    try {
      return deliver(await run(check()))
    } catch (error) {
      throw await deliver(leadingToCaller(error))
    }
  }
}

/** @throws PetalError BadValue, TransactionTooLarge; without reading further, since the source may have no end */
function listOf(source: unknown): readonly Document[] {
  if (!isIterable(source)) {
    const got = describeType(source)
    throw new PetalError('BadValue', `insertMany of a transaction takes an iterable of documents, got ${got}`)
  }
  const documents: Document[] = []
  for (const document of source) {
    assertDocument(document, documents.length)
    documents.push(document)
    assertDocuments(documents.length)
  }
  return documents
}
