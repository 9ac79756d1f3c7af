/** The `--store` option: the storage engine of a new database. */
import type { StoreName } from '../index.ts'
import { UsageError } from './errors.ts'

/** Excludes `memory`, whose contents would be lost when the command ends. */
export const storeNames = ['lsm', 'level'] as const satisfies readonly StoreName[]

/** @throws UsageError for an unknown engine */
export function storeName(given = 'lsm'): (typeof storeNames)[number] {
  const store = storeNames.find((name) => name === given)
  if (store !== undefined) return store
  throw new UsageError(`--store takes ${storeNames.join(' or ')}, got '${given}'`)
}
