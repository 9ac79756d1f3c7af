/**
 * Runs a find by a declared index, or without one if that turns out to be cheaper.
 *
 * Invariants:
 * 1. Matches come in sort order or, without a sort, in ordinal order, as they do without the index. Documents with
 *    equal sort keys may come in any order.
 * 2. Entries are read in the snapshot of the view.
 * 3. The filter is tested on every document, except for those of an exact access.
 */
import { type Candidates, candidatesOfOrdinals, skipFirst } from '../read/candidates.ts'
import { confirm, confirmByKey } from '../read/confirm.ts'
import { Confirmer, type Match } from '../read/confirmer.ts'
import { type Execution, pauseIfDue } from '../read/execution.ts'
import { countMatches, findMatches } from '../read/executor.ts'
import type { CompiledFind } from '../read/find.ts'
import { isFar } from '../read/pass-over.ts'
import { inSortOrder, matchesByColumns, sortedMatches } from '../read/sorted.ts'
import { forEachStep, type Steps } from '../read/steps.ts'
import type { IndexAccess, IndexChoice } from './choose-access.ts'
import { readOrdinals } from './entry-reader.ts'
import { Gathering, gather, survey } from './gathering.ts'
import type { IndexStore } from './index-store.ts'

/** Limit on entries walked when few documents match. */
const walkBudget = { least: 1000, perWanted: 64, share: 1 / 64 }

export interface IndexRead {
  readonly store: IndexStore
  readonly choice: IndexChoice
  /** Number of documents in the collection. */
  readonly documents: number
}

/** Yields matches in the requested order, before skip and limit, except for those the meter counts as passed over. */
export function* matchesByIndex(execution: Execution, read: IndexRead, find: CompiledFind): Steps<Match[]> {
  const { lookup, walk, isForced } = read.choice
  const wanted = find.skip + find.limit
  if (walk !== undefined && !lookup?.isUniqueLookup) {
    const { sort, skip: skipped } = find
    // A walk reads the documents before the page, unless the entries say enough about them.
    const isLong = !isForced && !walk.isExact && isFar(skipped, execution.view.index.segmentCount)
    if (isLong && (yield* matchesByColumns(execution, { sort, wanted, skipped }))) return
    if (isForced || (yield* isWorthWalking(execution, read, walk, wanted))) {
      const maxEntries = isForced || walk.isCovered ? Number.POSITIVE_INFINITY : maxWalked(read.documents, wanted)
      const given = yield* walkMatches({ ...execution, maxMatches: wanted }, read.store, walk, maxEntries)
      if (given !== undefined) {
        const all = matchesWithoutWalk({ ...execution, unwanted: 0 }, read, { ...find, skip: 0, limit: wanted })
        yield* matchesBut(given, all)
      }
      return
    }
  }
  yield* matchesWithoutWalk(execution, read, find)
}

/** Like matchesByIndex(), but without walking an index in sort order. */
function* matchesWithoutWalk(execution: Execution, read: IndexRead, find: CompiledFind): Steps<Match[]> {
  const { lookup, isForced } = read.choice
  const { sort } = find
  const page = { sort, wanted: find.skip + find.limit, skipped: find.skip }
  const isSorted = sort.keys.length > 0
  const gathering = lookup && new Gathering(execution, read, lookup)
  let ordinals: number[] | undefined
  try {
    ordinals = gathering && (yield* gathering.few())
    // Columns know where the first matches are, whatever the number of all.
    if (ordinals === undefined && isSorted && !isForced && (yield* matchesByColumns(execution, page))) return
    ordinals ??= gathering && (yield* gathering.all())
  } finally {
    gathering?.close()
  }
  if (ordinals !== undefined && lookup !== undefined) {
    const matches = gatheredMatches(execution, lookup, ordinals)
    yield* isSorted ? inSortOrder(matches, sort, page.wanted, execution) : matches
  } else if (isSorted) yield* sortedMatches(execution, page, false)
  else yield* findMatches(execution)
}

/** Yields the number of matches, once. */
export function* countByIndex(execution: Execution, read: IndexRead): Steps<number> {
  const access = read.choice.lookup
  const ordinals = access && (yield* gather(execution, read, access))
  if (ordinals === undefined || access === undefined) {
    yield* countMatches(execution)
    return
  }
  if (access.isExact) {
    execution.meter.access = access
    execution.meter.certain += ordinals.length
    yield Math.min(ordinals.length, execution.maxMatches)
    return
  }
  let count = 0
  yield* forEachStep(gatheredMatches(execution, access, ordinals), (slice) => {
    count += slice.length
  })
  yield count
}

