/**
 * The errors of the store, with the codes that users of abstract-level know. One factory per situation; what led to
 * an error is its `cause`, where it happened is in `path` and `offset`.
 */
import ModuleError from 'module-error'

/** Where on disk something was found wrong. */
export interface Place {
  readonly path: string
  /** Byte offset in the file. */
  readonly offset?: number
}

/** Bytes that cannot be right: a checksum, a length or an order that does not hold. */
export function corruption(what: string, place: Place, cause?: unknown): Error {
  const where = place.offset === undefined ? place.path : `${place.path} at offset ${place.offset}`
  return levelError('LEVEL_CORRUPTION', `Corruption in ${where}: ${what}`, cause, place)
}

/** The operating system refused: EIO, ENOSPC, EACCES, … */
export function ioError(what: string, cause: unknown, place?: Place): Error {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return levelError('LEVEL_IO_ERROR', `${what}: ${reason}`, cause, place)
}

/** Another instance, here or in another process, has the directory open. */
export function locked(location: string, holder: string): Error {
  return levelError('LEVEL_LOCKED', `${location} is locked by ${holder}`, undefined, { path: location })
}

/** An option, a format version or a method that this store does not have. */
export function notSupported(what: string, cause?: unknown): Error {
  return levelError('LEVEL_NOT_SUPPORTED', what, cause)
}

/** An additional method was called on a database that is not open. */
export function notOpen(): Error {
  return levelError('LEVEL_DATABASE_NOT_OPEN', 'Database is not open')
}

/** What was to be read through a snapshot that has been closed. */
export function snapshotNotOpen(): Error {
  return levelError('LEVEL_SNAPSHOT_NOT_OPEN', 'Snapshot is not open')
}

/** The caller's signal fired. */
export function aborted(reason: unknown): Error {
  const error = levelError('LEVEL_ABORTED', 'Operation has been aborted', reason)
  return Object.assign(error, { name: 'AbortError' })
}

/** True for errors made here and by abstract-level. */
export function hasCode(error: unknown, code: string): boolean {
  return typeof error === 'object' && error !== null && (error as { readonly code?: unknown }).code === code
}

function levelError(code: string, message: string, cause?: unknown, place?: Place): Error {
  const error = new ModuleError(message, cause === undefined ? { code } : { code, cause: cause as Error })
  return place === undefined ? error : Object.assign(error, place)
}
