/** `--store`: the engine that keeps a new database. */
import type { StoreName } from '../index.ts'
import { UsageError } from './errors.ts'

/** Those that keep it in a directory. */
export const directoryStoreNames: readonly StoreName[] = ['lsm', 'level']
export const storeNames: readonly StoreName[] = [...directoryStoreNames, 'memory']

/** @throws UsageError for a name that no engine has */
export function storeName(given: string | undefined): StoreName {
  return oneOf(storeNames, given)
}

/** @throws as storeName(), and for one that keeps nothing */
export function directoryStoreName(given: string | undefined): StoreName {
  return oneOf(directoryStoreNames, given)
}

function oneOf(names: readonly StoreName[], given = 'lsm'): StoreName {
  const store = names.find((name) => name === given)
  if (store !== undefined) return store
  throw new UsageError(`--store takes ${names.slice(0, -1).join(', ')} or ${names.at(-1)}, got '${given}'`)
}
