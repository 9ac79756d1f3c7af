/**
 * Error messages and exit statuses of the command line.
 *
 * | status | meaning                                                              |
 * | ------ | -------------------------------------------------------------------- |
 * | 0      | success, or the reader of the output has gone                        |
 * | 1      | failure                                                              |
 * | 2      | invalid arguments                                                    |
 * | 130    | ended by Ctrl-C; 143 by SIGTERM, 129 by SIGHUP (a closed terminal)   |
 */
import { defaultCollectionName } from '../docstore/database.ts'
import { PetalError } from '../model/errors.ts'
import { oneLine } from '../model/one-line.ts'

/** Invalid arguments: the usage line is shown, and the exit status is 2. */
export class UsageError extends PetalError {
  constructor(message: string) {
    super('InvalidOptions', message)
  }
}

/** The reader of our output has gone: not an error, but nothing is left to do. */
export class ClosedPipe extends PetalError {
  constructor(cause: unknown) {
    super('Aborted', 'The output was closed', { cause })
  }
}

/** A file that cannot be read or written. */
export class FileError extends PetalError {
  /** @param action `read` or `write` */
  constructor(action: string, path: string, cause: unknown) {
    const { offset } = cause as { readonly offset?: unknown }
    const details = { file: path, ...(typeof offset === 'number' && { offset }) }
    super('StoreFailure', `cannot ${action} ${path}: ${systemReason(cause)}`, { cause, details })
  }
}

/** Returns the original error if closing the database failed, too. */
export function firstError(error: unknown): unknown {
  return error instanceof Error && error.name === 'SuppressedError' && 'suppressed' in error
    ? firstError(error.suppressed)
    : error
}

/** Returns one line for people: the message, and the name of the error code or of the system error. */
export function describeError(error: unknown): string {
  if (error instanceof UsageError || error instanceof FileError) return error.message
  if (error instanceof PetalError) return `${oneLine(error.message)} (${error.codeName})`
  if (isSystemError(error)) return `${error.path === undefined ? '' : `${error.path}: `}${systemReason(error)}`
  return `unexpected error: ${oneLine(error instanceof Error ? `${error.name}: ${error.message}` : String(error))}`
}

/** Returns a line of advice for the command line; undefined if the message says it all. */
export function adviceOn(error: unknown): string | undefined {
  if (!(error instanceof PetalError)) return undefined
  const { option, stored, collection } = error.details
  if (option !== 'hash' || stored === undefined) return undefined
  const which = collection === defaultCollectionName ? '' : ` --collection ${String(collection)}`
  return `petaldb reindex <db> --hash murmur${which} rebuilds the index`
}

export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && typeof (error as NodeJS.ErrnoException).code === 'string'
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or directory',
  EISDIR: 'it is a directory',
  ENOTDIR: 'part of the path is not a directory',
  EACCES: 'permission denied',
  EPERM: 'operation not permitted',
  ENOSPC: 'no space left on the device',
  EROFS: 'the file system is read-only',
  EMFILE: 'too many open files'
}

function systemReason(error: unknown): string {
  if (!isSystemError(error)) return oneLine(error instanceof Error ? error.message : String(error))
  const code = error.code ?? ''
  return `${reasons[code] ?? oneLine(error.message)} (${code})`
}
