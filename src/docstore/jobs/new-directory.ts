/**
 * Creates a database in a new directory, which appears complete and durable or not at all (lsm/fs/staged-directory.ts).
 */
import { AbortedError, PetalError } from '../../model/errors.ts'
import { fromStore } from '../errors.ts'
import { absolutePath } from '../store/location.ts'

/**
 * @param location must not exist, or be an empty directory
 * @param fill fills an empty directory, and closes everything in it
 * @param original absolute path of a database that is copied, which may have lost its marker
 * @throws PetalError DatabaseExists if the location is taken, BadValue if it is inside a database, StoreFailure;
 *   AbortedError; errors thrown by `fill`
 */
export async function fillNewDirectory<T>(
  location: string,
  signal: AbortSignal | undefined,
  fill: (directory: string) => Promise<T>,
  original?: string
): Promise<T> {
  // Before anything else is awaited.
  const target = await absolutePath(location)
  // Imported lazily: where there is no file system, databases are opened over a store.
  const { stageDirectory, syncFiles } = await import('../../lsm/fs/staged-directory.ts')
  const { nodeFileSystem } = await import('../../lsm/fs/node-file-system.ts')
  const { sparing } = await import('../../lsm/fs/sparing-file-system.ts')
  try {
    const stage = async (directory: string): Promise<T> => {
      const result = await fill(directory)
      await syncFiles(sparing(nodeFileSystem), directory)
      return result
    }
    return await stageDirectory(nodeFileSystem, target, stage, original)
  } catch (error) {
    throw newDirectoryFailed(location, signal, error)
  }
}

/** Converts the error of a database that could not be created at a location. */
export function newDirectoryFailed(location: string, signal: AbortSignal | undefined, error: unknown): unknown {
  if (signal?.aborted === true) return new AbortedError(signal.reason)
  if (error instanceof PetalError) return error
  const { cause } = error as { readonly cause?: unknown }
  const database = databaseAbove(error) ?? databaseAbove(cause)
  if (database !== undefined) {
    const message = `${location} is inside the database at ${database}; a copy needs its own directory outside it`
    return new PetalError('BadValue', message, { cause: error, details: { location, database } })
  }
  if (isTaken(error) || isTaken(cause)) {
    const message = `${location} already exists; the new database needs a new name or an empty directory`
    return new PetalError('DatabaseExists', message, { cause: error, details: { location } })
  }
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown }
  const known = fromStore(error)
  if (known instanceof PetalError) return known
  if (typeof code !== 'string') return error
  return new PetalError('StoreFailure', `${location} cannot be written: ${String(message)}`, {
    cause: error,
    details: { location }
  })
}

/** The database inside which a directory was to be created. */
function databaseAbove(error: unknown): unknown {
  return (error as { readonly database?: unknown } | undefined)?.database
}

function isTaken(error: unknown): boolean {
  return ['EEXIST', 'ENOTEMPTY'].includes(String((error as { readonly code?: unknown } | undefined)?.code))
}
