/**
 * Helpers for reads that need the values of a path rather than documents: values with index rows of their own are known
 * without reading their documents; the remaining documents are read.
 */
import type { PairExpression, ValuePair } from '../../model/pairs.ts'
import { ValueBounds } from '../../query/value-bounds.ts'
import type { SegmentCandidates } from '../../sharded-bloom/document-index.ts'
import { certainCandidate } from './candidates.ts'
import type { Match } from './confirmer.ts'
import type { Execution } from './execution.ts'
import type { CompiledFind } from './find.ts'
import { isUnknown } from './planner.ts'
import { evaluateOn, readSome } from './segment-reads.ts'
import { type Waiting, wait } from './steps.ts'

/** With fewer certain matches than this, a segment's matches are read. */
const minMatches = 64
/** A filter with more terms would be too expensive to evaluate once per value. */
const maxTerms = 64

/** Returns how to query the index for the values of a path; undefined if all matches have to be read. */
export function boundsOfValues(
  execution: Execution,
  find: CompiledFind,
  components: readonly string[]
): ValueBounds | undefined {
  if (execution.view.index.values === undefined || !canEvaluateSegments(execution, find)) return undefined
  return ValueBounds.of(components)
}

/** Whether segments can be queried with the filter combined with other expressions, one after the other. */
export function canEvaluateSegments({ plan, declared }: Execution, { hint }: CompiledFind): boolean {
  if (declared !== undefined || plan.kind === 'ids' || hint === 'scan' || isUnknown(plan.bounds)) return false
  return termsOf(plan.bounds) <= maxTerms
}

/** Returns the values that the segment knows exactly; none if it has so few matches that they are read instead. */
export function* knownValues(
  { view }: Execution,
  segment: number,
  matches: SegmentCandidates,
  bounds: ValueBounds
): Waiting<readonly ValuePair[]> {
  if (matches.lowerCount < minMatches) return []
  const values = yield* wait(view.index.values?.(segment, bounds.path) ?? [])
  return values.filter((value) => bounds.proves(value))
}

/** Like evaluateOn(), but only for the counts and the first certain document. */
export function evaluateCounts(
  execution: Execution,
  segment: number,
  expression: PairExpression
): Waiting<SegmentCandidates> {
  return evaluateOn(execution, segment, expression, 1)
}

/** Visits the first certain candidate. REQUIRES: there is one */
export function* readFirst(
  execution: Execution,
  segment: SegmentCandidates,
  visit: (match: Match) => void
): Waiting<void> {
  yield* readSome(execution, certainCandidate(firstCertain(segment)), segment, visit)
}

/** REQUIRES: there is a certain candidate */
export function firstCertain(segment: SegmentCandidates): number {
  let first = 0
  while (!segment.isCertain(first)) first++
  return segment.ordinal(first)
}

/** Counts the terms of an expression; for more than `maxTerms`, returns some larger number. */
export function termsOf(expression: PairExpression): number {
  return termsUpTo(expression, maxTerms)
}

function termsUpTo(expression: PairExpression, most: number): number {
  switch (expression.kind) {
    case 'and':
    case 'or': {
      let terms = 0
      for (const child of expression.children) {
        terms += termsUpTo(child, most)
        if (terms > most) break
      }
      return terms
    }
    case 'not':
      return termsUpTo(expression.child, most)
    case 'bounds':
      return termsUpTo(expression.lower, most) + termsUpTo(expression.upper, most)
    default:
      return 1
  }
}
