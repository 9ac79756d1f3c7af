/**
 * Compiles sort orders: `{ 'user.name': 1, at: -1 }` and the other spellings of MongoDB's drivers.
 *
 * Each document's key is extracted once (`keyOf`); documents are then compared by their keys. Rules of the key:
 * 1. A missing value sorts as null.
 * 2. An array is represented by its smallest element in ascending and its largest in descending order; an empty array
 *    sorts before null.
 * 3. Several paths through one array use the same element: the one whose values sort first.
 */

import { compareValues, type StringOrder } from '../model/compare.ts'
import { PetalError } from '../model/errors.ts'
import { unwrapNumber } from '../model/numbers.ts'
import { splitPath } from '../model/path.ts'
import { type Document, describeType, type Numeric, Type, typeOf } from '../model/types.ts'
import { pathAndDirection } from './path-direction.ts'
import { compileSortKey, emptyArray, type SortKey } from './sort-key.ts'

export { FullSort, type SortLimits, TopK } from './sorter.ts'

export interface SortField {
  readonly path: string
  readonly direction: 1 | -1
}

export interface CompiledSort {
  readonly keys: readonly SortField[]
  /** Strings do not compare by code point, so no index has this order. */
  readonly isCollated: boolean
  /** The direction of `$natural`, oldest or newest first; `keys` is then empty. */
  readonly natural: 1 | -1 | undefined
  /** The key for compareKeys(); valid until the document changes. */
  keyOf(document: Document): SortKey
  compareKeys(a: SortKey, b: SortKey): number
  compare(a: Document, b: Document): number
}

/**
 * @param spec `{ a: 1, 'b.c': -1 }`, a Map, `[['a', 1]]`, `['a', 'b']`, `['a', -1]` or `'a'`; directions also as 'asc',
 *   'ascending', 'desc', 'descending'. Without a spec, documents stay in order of arrival.
 * @param strings the order of strings
 * @throws PetalError BadValue naming the path and its direction; CommandNotSupported for `$meta`
 * @example
 * const byAge = compileSort({ age: -1 })
 * people.sort(byAge.compare)
 */
export function compileSort(spec: unknown, strings?: StringOrder): CompiledSort {
  const fields = parseSort(spec)
  const naturalField = fields.find(({ path }) => path === '$natural')
  if (naturalField !== undefined && fields.length > 1) {
    throw new PetalError('BadValue', 'Cannot include $natural in a sort of more than one key', {
      details: { operator: '$natural' }
    })
  }
  const keys = naturalField === undefined ? fields : []
  const compareKeys = keyComparison(keys, strings)
  const keyOf = compileSortKey(
    keys.map(({ path }) => path),
    compareKeys
  )
  return {
    keys,
    isCollated: strings !== undefined,
    natural: naturalField?.direction,
    keyOf,
    compareKeys,
    compare: (a, b) => compareKeys(keyOf(a), keyOf(b))
  }
}

/** The order of arrival. */
export const noSort = compileSort(undefined)

function keyComparison(
  fields: readonly SortField[],
  strings: StringOrder | undefined
): (a: SortKey, b: SortKey) => number {
  const directions = fields.map(({ direction }) => direction)
  return (a, b) => {
    for (let i = 0; i < directions.length; i++) {
      const difference = compareSortValues(a[i], b[i], strings)
      if (difference !== 0) return directions[i] === 1 ? difference : -difference
    }
    return 0
  }
}

/** As compareValues(), with the empty array after MinKey and before null. */
function compareSortValues(a: unknown, b: unknown, strings: StringOrder | undefined): number {
  if (a === emptyArray) return b === emptyArray ? 0 : typeOf(b) === Type.minKey ? 1 : -1
  if (b === emptyArray) return typeOf(a) === Type.minKey ? -1 : 1
  return compareValues(a, b, strings)
}

function parseSort(spec: unknown): SortField[] {
  const fields: SortField[] = []
  for (const [path, direction] of entriesOf(spec)) {
    const field = { path: checkPath(path), direction: parseDirection(path, direction) }
    if (fields.some((other) => other.path === field.path)) {
      throw new PetalError('BadValue', `The sort contains '${field.path}' twice`, { details: { path: field.path } })
    }
    fields.push(field)
  }
  return fields
}

function entriesOf(spec: unknown): Iterable<readonly [unknown, unknown]> {
  if (spec === undefined || spec === null) return []
  if (typeof spec === 'string') return [[spec, 1]]
  if (spec instanceof Map) return spec
  if (Array.isArray(spec)) return arrayEntries(spec)
  if (typeOf(spec) === Type.object) return Object.entries(spec as Document)
  throw new PetalError('BadValue', `A sort must be an object, a Map, an array or a path, not ${describeType(spec)}`)
}

function arrayEntries(spec: readonly unknown[]): readonly (readonly [unknown, unknown])[] {
  if (spec.length === 2 && typeof spec[0] === 'string' && isDirection(spec[1])) return [[spec[0], spec[1]]]
  return spec.map((entry) => pathAndDirection(entry, 'A sort'))
}

function checkPath(path: unknown): string {
  if (typeof path !== 'string')
    throw new PetalError('BadValue', `A sort path must be a string, not ${describeType(path)}`)
  if (path === '$natural') return path
  const components = splitPath(path)
  if (components.includes('')) {
    throw new PetalError('BadValue', `The sort path '${path}' has an empty component`, { details: { path } })
  }
  if (components.some((component) => component.startsWith('$'))) {
    throw new PetalError('BadValue', `The sort path '${path}' has a component that begins with '$'`, {
      details: { path }
    })
  }
  return path
}

function isDirection(value: unknown): boolean {
  return directionOf(value) !== undefined
}

function parseDirection(path: unknown, value: unknown): 1 | -1 {
  const direction = directionOf(value)
  if (direction !== undefined) return direction
  const type = typeOf(value)
  if (type === Type.object && Object.hasOwn(value as Document, '$meta')) {
    throw new PetalError('CommandNotSupported', `Sorting by $meta is not supported, at '${String(path)}'`, {
      details: { operator: '$meta', path }
    })
  }
  const given = type === Type.number ? String(value) : typeof value === 'string' ? `'${value}'` : describeType(value)
  throw new PetalError('BadValue', `The sort direction of '${String(path)}' must be 1 or -1, not ${given}`, {
    details: { path }
  })
}

/** Returns undefined for anything but a direction. */
export function directionOf(value: unknown): 1 | -1 | undefined {
  if (typeof value === 'string') {
    if (value === 'asc' || value === 'ascending') return 1
    return value === 'desc' || value === 'descending' ? -1 : undefined
  }
  if (typeOf(value) !== Type.number) return undefined
  const number = Number(String(unwrapNumber(value as Numeric)))
  return number === 1 || number === -1 ? number : undefined
}
