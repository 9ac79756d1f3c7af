/**
 * Runs a find by a declared index, or without one when that turns out to be cheaper.
 *
 * An entry costs about a microsecond, a document five: entries are gathered as long as they stay below half of the
 * documents that the collection's own index would have fetched without knowing that they match. That is known only after it
 * was asked, which costs less than a few hundred entries.
 *
 * Invariants:
 * 1. Matches come in the order of the sort, or, where there is none, in that of ordinals: as without the index. Documents
 *    that sort alike may come in any order.
 * 2. Entries are read in the snapshot of the view.
 * 3. The filter has the last word on every document but those of an access that is exact.
 */
import { type Candidates, ofOrdinals } from '../read/candidates.ts'
import { confirm, confirmByKey } from '../read/confirm.ts'
import { Confirmer, type Match } from '../read/confirmer.ts'
import { type Execution, pauseIfDue } from '../read/execution.ts'
import { countMatches, findMatches } from '../read/executor.ts'
import type { CompiledFind } from '../read/find.ts'
import { inSortOrder, sortedMatches } from '../read/sorted.ts'
import { forEachStep, type Steps, wait } from '../read/steps.ts'
import type { IndexAccess, IndexChoice } from './choose-access.ts'
import { readOrdinals } from './entry-reader.ts'
import { IdIndex } from './id-index.ts'
import type { IndexStore } from './index-store.ts'

/** Entries that are gathered before other ways are looked at. */
const trialEntries = 1000
/** Beyond it, ordinals are not gathered: 8 MiB. */
const maxGathered = 1 << 20
/** Entries of `_id`s that are walked for few matches. */
const walkBudget = { least: 1000, perWanted: 64, share: 1 / 64 }

export interface IndexRead {
  readonly store: IndexStore
  readonly choice: IndexChoice
  /** Documents of the collection. */
  readonly documents: number
}

/** Matches in the order asked for, nothing skipped yet. */
export function* matchesByIndex(execution: Execution, read: IndexRead, find: CompiledFind): Steps<Match[]> {
  const { lookup, walk, isForced } = read.choice
  const wanted = find.skip + find.limit
  if (walk !== undefined && !lookup?.isUniqueLookup) {
    if (isForced || (yield* isWorthWalking(execution, read, walk, wanted))) {
      const maxEntries = isForced ? Number.POSITIVE_INFINITY : maxWalked(walk, read.documents, wanted)
      const given = yield* walkMatches({ ...execution, maxMatches: wanted }, read.store, walk, maxEntries)
      if (given !== undefined) yield* behindFirst(otherMatches({ ...execution, unwanted: 0 }, read, find), given)
      return
    }
  }
  yield* otherMatches(execution, read, find)
}

/** As matchesByIndex(), without a walk in order. */
function* otherMatches(execution: Execution, read: IndexRead, find: CompiledFind): Steps<Match[]> {
  const { lookup } = read.choice
  const wanted = find.skip + find.limit
  const { sort } = find
  const isSorted = sort.keys.length > 0
  const ordinals = yield* gather(execution, read)
  if (ordinals !== undefined && lookup !== undefined) {
    const matches = gatheredMatches(execution, lookup, ordinals)
    yield* isSorted ? inSortOrder(matches, sort, wanted) : matches
  } else yield* isSorted ? sortedMatches(execution, { sort, wanted, byIndex: true }) : findMatches(execution)
}

