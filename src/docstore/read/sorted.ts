/** Matches in the order of a sort: all of them are read before the first is known. */
import type { CompiledSort } from '../../query/sort.ts'
import { FullSort, TopK } from '../../query/sorter.ts'
import type { Match } from './confirmer.ts'
import { forEachStep, type Steps } from './steps.ts'

/** @param count how many of the first are wanted; Infinity for all */
export function* inSortOrder(matches: Steps<Match[]>, sort: CompiledSort, count: number): Steps<Match[]> {
  const sorter = Number.isFinite(count) ? new TopK<Match>(sort, count) : new FullSort<Match>(sort)
  yield* forEachStep(matches, (slice) => {
    for (const match of slice) sorter.push(match.document, match, match.characters)
  })
  yield sorter.toArray()
}
