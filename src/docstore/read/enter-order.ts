/**
 * Enters an order where the filter's own range on its first path begins: the next page of a sort,
 * `{ at: { $lt: last } }` or `{ $or: [{ at: { $lt: last } }, { at: last, _id: { $lt: id } }] }`, does not begin with the
 * greatest `at`.
 *
 * Invariant: no document of a column, all of which have a single value on the path, matches and comes before the start.
 * (The walk excludes none before it: it begins there, and reads what the filter leaves.)
 */
import { typeOf } from '../../model/types.ts'
import type { Constraint, ValueInterval } from '../../query/constraints.ts'
import type { Execution } from './execution.ts'
import type { OrderedSegment, OrderSurvey } from './order-survey.ts'
import { evaluateOn } from './segment-reads.ts'
import { compareToValue, endOfValue, valueOfEnd } from './sort-value.ts'
import type { Waiting } from './steps.ts'

type Key = NonNullable<ReturnType<typeof endOfValue>>
type Side = 'low' | 'high'

/** @returns the survey as it is if the filter has no such range */
export function* enterOrder(execution: Execution, surveyed: OrderSurvey, direction: 1 | -1): Waiting<OrderSurvey> {
  const { bounds, type } = surveyed
  const constraints = execution.filter.constraints().list.filter(({ path }) => path === bounds.path)
  const [first, last] = direction === 1 ? (['low', 'high'] as const) : (['high', 'low'] as const)
  const start = keyOf(constraints, first, surveyed)
  if (start === undefined) return surveyed
  const end = keyOf(constraints, last, surveyed)
  const outer = (side: Side, key: Key) => {
    const limit = { key, isInclusive: false }
    return side === 'low' ? bounds.between(type, undefined, limit) : bounds.between(type, limit, undefined)
  }
  const segments: OrderedSegment[] = []
  for (const segment of surveyed.segments) {
    const { number, column } = segment
    if (column === undefined) {
      segments.push(segment)
      continue
    }
    const passed = (yield* evaluateOn(execution, number, outer(first, start), 0)).upperCount
    const behind = end === undefined ? 0 : (yield* evaluateOn(execution, number, outer(last, end), 0)).upperCount
    segments.push({ ...segment, passed, ahead: Math.max(0, column.count - passed - behind) })
  }
  return { ...surveyed, segments, start: { key: start, isBefore: () => false } }
}

/** Returns the innermost end of what each of the constraints allows; undefined if there is none. */
function keyOf(constraints: readonly Constraint[], side: Side, { type }: OrderSurvey): Key | undefined {
  const compare = (a: Key, b: Key): number =>
    compareToValue(valueOfEnd(a, type), valueOfEnd(b, type)) * (side === 'low' ? 1 : -1)
  const outermost = (intervals: readonly ValueInterval[]): Key | undefined => {
    const keys: Key[] = []
    for (const interval of intervals) {
      if (interval.kind === 'type') {
        if (typeOf(interval.like) === type) return undefined
        continue
      }
      const end = interval.kind === 'value' ? interval : (interval[side] ?? (interval.low ?? interval.high)!)
      // Nothing in a column is of another type.
      if (typeOf(end.value) !== type) continue
      const key = interval.kind === 'range' && interval[side] === undefined ? undefined : endOfValue(end.value, type)
      if (key === undefined) return undefined
      keys.push(key)
    }
    return keys.length === 0 ? undefined : keys.reduce((a, b) => (compare(a, b) <= 0 ? a : b))
  }
  const ends = constraints.flatMap(({ conjuncts }) => conjuncts.flatMap((intervals) => outermost(intervals) ?? []))
  return ends.length === 0 ? undefined : ends.reduce((a, b) => (compare(a, b) >= 0 ? a : b))
}
