/**
 * Runs a plan over a read view: bounds → candidates → records → confirmed matches.
 *
 * Invariants:
 * 1. A document is returned only if it is certain (in the lower bound) or the filter matches it.
 * 2. Matches come in ordinal order, or in reverse.
 * 3. At most one slice of matches is held, whatever the size of the collection.
 * 4. Yields to the event loop, and checks whether to stop, every few milliseconds.
 */
import { tryEncodeKey } from '../../model/key.ts'
import {
  allCandidates,
  candidatesOfOrdinals,
  countLeadingCertain,
  skipFirst,
  uncertainCandidates
} from './candidates.ts'
import { confirm, confirmByKey } from './confirm.ts'
import { Confirmer, type Match } from './confirmer.ts'
import { type Execution, isYieldDue, pauseIfDue, yieldSlice } from './execution.ts'
import type { ReadView } from './read-view.ts'
import { forEachStep, type Steps, wait } from './steps.ts'

/**
 * Yields all matches in slices, except for certain ones that `skip` would drop: a page far into the results does not
 * read the documents before it.
 */
export function* findMatches(execution: Execution): Steps<Match[]> {
  const { view, plan, meter, maxMatches, unwanted, filter } = execution
  const confirmer = new Confirmer(filter, meter, maxMatches)
  if (plan.kind === 'ids') {
    const ordinals = yield* lookUp(view, plan.ids)
    if (plan.reverse) ordinals.reverse()
    meter.candidates += ordinals.length
    yield* confirmByKey(execution, confirmer, candidatesOfOrdinals(ordinals))
  } else {
    const { segmentCount } = view.index
    meter.segments += segmentCount
    for (let i = 0; i < segmentCount && !confirmer.isDone; i++) {
      i += skip(execution, i, plan.reverse)
      if (i === segmentCount) break
      const segment = yield* wait(view.index.evaluate(plan.reverse ? segmentCount - 1 - i : i, plan.bounds))
      meter.countSegment(segment)
      if (isYieldDue(execution, confirmer)) yield* yieldSlice(execution, confirmer)
      if (segment.upperCount === 0) continue
      const range = { from: segment.firstOrdinal, to: segment.endOrdinal, reverse: plan.reverse }
      const candidates = allCandidates(segment, plan.reverse)
      const passed = confirmer.found < unwanted ? countLeadingCertain(candidates, unwanted - confirmer.found) : 0
      confirmer.skipCertain(passed)
      yield* confirm(execution, confirmer, skipFirst(candidates, passed), range)
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
      const segment = yield* wait(view.index.evaluate(i, plan.bounds, 0))
      meter.countSegment(segment)
      yield* pauseIfDue(execution)
      count += segment.lowerCount
      if (segment.lowerCount === segment.upperCount) continue
      const confirmer = new Confirmer(filter, meter, maxMatches - count, true)
      const range = { from: segment.firstOrdinal, to: segment.endOrdinal, reverse: false }
      yield* forEachStep(confirm(execution, confirmer, uncertainCandidates(segment), range), addSlice)
      addSlice(confirmer.take())
    }
  }
  yield Math.min(count, maxMatches)
}

/** Returns how many segments from the `i`th one on have no candidates and can be skipped. */
function skip({ view: { index }, plan, meter }: Execution, i: number, reverse: boolean): number {
  if (plan.kind === 'ids' || index.skip === undefined) return 0
  const skipped = reverse ? index.skip(index.segmentCount - 1 - i, plan.bounds, -1) : index.skip(i, plan.bounds, 1)
  meter.segmentsPruned += skipped
  return skipped
}

/** Returns the visible ordinals of the documents with these `_id`s, ascending. */
function* lookUp(view: ReadView, ids: readonly unknown[]): Generator<Promise<unknown>, number[], unknown> {
  const found = yield* wait(view.ordinalsOf(ids.flatMap((id) => tryEncodeKey(id) ?? [])))
  const visible = found.filter((ordinal) => ordinal !== undefined && ordinal < view.limit) as number[]
  // The filter may contain equal values more than once.
  return visible.length < 2 ? visible : [...new Set(visible)].sort((a, b) => a - b)
}
