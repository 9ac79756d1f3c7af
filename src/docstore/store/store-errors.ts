/** Converts errors of the store to PetalErrors. */
import { fromStore } from '../errors.ts'

/** Runs a read of the store. @throws PetalError for an error of the store */
export function wrapStoreErrors<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw fromStore(error)
  }
}

/** For `promise.catch(rethrow)`. */
export function rethrow(error: unknown): never {
  throw fromStore(error)
}
