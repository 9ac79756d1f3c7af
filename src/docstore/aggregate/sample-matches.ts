/**
 * A random sample of the matches of a read. Candidates are drawn at random, and only those are read, until enough have
 * matched: the first matches in a random order of all candidates are a uniform sample of all matches. If that would take
 * too many, all matches are read.
 */
import type { Collector, SampleRead } from '../../aggregate/stage.ts'
import type { PairExpression } from '../../model/pairs.ts'
import type { Document } from '../../model/types.ts'
import { type Execution, pauseIfDue } from '../read/execution.ts'
import { type CompiledFind, matchesOf } from '../read/find.ts'
import { evaluateOn, forEachSegment, readSome } from '../read/segment-reads.ts'
import { forEachStep, type Waiting } from '../read/steps.ts'
import { canEvaluateSegments } from '../read/value-reads.ts'

/** Reading one document takes about as long as passing over this many in a scan. */
const scannedPerRead = 20
/** Maximum number of documents read before they are charged to the stage's memory. */
const maxDraws = 1000

/** Returns the sample in random order; undefined wherever the work may be paused. REQUIRES: no skip and no limit */
export function* sampleMatches(
  execution: Execution,
  find: CompiledFind,
  { size, begin }: SampleRead
): Waiting<Iterable<Document | undefined>> {
  if (canEvaluateSegments(execution, find)) {
    const sample = begin()
    if (yield* drawSample(execution, find.filter.bounds, size, sample)) return sample.results()
  }
  const collector = begin()
  yield* forEachStep(matchesOf(execution, find), (slice) => {
    for (const { document } of slice) collector.add(document)
  })
  return collector.results()
}

/** The candidates of the segments up to one, numbered from 0 on: those of this segment come last. */
interface Numbered {
  readonly segment: number
  readonly begin: number
  readonly end: number
}

/** Adds `size` matches to `sample`; returns false if reading all matches is cheaper. */
function* drawSample(execution: Execution, bounds: PairExpression, size: number, sample: Collector): Waiting<boolean> {
  const segments: Numbered[] = []
  let total = 0
  yield* forEachSegment(execution, bounds, function* (segment, { upperCount }) {
    segments.push({ segment, begin: total, end: total + upperCount })
    total += upperCount
    yield* pauseIfDue(execution)
  })
  const drawn = new Set<number>()
  let sampled = 0
  for (let wanted = size; sampled < size; ) {
    if ((drawn.size + wanted) * scannedPerRead > total) return false
    const draws = draw(Math.min(wanted, maxDraws), total, drawn)
    const matches = yield* readDrawn(execution, bounds, segments, draws)
    if (matches === undefined) return false
    for (const number of draws) {
      const match = matches.get(number)
      if (match === undefined || sampled === size) continue
      sample.add(match)
      sampled++
    }
    // As many as it takes if matches are as frequent as they were so far.
    wanted = Math.ceil(((size - sampled) * drawn.size) / Math.max(1, sampled))
  }
  return true
}

/** Returns `count` new numbers below `total`, in random order, and adds them to `drawn`. */
function draw(count: number, total: number, drawn: Set<number>): readonly number[] {
  const draws: number[] = []
  while (draws.length < count) {
    const number = Math.floor(Math.random() * total)
    if (drawn.has(number)) continue
    drawn.add(number)
    draws.push(number)
  }
  return draws
}

/**
 * Returns the candidates with these numbers that match; undefined if a segment has other candidates than before:
 * it may do without a row that is not in memory.
 */
function* readDrawn(
  execution: Execution,
  bounds: PairExpression,
  segments: readonly Numbered[],
  draws: readonly number[]
): Waiting<ReadonlyMap<number, Document> | undefined> {
  const found = new Map<number, Document>()
  const ascending = draws.toSorted((a, b) => a - b)
  let next = 0
  for (const { segment, begin, end } of segments) {
    const first = next
    while (next < ascending.length && ascending[next]! < end) next++
    if (next === first) continue
    const numbers = ascending.slice(first, next)
    const candidates = yield* evaluateOn(execution, segment, bounds)
    if (candidates.upperCount !== end - begin) return undefined
    const numberOf = new Map(numbers.map((number) => [candidates.ordinal(number - begin), number]))
    const drawn = {
      count: numbers.length,
      ordinal: (i: number) => candidates.ordinal(numbers[i]! - begin),
      isCertain: (i: number) => candidates.isCertain(numbers[i]! - begin)
    }
    yield* readSome(execution, drawn, candidates, ({ ordinal, document }) => {
      found.set(numberOf.get(ordinal)!, document)
    })
  }
  return found
}
