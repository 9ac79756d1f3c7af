/**
 * Enters an order where the filter's own range on its first path begins: the next page of a sort,
 * `{ at: { $lt: last } }` or `{ $or: [{ at: { $lt: last } }, { at: last, _id: { $lt: id } }] }`, does not begin with the
 * greatest `at`.
 *
 * Invariant: no document of a column, all of which have a single value on the path, matches and comes before the start.
 * (The walk excludes none before it: it begins there, and reads what the filter leaves.)
 */
import type { RangeType } from '../../model/pairs.ts'
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
  return { ...surveyed, segments, start: { key: start, isBefore: undefined } }
}

/** Returns the innermost end that the constraints set to values of the column's type; undefined if there is none. */
function keyOf(constraints: readonly Constraint[], side: Side, { type }: OrderSurvey): Key | undefined {
  const inwards = (a: Key, b: Key): number =>
    compareToValue(valueOfEnd(a, type), valueOfEnd(b, type)) * (side === 'low' ? 1 : -1)
  let innermost: Key | undefined
  for (const intervals of constraints.flatMap(({ conjuncts }) => conjuncts)) {
    const ends = endsOf(intervals, side, type)
    if (ends === undefined || ends.length === 0) continue
    const outermost = ends.reduce((a, b) => (inwards(a, b) <= 0 ? a : b))
    if (innermost === undefined || inwards(outermost, innermost) > 0) innermost = outermost
  }
  return innermost
}

/** Returns the ends of intervals of the type; undefined if one of them has none, or none that can be compared. */
function endsOf(intervals: readonly ValueInterval[], side: Side, type: RangeType): Key[] | undefined {
  const ends: Key[] = []
  for (const interval of intervals) {
    // Nothing in the column is of another type.
    if (typeOf(likeOf(interval)) !== type) continue
    const end = endOf(interval, side)
    const key = end && endOfValue(end.value, type)
    if (key === undefined) return undefined
    ends.push(key)
  }
  return ends
}

function endOf(interval: ValueInterval, side: Side): { readonly value: unknown } | undefined {
  if (interval.kind === 'type') return undefined
  return interval.kind === 'value' ? interval : interval[side]
}

/** A value of the interval's type. */
function likeOf(interval: ValueInterval): unknown {
  if (interval.kind === 'type') return interval.like
  return interval.kind === 'value' ? interval.value : (interval.low ?? interval.high)?.value
}
