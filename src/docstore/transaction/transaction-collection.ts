/** A collection as a transaction sees it: as committed, with the transaction's own changes. */
import { PetalError } from '../../model/errors.ts'
import { tryEncodeKey } from '../../model/key.ts'
import { type Document, describeType } from '../../model/types.ts'
import { answerRequest } from '../answer-request.ts'
import { ChangeableCollection } from '../changeable-collection.ts'
import { assertDocument } from '../documents/stored-form.ts'
import { assertOptions } from '../option-checks.ts'
import { type CountOptions, type FindOptions, knownCountOptions, knownFindOptions, type NoOptions } from '../options.ts'
import { Control } from '../read/control.ts'
import { compileFind, resultWithoutCollection } from '../read/find.ts'
import type { InsertManyResult, InsertOneResult } from '../results.ts'
import type { IdOf, MayHaveId, WithId } from '../types/documents.ts'
import type { FilterArgument, IdArgument } from '../types/filter.ts'
import { type BulkTarget, bulkWrite } from '../write/bulk-write.ts'
import { isIterable } from '../write/insert-many.ts'
import { assertDocuments } from './room.ts'
import type { Session } from './session.ts'
import type { StagedChanges } from './staged-changes.ts'
import { TransactionCursor } from './transaction-cursor.ts'

/**
 * The calls are those of Collection, with the same arguments, results and errors. What they write is visible to others
 * once the transaction is committed, all at once; one that fails has changed nothing. Beyond them, each throws
 * NoSuchTransaction once the transaction has ended, and those that write TransactionTooLarge.
 */
export class TransactionCollection<out T extends object = Document> extends ChangeableCollection<T> {
  readonly #session: Session

  /** Not to be called directly: use Transaction.collection(). */
  constructor(session: Session, name: string) {
    super(name, {
      update: (check) => write(session, name, ending(session, check), (staged, request) => staged.update(request)),
      remove: (check) => write(session, name, ending(session, check), (staged, request) => staged.remove(request)),
      bulkWrite: (check) =>
        write(session, name, ending(session, check), (staged, request) => bulkWrite(onStaged(staged), request))
    })
    this.#session = session
  }

  /** Finds documents; all of them are read when the first one is requested. @throws as Collection.find() */
  find(filter: FilterArgument<T> = {}, options: FindOptions = {}): TransactionCursor<WithId<T>> {
    return new TransactionCursor<WithId<T>>((asked) => this.#found('find', knownFindOptions, filter, asked), options)
  }

  /** Returns the first match, or null if there is none. @throws as Collection.findOne() */
  async findOne(filter: FilterArgument<T> = {}, options: FindOptions = {}): Promise<WithId<T> | null> {
    const [first] = await this.#found('findOne', knownFindOptions, filter, options, { limit: 1 })
    return (first as WithId<T> | undefined) ?? null
  }

  /** Returns the document with this `_id`, or undefined if there is none. @throws as Collection.get() */
  async get(id: IdArgument<T>, options: NoOptions = {}): Promise<WithId<T> | undefined> {
    const found = await this.#read(
      () => {
        assertOptions('get', options, {})
        if (id === undefined) throw new PetalError('BadValue', 'get takes an _id, got undefined')
        return tryEncodeKey(id)
      },
      (staged, key) => (key === undefined ? undefined : staged?.documentOf(key))
    )
    return found as WithId<T> | undefined
  }

  /** Counts the matches; those that the index is certain of are not read. @throws as Collection.find() */
  countDocuments(filter: FilterArgument<T> = {}, options: CountOptions = {}): Promise<number> {
    return this.#read(
      ending(this.#session, () => findRequest('countDocuments', knownCountOptions, filter, options, {})),
      (staged, { find, control }) =>
        staged === undefined ? resultWithoutCollection(find, 0) : staged.count(find, control)
    )
  }

  /** Inserts one document, generating an `_id` if it has none. @throws as Collection.insertOne(); TransactionTooLarge */
  async insertOne(document: MayHaveId<T>, options: NoOptions = {}): Promise<InsertOneResult<T>> {
    const [insertedId] = await this.#insert(() => {
      assertOptions('insertOne', options, {})
      const given: unknown = document
      assertDocument(given)
      return [given]
    })
    return { acknowledged: true, insertedId: insertedId as IdOf<T> }
  }

  /** Inserts all the documents, or none. @throws as insertOne(), for the first one that is rejected */
  async insertMany(documents: Iterable<MayHaveId<T>>, options: NoOptions = {}): Promise<InsertManyResult<T>> {
    const ids = await this.#insert(() => {
      assertOptions('insertMany of a transaction', options, {})
      return listOf(documents)
    })
    return { acknowledged: true, insertedCount: ids.length, insertedIds: { ...(ids as IdOf<T>[]) } }
  }

  /** @param own options of the call itself */
  #found(
    call: string,
    known: Readonly<Record<string, true>>,
    filter: unknown,
    options: FindOptions,
    own: FindOptions = {}
  ): Promise<readonly Document[]> {
    const check = () => findRequest(call, known, filter, options, own)
    return this.#read(ending(this.#session, check), (staged, { find, control }) => {
      return staged === undefined ? resultWithoutCollection(find, []) : staged.find(find, control)
    })
  }

  #insert(check: () => readonly Document[]): Promise<readonly unknown[]> {
    return write(this.#session, this.collectionName, check, (staged, documents) => staged.insert(documents))
  }

  /** @param run gets undefined while the collection does not exist */
  #read<Request, R>(
    check: () => Request,
    run: (staged: StagedChanges | undefined, request: Request) => R | Promise<R>
  ): Promise<R> {
    return answerRequest(check, (request) => this.#session.read(this.collectionName, (staged) => run(staged, request)))
  }
}

/** @param own options of the call itself */
function findRequest(
  call: string,
  known: Readonly<Record<string, true>>,
  filter: unknown,
  options: FindOptions,
  own: FindOptions
) {
  assertOptions(call, options, known)
  return { find: compileFind(filter, { ...options, ...own }), control: new Control(options) }
}

function write<Request, R>(
  session: Session,
  name: string,
  check: () => Request,
  run: (staged: StagedChanges, request: Request) => Promise<R>
): Promise<R> {
  return answerRequest(check, (request) => session.write(name, (staged) => run(staged, request)))
}

/** The call also ends when the transaction is interrupted. */
function ending<Request extends { readonly control: Control }>(session: Session, check: () => Request): () => Request {
  return () => {
    const request = check()
    request.control.endWith(session)
    return request
  }
}

/** Operations of a bulkWrite(). */
function onStaged(staged: StagedChanges): BulkTarget {
  return {
    atOnce: 1,
    insertOne: async (document) => (await staged.insert([document]))[0],
    update: (request) => staged.update(request),
    remove: (request) => staged.remove(request)
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
