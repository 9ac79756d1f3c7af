/** `--store`: the engine that keeps a new database in its directory. */
import type { StoreName } from '../index.ts'
import { UsageError } from './errors.ts'

/** `memory` is none of them: what it keeps ends with the command. */
export const storeNames = ['lsm', 'level'] as const satisfies readonly StoreName[]

/** @throws UsageError for a name that no such engine has */
export function storeName(given = 'lsm'): (typeof storeNames)[number] {
  const store = storeNames.find((name) => name === given)
  if (store !== undefined) return store
  throw new UsageError(`--store takes ${storeNames.join(' or ')}, got '${given}'`)
}
