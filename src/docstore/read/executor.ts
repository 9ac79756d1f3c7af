/**
 * Runs a plan over a read view: bounds → candidates → records → confirmed matches.
 *
 * Invariants:
 * 1. A document is returned only if it is certain (in the lower bound) or the filter matches it.
 * 2. Matches come in the order of ordinals, or in its reverse.
 * 3. At most one slice of matches is held, whatever the size of the collection.
 * 4. The event loop gets its turn every few milliseconds, and the reader can be stopped as often.
 */
import { encodeKey } from '../../model/key.ts'
import type { ByteBlock } from '../../query/byte-prefilter.ts'
import type { CompiledFilter } from '../../query/filter.ts'
import type { IndexRead } from '../indexes/read-by-index.ts'
import { type Candidates, inOrder, ofOrdinals, uncertain } from './candidates.ts'
import { Confirmer, type Match } from './confirmer.ts'
import type { Control } from './control.ts'
import type { DocumentScan } from './document-scan.ts'
import type { Meter } from './meter.ts'
import type { Plan } from './planner.ts'
import type { ReadView } from './read-view.ts'
import { forEachStep, type Steps, wait } from './steps.ts'

export interface Execution {
  readonly view: ReadView
  readonly plan: Plan
  /** A declared index that may do better than the plan. */
  readonly declared: IndexRead | undefined
  readonly filter: CompiledFilter
  readonly control: Control
  readonly meter: Meter
  /** No more matches than these are wanted; Infinity for all. */
  readonly maxMatches: number
}

/**
 * Candidates denser than this are read as a range (measured):
 * where records can be scanned where they lie, a wanted one of a million tweets, blocks not cached, costs 22 µs by key
 * and 15 as one of a range when 46 of 100 are wanted, 17 and 29 when 10 are;
 * through LevelDB's iterators 3.7 and 5.4 when 50 are, but the range is read on another thread while documents are parsed.
 */
const denseFraction = { scanned: 1 / 3, iterated: 1 / 2 }
const minDenseCandidates = 128
const keysPerAsyncRead = 100

/** Every match, in slices. */
export function* findMatches(execution: Execution): Steps<Match[]> {
  const { view, plan, meter, maxMatches, filter } = execution
  const confirmer = new Confirmer(filter, meter, maxMatches)
  if (plan.kind === 'ids') {
    const ordinals = yield* lookUp(view, plan.ids)
    if (plan.reverse) ordinals.reverse()
    meter.candidates += ordinals.length
    yield* confirmByKey(execution, confirmer, ofOrdinals(ordinals))
  } else {
    const { segmentCount } = view.index
    meter.segments += segmentCount
    for (let i = 0; i < segmentCount && !confirmer.isDone; i++) {
      i += skip(execution, i, plan.reverse)
      if (i === segmentCount) break
      const segment = yield* wait(view.index.evaluate(plan.reverse ? segmentCount - 1 - i : i, plan.bounds))
      meter.seeSegment(segment)
      if (isBreathDue(execution, confirmer)) yield* breathe(execution, confirmer)
      if (segment.upperCount === 0) continue
      const range = { from: segment.firstOrdinal, to: segment.endOrdinal, reverse: plan.reverse }
      yield* confirm(execution, confirmer, inOrder(segment, plan.reverse), range)
    }
  }
  if (confirmer.hasMatches) yield confirmer.take()
}

/** Yields the number of matches, once. Certain documents are counted, not fetched. */
export function* countMatches(execution: Execution): Steps<number> {
  const { view, plan, meter, maxMatches, filter } = execution
  let count = 0
  const addSlice = (slice: Match[]): void => {
    count += slice.length
  }
  if (plan.kind === 'ids') {
    yield* forEachStep(findMatches(execution), addSlice)
  } else {
    const { segmentCount } = view.index
    meter.segments += segmentCount
    for (let i = 0; i < segmentCount && count < maxMatches; i++) {
      i += skip(execution, i, false)
      if (i === segmentCount) break
      const segment = yield* wait(view.index.evaluate(i, plan.bounds))
      meter.seeSegment(segment)
      yield* pauseIfDue(execution)
      count += segment.lowerCount
      const confirmer = new Confirmer(filter, meter, maxMatches - count, true)
      const range = { from: segment.firstOrdinal, to: segment.endOrdinal, reverse: false }
      yield* forEachStep(confirm(execution, confirmer, uncertain(segment), range), addSlice)
      addSlice(confirmer.take())
    }
  }
  yield Math.min(count, maxMatches)
}

