/** Finds the `_id`s that a filter names: `{ _id: 5 }`, `{ _id: { $in: [1, 2] }, … }`. */
import { toScalar } from '../model/scalar.ts'
import { Type } from '../model/types.ts'
import type { Condition, Filter, Predicate } from './ast.ts'
import { ValueSet } from './value-set.ts'

/**
 * Returns a list, without duplicates, that contains every match's `_id`; undefined when the filter does not determine
 * one. `_id` is never an array, so equality is equality of the whole value.
 */
export function idsOf(filter: Filter): readonly unknown[] | undefined {
  switch (filter.kind) {
    case 'and':
      return shortest(filter.children.map(idsOf))
    case 'or':
      return union(filter.children.map(idsOf))
    case 'never':
      return []
    case 'not':
      return undefined
    case 'leaf':
      return idsOfCondition(filter.leaf)
  }
}

/** Whether every match satisfies some condition on its `_id`. */
export function namesId(filter: Filter): boolean {
  if (filter.kind === 'and') return filter.children.some(namesId)
  return filter.kind === 'leaf' && filter.leaf.kind === 'field' && filter.leaf.path.text === '_id'
}

function idsOfCondition(condition: Condition): readonly unknown[] | undefined {
  return condition.kind === 'field' && condition.path.text === '_id' ? idsOfPredicate(condition.predicate) : undefined
}

function idsOfPredicate(predicate: Predicate): readonly unknown[] | undefined {
  if (predicate.kind === 'equal') return isIdentifying(predicate.value) ? [predicate.value] : undefined
  if (predicate.kind !== 'in' || predicate.patterns.length > 0) return undefined
  return predicate.values.every(isIdentifying) ? distinct(predicate.values) : undefined
}

/** A scalar that can be an `_id` and equals nothing but itself: null also means missing. */
function isIdentifying(value: unknown): boolean {
  const type = toScalar(value)?.type
  return type !== undefined && type !== Type.null && type !== Type.regex
}

function shortest(lists: readonly (readonly unknown[] | undefined)[]): readonly unknown[] | undefined {
  let best: readonly unknown[] | undefined
  for (const list of lists) if (list !== undefined && (best === undefined || list.length < best.length)) best = list
  return best
}

function union(lists: readonly (readonly unknown[] | undefined)[]): readonly unknown[] | undefined {
  const ids: unknown[] = []
  for (const list of lists) {
    if (list === undefined) return undefined
    for (const id of list) ids.push(id)
  }
  return distinct(ids)
}

function distinct(values: readonly unknown[]): readonly unknown[] {
  const seen = new ValueSet()
  return values.filter((value) => seen.add(value))
}
