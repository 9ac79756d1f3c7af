/** Arrays as sets: equal elements count as one, including `1`, `1n` and `Decimal128('1.0')`. */
import { isNil, isTruthy } from '../expression-values.ts'
import { type GroupKey, groupKey } from '../group-key.ts'
import type { LoopGuard } from '../loop-guard.ts'
import { arrayOf, arraysOf, nary, type Operators, unary } from './operator.ts'

const any = Number.POSITIVE_INFINITY

export const setOperators: Operators = {
  $setUnion: nary(0, any, (values, name, loops) => {
    const arrays = arraysOf(values, name)
    if (arrays === null) return null
    const [union, keys]: [unknown[], Set<GroupKey>] = [[], new Set()]
    for (const array of arrays) addToSet(union, keys, array, loops)
    return union
  }),
  $setIntersection: nary(0, any, (values, name, loops) => {
    const arrays = arraysOf(values, name)
    if (arrays === null) return null
    const [first, ...others] = arrays.map((array) => setOf(array, loops))
    return elementsOf(first, (key) => others.every((other) => other.has(key)))
  }),
  $setDifference: nary(2, 2, (values, name, loops) => {
    if (values.some(isNil)) return null
    const [first, second] = values.map((value) => setOf(arrayOf(value, name), loops))
    return elementsOf(first, (key) => second?.has(key) === false)
  }),
  $setEquals: nary(2, any, (values, name, loops) => {
    const [first, ...others] = values
    const set = setOf(arrayOf(first, name), loops)
    return others.every((value) => {
      const other = setOf(arrayOf(value, name), loops)
      return other.size === set.size && isSubset(set, other)
    })
  }),
  $setIsSubset: nary(2, 2, (values, name, loops) => {
    const [first, second] = values.map((value) => setOf(arrayOf(value, name), loops))
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
export function addToSet(elements: unknown[], keys: Set<GroupKey>, values: readonly unknown[], loops: LoopGuard): void {
  for (const value of values) {
    loops.count()
    const key = groupKey(value)
    if (keys.has(key)) continue
    keys.add(key)
    elements.push(value)
  }
}

/** In the order in which elements first occur. */
function setOf(values: readonly unknown[], loops: LoopGuard): ValueSet {
  const set = new Map<GroupKey, unknown>()
  for (const value of values) {
    loops.count()
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
