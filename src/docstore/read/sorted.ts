/** Yields matches in sort order. */
import type { CompiledSort } from '../../query/sort.ts'
import { FullSort, TopK } from '../../query/sorter.ts'
import { firstByColumns } from './column-walk.ts'
import { completed, type Match, maxSliceCharacters, maxSliceDocuments } from './confirmer.ts'
import { type Execution, pauseIfDue } from './execution.ts'
import { findMatches } from './executor.ts'
import { FieldsRead, usesNone } from './fields-read.ts'
import { forEachStep, type Steps, type Waiting } from './steps.ts'

/** Up to this many documents are read twice: their sort fields with those of all others, then all of them. */
const maxCompleted = 256

/** A sort, and how many matches are wanted, including those that are only counted. */
export interface Page {
  readonly sort: CompiledSort
  readonly wanted: number
  /** Number of leading matches whose documents are not used. */
  readonly skipped: number
}

/**
 * Yields the first matches of an order, without those that the meter counts as passed over.
 * @param byIndex whether to use the columns of the index where that is less work than reading all matches
 */
export function* sortedMatches(execution: Execution, page: Page, byIndex: boolean): Steps<Match[]> {
  if (byIndex && (yield* matchesByColumns(execution, page))) return
  const { sort, wanted, skipped } = page
  const partial = readingSortFields(execution, page)
  // They are found in the order of ordinals, in which none can be passed over.
  const found = yield* sorted(findMatches(sorting(partial ?? execution, page)), sort, wanted, execution)
  yield* partial === undefined ? inSlices(found, execution) : completedFrom(skipped, found, execution)
}

/** The execution without the order of its results. */
function sorting(execution: Execution, { sort, wanted }: Page): Execution {
  const { parallel } = execution
  const first = Number.isFinite(wanted) ? { sort, wanted } : undefined
  return { ...execution, unwanted: 0, parallel: parallel && { ...parallel, first } }
}

/** Like sortedMatches(), but yields nothing and returns false where columns are of no use. */
export function* matchesByColumns(
  execution: Execution,
  page: Page
): Generator<Match[] | Promise<unknown>, boolean, unknown> {
  const { sort, wanted, skipped } = page
  if (!Number.isFinite(wanted)) return false
  const partial = readingSortFields(execution, page)
  const first = yield* firstByColumns(partial ?? execution, sort, wanted)
  if (first === undefined) return false
  const { matches, passed } = first
  yield* partial === undefined ? inSlices(matches, execution) : completedFrom(skipped - passed, matches, execution)
  return true
}

/**
 * The execution, but its matches may lack what neither the filter nor the sort looks at; undefined where that would not
 * save time.
 */
function readingSortFields(execution: Execution, { sort, wanted, skipped }: Page): Execution | undefined {
  const { view, filter } = execution
  if (wanted - skipped > maxCompleted) return undefined
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
export function* inSortOrder(
  matches: Steps<Match[]>,
  sort: CompiledSort,
  count: number,
  execution: Execution
): Steps<Match[]> {
  yield* inSlices(yield* sorted(matches, sort, count, execution), execution)
}

function* sorted(
  matches: Steps<Match[]>,
  sort: CompiledSort,
  count: number,
  execution: Execution
): Waiting<readonly Match[]> {
  const sorter = Number.isFinite(count) ? new TopK<Match>(sort, count) : new FullSort<Match>(sort)
  yield* forEachStep(matches, (slice) => {
    for (const match of slice) sorter.push(match.document, match, match.characters)
  })
  const steps = sorter.steps()
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) return step.value
    yield* pauseIfDue(execution)
  }
}

function* inSlices(matches: readonly Match[], execution: Execution): Steps<Match[]> {
  for (let from = 0; from < matches.length; from += maxSliceDocuments) {
    if (from > 0) yield* pauseIfDue(execution)
    yield matches.slice(from, from + maxSliceDocuments)
  }
}
