/** The `--hash` option: the hash of an index to be rebuilt. */
import type { IndexOptions } from '../index.ts'
import { UsageError } from './errors.ts'

export const hashNames = ['murmur', 'farmhash'] as const satisfies readonly IndexOptions['hash'][]

/** @throws UsageError for an unknown hash */
export function hashName(given: string): (typeof hashNames)[number] {
  const hash = hashNames.find((name) => name === given)
  if (hash !== undefined) return hash
  throw new UsageError(`--hash takes ${hashNames.join(' or ')}, got '${given}'`)
}
