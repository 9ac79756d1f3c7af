/**
 * Turns candidates into confirmed matches, reading their records by key, or as a range where many of them are wanted.
 *
 * Documents in the decoded-document cache are taken from there; only the others are read from the store.
 */
import { type Candidates, skipFirst } from './candidates.ts'
import { confirmByScan, type OrdinalRange, offerCached } from './confirm-by-scan.ts'
import type { Confirmer, Match } from './confirmer.ts'
import { type Execution, isClockCheckDue, isYieldDue, yieldSlice } from './execution.ts'
import { type Steps, wait } from './steps.ts'

/**
 * Candidates denser than this are read as a range (measured): where records can be scanned in place, each wanted one of
 * a million tweets, with uncached blocks, costs 22 µs by key and 15 µs as part of a range when 46 of 100 are wanted, 17
 * and 29 µs when 10 are. Through LevelDB's iterators it costs 3.7 and 5.4 µs when 50 are, but the range is read on
 * another thread while documents are parsed.
 */
const denseFraction = { scanned: 1 / 3, iterated: 1 / 2 }
const minDenseCandidates = 128
/** As many candidates show how many more it takes to find what is still wanted. */
const sampledCandidates = 256
const keysPerAsyncRead = 100

/** Leaves the last, incomplete slice in the confirmer, to be filled from the next segment. */
export function confirm(
  execution: Execution,
  confirmer: Confirmer,
  candidates: Candidates,
  range: OrdinalRange
): Steps<Match[]> {
  return isDense(execution, candidates.count, range)
    ? confirmDense(execution, confirmer, candidates, range)
    : confirmByKey(execution, confirmer, candidates)
}

/** Whether reading the range is faster than reading the candidates by key. */
export function isDense({ view }: Pick<Execution, 'view'>, candidates: number, { from, to }: OrdinalRange): boolean {
  return candidates >= (to - from) * (view.canScan ? denseFraction.scanned : denseFraction.iterated)
}

/** A few candidates are read by key: as long as they are all it takes, by what is known of those before. */
function* confirmDense(
  execution: Execution,
  confirmer: Confirmer,
  candidates: Candidates,
  range: OrdinalRange
): Steps<Match[]> {
  let left = candidates
  while (left.count > 0 && !confirmer.isDone) {
    if (Math.min(left.count, confirmer.expectedCandidates) >= minDenseCandidates) {
      const next = left.ordinal(0)
      const rest = range.reverse ? { ...range, to: next + 1 } : { ...range, from: next }
      yield* confirmByRange(execution, confirmer, left, rest)
      return
    }
    const some = Math.min(left.count, sampledCandidates)
    yield* confirmByKey(execution, confirmer, { ...left, count: some })
    left = skipFirst(left, some)
  }
}

export function* confirmByKey(execution: Execution, confirmer: Confirmer, candidates: Candidates): Steps<Match[]> {
  const { view } = execution
  const { count } = candidates
  if (!view.canReadSync) return yield* confirmInRuns(execution, confirmer, candidates)
  for (let i = 0; i < count && !confirmer.isDone; i++) {
    const ordinal = candidates.ordinal(i)
    const isCertain = candidates.isCertain(i)
    if (!offerCached(view, confirmer, ordinal, isCertain)) {
      confirmer.offer(ordinal, view.record(ordinal), isCertain, view.cacheToFill)
    }
    if (!isClockCheckDue(execution, confirmer) || !isYieldDue(execution, confirmer)) continue
    yield* yieldSlice(execution, confirmer)
  }
}

/** Like confirmByKey(), for a store that can only be read asynchronously. */
function* confirmInRuns(execution: Execution, confirmer: Confirmer, candidates: Candidates): Steps<Match[]> {
  const { count } = candidates
  for (let i = 0; i < count && !confirmer.isDone; ) {
    const end = Math.min(count, i + keysPerAsyncRead)
    const ordinals = Array.from({ length: end - i }, (_, k) => candidates.ordinal(i + k))
    const records = yield* wait(execution.view.records(ordinals))
    for (let k = 0; i < end && !confirmer.isDone; i++, k++) {
      confirmer.offer(ordinals[k]!, records[k], candidates.isCertain(i))
      if (isClockCheckDue(execution, confirmer) && isYieldDue(execution, confirmer))
        yield* yieldSlice(execution, confirmer)
    }
  }
}

function* confirmByRange(
  execution: Execution,
  confirmer: Confirmer,
  candidates: Candidates,
  range: OrdinalRange
): Steps<Match[]> {
  if (execution.view.canScan) return yield* confirmByScan(execution, confirmer, candidates, range)
  const direction = range.reverse ? -1 : 1
  const reader = execution.view.documents(range)
  try {
    let at = 0
    let ahead = reader.next()
    for (;;) {
      const entries = yield* wait(ahead)
      if (entries.length === 0) return
      // Lets the store fetch the next run while this one is parsed. If nobody awaits it, the reader has seen its error.
      ahead = reader.next()
      ahead.catch(() => {})
      for (let e = 0; e < entries.length; e++) {
        const [key, record] = entries[e]!
        const ordinal = reader.ordinalOf(key)
        while (at < candidates.count && (candidates.ordinal(at) - ordinal) * direction < 0) at++
        if (at === candidates.count || confirmer.isDone) return
        if (candidates.ordinal(at) === ordinal) confirmer.offer(ordinal, record, candidates.isCertain(at))
        if (isClockCheckDue(execution, confirmer) && isYieldDue(execution, confirmer))
          yield* yieldSlice(execution, confirmer)
      }
    }
  } finally {
    execution.view.closeReader(reader)
  }
}
