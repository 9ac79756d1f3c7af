/**
 * Converts constraints of a filter to key ranges of an index. Pure: no I/O, no state.
 *
 * Invariants:
 * 1. For every document that satisfies the constraints, a range contains one of its entries.
 * 2. Ranges are disjoint and ascending.
 */
import { encodeKey, tryEncodeKey } from '../../model/key.ts'
import { Type, typeOf } from '../../model/types.ts'
import type { Constraint, ValueInterval } from '../../query/constraints.ts'
import { compareBytes } from '../store/layout.ts'
import type { IndexField } from './definition.ts'
import { concat, firstEntry, invertBits, prefixEnd } from './entry-key.ts'

/** Keys with `from` ≤ key < `to`, relative to the index; an undefined `to` stands for the end of the index. */
export interface KeyRange {
  readonly from: Uint8Array
  readonly to: Uint8Array | undefined
}

/** Encoded values, ascending. An end may be a prefix of values: if inclusive, it covers all values with that prefix. */
interface Interval extends KeyRange {
  /** The value's key if the interval is a single value. */
  readonly point: Uint8Array | undefined
}

/** The bounds that constraints put on the leading fields of an index. */
export interface KeyBounds {
  readonly ranges: readonly KeyRange[]
  /** Number of leading fields that are each restricted to single values rather than ranges. */
  readonly pointFields: number
  /** Number of leading fields that are each restricted to one value. */
  readonly singleFields: number
  /** Number of leading fields that are restricted at all. */
  readonly boundFields: number
  /** Constraints that the ranges imply. */
  readonly used: ReadonlySet<Constraint>
  /** No entry in the ranges has null for every field. */
  readonly excludesNull: boolean
}

/** With more ranges than this, they cost more than they save. */
const maxRanges = 1000
const everything: readonly KeyRange[] = [{ from: firstEntry, to: undefined }]

/** Bounds that restrict nothing. */
export const unbounded: KeyBounds = {
  ranges: everything,
  pointFields: 0,
  singleFields: 0,
  boundFields: 0,
  used: new Set(),
  excludesNull: false
}

/** @param arrays bit i is set if field i of some document leads to or through an array */
export function keyBounds(
  fields: readonly IndexField[],
  arrays: number,
  constraints: readonly Constraint[]
): KeyBounds {
  let prefixes: readonly Uint8Array[] = [new Uint8Array(0)]
  let ranges: readonly KeyRange[] = everything
  const used = new Set<Constraint>()
  let [pointFields, singleFields, boundFields] = [0, 0, 0]
  let excludesNull = false
  for (const [i, { path, direction }] of fields.entries()) {
    if (sharesArray(fields, arrays, i)) break
    const held = intervalsOf(
      constraints.filter((constraint) => constraint.path === path),
      (arrays & (1 << i)) !== 0
    )
    if (held === undefined || prefixes.length * Math.max(1, held.intervals.length) > maxRanges) break
    const intervals = direction === 1 ? held.intervals : held.intervals.map(invertInterval).reverse()
    ranges = prefixes.flatMap((prefix) => intervals.map((interval) => withPrefix(prefix, interval)))
    boundFields++
    for (const constraint of held.used) used.add(constraint)
    excludesNull ||= !held.intervals.some(includesNull)
    const points = intervals.flatMap(({ point }) => (point === undefined ? [] : [point]))
    if (points.length < intervals.length) break
    prefixes = prefixes.flatMap((prefix) => points.map((point) => concat([prefix, point])))
    if (prefixes.length <= 1 && singleFields === pointFields) singleFields++
    pointFields++
  }
  return boundFields === 0 ? unbounded : { ranges, pointFields, singleFields, boundFields, used, excludesNull }
}

/**
 * Whether the field shares an array with an earlier one: a document may satisfy one constraint by one element and the
 * other by another, and then no entry satisfies both.
 */
function sharesArray(fields: readonly IndexField[], arrays: number, i: number): boolean {
  if ((arrays & (1 << i)) === 0) return false
  const root = rootOf(fields[i])
  return fields.slice(0, i).some((field, j) => (arrays & (1 << j)) !== 0 && rootOf(field) === root)
}

function rootOf(field: IndexField | undefined): string {
  return field?.path.split('.', 1)[0] ?? ''
}

/** Returns the intervals that satisfy the constraints on one path; undefined if there are none. */
function intervalsOf(
  constraints: readonly Constraint[],
  isMultikey: boolean
): { readonly intervals: readonly Interval[]; readonly used: readonly Constraint[] } | undefined {
  const held = constraints.map((constraint) => ({
    constraint,
    intervals: constraint.conjuncts.map(encodeIntervals).reduce(intersect)
  }))
  const [first] = held
  if (first === undefined) return undefined
  if (!isMultikey) return { intervals: held.map(({ intervals }) => intervals).reduce(intersect), used: constraints }
  // Each constraint may be satisfied by a different element, so only one of them can be used.
  const best = held.reduce((a, b) => (looseness(b.intervals) < looseness(a.intervals) ? b : a), first)
  return { intervals: best.intervals, used: [best.constraint] }
}

