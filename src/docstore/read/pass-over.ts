/**
 * Passes over the matches before a page of a sort: the index counts those that come before a value shortly before the
 * page, so that only what comes after it has to be read.
 *
 * Invariant: the count is exact. Documents of which the index is not certain are read.
 */
import { and, not, or, type PairExpression } from '../../model/pairs.ts'
import type { Document } from '../../model/types.ts'
import type { CompiledSort } from '../../query/sort.ts'
import type { Execution } from './execution.ts'
import type { OrderedSegment, OrderStart, OrderSurvey } from './order-survey.ts'
import { evaluateOn, readAll } from './segment-reads.ts'
import { compareToValue, valueOfEnd } from './sort-value.ts'
import { type Waiting, wait } from './steps.ts'

/** Reading fewer documents takes less time than counting them. */
const minPassed = { least: 256, perSegment: 64 }
/** Values of each column at which the page may be cut off. */
const cutsPerSegment = 64
/** If more documents are uncertain, counting gains little. */
const maxUncertain = { least: 256, share: 1 / 4 }

/** What is left to be read. */
interface Rest {
  /** Matches that come before all of the rest. */
  readonly passed: number
  readonly survey: OrderSurvey
}

/** Whether so many leading matches that are not wanted may be worth counting. */
export function isFar(skipped: number, segments: number): boolean {
  return skipped >= Math.max(minPassed.least, minPassed.perSegment * segments)
}

/**
 * @param skipped number of leading matches that are not wanted
 * @returns undefined if reading them is about as fast, or the index cannot count them
 */
export function* passOver(
  execution: Execution,
  sort: CompiledSort,
  surveyed: OrderSurvey,
  skipped: number
): Waiting<Rest | undefined> {
  const { segments, bounds, type, filter } = surveyed
  // Of the latter there is no such page.
  if (!isFar(skipped, segments.length) || skipped >= surveyed.candidates) return undefined
  const { direction } = sort.keys[0]!
  const others = and([filter, bounds.others(type)])
  if ((yield* countCandidates(execution, segments, others)) > 0) return undefined
  const before = (key: OrderStart['key']): PairExpression => {
    const end = { key, isInclusive: false }
    return direction === 1
      ? or([bounds.nulls, bounds.between(type, undefined, end)])
      : bounds.between(type, end, undefined)
  }
  const cuts = yield* cutsOf(surveyed, direction)
  let last = -1
  for (let beyond = cuts.length; beyond - last > 1; ) {
    const middle = (last + beyond) >> 1
    const candidates = yield* countCandidates(execution, segments, and([filter, before(cuts[middle]!)]))
    if (candidates <= skipped) last = middle
    else beyond = middle
  }
  const key = cuts[last]
  if (key === undefined) return undefined
  const value = valueOfEnd(key, type)
  const isBefore = (document: Document): boolean => compareToValue(sort.keyOf(document)[0], value) * direction < 0
  const passed = yield* countMatchesBefore(execution, segments, and([filter, before(key)]), isBefore, skipped)
  // Among many equal keys, most of the way would be left.
  if (passed === undefined || 2 * passed < skipped) return undefined
  const rest = and([filter, not(before(key))])
  return {
    passed,
    survey: yield* surveyRest(execution, { ...surveyed, filter: rest, start: { key, isBefore } }, before(key))
  }
}

/** Returns values that divide the documents of each column about equally, in the order of the sort. */
function* cutsOf({ segments, type }: OrderSurvey, direction: 1 | -1): Waiting<OrderStart['key'][]> {
  const cuts = new Set<OrderStart['key']>()
  for (const { column } of segments) {
    if (column === undefined) continue
    const loading = column.loadOrder()
    if (loading !== undefined) yield* wait(loading)
    for (let i = 0; i < cutsPerSegment; i++) {
      const cut = column.cut((i * column.count) / cutsPerSegment, direction)
      if (cut !== undefined) cuts.add(cut)
    }
  }
  return [...cuts].sort((a, b) => compareToValue(valueOfEnd(a, type), valueOfEnd(b, type)) * direction)
}

function* countCandidates(
  execution: Execution,
  segments: readonly OrderedSegment[],
  expression: PairExpression
): Waiting<number> {
  let count = 0
  for (const { number } of segments) {
    count += (yield* evaluateOn(execution, number, expression, 0)).upperCount
  }
  return count
}

/** @returns undefined if too many documents would have to be read */
function* countMatchesBefore(
  execution: Execution,
  segments: readonly OrderedSegment[],
  expression: PairExpression,
  isBefore: (document: Document) => boolean,
  skipped: number
): Waiting<number | undefined> {
  // What may match, but does not certainly.
  const uncertain = and([expression, not(expression)])
  let count = 0
  let examined = 0
  for (const { number } of segments) {
    const { lowerCount, upperCount } = yield* evaluateOn(execution, number, expression, 0)
    count += lowerCount
    if (lowerCount === upperCount) continue
    examined += upperCount - lowerCount
    if (examined > maxUncertain.least + maxUncertain.share * skipped) return undefined
    const found = yield* evaluateOn(execution, number, uncertain)
    execution.meter.countSegment(found)
    yield* readAll(execution, found, ({ document }) => {
      if (isBefore(document)) count++
    })
  }
  return count
}

/** @param before what comes before the start */
function* surveyRest(execution: Execution, rest: OrderSurvey, before: PairExpression): Waiting<OrderSurvey> {
  const segments: OrderedSegment[] = []
  let candidates = 0
  for (const segment of rest.segments) {
    const { upperCount } = yield* evaluateOn(execution, segment.number, rest.filter, 0)
    if (upperCount === 0) continue
    const passed = (yield* evaluateOn(execution, segment.number, before, 0)).upperCount
    segments.push({ ...segment, candidates: upperCount, passed, ahead: (segment.column?.count ?? 0) - passed })
    candidates += upperCount
  }
  return { ...rest, segments, candidates }
}
