/** Reads that go through the segments themselves: to evaluate several expressions on each, or to visit some candidates. */
import type { PairExpression } from '../../model/pairs.ts'
import type { SegmentCandidates } from '../../sharded-bloom/document-index.ts'
import { allCandidates, type Candidates } from './candidates.ts'
import { confirm } from './confirm.ts'
import type { OrdinalRange } from './confirm-by-scan.ts'
import { Confirmer, type Match } from './confirmer.ts'
import { type Execution, pauseIfDue } from './execution.ts'
import { forEachStep, type Waiting, wait } from './steps.ts'

/** Visits each segment that may have matches, with its candidates. REQUIRES: not a plan by `_id`s */
export function* forEachSegment(
  execution: Execution,
  filter: PairExpression,
  visit: (segment: number, matches: SegmentCandidates) => Waiting<void>
): Waiting<void> {
  const { meter } = execution
  const { index } = execution.view
  meter.segments += index.segmentCount
  for (let i = 0; i < index.segmentCount; i++) {
    const skipped = index.skip?.(i, filter, 1) ?? 0
    meter.segmentsPruned += skipped
    i += skipped
    if (i === index.segmentCount) break
    const matches = yield* wait(index.evaluate(i, filter, 0))
    meter.countSegment(matches)
    yield* pauseIfDue(execution)
    if (matches.upperCount > 0) yield* visit(i, matches)
  }
}

/** Evaluates an expression on a segment. @param listed see IndexView.evaluate() */
export function* evaluateOn(
  execution: Execution,
  segment: number,
  expression: PairExpression,
  listed?: number
): Waiting<SegmentCandidates> {
  const found = yield* wait(execution.view.index.evaluate(segment, expression, listed))
  yield* pauseIfDue(execution)
  return found
}

/** Confirms and visits the candidates of a segment. */
export function* readAll(
  execution: Execution,
  segment: SegmentCandidates,
  visit: (match: Match) => void
): Waiting<void> {
  yield* readSome(execution, allCandidates(segment, false), segment, visit)
}

/** Confirms and visits some candidates of a segment. */
export function* readSome(
  execution: Execution,
  candidates: Candidates,
  segment: SegmentCandidates,
  visit: (match: Match) => void
): Waiting<void> {
  const confirmer = new Confirmer(execution.filter, execution.meter, Number.POSITIVE_INFINITY)
  const visitAll = (slice: readonly Match[]): void => {
    for (const match of slice) visit(match)
  }
  yield* forEachStep(confirm(execution, confirmer, candidates, rangeOf(segment)), visitAll)
  visitAll(confirmer.take())
}

/** The ordinals that its candidates lie in. */
export function rangeOf({ firstOrdinal, endOrdinal }: SegmentCandidates, reverse = false): OrdinalRange {
  return { from: firstOrdinal, to: endOrdinal, reverse }
}
