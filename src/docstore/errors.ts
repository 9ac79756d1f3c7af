/** Errors that only the document store raises, one factory per situation. */
import { type ErrorName, PetalError } from '../model/errors.ts'
import { stringifyRelaxed } from '../model/extended-json.ts'
import type { IdOf } from './types/documents.ts'

/** One rejected write of insertMany() or bulkWrite(). */
export interface WriteError {
  /** Position in the caller's list. */
  readonly index: number
  readonly code: number
  readonly codeName: ErrorName
  readonly errmsg: string
  readonly error: PetalError
}

/** What a bulk write accomplished apart from its errors. */
export interface BulkWriteCounts<T extends object = object> {
  readonly insertedCount: number
  readonly matchedCount: number
  readonly modifiedCount: number
  readonly deletedCount: number
  readonly upsertedCount: number
  /** `_id`s of the inserted documents, by position in the caller's list. */
  readonly insertedIds: Readonly<Record<number, IdOf<T>>>
  /** `_id`s of the upserted documents, by position in the caller's list. */
  readonly upsertedIds: Readonly<Record<number, IdOf<T>>>
}

/**
 * Thrown when insertMany() or bulkWrite() rejects some of its writes. `code` is that of the first error.
 * @example
 * try {
 *   await db.insertMany(documents, { ordered: false })
 * } catch (error) {
 *   if (!(error instanceof BulkWriteError)) throw error
 *   console.log(error.insertedCount, error.writeErrors.map(({ index, code }) => [index, code]))
 * }
 */
export class BulkWriteError extends PetalError {
  override readonly name = 'BulkWriteError'
  /** In the order of the caller's list. */
  readonly writeErrors: readonly [WriteError, ...WriteError[]]
  /** The writes that were done nevertheless. */
  readonly result: BulkWriteCounts

  constructor(writeErrors: BulkWriteError['writeErrors'], result: BulkWriteCounts) {
    const [first] = writeErrors
    super(first.codeName, first.errmsg, { cause: first.error, details: first.error.details })
    this.writeErrors = writeErrors
    this.result = result
  }

  get insertedCount(): number {
    return this.result.insertedCount
  }

  get insertedIds(): Readonly<Record<number, unknown>> {
    return this.result.insertedIds
  }
}

export function writeError(index: number, error: PetalError): WriteError {
  return { index, code: error.code, codeName: error.codeName, errmsg: error.message, error }
}

export function duplicateKey(collection: string, id: unknown): PetalError {
  const message = `E11000 duplicate key error collection: ${collection} index: _id_ dup key: { _id: ${shownKey(id)} }`
  return new PetalError('DuplicateKey', message, { details: { keyPattern: { _id: 1 }, keyValue: { _id: id } } })
}

/** Whether a write was refused because of another document, which may not be committed yet. */
export function isDuplicate(error: unknown): boolean {
  return error instanceof PetalError && error.codeName === 'DuplicateKey'
}

const maxShownKey = 200

/** In Extended JSON, which tells an ObjectId from a string with its digits, and NaN from null. */
export function shownKey(value: unknown): string {
  if (typeof value === 'bigint') return String(value)
  const { length } = '{"":'
  const text = stringifyRelaxed({ '': value }).slice(length, -1)
  return text.length > maxShownKey ? `${text.slice(0, maxShownKey)}…` : text
}

export function notOpen(cause?: unknown): PetalError {
  return new PetalError('DatabaseNotOpen', 'The database is closed', cause === undefined ? {} : { cause })
}

/** @param location path of the database, if it has one */
export function openedReadOnly(location?: string): PetalError {
  const what = location === undefined ? 'The database' : `The database at ${location}`
  const details = location === undefined ? {} : { location }
  return new PetalError('IllegalOperation', `${what} was opened read-only`, { details })
}

/** For those who had begun to use a collection. */
export function collectionGone(): PetalError {
  const problem = 'The database was closed, or the collection was dropped, renamed or replaced'
  return new PetalError('DatabaseNotOpen', problem)
}

/**
 * Converts an error of the underlying store to a PetalError; other errors, including the caller's own, pass unchanged.
 * Closing the database aborts pending operations: a caller with a signal must check it first.
 */
export function fromStore(error: unknown): unknown {
  const code = (error as { readonly code?: unknown } | undefined)?.code
  if (error instanceof PetalError || typeof code !== 'string' || !code.startsWith('LEVEL_')) return error
  if (code.endsWith('_NOT_OPEN') || code === 'LEVEL_ABORTED') return notOpen(error)
  const options = { cause: error, details: detailsOf(error as StoreError) }
  if (code === 'LEVEL_CORRUPTION') return new PetalError('DataCorruption', messageOf(error), options)
  return new PetalError('StoreFailure', `The store failed: ${messageOf(error)}`, options)
}

interface StoreError {
  readonly code?: unknown
  readonly path?: unknown
  readonly offset?: unknown
  readonly cause?: StoreError
}

/**
 * Where on disk the store met a problem, and the system's code for it, as far as they are known. Writing stays refused
 * after a failure, with that failure as the cause.
 */
function detailsOf({ code, path, offset, cause }: StoreError): Record<string, unknown> {
  const { systemCode, ...place } = cause instanceof Error ? detailsOf(cause) : {}
  const found = typeof code === 'string' && /^E[A-Z0-9]+$/.test(code) ? code : systemCode
  return {
    ...(typeof path === 'string' ? { file: path, ...(typeof offset === 'number' && { offset }) } : place),
    ...(found !== undefined && { systemCode: found })
  }
}

/** Converts any error of a failed commit to a PetalError. */
export function commitFailed(error: unknown): PetalError {
  const known = fromStore(error)
  if (known instanceof PetalError) return known
  return new PetalError('StoreFailure', `The store rejected a commit: ${messageOf(error)}`, { cause: error })
}

/** The error of a commit that was not attempted because the one before it failed, and would have left a gap. */
export function previousCommitFailed(cause: unknown): PetalError {
  const message = `A commit was not attempted because the previous one failed: ${messageOf(cause)}`
  return new PetalError('StoreFailure', message, { cause, details: cause instanceof PetalError ? cause.details : {} })
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/**
 * Adds the lines that lead to the caller to the stack of a write's error: it may have been made in another turn than the
 * call, with others that waited at the same time. Call it behind the call's first `await`.
 * @returns the error
 */
export function leadingToCaller(error: unknown): unknown {
  // A failure of the store is one error for all calls that met it.
  if (!(error instanceof PetalError) || error.codeName === 'StoreFailure') return error
  const here = { stack: '' }
  Error.captureStackTrace(here, leadingToCaller)
  const lines = here.stack.split('\n').slice(1)
  const last = lines.at(-1)
  if (last !== undefined && error.stack?.includes(last) === false) error.stack += `\n${lines.join('\n')}`
  return error
}
