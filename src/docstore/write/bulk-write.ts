/** bulkWrite(): runs the operations, of a collection or in a transaction, and adds up their results. */
import { PetalError } from '../../model/errors.ts'
import { deliver, TimeSlice } from '../../model/time-slice.ts'
import { type Document, describeType, isPlainObject } from '../../model/types.ts'
import type { Collation } from '../../query/collation.ts'
import { assertDocument } from '../documents/stored-form.ts'
import { BulkWriteError, type WriteError, writeError } from '../errors.ts'
import { assertKnown, type Known } from '../known-options.ts'
import type { OpenCollection } from '../open-collection.ts'
import { assertBoolean, assertOptions } from '../option-checks.ts'
import type { ReadOptions, SortSpec, UpdateOptions } from '../options.ts'
import { Control } from '../read/control.ts'
import type { BulkWriteResult } from '../results.ts'
import type { MayHaveId, Replacement } from '../types/documents.ts'
import type { FilterArgument } from '../types/filter.ts'
import type { UpdateSpec } from '../types/update.ts'
import { type Removed, remove, type Updated, update } from './mutate.ts'
import {
  type Compile,
  compileReplace,
  compileSpec,
  type DeleteRequest,
  deleteRequest,
  type UpdateRequest,
  updateRequest
} from './mutation-request.ts'

interface UpdateModel<T extends object> {
  readonly filter: FilterArgument<T>
  readonly update: UpdateSpec<T>
  readonly upsert?: boolean | undefined
  readonly arrayFilters?: UpdateOptions['arrayFilters']
  readonly collation?: Collation | undefined
  readonly hint?: ReadOptions['hint']
}

interface UpdateOneModel<T extends object> extends UpdateModel<T> {
  readonly sort?: SortSpec | undefined
}

interface ReplaceModel<T extends object> {
  readonly filter: FilterArgument<T>
  readonly replacement: Replacement<T>
  readonly upsert?: boolean | undefined
  readonly collation?: Collation | undefined
  readonly hint?: ReadOptions['hint']
  readonly sort?: SortSpec | undefined
}

interface DeleteModel<T extends object> {
  readonly filter: FilterArgument<T>
  readonly collation?: Collation | undefined
  readonly hint?: ReadOptions['hint']
}

const knownDelete = { filter: true, collation: true, hint: true } satisfies Known<DeleteModel<Document>>
const knownReplace = { ...knownDelete, replacement: true, upsert: true, sort: true } satisfies Known<
  ReplaceModel<Document>
>
const knownUpdate = {
  ...knownDelete,
  update: true,
  upsert: true,
  arrayFilters: true
} satisfies Known<UpdateModel<Document>>
const knownUpdateOne = { ...knownUpdate, sort: true } satisfies Known<UpdateOneModel<Document>>

/** One operation of bulkWrite(), in the driver's format. */
export type BulkWriteOperation<T extends object = Document> =
  | { readonly insertOne: { readonly document: MayHaveId<T> } }
  | { readonly updateOne: UpdateOneModel<T> }
  | { readonly updateMany: UpdateModel<T> }
  | { readonly replaceOne: ReplaceModel<T> }
  | { readonly deleteOne: DeleteModel<T> }
  | { readonly deleteMany: DeleteModel<T> }

/** Options of bulkWrite(). */
export interface BulkWriteOptions {
  /** Stop at the first rejected operation. Default true. */
  readonly ordered?: boolean | undefined
  /** Variables that expressions in filters and update pipelines can refer to as `$$name`. */
  readonly let?: ReadOptions['let']
  /** Aborts with an AbortedError; completed operations stay. */
  readonly signal?: AbortSignal | undefined
  /** Time limit in milliseconds for all operations together; those completed by then stay. */
  readonly maxTimeMS?: number | undefined
}

const knownBulkWrite = { ordered: true, let: true, signal: true, maxTimeMS: true } satisfies Known<BulkWriteOptions>

/** Fields of each operation. */
const knownByName = {
  insertOne: { document: true },
  updateOne: knownUpdateOne,
  updateMany: knownUpdate,
  // arrayFilters are rejected with an error of their own.
  replaceOne: { ...knownReplace, arrayFilters: true },
  deleteOne: knownDelete,
  deleteMany: knownDelete
} satisfies Readonly<Record<OperationName, Readonly<Record<string, true>>>>

/** Options passed to every operation. */
type Common = Pick<ReadOptions, 'let'>

type Keys<Union> = Union extends object ? keyof Union : never
type OperationName = Keys<BulkWriteOperation>

type DeleteOperation = Extract<BulkWriteOperation, { deleteOne: unknown } | { deleteMany: unknown }>

type UpdateOperation = Extract<
  BulkWriteOperation,
  { updateOne: unknown } | { updateMany: unknown } | { replaceOne: unknown }
