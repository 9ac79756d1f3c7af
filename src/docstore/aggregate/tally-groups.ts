/**
 * Counts documents by the value of a path. If a segment is certain of its matches, those with a value that has an index
 * row of its own, and those with nothing on the path, are counted there without being read.
 *
 * Invariant: each match is counted once, either by its segment or when it is read.
 */
import type { TallyRead } from '../../aggregate/stage.ts'
import { Tally } from '../../aggregate/tally.ts'
import type { PairExpression, ValuePair } from '../../model/pairs.ts'
import { formOf } from '../../model/scalar.ts'
import type { ValueBounds } from '../../query/value-bounds.ts'
import type { SegmentCandidates } from '../../sharded-bloom/document-index.ts'
import type { Match } from '../read/confirmer.ts'
import type { Execution } from '../read/execution.ts'
import { type CompiledFind, matchesOf } from '../read/find.ts'
import { evaluateOn, forEachSegment, readAll } from '../read/segment-reads.ts'
import { forEachStep, type Waiting } from '../read/steps.ts'
import { boundsOfValues, evaluateCounts, firstCertain, knownValues, readFirst } from '../read/value-reads.ts'

/** Returns the tally of all matches. REQUIRES: no skip and no limit */
export function* tallyGroups(execution: Execution, find: CompiledFind, read: TallyRead): Waiting<Tally> {
  const tally = new Tally(read)
  const count = ({ document, ordinal }: Match): void => tally.add(tally.idOf(document), 1, ordinal)
  const bounds = boundsOfValues(execution, find, read.path)
  if (bounds === undefined) {
    yield* forEachStep(matchesOf(execution, find), (slice) => {
      for (const match of slice) count(match)
    })
    return tally
  }
  const segments = new SegmentTally(execution, find.filter.bounds, bounds, tally)
  yield* forEachSegment(execution, find.filter.bounds, function* (segment, matches) {
    const left = yield* segments.count(segment, matches)
    if (left.upperCount > 0) yield* readAll(execution, left, count)
  })
  return tally
}

class SegmentTally {
  readonly #execution: Execution
  readonly #filter: PairExpression
  readonly #bounds: ValueBounds
  readonly #tally: Tally
  /** The value of each pair, as it is in some document. */
  readonly #ids = new Map<string, unknown>()

  constructor(execution: Execution, filter: PairExpression, bounds: ValueBounds, tally: Tally) {
    this.#execution = execution
    this.#filter = filter
    this.#bounds = bounds
    this.#tally = tally
  }

  /** Counts what the segment knows; returns the matches that remain to be read. */
  *count(segment: number, matches: SegmentCandidates): Waiting<SegmentCandidates> {
    const bounds = this.#bounds
    const isCertain = matches.lowerCount === matches.upperCount
    const values = isCertain ? yield* knownValues(this.#execution, segment, matches, bounds) : []
    // Querying the index for a value costs about as much as reading a document.
    if (values.length === 0 || values.length > matches.upperCount)
      return yield* evaluateOn(this.#execution, segment, this.#filter)
    const counted: ValuePair[] = []
    for (const value of values) {
      const found = yield* evaluateCounts(this.#execution, segment, bounds.only(this.#filter, value))
      if (found.lowerCount > 0 && (yield* this.#add(value, found))) counted.push(value)
    }
    const without = yield* evaluateCounts(this.#execution, segment, bounds.nothing(this.#filter))
    const isEachCertain = without.lowerCount === without.upperCount
    if (isEachCertain && without.lowerCount > 0) {
      this.#tally.add(undefined, without.lowerCount, firstCertain(without))
    }
    return yield* evaluateOn(this.#execution, segment, bounds.uncounted(this.#filter, counted, isEachCertain))
  }

  /** False if the store has no document with the value. */
  *#add({ value }: ValuePair, found: SegmentCandidates): Waiting<boolean> {
    const form = formOf(value)
    if (!this.#ids.has(form)) {
      yield* readFirst(this.#execution, found, ({ document }) => this.#ids.set(form, this.#tally.idOf(document)))
      if (!this.#ids.has(form)) return false
    }
    this.#tally.add(this.#ids.get(form), found.lowerCount, firstCertain(found))
    return true
  }
}
