/** Yields matches in sort order. */
import type { CompiledSort } from '../../query/sort.ts'
import { FullSort, TopK } from '../../query/sorter.ts'
import { firstByColumns } from './column-walk.ts'
import type { Match } from './confirmer.ts'
import type { Execution } from './execution.ts'
import { findMatches } from './executor.ts'
import { forEachStep, type Steps } from './steps.ts'

/** A sort, and how many matches are wanted, including skipped ones. */
interface Sorted {
  readonly sort: CompiledSort
  readonly wanted: number
  /** Whether the index may be used. */
  readonly byIndex: boolean
}

/**
 * Yields the first matches of an order, using the columns of the index where that is less work than reading all
 * matches.
 */
export function* sortedMatches(execution: Execution, { sort, wanted, byIndex }: Sorted): Steps<Match[]> {
  const first = byIndex && Number.isFinite(wanted) ? yield* firstByColumns(execution, sort, wanted) : undefined
  if (first === undefined) yield* inSortOrder(findMatches(execution), sort, wanted)
  else yield first
}

/**
 * Reads all matches before it yields the first.
 * @param count number of leading matches wanted; Infinity for all
 */
export function* inSortOrder(matches: Steps<Match[]>, sort: CompiledSort, count: number): Steps<Match[]> {
  const sorter = Number.isFinite(count) ? new TopK<Match>(sort, count) : new FullSort<Match>(sort)
  yield* forEachStep(matches, (slice) => {
    for (const match of slice) sorter.push(match.document, match, match.characters)
  })
  yield sorter.toArray()
}
