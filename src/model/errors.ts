/**
 * The library's only error class. Codes are MongoDB's where MongoDB has one, so that code written for its driver keeps
 * working; an error of the underlying store is kept as `cause`.
 */

/** Names and numbers of every error that the library raises. */
export const errorCodes = {
  InternalError: 1,
  BadValue: 2,
  FailedToParse: 9,
  TypeMismatch: 14,
  IllegalOperation: 20,
  NamespaceNotFound: 26,
  IndexNotFound: 27,
  PathNotViable: 28,
  FileStreamFailed: 39,
  ConflictingUpdateOperators: 40,
  CursorNotFound: 43,
  NamespaceExists: 48,
  MaxTimeMSExpired: 50,
  DollarPrefixedFieldName: 52,
  NotSingleValueField: 54,
  EmptyFieldName: 56,
  ImmutableField: 66,
  CannotCreateIndex: 67,
  InvalidOptions: 72,
  InvalidNamespace: 73,
  IndexOptionsConflict: 85,
  IndexKeySpecsConflict: 86,
  DBPathInUse: 98,
  NotExactValueField: 111,
  CommandNotSupported: 115,
  CommandFailed: 125,
  InvalidPipelineOperator: 168,
  CannotIndexParallelArrays: 171,
  ExceededMemoryLimit: 146,
  InvalidIndexSpecificationOption: 197,
  UnsupportedFormat: 206,
  DataCorruption: 246,
  NoSuchTransaction: 251,
  TransactionTooLarge: 257,
  ChangeStreamHistoryLost: 286,
  QueryExceededMemoryLimit: 292,
  /** Our own codes: MongoDB has none for these. */
  DatabaseNotFound: 90001,
  DatabaseExists: 90002,
  NotADatabase: 90003,
  DatabaseNotOpen: 90004,
  IndexDamaged: 90005,
  KernelsUnavailable: 90006,
  StoreFailure: 90007,
  Aborted: 11601,
  DuplicateKey: 11000,
  DocumentTooLarge: 10334,
  MergeStageNoMatchingDocument: 13113
} as const

/** Name of an error, as in `error.codeName`. */
export type ErrorName = keyof typeof errorCodes

export interface PetalErrorOptions {
  /** The underlying error, for example a `LEVEL_*` error of the store. */
  readonly cause?: unknown
  /** Details for programs: operator, path, file, line, offset, keyPattern, keyValue. */
  readonly details?: Readonly<Record<string, unknown>>
}

/** V8's own choice, which nobody has changed. */
const defaultStackFrames = 10
/** Enough for the caller's line, which matters most: parsing a filter alone may be ten calls deep. */
const stackFrames = 50

/**
 * @example
 * import { PetalError } from 'petaldb'
 * try {
 *   await db.insertOne({ _id: 1 })
 * } catch (error) {
 *   if (error instanceof PetalError && error.codeName === 'DuplicateKey') console.log(error.keyValue)
 * }
 */
export class PetalError extends Error {
  override readonly name: string = 'PetalError'
  /** The number in `errorCodes`. */
  readonly code: number
  readonly codeName: ErrorName
  /** What the error is about, such as `operator` and `path` in a filter, `option` in options, `stage` in a pipeline. */
  readonly details: Readonly<Record<string, unknown>>

  constructor(codeName: ErrorName, message: string, options: PetalErrorOptions = {}) {
    const { stackTraceLimit } = Error
    // Not an assignment, which throws where intrinsics are frozen.
    if (stackTraceLimit === defaultStackFrames) Reflect.set(Error, 'stackTraceLimit', stackFrames)
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    if (stackTraceLimit === defaultStackFrames) Reflect.set(Error, 'stackTraceLimit', stackTraceLimit)
    this.codeName = codeName
    this.code = errorCodes[codeName]
    this.details = options.details ?? {}
  }

  /** Of DuplicateKey: the key pattern of the index, as in MongoDB's driver; also in `details`. */
  get keyPattern(): Readonly<Record<string, 1 | -1>> | undefined {
    return this.details.keyPattern as Readonly<Record<string, 1 | -1>> | undefined
  }

  /** Of DuplicateKey: the values that another document has, as in MongoDB's driver; also in `details`. */
  get keyValue(): Readonly<Record<string, unknown>> | undefined {
    return this.details.keyValue as Readonly<Record<string, unknown>> | undefined
  }
}

/** An operation was aborted by its AbortSignal; `name` is 'AbortError' as everywhere in Node. */
export class AbortedError extends PetalError {
  override readonly name = 'AbortError'

  constructor(reason?: unknown, details: PetalErrorOptions['details'] = {}) {
    super('Aborted', 'The operation was aborted', { cause: reason, details })
  }
}

/** Throws an AbortedError if the signal has fired. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new AbortedError(signal.reason)
}
