/** Arrays as sets: equal elements count as one, including `1`, `1n` and `Decimal128('1.0')`. */
import { isNil, isTruthy } from '../expression-values.ts'
import { type GroupKey, groupKey } from '../group-key.ts'
import { arrayOf, arraysOf, nary, type Operators, unary } from './operator.ts'

const any = Number.POSITIVE_INFINITY

export const setOperators: Operators = {
  $setUnion: nary(0, any, (values, name) => {
    const arrays = arraysOf(values, name)
    if (arrays === null) return null
    const [union, keys]: [unknown[], Set<GroupKey>] = [[], new Set()]
    for (const array of arrays) addToSet(union, keys, array)
    return union
  }),
  $setIntersection: nary(0, any, (values, name) => {
    const arrays = arraysOf(values, name)
    if (arrays === null) return null
    const [first, ...others] = arrays.map(setOf)
    return elementsOf(first, (key) => others.every((other) => other.has(key)))
  }),
  $setDifference: nary(2, 2, (values, name) => {
    if (values.some(isNil)) return null
    const [first, second] = values.map((value) => setOf(arrayOf(value, name)))
    return elementsOf(first, (key) => second?.has(key) === false)
  }),
  $setEquals: nary(2, any, (values, name) => {
    const [first, ...others] = values
    const set = setOf(arrayOf(first, name))
    return others.every((value) => {
      const other = setOf(arrayOf(value, name))
      return other.size === set.size && isSubset(set, other)
    })
  }),
  $setIsSubset: nary(2, 2, (values, name) => {
    const [first, second] = values.map((value) => setOf(arrayOf(value, name)))
    return first !== undefined && second !== undefined && isSubset(first, second)
  }),
  $allElementsTrue: unary((value, name) => arrayOf(value, name).every(isTruthy)),
  $anyElementTrue: unary((value, name) => arrayOf(value, name).some(isTruthy))
}

type ValueSet = ReadonlyMap<GroupKey, unknown>

/**
 * Adds the values that are not yet there, in the order in which they first occur.
 * @param keys of the elements
 */
export function addToSet(elements: unknown[], keys: Set<GroupKey>, values: readonly unknown[]): void {
  for (const value of values) {
    const key = groupKey(value)
    if (keys.has(key)) continue
    keys.add(key)
    elements.push(value)
  }
}

/** In the order in which elements first occur. */
function setOf(values: readonly unknown[]): ValueSet {
  const set = new Map<GroupKey, unknown>()
  for (const value of values) {
    const key = groupKey(value)
    if (!set.has(key)) set.set(key, value)
  }
  return set
}

function elementsOf(set: ValueSet | undefined, isWanted: (key: GroupKey) => boolean): unknown[] {
  return [...(set ?? [])].filter(([key]) => isWanted(key)).map(([, value]) => value)
}

function isSubset(set: ValueSet, other: ValueSet): boolean {
  return [...set.keys()].every((key) => other.has(key))
}
