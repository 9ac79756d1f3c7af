/**
 * Makes filters directly from paths and values, for internal look-ups.
 *
 * Values are never interpreted: an object with an operator's name as its key is compared, and a regular expression
 * equals itself and is not searched with.
 */
import { cloneValue } from '../model/clone.ts'
import { splitPath } from '../model/path.ts'
import { type Filter, leaf, type Predicate } from './ast.ts'

/**
 * Some value on the path equals one of these, which are copied. Null equals missing.
 * @throws PetalError BadValue for a value that no document may hold
 */
export function equalsOneOf(path: string, values: readonly unknown[]): Filter {
  return onPath(path, { kind: 'in', values: values.map((value) => cloneValue(value ?? null)), patterns: [] })
}

/** The path exists. */
export function exists(path: string): Filter {
  return onPath(path, { kind: 'exists' })
}

function onPath(text: string, predicate: Predicate): Filter {
  return leaf({ kind: 'field', path: { text, components: splitPath(text) }, predicate })
}
