/**
 * How deeply a value may be nested that is computed, copied or written as JSON. Whatever goes through all of a value
 * recurses once per level, and the stack has room for some thousands.
 *
 * Stored documents have a limit of their own, a tenth of this: see flatten() of the index.
 */
import { PetalError } from './errors.ts'
import { isPlainObject } from './types.ts'

/** Levels below the outermost one. */
export const maxDepth = 1000

/** @param what the value is, as the start of a sentence */
export function tooDeep(what: string): PetalError {
  return new PetalError('BadValue', `${what} may be nested at most ${maxDepth} levels deep`, { details: { maxDepth } })
}

/** @throws PetalError BadValue */
export function assertDepth(value: unknown, what: string, depth = 0): void {
  if (typeof value !== 'object' || value === null) return
  const isArray = Array.isArray(value)
  if (!isArray && !isPlainObject(value)) return
  if (depth > maxDepth) throw tooDeep(what)
  for (const each of isArray ? (value as readonly unknown[]) : Object.values(value)) assertDepth(each, what, depth + 1)
}
