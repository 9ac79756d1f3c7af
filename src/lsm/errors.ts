/**
 * The store's errors, with abstract-level's error codes. One factory per situation; `cause` holds the underlying
 * error, `path` and `offset` the place.
 */
import ModuleError from 'module-error'

/** Where on disk a problem was found. */
export interface Place {
  readonly path: string
  /** Byte offset in the file. */
  readonly offset?: number
}

/** Invalid bytes: a checksum, length or order that does not hold. */
export function corruption(what: string, place: Place, cause?: unknown): Error {
  const where = place.offset === undefined ? place.path : `${place.path} at offset ${place.offset}`
  return levelError('LEVEL_CORRUPTION', `Corruption in ${where}: ${what}`, cause, place)
}

/** The operating system reported an error: EIO, ENOSPC, EACCES, … */
export function ioError(what: string, cause: unknown, place?: Place): Error {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return levelError('LEVEL_IO_ERROR', `${what}: ${reason}`, cause, place)
}

/** Returns what `read` returns. @throws LEVEL_IO_ERROR that names the path, for any error */
export function reading<T>(path: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw ioError(`Cannot read ${path}`, error, { path })
  }
}

/** Another instance, in this or another process, has the directory open. */
export function locked(location: string, holder: string): Error {
  const error = levelError('LEVEL_LOCKED', `${location} is locked by ${holder}`, undefined, { path: location })
  return Object.assign(error, { holder })
}

/** An option, format version or method that this store does not support. */
export function notSupported(what: string, cause?: unknown): Error {
  return levelError('LEVEL_NOT_SUPPORTED', what, cause)
}

/** A method beyond abstract-level's own was called on a database that is not open. */
export function notOpen(): Error {
  return levelError('LEVEL_DATABASE_NOT_OPEN', 'Database is not open')
}

/** A key that abstract-level refuses, too. */
export function invalidKey(): Error {
  return levelError('LEVEL_INVALID_KEY', 'Key cannot be null or undefined')
}

/** A read through a snapshot that has been closed. */
export function snapshotNotOpen(): Error {
  return levelError('LEVEL_SNAPSHOT_NOT_OPEN', 'Snapshot is not open')
}

/** The caller's signal fired. */
export function aborted(reason: unknown): Error {
  const error = levelError('LEVEL_ABORTED', 'Operation has been aborted', reason)
  return Object.assign(error, { name: 'AbortError' })
}

/** True for errors with this code, whether created here or by abstract-level. */
export function hasCode(error: unknown, code: string): boolean {
  return typeof error === 'object' && error !== null && (error as { readonly code?: unknown }).code === code
}

function levelError(code: string, message: string, cause?: unknown, place?: Place): Error {
  const error = new ModuleError(message, cause === undefined ? { code } : { code, cause: cause as Error })
  return place === undefined ? error : Object.assign(error, place)
}
