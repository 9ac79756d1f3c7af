/**
 * Turns candidates into confirmed matches, reading their records by key, or as a range where many of them are wanted.
 *
 * Documents in the decoded-document cache are taken from there; only the others are read from the store.
 */
import type { ByteBlock } from '../../query/byte-prefilter.ts'
import { type Candidates, skipFirst } from './candidates.ts'
import type { Confirmer, Match } from './confirmer.ts'
import type { DocumentScan } from './document-scan.ts'
import { type Execution, isClockCheckDue, isYieldDue, pauseIfDue, yieldSlice } from './execution.ts'
import type { ReadView } from './read-view.ts'
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

/**
 * Reopen a scan instead of advancing it over more ordinals than this: reopening costs about as much as passing that
 * many records.
 */
const farOrdinals = 512

export interface OrdinalRange {
  readonly from: number
  readonly to: number
  readonly reverse: boolean
}

/** Leaves the last, incomplete slice in the confirmer, to be filled from the next segment. */
export function confirm(
  execution: Execution,
  confirmer: Confirmer,
  candidates: Candidates,
  range: OrdinalRange
): Steps<Match[]> {
  const fraction = execution.view.canScan ? denseFraction.scanned : denseFraction.iterated
  return candidates.count >= (range.to - range.from) * fraction
    ? confirmDense(execution, confirmer, candidates, range)
    : confirmByKey(execution, confirmer, candidates)
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
  view.cache.beginLookups()
  for (let i = 0; i < count && !confirmer.isDone; i++) {
    const ordinal = candidates.ordinal(i)
    const isCertain = candidates.isCertain(i)
    if (!offerCached(view, confirmer, ordinal, isCertain)) {
      confirmer.offer(ordinal, view.record(ordinal), isCertain, view.cache)
    }
    if (!isClockCheckDue(execution, confirmer) || !isYieldDue(execution, confirmer)) continue
    yield* yieldSlice(execution, confirmer)
    view.cache.beginLookups()
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
      // Lets the store fetch the next run while this one is parsed.
      ahead = reader.next()
      ahead.catch(ignore)
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

/** Like confirmByRange(), but decodes a record only if its bytes may match. */
function* confirmByScan(
  execution: Execution,
  confirmer: Confirmer,
  candidates: Candidates,
  range: OrdinalRange
): Steps<Match[]> {
  const { view } = execution
  const { count } = candidates
  const direction = range.reverse ? -1 : 1
  const mayHold = (block: ByteBlock): boolean => confirmer.byteTest.mayHold(block)
  let scan: DocumentScan | undefined
  let at = 0
  /** The candidate last found missing from the cache. */
  let missed = -1
  let isRuledOut = false
  view.cache.beginLookups()
  try {
    while (at < count && !confirmer.isDone) {
      const wanted = candidates.ordinal(at)
      let isPassing = false
      // Where bytes can rule records out, they are tested before the cache: most records can then be skipped with their
      // block.
      const isLookedForFirst = missed !== at && (candidates.isCertain(at) || !confirmer.hasByteTest)
      if (isLookedForFirst && offerCached(view, confirmer, wanted, candidates.isCertain(at))) {
        at++
      } else {
        if (isLookedForFirst) missed = at
        if (scan === undefined || (wanted - scan.ordinal) * direction > farOrdinals) {
          if (scan !== undefined) view.closeReader(scan)
          scan = view.scan(range.reverse ? { ...range, to: wanted + 1 } : { ...range, from: wanted })!
          while (scan.prepareSome()) yield* pauseIfDue(execution)
          view.cache.beginLookups()
        }
        // Skips the rest of a block without a match once its first candidate is ruled out. Not when scanning backwards.
        isPassing = isRuledOut && !range.reverse && scan.block !== undefined && !mayHold(scan.block)
        const isThere = isPassing ? scan.skipBlocks(mayHold) : scan.next()
        const { ordinal } = scan
        const before = at
        while (at < count && (!isThere || (candidates.ordinal(at) - ordinal) * direction < 0)) at++
        if (isPassing) confirmer.noteRuledOut(at - before)
        if (at === count) return
        isRuledOut = false
        if (candidates.ordinal(at) === ordinal) {
          const isCertain = candidates.isCertain(at)
          isRuledOut = !confirmer.mayMatch(scan, isCertain)
          if (!isRuledOut && (missed === at || !offerCached(view, confirmer, ordinal, isCertain))) {
            confirmer.offerScanned(scan, isCertain, view, execution.fields)
          }
          at++
        }
      }
      if (!isClockCheckDue(execution, confirmer) && !isPassing) continue
      if (!isYieldDue(execution, confirmer)) continue
      yield* yieldSlice(execution, confirmer)
      view.cache.beginLookups()
    }
  } finally {
    if (scan !== undefined) view.closeReader(scan)
  }
}

/**
 * Offers a cached document to the confirmer; false if it is not cached. Copy plans need no check here: apart from
 * functions in the filter, after which the confirmer checks them, no code of the caller runs between two yields to the
 * event loop.
 * REQUIRES: beginLookups() since the last yield to the event loop
 */
function offerCached(view: ReadView, confirmer: Confirmer, ordinal: number, isCertain: boolean): boolean {
  const kept = view.cache.lookUp(ordinal)
  if (kept === undefined) return false
  confirmer.offerCached(ordinal, kept, isCertain, view)
  return true
}

/** For a read that is no longer awaited: the reader has seen, or will see, its error. */
function ignore(): void {}