>

/**
 * Number of operations of an unordered call that wait at the same time, so that they can share commits. They are carried
 * out in order all the same.
 */
const maxAtOnce = 1000

interface Tally {
  insertedCount: number
  matchedCount: number
  modifiedCount: number
  deletedCount: number
  upsertedCount: number
  insertedIds: Record<number, unknown>
  upsertedIds: Record<number, unknown>
}

/** A call whose arguments have been checked. */
export interface BulkRequest {
  readonly operations: readonly BulkWriteOperation[]
  readonly options: BulkWriteOptions
  /** What ends the call early. */
  readonly control: Control
  /** Checks the operations that were not checked at the call, if there are any. @throws PetalError BadValue; AbortedError */
  readonly checkOthers: (() => Promise<void>) | undefined
}

/** What the operations are carried out on. */
export interface BulkTarget {
  /** How many may be under way at the same time. */
  readonly atOnce: number
  insertOne(document: Document): Promise<unknown>
  update(request: UpdateRequest): Promise<Updated>
  remove(request: DeleteRequest): Promise<Removed>
}

/** Operations that are checked at the call, in about two milliseconds. The others are in slices, before one runs. */
const checkedAtCall = 4096
/** Operations between two looks at the clock. */
const checkedAtOnce = 256

/**
 * Checks the call, as in the driver; bulkWrite() does so for the rest of a long list.
 * @throws PetalError BadValue; AbortedError
 */
export function bulkRequest(operations: unknown, options: BulkWriteOptions): BulkRequest {
  assertOptions('bulkWrite', options, knownBulkWrite)
  assertBoolean('ordered', options.ordered)
  if (!Array.isArray(operations)) {
    throw new PetalError('BadValue', `bulkWrite takes an array of operations, got ${describeType(operations)}`)
  }
  operations.slice(0, checkedAtCall).forEach(checkOperation)
  // The list is copied, because the caller may change it while operations run.
  const copy: readonly BulkWriteOperation[] = [...operations]
  const control = new Control(options)
  let checking: Promise<void> | undefined
  const checkOthers = (): Promise<void> => {
    checking ??= checkTheOthers(copy, control)
    return checking
  }
  return { operations: copy, options, control, checkOthers: copy.length > checkedAtCall ? checkOthers : undefined }
}

/** Operations of a collection; those of an unordered call share commits. */
export function onCollection(collection: OpenCollection): BulkTarget {
  return {
    atOnce: maxAtOnce,
    insertOne: (document) => collection.writer.insertOne(document),
    update: (request) => update(collection, request),
    remove: (request) => remove(collection, request)
  }
}

/**
 * @throws PetalError BadValue, when nothing is done; BulkWriteError when an operation is rejected; those before it, and
 *   with `ordered: false` those after it, are done
 */
export async function bulkWrite(
  target: BulkTarget,
  { operations, options: { ordered, let: variables }, control, checkOthers }: BulkRequest
): Promise<BulkWriteResult> {
  if (checkOthers !== undefined) await checkOthers()
  const tally: Tally = {
    insertedCount: 0,
    matchedCount: 0,
    modifiedCount: 0,
    deletedCount: 0,
    upsertedCount: 0,
    insertedIds: {},
    upsertedIds: {}
  }
  const writeErrors: WriteError[] = []
  const common: Common = variables === undefined ? {} : { let: variables }
  const isOrdered = ordered ?? true
  const runAt = (index: number): Promise<void> =>
    run(target, operations[index]!, index, common, control, tally).then(deliver, (error: unknown) => {
      if (!(error instanceof PetalError) || isFatal(error)) throw error
      writeErrors.push(writeError(index, error))
    })
  const atOnce = isOrdered ? 1 : target.atOnce
  const timeSlice = new TimeSlice()
  for (let from = 0; from < operations.length && !(isOrdered && writeErrors.length > 0); from += atOnce) {
    control.check()
    const running: Promise<void>[] = []
    for (let index = from; index < Math.min(from + atOnce, operations.length); index++) {
      // Compiling an operation may take a tenth of a millisecond.
      if (timeSlice.isOver()) await timeSlice.renew()
      const done = runAt(index)
      // Errors are looked at when all have ended; until then, avoid an unhandled rejection.
      done.catch(() => {})
      running.push(done)
    }
    const results = await Promise.allSettled(running)
    for (const result of results) if (result.status === 'rejected') throw result.reason
  }
  writeErrors.sort((one, other) => one.index - other.index)
  const [first, ...others] = writeErrors
  if (first !== undefined) throw new BulkWriteError([first, ...others], tally)
  return { acknowledged: true, ...tally }
}

