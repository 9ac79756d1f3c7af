/** Yields matches in sort order. */
import type { CompiledSort } from '../../query/sort.ts'
import { FullSort, TopK } from '../../query/sorter.ts'
import { firstByColumns } from './column-walk.ts'
import { completed, type Match, maxSliceCharacters } from './confirmer.ts'
import { type Execution, pauseIfDue } from './execution.ts'
import { findMatches } from './executor.ts'
import { FieldsRead, usesNone } from './fields-read.ts'
import { forEachStep, type Steps, type Waiting } from './steps.ts'

/** Up to this many documents are read twice: their sort fields with those of all others, then all of them. */
const maxCompleted = 256

/** A sort, and how many matches are wanted, including those that are only counted. */
interface Sorted {
  readonly sort: CompiledSort
  readonly wanted: number
  /** Number of leading matches whose documents are not used. */
  readonly skipped: number
  /** Whether the index may be used. */
  readonly byIndex: boolean
}

/**
 * Yields the first matches of an order, without those that the meter counts as passed over, using the columns of the
 * index where that is less work than reading all matches.
 */
export function* sortedMatches(execution: Execution, { sort, wanted, skipped, byIndex }: Sorted): Steps<Match[]> {
  const partial = wanted - skipped <= maxCompleted ? readingSortFields(execution, sort) : undefined
  const reading = partial ?? execution
  const first = byIndex && Number.isFinite(wanted) ? yield* firstByColumns(reading, sort, wanted) : undefined
  // Matches are found in the order of ordinals, in which none can be passed over.
  const found = first?.matches ?? (yield* sorted(findMatches({ ...reading, unwanted: 0 }), sort, wanted))
  const unused = skipped - (first?.passed ?? 0)
  if (partial === undefined) yield found
  else yield* completedFrom(unused, found, execution)
}

/**
 * The execution, but its matches may lack what neither the filter nor the sort looks at; undefined where that would not
 * save time.
 */
function readingSortFields(execution: Execution, sort: CompiledSort): Execution | undefined {
  const { view, filter } = execution
  if (!view.canScan || !view.canReadSync || execution.fields.isKnown) return undefined
  const fields = new FieldsRead(filter, sort, usesNone)
  return fields.isKnown ? { ...execution, fields } : undefined
}

/** Yields the matches, those from the `first` on with their whole documents, of which few are held at a time. */
function* completedFrom(first: number, matches: readonly Match[], execution: Execution): Steps<Match[]> {
  if (first > 0) yield matches.slice(0, first)
  let slice: Match[] = []
  let characters = 0
  for (let i = first; i < matches.length; i++) {
    const match = completed(matches[i]!)
    slice.push(match)
    characters += match.characters
    if (characters >= maxSliceCharacters) {
      yield slice
      slice = []
      characters = 0
    }
    yield* pauseIfDue(execution)
  }
  if (slice.length > 0) yield slice
}

/**
 * Reads all matches before it yields the first.
 * @param count number of leading matches wanted; Infinity for all
 */
export function* inSortOrder(matches: Steps<Match[]>, sort: CompiledSort, count: number): Steps<Match[]> {
  yield yield* sorted(matches, sort, count)
}

function* sorted(matches: Steps<Match[]>, sort: CompiledSort, count: number): Waiting<Match[]> {
  const sorter = Number.isFinite(count) ? new TopK<Match>(sort, count) : new FullSort<Match>(sort)
  yield* forEachStep(matches, (slice) => {
    for (const match of slice) sorter.push(match.document, match, match.characters)
  })
  return sorter.toArray()
}
