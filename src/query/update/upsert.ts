/** Builds the document that an upsert starts from: the fields whose values the filter determines. */
import { cloneValue } from '../../model/clone.ts'
import { compareStrings } from '../../model/compare.ts'
import { type Document, isPlainObject, Type, typeOf } from '../../model/types.ts'
import { filterError } from '../errors.ts'
import { editAt } from './edit.ts'
import { findConflict, parseUpdatePath } from './path.ts'

interface Equality {
  readonly path: string
  readonly value: unknown
}

const operator = 'upsert'

/**
 * Equalities at the top, in `$and`, and in an `$or`, `$in` or `$all` with one member become fields, `_id` first; other
 * conditions determine no single value and are ignored.
 * @throws PetalError NotSingleValueField when two equalities concern one path, or one above the other;
 *   NotExactValueField for one below `_id`, whose fields would have no defined order
 * @example
 * documentFromFilter({ kind: 'a', 'user.id': { $eq: 7 }, age: { $gt: 5 } }) // { kind: 'a', user: { id: 7 } }
 */
export function documentFromFilter(filter: unknown): Document {
  return documentOf(equalitiesOf(filter))
}

/**
 * Returns the document that a replacement starts from: only the filter's `_id`.
 * @throws PetalError as documentFromFilter(), for the `_id`
 */
export function identityFromFilter(filter: unknown): Document {
  const equalities = equalitiesOf(filter).filter(isOnId)
  const document = documentOf(equalities)
  const below = equalities.find(({ path }) => path !== '_id')
  if (below === undefined) return document
  throw filterError('NotExactValueField', { operator, path: below.path }, "'_id' must be specified as a whole")
}

function documentOf(equalities: readonly Equality[]): Document {
  const conflict = findConflict(equalities)
  if (conflict !== undefined) {
    const place = { operator, path: conflict.place.path }
    throw filterError('NotSingleValueField', place, `the filter also specifies a value for '${conflict.other}'`)
  }
  const ordered = equalities.toSorted((a, b) => Number(isOnId(b)) - Number(isOnId(a)) || compareStrings(a.path, b.path))
  let document: Document = {}
  const options = { operator, ignoresBlockedPath: false, isFiltered: () => false, owned: new Set() }
  for (const { path, value } of ordered) {
    const parsed = parseUpdatePath(path, operator)
    if (parsed.steps.some(({ kind }) => kind !== 'field')) {
      throw filterError('BadValue', { operator, path }, 'positional path components are not allowed')
    }
    document = editAt(document, parsed, () => cloneValue(value), options)
  }
  return document
}

function isOnId({ path }: Equality): boolean {
  return path === '_id' || path.startsWith('_id.')
}

function equalitiesOf(filter: unknown): Equality[] {
  if (!isPlainObject(filter)) return []
  return Object.entries(filter).flatMap(([key, condition]) => {
    if (!key.startsWith('$')) return equalityOf(key, condition)
    if (!Array.isArray(condition)) return []
    const says = key === '$and' || (key === '$or' && condition.length === 1)
    return says ? condition.flatMap(equalitiesOf) : []
  })
}

function equalityOf(path: string, condition: unknown): Equality[] {
  if (typeOf(condition) === Type.regex) return []
  if (!isOperatorObject(condition)) return [{ path, value: condition }]
  const { $in: list, $all: all } = condition
  const listed = [...(Array.isArray(list) && list.length === 1 ? list : []), ...(Array.isArray(all) ? all : [])]
  // Operators in $all are conditions on elements, not values.
  const values = listed.filter((value) => typeOf(value) !== Type.regex && !isOperatorObject(value))
  return [...(Object.hasOwn(condition, '$eq') ? [condition.$eq] : []), ...values].map((value) => ({ path, value }))
}

function isOperatorObject(value: unknown): value is Document {
  return isPlainObject(value) && Object.keys(value)[0]?.startsWith('$') === true
}