/**
 * Whether to walk the index in sort order. Walking reads documents in order until enough match; any other way reads
 * every candidate and sorts. How many documents have to be passed per match is estimated from the candidates of the
 * index over pairs.
 */
function* isWorthWalking(
  execution: Execution,
  { documents }: IndexRead,
  walk: IndexAccess,
  wanted: number
): Generator<Promise<unknown>, boolean, unknown> {
  if (walk.isCovered) return true
  const { candidates } = yield* survey(execution)
  if (candidates === 0) return false
  return Math.min(documents, (wanted * documents) / candidates) <= candidates
}

/**
 * Returns after how many entries a walk is abandoned because the matches are not spread over the order as the estimate
 * assumes: documents in the order of an index are read one by one, at ten times the cost of a full scan. It is at least
 * twice the estimate of any walk that is worth it.
 */
function maxWalked(documents: number, wanted: number): number {
  if (!Number.isFinite(wanted)) return Number.POSITIVE_INFINITY
  const { least, perWanted, share } = walkBudget
  return least + perWanted * wanted + share * documents
}

/**
 * @returns undefined if all wanted matches were returned; if that takes more than `maxEntries` entries, the ordinals of
 *   those that were
 */
function* walkMatches(
  execution: Execution,
  store: IndexStore,
  access: IndexAccess,
  maxEntries: number
): Generator<Match[] | Promise<unknown>, ReadonlySet<number> | undefined, unknown> {
  const { filter, meter, maxMatches, unwanted } = execution
  meter.access = access
  const { keysExamined, candidates } = meter
  const confirmer = new Confirmer(filter, meter, maxMatches)
  const given = new Set<number>()
  const runs = readOrdinals(store, execution.view, access, meter, access.isExact ? maxMatches : undefined)
  try {
    for (let step = runs.next(); !step.done; ) {
      if (step.value instanceof Promise) {
        step = runs.next(yield step.value)
        continue
      }
      meter.candidates += step.value.length
      const passed = access.isExact ? Math.min(step.value.length, Math.max(0, unwanted - confirmer.found)) : 0
      confirmer.skipCertain(passed)
      const matches = confirmByKey(execution, confirmer, skipFirst(candidatesOf(step.value, access.isExact), passed))
      yield* Number.isFinite(maxEntries) ? noting(matches, given) : matches
      yield* pauseIfDue(execution)
      if (confirmer.isDone) break
      if (meter.keysExamined - keysExamined > maxEntries) {
        if (confirmer.hasMatches) yield noted(confirmer.take(), given)
        // The fallback counts its own candidates.
        Object.assign(meter, { access: undefined, candidates })
        return given
      }
      step = runs.next()
    }
  } finally {
    runs.return()
  }
  if (confirmer.hasMatches) yield confirmer.take()
  return undefined
}

function* noting(matches: Steps<Match[]>, given: Set<number>): Steps<Match[]> {
  try {
    for (let step = matches.next(); !step.done; ) {
      step = matches.next(yield step.value instanceof Promise ? step.value : noted(step.value, given))
    }
  } finally {
    matches.return()
  }
}

function noted(slice: Match[], given: Set<number>): Match[] {
  for (const { ordinal } of slice) given.add(ordinal)
  return slice
}

/** Leaves out the given ones, which come first in the order, or are equal to the last of those that do. */
function* matchesBut(given: ReadonlySet<number>, matches: Steps<Match[]>): Steps<Match[]> {
  try {
    for (let step = matches.next(); !step.done; ) {
      if (step.value instanceof Promise) {
        step = matches.next(yield step.value)
        continue
      }
      const slice = step.value.filter(({ ordinal }) => !given.has(ordinal))
      if (slice.length > 0) yield slice
      step = matches.next()
    }
  } finally {
    matches.return()
  }
}

function* gatheredMatches(execution: Execution, access: IndexAccess, ordinals: readonly number[]): Steps<Match[]> {
  const { filter, meter, maxMatches, plan } = execution
  meter.access = access
  meter.candidates += ordinals.length
  const confirmer = new Confirmer(filter, meter, maxMatches)
  const from = ordinals[0] ?? 0
  const to = (ordinals.at(-1) ?? -1) + 1
  const inOrder = plan.reverse ? [...ordinals].reverse() : ordinals
  yield* confirm(execution, confirmer, candidatesOf(inOrder, access.isExact), { from, to, reverse: plan.reverse })
  if (confirmer.hasMatches) yield confirmer.take()
}

function candidatesOf(ordinals: readonly number[], areCertain: boolean): Candidates {
  return areCertain ? { ...candidatesOfOrdinals(ordinals), isCertain: () => true } : candidatesOfOrdinals(ordinals)
}
