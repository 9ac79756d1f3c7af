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
  if (filter.kind === 'or') {
    const shared = sharedBy(filter.children.map(constraintsOf))
    for (const constraint of shared.list) list.push(constraint)
    return shared.isWhole
  }
  const constraint = filter.kind === 'leaf' ? constraintOf(filter.leaf) : undefined
  if (constraint === undefined) return false
  list.push(constraint)
  return true
}

/**
 * Returns what follows from an OR: on a path that every branch constrains, some value is in an interval of one of them.
 * `{ at: { $lt: 5 } }` OR `{ at: 5, _id: { $lt: 7 } }`, which pages through an order, gives at ≤ 5. Of branches with
 * several conditions on the path, the first ones are put together, the second ones, and so on, so that ranges with two
 * ends give a range with two ends.
 */
function sharedBy(branches: readonly Constraints[]): Constraints {
  const [first] = branches
  const list: Constraint[] = []
  for (const path of new Set(first?.list.map((constraint) => constraint.path))) {
    const onPath = branches.map((branch) => branch.list.filter((constraint) => constraint.path === path))
    if (onPath.some((constraints) => constraints.length === 0)) continue
    const conditions = onPath.map((constraints) => constraints.flatMap(({ conjuncts }) => conjuncts).sort(lowEndsFirst))
    const isExact = onPath.every((constraints) => constraints.every((constraint) => constraint.isExact))
    const most = conditions.reduce((most, { length }) => Math.max(most, length), 0)
    for (let i = 0; i < most; i++) {
      const intervals = conditions.flatMap((alternatives) => alternatives[Math.min(i, alternatives.length - 1)] ?? [])
      list.push({ path, conjuncts: [intervals], isExact })
    }
  }
  const isWhole = list.length === 1 && branches.every((branch) => branch.isWhole && branch.list.length === 1)
  return { list, isWhole }
}

function lowEndsFirst(a: readonly ValueInterval[], b: readonly ValueInterval[]): number {
  return Number(hasHighEnd(a)) - Number(hasHighEnd(b))
}

function hasHighEnd(intervals: readonly ValueInterval[]): boolean {
  return intervals.some((interval) => interval.kind === 'range' && interval.high !== undefined)
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
