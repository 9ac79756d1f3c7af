/**
 * Candidates → records → confirmed matches: by key, or as a range of records where many of them are wanted.
 *
 * What is kept decoded is taken from there; the store is asked for the others alone.
 */
import type { ByteBlock } from '../../query/byte-prefilter.ts'
import type { Candidates } from './candidates.ts'
import type { Confirmer, Match } from './confirmer.ts'
import type { DocumentScan } from './document-scan.ts'
import { breathe, type Execution, isBreathDue, isLookDue, pauseIfDue } from './execution.ts'
import type { ReadView } from './read-view.ts'
import { type Steps, wait } from './steps.ts'

/**
 * Candidates denser than this are read as a range (measured):
 * where records can be scanned where they lie, a wanted one of a million tweets, blocks not cached, costs 22 µs by key
 * and 15 as one of a range when 46 of 100 are wanted, 17 and 29 when 10 are;
 * through LevelDB's iterators 3.7 and 5.4 when 50 are, but the range is read on another thread while documents are parsed.
 */
const denseFraction = { scanned: 1 / 3, iterated: 1 / 2 }
const minDenseCandidates = 128
const keysPerAsyncRead = 100

/** A scan that is so many ordinals behind is begun anew: about what that costs in records passed. */
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
  const isDense =
    candidates.count >= (range.to - range.from) * fraction &&
    Math.min(candidates.count, confirmer.remaining) >= minDenseCandidates
  return isDense
    ? confirmByRange(execution, confirmer, candidates, range)
    : confirmByKey(execution, confirmer, candidates)
}

export function* confirmByKey(execution: Execution, confirmer: Confirmer, candidates: Candidates): Steps<Match[]> {
  const { view } = execution
  const { count } = candidates
  if (!view.canReadSync) return yield* confirmInRuns(execution, confirmer, candidates)
  view.cache.beginLooks()
  for (let i = 0; i < count && !confirmer.isDone; i++) {
    const ordinal = candidates.ordinal(i)
    const isCertain = candidates.isCertain(i)
    if (!offerKept(view, confirmer, ordinal, isCertain)) {
      confirmer.offer(ordinal, view.record(ordinal), isCertain, view.cache)
    }
    if (!isLookDue(execution, confirmer) || !isBreathDue(execution, confirmer)) continue
    yield* breathe(execution, confirmer)
    view.cache.beginLooks()
  }
}

/** As confirmByKey(), of a store that is waited for. */
function* confirmInRuns(execution: Execution, confirmer: Confirmer, candidates: Candidates): Steps<Match[]> {
  const { count } = candidates
  for (let i = 0; i < count && !confirmer.isDone; ) {
    const end = Math.min(count, i + keysPerAsyncRead)
    const ordinals = Array.from({ length: end - i }, (_, k) => candidates.ordinal(i + k))
    const records = yield* wait(execution.view.records(ordinals))
    for (let k = 0; i < end && !confirmer.isDone; i++, k++) {
      confirmer.offer(ordinals[k]!, records[k], candidates.isCertain(i))
      if (isLookDue(execution, confirmer) && isBreathDue(execution, confirmer)) yield* breathe(execution, confirmer)
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
      // The store fetches the next run while this one is parsed.
      ahead = reader.next()
      ahead.catch(ignore)
      for (let e = 0; e < entries.length; e++) {
        const [key, record] = entries[e]!
        const ordinal = reader.ordinalOf(key)
        while (at < candidates.count && (candidates.ordinal(at) - ordinal) * direction < 0) at++
        if (at === candidates.count || confirmer.isDone) return
        if (candidates.ordinal(at) === ordinal) confirmer.offer(ordinal, record, candidates.isCertain(at))
        if (isLookDue(execution, confirmer) && isBreathDue(execution, confirmer)) yield* breathe(execution, confirmer)
      }
    }
  } finally {
    execution.view.closeReader(reader)
  }
}

/** As confirmByRange(), over records that are decoded only when their bytes may match. */
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
  /** The candidate that was not at hand decoded. */
  let missed = -1
  let isRuledOut = false
  view.cache.beginLooks()
  try {
    while (at < count && !confirmer.isDone) {
      const wanted = candidates.ordinal(at)
      let isPassing = false
      // Where bytes can tell, they are asked first: most records are left with their block, decoded or not.
      const isLookedForFirst = missed !== at && (candidates.isCertain(at) || !confirmer.hasByteTest)
      if (isLookedForFirst && offerKept(view, confirmer, wanted, candidates.isCertain(at))) {
        at++
      } else {
        if (isLookedForFirst) missed = at
        if (scan === undefined || (wanted - scan.ordinal) * direction > farOrdinals) {
          if (scan !== undefined) view.closeReader(scan)
          scan = view.scan(range.reverse ? { ...range, to: wanted + 1 } : { ...range, from: wanted })!
          while (scan.prepareSome()) yield* pauseIfDue(execution)
          view.cache.beginLooks()
        }
        // A block without a match is left at its first candidate. Backwards nothing is passed.
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
          if (!isRuledOut && (missed === at || !offerKept(view, confirmer, ordinal, isCertain))) {
            confirmer.offer(ordinal, scan.text(), isCertain, view.cache)
          }
          at++
        }
      }
      if (!isLookDue(execution, confirmer) && !isPassing) continue
      if (!isBreathDue(execution, confirmer)) continue
      yield* breathe(execution, confirmer)
      view.cache.beginLooks()
    }
  } finally {
    if (scan !== undefined) view.closeReader(scan)
  }
}

/**
 * False when the document is not at hand decoded. A filter that runs the caller's code makes no use of plans: no other code of
 * his runs between two turns.
 * REQUIRES: beginLooks() since the last turn
 */
function offerKept(view: ReadView, confirmer: Confirmer, ordinal: number, isCertain: boolean): boolean {
  const kept = view.cache.look(ordinal)
  if (kept === undefined) return false
  confirmer.offerKept(ordinal, kept, isCertain, view)
  return true
}

/** A read that nobody waits for any more: its error, if any, was or will be seen by the reader itself. */
function ignore(): void {}
