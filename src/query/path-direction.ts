/** What sorts and indexes have in common: an array of paths, each with its direction. */
import { PetalError } from '../model/errors.ts'

/**
 * Returns an entry of such an array as a pair: it is one, or a path alone, which ascends. Neither element is checked.
 * @param what begins the message
 * @throws PetalError BadValue for more than two elements
 * @example pathAndDirection(['a', -1], 'A sort') // ['a', -1]
 * @example pathAndDirection('a', 'A sort') // ['a', 1]
 */
export function pathAndDirection(entry: unknown, what: 'A sort' | 'An index'): readonly [unknown, unknown] {
  if (!Array.isArray(entry)) return [entry, 1]
  const [path, direction, ...others] = entry as readonly unknown[]
  if (others.length === 0) return [path, direction]
  throw new PetalError(
    'BadValue',
    `${what} takes pairs [path, direction], got ${entry.length} elements at '${String(path)}'`,
    { details: { path } }
  )
}
