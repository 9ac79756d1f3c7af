/**
 * What a filter requires of single paths, in terms of an ordered index: values, and intervals of values.
 *
 * Invariants:
 * 1. Every document that matches the filter satisfies every constraint.
 * 2. A constraint applies to single values, as an index stores them: each element of an array separately. Conditions on
 *    a whole array make no constraint.
 * 3. Paths have no all-digit component: an index and a filter may disagree on whether it is a key or a position.
 */
import { isDigits } from '../model/path.ts'
import { Type, typeOf } from '../model/types.ts'
import type { Condition, Filter, Predicate, Test } from './ast.ts'
import type { Pattern } from './pattern.ts'
import { prefixOf } from './pattern-prefix.ts'

/** A value, or values of one type between two ends. */
export type ValueInterval =
  | { readonly kind: 'value'; readonly value: unknown }
  /** At least one end; only values of the ends' type. NaN is in no range. */
  | { readonly kind: 'range'; readonly low: IntervalEnd | undefined; readonly high: IntervalEnd | undefined }
  /** Every value of the type of `like`. */
  | { readonly kind: 'type'; readonly like: unknown }

export interface IntervalEnd {
  readonly value: unknown
  readonly isInclusive: boolean
}

export interface Constraint {
  readonly path: string
  /** Some single value on the path is, for each of these lists, in one of its intervals. */
  readonly conjuncts: readonly (readonly ValueInterval[])[]
  /** On a path without arrays, only what satisfies the filter's own condition satisfies the constraint. */
  readonly isExact: boolean
}

export interface Constraints {
  readonly list: readonly Constraint[]
  /** The list expresses the whole filter, except for constraints that are not exact. */
  readonly isWhole: boolean
}

export const noConstraints: Constraints = { list: [], isWhole: true }

/**
 * @example
 * // of { lang: 'en', n: { $gt: 5 }, $or: [...] }
 * // { list: [lang = 'en', n in (5, …)], isWhole: false }
 */
export function constraintsOf(filter: Filter): Constraints {
  const list: Constraint[] = []
  return { list, isWhole: collect(filter, list) }
}

/** @returns whether the list expresses the whole filter */
function collect(filter: Filter, list: Constraint[]): boolean {
  if (filter.kind === 'and') {
    let isWhole = true
    for (const child of filter.children) isWhole = collect(child, list) && isWhole
    return isWhole
  }
  const constraint = filter.kind === 'leaf' ? constraintOf(filter.leaf) : undefined
  if (constraint === undefined) return false
  list.push(constraint)
  return true
}

function constraintOf(condition: Condition): Constraint | undefined {
  if (condition.kind !== 'field') return undefined
  const { path, predicate } = condition
  if (path.components.some((component) => component === '' || isDigits(component))) return undefined
  if (predicate.kind === 'elemMatchValue') {
    const conjuncts: (readonly ValueInterval[])[] = []
    collectConjuncts(predicate.test, conjuncts)
    return conjuncts.length === 0 ? undefined : { path: path.text, conjuncts, isExact: false }
  }
  const intervals = intervalsOf(predicate)
  return intervals && { path: path.text, conjuncts: [intervals], isExact: predicate.kind !== 'regex' }
}

/** Collects what a test requires of one element; parts that intervals cannot express are left to the matcher. */
function collectConjuncts(test: Test, conjuncts: (readonly ValueInterval[])[]): void {
  if (test.kind === 'and') for (const child of test.children) collectConjuncts(child, conjuncts)
  if (test.kind !== 'leaf') return
  const intervals = intervalsOf(test.leaf)
  if (intervals !== undefined) conjuncts.push(intervals)
}

/** Returns the values that pass; undefined when intervals cannot express them. */
function intervalsOf(predicate: Predicate): readonly ValueInterval[] | undefined {
  switch (predicate.kind) {
    case 'equal':
      return isIndexed(predicate.value) ? [{ kind: 'value', value: predicate.value }] : undefined
    case 'in':
      if (predicate.patterns.length > 0 || !predicate.values.every(isIndexed)) return undefined
      return predicate.values.map((value) => ({ kind: 'value', value }))
    case 'range': {
      const { operator, value } = predicate
      const type = typeOf(value)
      // These compare with values of every type, including missing ones.
      if (!isIndexed(value) || type === Type.minKey || type === Type.maxKey) return undefined
      const end = { value, isInclusive: operator === '$gte' || operator === '$lte' }
      const isLow = operator === '$gt' || operator === '$gte'
      return [{ kind: 'range', low: isLow ? end : undefined, high: isLow ? undefined : end }]
    }
    case 'regex':
      return intervalsOfPattern(predicate.pattern)
    default:
      return undefined
  }
}

/** Strings with the literal prefix, and stored regular expressions, which may be this very pattern. */
function intervalsOfPattern(pattern: Pattern): readonly ValueInterval[] | undefined {
  const ends = prefixOf(pattern)?.ends
  if (ends === undefined) return undefined
  const toEnd = (end: typeof ends.low): IntervalEnd | undefined =>
    end && { value: end.key, isInclusive: end.isInclusive }
  return [
    { kind: 'range', low: toEnd(ends.low), high: toEnd(ends.high) },
    { kind: 'type', like: /x/ }
  ]
}

/** Arrays are indexed element by element, not as a whole. */
function isIndexed(value: unknown): boolean {
  const type = typeOf(value)
  return type !== Type.array && type !== Type.undefined && type !== Type.unsupported
}