/** How many segments from the `i`th one on have no candidates: they are passed over at once. */
function skip({ view: { index }, plan, meter }: Execution, i: number, reverse: boolean): number {
  if (plan.kind === 'ids' || index.skip === undefined) return 0
  const skipped = reverse ? index.skip(index.segmentCount - 1 - i, plan.bounds, -1) : index.skip(i, plan.bounds, 1)
  meter.segmentsPruned += skipped
  return skipped
}

interface Range {
  readonly from: number
  readonly to: number
  readonly reverse: boolean
}

/** Leaves the last, incomplete slice in the confirmer, to be filled from the next segment. */
export function confirm(
  execution: Execution,
  confirmer: Confirmer,
  candidates: Candidates,
  range: Range
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
    if (!isLookDue(execution, confirmer)) continue
    if (isBreathDue(execution, confirmer)) yield* breathe(execution, confirmer)
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
  range: Range
): Steps<Match[]> {
  const direction = range.reverse ? -1 : 1
  const scan = execution.view.scan(range)
  if (scan !== undefined) return yield* confirmByScan(execution, confirmer, candidates, direction, scan)
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
  direction: 1 | -1,
  scan: DocumentScan
): Steps<Match[]> {
  try {
    const { view } = execution
    let at = 0
    while (scan.prepareSome()) yield* pauseIfDue(execution)
    view.cache.beginLooks()
    const mayHold = (block: ByteBlock): boolean => confirmer.byteTest.mayHold(block)
    // Backwards nothing is passed.
    const mayPass = direction === 1
    let isRuledOut = false
    while (!confirmer.isDone) {
      // A block without a match is left at its first candidate.
      const isPassing = mayPass && isRuledOut && scan.block !== undefined && !mayHold(scan.block)
      const isThere = isPassing ? scan.skipBlocks(mayHold) : scan.next()
      const last = at
      const { ordinal } = scan
      while (at < candidates.count && (!isThere || (candidates.ordinal(at) - ordinal) * direction < 0)) at++
      if (isPassing) confirmer.noteRuledOut(at - last - 1)
      if (at === candidates.count || !isThere) return
      isRuledOut = false
      if (candidates.ordinal(at) === ordinal) {
        const isCertain = candidates.isCertain(at)
        isRuledOut = !confirmer.mayMatch(scan, isCertain)
        if (!isRuledOut && !offerKept(view, confirmer, ordinal, isCertain)) {
          confirmer.offer(ordinal, scan.text(), isCertain, view.cache)
        }
      }
      if (!isLookDue(execution, confirmer) && !isPassing) continue
      if (isBreathDue(execution, confirmer)) yield* breathe(execution, confirmer)
      view.cache.beginLooks()
    }
  } finally {
    execution.view.closeReader(scan)
  }
}

/** False when the document is not at hand decoded. */
function offerKept(view: ReadView, confirmer: Confirmer, ordinal: number, isCertain: boolean): boolean {
  const kept = view.cache.look(ordinal)
  if (kept === undefined) return false
  confirmer.offerKept(ordinal, kept, isCertain, view)
  return true
}

/** Asked after each document: whether it is time for isBreathDue(). */
function isLookDue({ control }: Execution, confirmer: Confirmer): boolean {
  return control.countDocument() || confirmer.isSliceFull
}

/** Whether it is time for breathe(): seldom, and to ask takes no generator. Ends the read when it was told to end. */
function isBreathDue({ control, view }: Execution, confirmer: Confirmer): boolean {
  const isPauseDue = control.look()
  view.assertOpen()
  return isPauseDue || confirmer.isSliceFull
}

/** Hands out what there is, and lets the event loop run when it is time. */
function* breathe(execution: Execution, confirmer: Confirmer): Steps<Match[]> {
  if (confirmer.hasMatches) yield confirmer.take()
  yield* pauseIfDue(execution)
}

/** Lets the event loop run when it is time; ends the read when it was told to end. */
export function* pauseIfDue({ control, view }: Execution): Generator<Promise<unknown>, void, unknown> {
  if (control.isPauseDue) yield control.pause()
  control.check()
  view.assertOpen()
}

/** Visible ordinals of the documents with these `_id`s, ascending. */
function* lookUp(view: ReadView, ids: readonly unknown[]): Generator<Promise<unknown>, number[], unknown> {
  const found = yield* wait(view.ordinalsOf(ids.map(encodeKey)))
  const visible = found.filter((ordinal) => ordinal !== undefined && ordinal < view.limit) as number[]
  // Equal values may stand in the filter more than once.
  return visible.length < 2 ? visible : [...new Set(visible)].sort((a, b) => a - b)
}

/** A read that nobody waits for any more: its error, if any, was or will be seen by the reader itself. */
function ignore(): void {}
