/** Confirms the candidates of a range of ordinals by scanning it, in the store's thread or in another. */
import type { ByteBlock } from '../../query/byte-prefilter.ts'
import type { Candidates } from './candidates.ts'
import type { Confirmer, Match } from './confirmer.ts'
import type { DocumentScan } from './document-scan.ts'
import { type Execution, isClockCheckDue, isYieldDue, pauseIfDue, yieldSlice } from './execution.ts'
import type { ReadView } from './read-view.ts'
import type { Steps } from './steps.ts'

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

/** What a scan needs of a read. */
export interface Scanning extends Pick<Execution, 'control' | 'fields'> {
  readonly view: Pick<ReadView, 'scan' | 'closeReader' | 'cache' | 'cacheToFill' | 'assertOpen' | 'record'>
}

/** Decodes a record only if its bytes may match. */
export function* confirmByScan(
  execution: Scanning,
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
    }
  } finally {
    if (scan !== undefined) view.closeReader(scan)
  }
}

/**
 * Offers a cached document to the confirmer; false if it is not cached. Apart from functions in the filter, which the
 * confirmer knows, no code of the caller runs between two yields to the event loop.
 */
export function offerCached(
  view: Scanning['view'],
  confirmer: Confirmer,
  ordinal: number,
  isCertain: boolean
): boolean {
  const kept = view.cache.lookUp(ordinal)
  if (kept === undefined) return false
  confirmer.offerCached(ordinal, kept, isCertain, view)
  return true
}
