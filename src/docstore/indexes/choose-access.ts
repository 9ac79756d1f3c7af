/**
 * Chooses which declared indexes could answer a find, and how. Pure policy: no I/O, no state. Whether one of them is
 * used is decided once the alternatives are known, see read-by-index.ts.
 *
 * Invariants:
 * 1. Every match has an entry in the ranges of an access.
 * 2. An ordered access first meets each match at its place in the order.
 */
import { PetalError } from '../../model/errors.ts'
import type { Constraints } from '../../query/constraints.ts'
import type { SortField } from '../../query/sort.ts'
import type { EntrySource } from './declared-index.ts'
import type { IndexDefinition } from './definition.ts'
import { type KeyBounds, type KeyRange, keyBounds, unbounded } from './key-ranges.ts'

export interface IndexAccess {
  readonly index: EntrySource
  readonly ranges: readonly KeyRange[]
  /** Number of leading fields that the ranges constrain. */
  readonly boundFields: number
  /** Each range holds at most one entry. */
  readonly isUniqueLookup: boolean
  /** The ranges imply the whole filter, or nearly. */
  readonly isCovered: boolean
  /** Every document with an entry in the ranges matches. */
  readonly isExact: boolean
  /** Entries come in sort order. */
  readonly isOrdered: boolean
  /** Read from the last entry to the first. */
  readonly reverse: boolean
}

/** The accesses worth considering. */
export interface IndexChoice {
  /** For gathering all matches, in ordinal order. */
  readonly lookup: IndexAccess | undefined
  /** For finding matches in sort order. */
  readonly walk: IndexAccess | undefined
  /** The caller's hint names the index, so no alternative is considered. */
  readonly isForced: boolean
}

/** Returns undefined if no index helps. */
export function chooseAccess(
  indexes: readonly EntrySource[],
  constraints: Constraints,
  sort: readonly SortField[]
): IndexChoice | undefined {
  const accesses = indexes.flatMap((index) => accessBy(index, constraints, sort) ?? [])
  const lookup = best(accesses.filter(({ boundFields }) => boundFields > 0))
  const walk = best(accesses.filter(({ isOrdered }) => isOrdered))
  if (lookup === undefined && walk === undefined) return undefined
  return { lookup, walk, isForced: false }
}

/** Returns the access by the index that the hint names; undefined if the index may not contain every match. */
export function forceAccess(
  index: EntrySource,
  constraints: Constraints,
  sort: readonly SortField[]
): IndexChoice | undefined {
  const access = accessBy(index, constraints, sort)
  if (access === undefined) return undefined
  return { lookup: access.isOrdered ? undefined : access, walk: access.isOrdered ? access : undefined, isForced: true }
}

function accessBy(index: EntrySource, constraints: Constraints, sort: readonly SortField[]): IndexAccess | undefined {
  const { definition, arrays } = index
  const bounds = boundsOrAll(definition, arrays, constraints)
  // Documents without any of the paths are outside of the ranges only if null is.
  if (definition.sparse && !bounds.excludesNull) return undefined
  const order = orderOf(definition, arrays, bounds, sort)
  const isCovered = constraints.isWhole && constraints.list.every((constraint) => bounds.used.has(constraint))
  const boundMask = 2 ** bounds.boundFields - 1
  return {
    index,
    ranges: bounds.ranges,
    boundFields: bounds.boundFields,
    isUniqueLookup: definition.unique && bounds.pointFields === definition.fields.length,
    isCovered,
    isExact: isCovered && constraints.list.every(({ isExact }) => isExact) && (arrays & boundMask) === 0,
    isOrdered: order !== undefined,
    reverse: order === -1
  }
}

/** A range end that is too long for a key constrains nothing. */
function boundsOrAll({ fields }: IndexDefinition, arrays: number, { list }: Constraints): KeyBounds {
  try {
    return keyBounds(fields, arrays, list)
  } catch (error) {
    if (error instanceof PetalError) return unbounded
    throw error
  }
}

/** Returns 1 if entries come in sort order, −1 if they do in reverse, and undefined otherwise. */
function orderOf(
  { fields }: IndexDefinition,
  arrays: number,
  bounds: KeyBounds,
  sort: readonly SortField[]
): 1 | -1 | undefined {
  if (sort.length === 0) return undefined
  for (let first = 0; first <= bounds.singleFields; first++) {
    const direction = directionFrom(fields, first, sort)
    if (direction === undefined) continue
    const sortMask = (2 ** sort.length - 1) << first
    // A document sorts by the first of its array elements, which may lie outside of the ranges.
    const isWhole = first === 0 && bounds.boundFields === 0
    if ((arrays & sortMask) === 0 || isWhole) return direction
  }
  return undefined
}

function directionFrom(fields: readonly SortField[], first: number, sort: readonly SortField[]): 1 | -1 | undefined {
  const [firstSort] = sort
  const firstField = fields[first]
  if (firstSort === undefined || firstField === undefined) return undefined
  const direction = firstSort.direction === firstField.direction ? 1 : -1
  const follows = sort.every(({ path, direction: wanted }, i) => {
    const field = fields[first + i]
    return field !== undefined && field.path === path && field.direction * direction === wanted
  })
  return follows ? direction : undefined
}

/** Prefers unique lookups, then covering accesses, then more constrained fields, then fewer ranges. */
function best(accesses: readonly IndexAccess[]): IndexAccess | undefined {
  let found: IndexAccess | undefined
  for (const access of accesses) if (found === undefined || score(access) > score(found)) found = access
  return found
}

function score({ isUniqueLookup, isCovered, boundFields, ranges }: IndexAccess): number {
  const isPoint = ranges.length > 0 && boundFields > 0
  return (isUniqueLookup ? 1000 : 0) + (isCovered ? 100 : 0) + boundFields * 2 + (isPoint ? 1 / ranges.length : 0)
}