/** Yields the number of matches, once. */
export function* countByIndex(execution: Execution, read: IndexRead): Steps<number> {
  const ordinals = yield* gather(execution, read)
  const access = read.choice.lookup
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
 * Walking reads documents in order until enough match; any other way reads every candidate and sorts. How many have to
 * be walked past for one match is estimated from what the collection's own index holds possible.
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

/** Documents that the execution's own plan would fetch, and how many of them match for certain. */
interface Survey {
  readonly candidates: number
  readonly certain: number
}

function* survey(execution: Execution): Generator<Promise<unknown>, Survey, unknown> {
  const { view, plan } = execution
  if (plan.kind === 'ids') return { candidates: plan.ids.length, certain: 0 }
  let [candidates, certain] = [0, 0]
  for (let i = 0; i < view.index.segmentCount; i++) {
    const { upperCount, lowerCount } = yield* wait(view.index.evaluate(i, plan.bounds, 0))
    candidates += upperCount
    certain += lowerCount
    yield* pauseIfDue(execution)
  }
  return { candidates, certain }
}

/** Documents that need not be fetched if the entries are known: all that are certain have one. */
function sparedAtMost({ candidates, certain }: Survey): number {
  return candidates - certain
}

/**
 * Entries after which a walk of the table of `_id`s is given up, because far fewer match than could: documents in the order
 * of their `_id`s are read one by one, at ten times the cost of going through all of them. Other walks are not: nobody can
 * tell, behind one of several that sort alike, which have been given.
 */
function maxWalked({ index, isCovered }: IndexAccess, documents: number, wanted: number): number {
  if (isCovered || !(index instanceof IdIndex) || !Number.isFinite(wanted)) return Number.POSITIVE_INFINITY
  const { least, perWanted, share } = walkBudget
  return least + perWanted * wanted + share * documents
}

/** @returns undefined when all that are wanted were given; how many were when it takes more than `maxEntries` entries */
function* walkMatches(
  execution: Execution,
  store: IndexStore,
  access: IndexAccess,
  maxEntries: number
): Generator<Match[] | Promise<unknown>, number | undefined, unknown> {
  const { filter, meter, maxMatches } = execution
  meter.access = access
  const { keysExamined, candidates } = meter
  const confirmer = new Confirmer(filter, meter, maxMatches)
  let isGivenUp = false
  const runs = readOrdinals(store, execution.view, access, meter)
  try {
    for (let step = runs.next(); !step.done; ) {
      if (step.value instanceof Promise) {
        step = runs.next(yield step.value)
        continue
      }
      meter.candidates += step.value.length
      yield* confirmByKey(execution, confirmer, candidatesOf(step.value, access.isExact))
      yield* pauseIfDue(execution)
      if (confirmer.isDone) break
      if (meter.keysExamined - keysExamined > maxEntries) {
        isGivenUp = true
        break
      }
      step = runs.next()
    }
  } finally {
    runs.return()
  }
  if (confirmer.hasMatches) yield confirmer.take()
  if (!isGivenUp) return undefined
  // What is read from now on tells its own bounds.
  Object.assign(meter, { access: undefined, candidates })
  return maxMatches - confirmer.remaining
}

/** All but the first `count`. */
function* behindFirst(matches: Steps<Match[]>, count: number): Steps<Match[]> {
  let left = count
  try {
    for (let step = matches.next(); !step.done; ) {
      if (step.value instanceof Promise) {
        step = matches.next(yield step.value)
        continue
      }
      const slice = step.value.slice(left)
      left -= step.value.length - slice.length
      if (slice.length > 0) yield slice
      step = matches.next()
    }
  } finally {
    matches.return()
  }
}

/** Ordinals in the ranges, ascending; undefined when another way is cheaper. */
function* gather(
  execution: Execution,
  { store, choice }: IndexRead
): Generator<Promise<unknown>, number[] | undefined, unknown> {
  const { lookup, isForced } = choice
  if (lookup === undefined) return undefined
  const { meter } = execution
  const gathered: number[] = []
  // The index over pairs is as good where it has a column of the `_id`s.
  if (lookup.index instanceof IdIndex && !isForced && sparedAtMost(yield* survey(execution)) <= trialEntries) {
    return undefined
  }
  let budget = isForced ? Number.POSITIVE_INFINITY : trialEntries
  const runs = readOrdinals(store, execution.view, lookup, meter)
  try {
    for (let step = runs.next(); !step.done; ) {
      if (step.value instanceof Promise) {
        step = runs.next(yield step.value)
        continue
      }
      for (const ordinal of step.value) gathered.push(ordinal)
      yield* pauseIfDue(execution)
      if (meter.keysExamined >= budget) {
        if (budget > trialEntries) return undefined
        // The first matches are at hand sooner where they need not be gathered first.
        if (Number.isFinite(execution.maxMatches)) return undefined
        budget = Math.min(maxGathered, sparedAtMost(yield* survey(execution)) / 2)
        if (meter.keysExamined >= budget) return undefined
      }
      step = runs.next()
    }
  } finally {
    runs.return()
  }
  return gathered.sort((a, b) => a - b)
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
  return areCertain ? { ...ofOrdinals(ordinals), isCertain: () => true } : ofOrdinals(ordinals)
}