async function checkTheOthers(operations: readonly unknown[], control: Control): Promise<void> {
  const timeSlice = new TimeSlice()
  for (let index = checkedAtCall; index < operations.length; index++) {
    if (index % checkedAtOnce === 0) {
      if (timeSlice.isOver()) await timeSlice.renew()
      control.check()
    }
    checkOperation(operations[index], index)
  }
}

/** @throws PetalError BadValue */
function checkOperation(operation: unknown, index: number): void {
  if (!isPlainObject(operation)) {
    const found = describeType(operation)
    throw new PetalError(
      'BadValue',
      `bulkWrite takes operations such as { insertOne: { document } }, got ${found}, at ${index}`
    )
  }
  const [name = '', ...others] = Object.keys(operation)
  if (others.length > 0) {
    const names = [name, ...others].map((each) => `'${each}'`).join(' and ')
    throw new PetalError('BadValue', `bulkWrite takes one operation at a time, got ${names}, at ${index}`)
  }
  const model = operation[name]
  if (!isOperationName(name)) {
    throw new PetalError('BadValue', `bulkWrite has no operation '${name}', at ${index}`)
  }
  if (!isPlainObject(model)) {
    throw new PetalError('BadValue', `${name} of bulkWrite takes an object, got ${describeType(model)}, at ${index}`)
  }
  assertKnown(`${name} of bulkWrite, at ${index},`, model, knownByName[name])
  // Elsewhere a missing filter matches everything; here it is a mistake.
  if (name !== 'insertOne' && !isPlainObject(model.filter)) {
    const found = describeType(model.filter)
    throw new PetalError('BadValue', `${name} of bulkWrite needs a filter, got ${found}, at ${index}`)
  }
  if ((name === 'updateOne' || name === 'updateMany') && !isUpdate(model.update)) {
    throw new PetalError('BadValue', `${name} of bulkWrite needs update operators or a pipeline, at ${index}`)
  }
}

/** Whether it may be one: all of it is checked when it is its turn. */
function isUpdate(update: unknown): boolean {
  if (!isPlainObject(update)) return Array.isArray(update)
  const keys = Object.keys(update)
  return keys.length > 0 && keys.every((key) => key.startsWith('$'))
}

function isOperationName(name: string): name is OperationName {
  return Object.hasOwn(knownByName, name)
}

/** The caller, the time, the room, the transaction, the store or the database is gone: the others would fail too. */
function isFatal({ codeName }: PetalError): boolean {
  return (
    codeName === 'StoreFailure' ||
    codeName === 'DatabaseNotOpen' ||
    codeName === 'Aborted' ||
    codeName === 'MaxTimeMSExpired' ||
    codeName === 'IllegalOperation' ||
    codeName === 'NoSuchTransaction' ||
    codeName === 'TransactionTooLarge'
  )
}

/** Adds to the tally once the operation is done; others may be running meanwhile. */
async function run(
  target: BulkTarget,
  operation: BulkWriteOperation,
  index: number,
  common: Common,
  control: Control,
  tally: Tally
): Promise<void> {
  if ('insertOne' in operation) {
    const given: unknown = operation.insertOne.document
    assertDocument(given)
    tally.insertedIds[index] = await target.insertOne(given)
    tally.insertedCount++
  } else if ('deleteOne' in operation || 'deleteMany' in operation) {
    const { deleted } = await target.remove({ ...deletionOf(operation, common), control })
    tally.deletedCount += deleted
  } else {
    const updated = await target.update({ ...updateOf(operation, common), control })
    tally.matchedCount += updated.matched
    tally.modifiedCount += updated.modified
    if (!updated.hasUpserted) return
    tally.upsertedCount++
    tally.upsertedIds[index] = updated.upsertedId
  }
}

function deletionOf(operation: DeleteOperation, common: Common): DeleteRequest {
  const isOne = 'deleteOne' in operation
  const { filter, ...options } = isOne ? operation.deleteOne : operation.deleteMany
  return deleteRequest(isOne ? 'deleteOne' : 'deleteMany', isOne ? 1 : 0, filter, { ...options, ...common })
}

function updateOf(operation: UpdateOperation, common: Common): UpdateRequest {
  if ('replaceOne' in operation) {
    const { filter, replacement, ...others } = operation.replaceOne
    const options = { ...others, ...common }
    return updateRequest('replaceOne', 1, filter, () => compileReplace(replacement, options), options)
  }
  const isOne = 'updateOne' in operation
  const { filter, update: spec, ...others } = isOne ? operation.updateOne : operation.updateMany
  const options = { ...others, ...common }
  const compile: Compile = () => compileSpec(spec, filter, options)
  return updateRequest(isOne ? 'updateOne' : 'updateMany', isOne ? 1 : 0, filter, compile, options)
}