/** Prefers single values to ranges, and fewer to more. */
function looseness(intervals: readonly Interval[]): number {
  return intervals.reduce((sum, { point }) => sum + (point === undefined ? maxRanges : 1), 0)
}

function encodeIntervals(intervals: readonly ValueInterval[]): readonly Interval[] {
  const encoded = intervals
    .flatMap((interval) => encodeInterval(interval) ?? [])
    .sort((a, b) => compareBytes(a.from, b.from))
  const disjoint: Interval[] = []
  for (const interval of encoded) {
    const last = disjoint.at(-1)
    const joined = last && join(last, interval)
    if (joined === undefined) disjoint.push(interval)
    else disjoint[disjoint.length - 1] = joined
  }
  return disjoint
}

/**
 * Returns the union of two intervals that overlap, or meet and are not both values; undefined if they do neither.
 * REQUIRES: a.from ≤ b.from
 */
function join(a: Interval, b: Interval): Interval | undefined {
  const meeting = compareEnds(b.from, a.to)
  const areValues = a.point !== undefined && b.point !== undefined
  if (meeting > 0 || (meeting === 0 && areValues)) return undefined
  // Values whose intervals overlap are equal: a list may contain one more than once.
  if (areValues) return a
  return { from: a.from, to: compareEnds(a.to, b.to) >= 0 ? a.to : b.to, point: undefined }
}

/** Returns undefined for a value that no entry can have. */
function encodeInterval(interval: ValueInterval): Interval | undefined {
  switch (interval.kind) {
    case 'value': {
      const key = tryEncodeKey(interval.value)
      return key && { from: key, to: prefixEnd(key), point: key }
    }
    case 'type': {
      const tag = encodeKey(interval.like).subarray(0, 1)
      return { from: tag, to: prefixEnd(tag), point: undefined }
    }
    case 'range': {
      const { low, high } = interval
      const like = (low ?? high)?.value
      const tag = encodeKey(like).subarray(0, 1)
      const lowest = typeOf(like) === Type.number ? encodeKey(Number.NEGATIVE_INFINITY) : tag
      return {
        from: low === undefined ? lowest : encodeEnd(low.value, !low.isInclusive),
        to: high === undefined ? prefixEnd(tag) : encodeEnd(high.value, high.isInclusive),
        point: undefined
      }
    }
  }
}

/** Returns where a value starts, or where the keys with it as prefix end. */
function encodeEnd(value: unknown, isAfter: boolean): Uint8Array {
  const key = encodeKey(value)
  return isAfter ? (prefixEnd(key) ?? key) : key
}

function intersect(a: readonly Interval[], b: readonly Interval[]): readonly Interval[] {
  const result: Interval[] = []
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    const x = a[i]!
    const y = b[j]!
    const from = compareBytes(x.from, y.from) >= 0 ? x.from : y.from
    const xEndsFirst = compareEnds(x.to, y.to) <= 0
    const to = xEndsFirst ? x.to : y.to
    if (to === undefined || compareBytes(from, to) < 0) result.push({ from, to, point: x.point ?? y.point })
    if (xEndsFirst) i++
    else j++
  }
  return result
}

function compareEnds(a: Uint8Array | undefined, b: Uint8Array | undefined): number {
  if (a === undefined || b === undefined) return a === b ? 0 : a === undefined ? 1 : -1
  return compareBytes(a, b)
}

/**
 * Returns the interval for a descending field, with every bit inverted. The end p of a half-open interval separates
 * keys below p from p and all above; inverted, the keys with prefix p − 1 come right after it.
 */
function invertInterval({ from, to, point }: Interval): Interval {
  if (point !== undefined) {
    const key = invertBits(point)
    return { from: key, to: prefixEnd(key), point: key }
  }
  return { from: to === undefined ? firstEntry : invertEnd(to), to: invertEnd(from), point: undefined }
}

/**
 * k < end if and only if invertBits(k) ≥ invertEnd(end), for keys of values: no key is a proper prefix of `end` without its
 * last bit, so the keys with prefix invertBits(end) are the inverted keys with prefix `end`, which lie below.
 */
function invertEnd(end: Uint8Array): Uint8Array {
  const key = invertBits(end)
  return prefixEnd(key) ?? key
}

function withPrefix(prefix: Uint8Array, { from, to }: Interval): KeyRange {
  return { from: concat([prefix, from]), to: to === undefined ? prefixEnd(prefix) : concat([prefix, to]) }
}

const nullKey = encodeKey(null)

function includesNull({ from, to }: Interval): boolean {
  return compareBytes(from, nullKey) <= 0 && (to === undefined || compareBytes(nullKey, to) < 0)
}
