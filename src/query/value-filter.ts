/**
 * Filters made of paths and values instead of being spelled, for those who look up what they have found elsewhere.
 *
 * A value is a value, whatever it looks like: an object with an operator's name as its key is compared with, and a regular
 * expression is equal to itself and searches nothing.
 */
import { cloneValue } from '../model/clone.ts'
import { splitPath } from '../model/path.ts'
import { type Filter, leaf, type Predicate } from './ast.ts'

/**
 * Some value on the path equals one of these, which are copied. Null equals missing.
 * @throws PetalError BadValue for what no document may hold
 */
export function equalsOneOf(path: string, values: readonly unknown[]): Filter {
  return onPath(path, { kind: 'in', values: values.map((value) => cloneValue(value ?? null)), patterns: [] })
}

/** The path leads to something. */
export function exists(path: string): Filter {
  return onPath(path, { kind: 'exists' })
}

function onPath(text: string, predicate: Predicate): Filter {
  return leaf({ kind: 'field', path: { text, components: splitPath(text) }, predicate })
}
