/**
 * Finds the first documents of a sort order using the columns that segments keep of the sort's first field: reads
 * ranges from the start of the order, each sized to contain enough matches, until no unread document can be among the
 * first.
 *
 * Invariants:
 * 1. Returns the same documents as reading and sorting all matches: ties are broken by ordinals.
 * 2. A document is read once.
 * 3. Columns only decide where to cut: ranges of the index, and the documents' own keys, decide about documents.
 */
import { and, type PairExpression, type RangeEnd, type RangeType } from '../../model/pairs.ts'
import { Type } from '../../model/types.ts'
import { type CompiledSort, TopK } from '../../query/sort.ts'
import { SortBounds } from '../../query/sort-bounds.ts'
import type { SegmentCandidates } from '../../sharded-bloom/document-index.ts'
import type { ColumnOrder } from '../../sharded-bloom/ranges/column-order.ts'
import type { Candidates } from './candidates.ts'
import type { Match } from './confirmer.ts'
import { enterOrder } from './enter-order.ts'
import { type Execution, pauseIfDue } from './execution.ts'
import { type Cut, type CutRange, nearerCut } from './nearer-cut.ts'
import { type OrderedSegment, type OrderSurvey, surveyOrder } from './order-survey.ts'
import { passOver } from './pass-over.ts'
import { evaluateOn, readSome } from './segment-reads.ts'
import { compareToType, compareToValue, endOfValue, valueOfEnd } from './sort-value.ts'
import { type Waiting, wait } from './steps.ts'

/**
 * Documents that must be read in any case, whatever the columns say, are read separately if they are a smaller share
 * than this.
 */
const maxShareApart = 1 / 4
/**
 * Reading documents one by one is slower than a full pass: when this many do not suffice, give up and read all matches.
 */
const maxReads = { perWanted: 16, share: 1 / 64, least: 1000 }
/** Ties that a second sort field breaks have to be read; if they are a larger share than this, all matches are read. */
const maxShareRead = 1 / 2
/** Oversizing of the first range, since fewer documents match than may match. */
const firstRange = 1.25
const nextRange = 4

/** With fewer candidates than this for a page, all are read. */
const minCandidates = 256
/** Candidates of a range that are read without looking for a smaller one. */
const fewCandidates = 64

type End = RangeEnd['key']

/** The first matches of an order, without `passed` ones before them. */
interface FirstMatches {
  readonly matches: Match[]
  readonly passed: number
}

/**
 * Returns the first `wanted` matches in order; undefined if finding them takes (nearly) all matches.
 * @param sort at least one field
 */
export function* firstByColumns(
  execution: Execution,
  sort: CompiledSort,
  wanted: number
): Waiting<FirstMatches | undefined> {
  const { plan, view, meter, unwanted } = execution
  const [field] = sort.keys
  if (plan.kind === 'ids' || field === undefined || view.index.orders === undefined) return undefined
  const bounds = SortBounds.of(field.path)
  if (bounds === undefined) return undefined
  const surveyed = yield* surveyOrder(execution, plan.bounds, bounds, 2 * (wanted - unwanted) + minCandidates)
  // Columns order strings by code point.
  if (surveyed === undefined || (sort.isCollated && surveyed.type === Type.string)) return undefined
  const { candidates, certain, segmentsPruned } = meter
  const rest = yield* passOver(execution, sort, surveyed, unwanted)
  const passed = rest?.passed ?? 0
  const isWorthIt = rest !== undefined || surveyed.candidates > 2 * wanted + minCandidates
  const survey =
    rest?.survey ?? (isWorthIt ? yield* enterOrder(execution, surveyed, sort.keys[0]!.direction) : surveyed)
  const walk = new ColumnWalk(execution, sort, wanted - passed, survey)
  const matches = isWorthIt ? yield* walk.run() : undefined
  if (matches === undefined) {
    // The fallback does its own counting.
    Object.assign(meter, { candidates, certain, segmentsPruned })
    return undefined
  }
  meter.passed += passed
  meter.segments += view.index.segmentCount
  meter.segmentsPruned = segmentsPruned + view.index.segmentCount - walk.segmentsRead
  meter.orderedBy = field.path
  return { matches, passed }
}

class ColumnWalk {
  readonly #execution: Execution
  readonly #wanted: number
  readonly #survey: OrderSurvey
  readonly #direction: 1 | -1
  /** Documents with an equal first field compare equal. */
  readonly #hasTies: boolean
  readonly #first: TopK<Match>
  readonly #seen = new Set<number>()
  readonly #segments = new Set<number>()

  constructor(execution: Execution, sort: CompiledSort, wanted: number, surveyed: OrderSurvey) {
    this.#execution = execution
    this.#wanted = wanted
    this.#survey = surveyed
    this.#direction = sort.keys[0]!.direction
    this.#hasTies = sort.keys.length === 1
    this.#first = new TopK<Match>(sort, wanted)
  }

  /** Number of segments that documents were read from. */
  get segmentsRead(): number {
    return this.#segments.size
  }

  /** Returns undefined if finding the first documents takes (nearly) all matches. */
  *run(): Waiting<Match[] | undefined> {
    const { bounds, type, segments } = this.#survey
    const others = this.#within(bounds.others(type))
    if (!(yield* this.#areFew(others, false))) return undefined
    for (const segment of segments) if (!(yield* this.#read(segment, others, false))) return undefined
    if (this.#direction === 1 && !(yield* this.#readNulls())) return undefined
    const limit = this.#seen.size + this.#maxReads
    for (const segment of this.#inOrder()) {
      if (this.#isAfterFirst(type)) break
      if (!(yield* this.#readSegment(segment, limit))) return undefined
    }
    if (this.#direction === -1 && !(yield* this.#readNulls())) return undefined
    return this.#first.toArray()
  }

  get #maxReads(): number {
    const { perWanted, share, least } = maxReads
    return least + perWanted * this.#wanted + share * this.#survey.candidates
  }

  #within(expression: PairExpression): PairExpression {
    return and([this.#survey.filter, expression])
  }

  *#areFew(expression: PairExpression, areCertainFree: boolean): Waiting<boolean> {
    return (yield* this.#count(expression, areCertainFree)) <= this.#wanted + maxShareApart * this.#survey.candidates
  }

  *#count(expression: PairExpression, areCertainFree: boolean): Waiting<number> {
    let count = 0
    for (const { number } of this.#survey.segments) {
      const { upperCount, lowerCount } = yield* evaluateOn(this.#execution, number, expression, 0)
      count += areCertainFree ? upperCount - lowerCount : upperCount
    }
    return count
  }

  /**
   * Returns the segments whose columns start earliest in the order first: what they yield leaves less to read of the
   * others.
   */
  #inOrder(): OrderedSegment[] {
    const { segments } = this.#survey
    const rank = segments.map((segment) => ({ segment, first: segment.column && this.#firstOf(segment.column) }))
    rank.sort((a, b) => {
      if (a.first === undefined || b.first === undefined)
        return Number(a.first === undefined) - Number(b.first === undefined)
      return this.#compare(a.first, b.first)
    })
    return rank.map(({ segment }) => segment)
  }

  /** Approximately the column's first value that may be wanted; undefined when it is not known. */
  #firstOf(column: ColumnOrder): End | undefined {
    const first = column.first(this.#direction)
    const start = this.#survey.start?.key
    return first !== undefined && start !== undefined && this.#isBefore(first, start) ? start : first
  }

  /** @returns false if the first `limit` documents read do not contain enough matches */
  *#readSegment(segment: OrderedSegment, limit: number): Waiting<boolean> {
    const { column, candidates, passed, ahead } = segment
    if (column !== undefined && (yield* this.#readTies(segment, column))) return true
    const perMatch = ahead / candidates
    let documents = Math.max(1, perMatch * this.#wanted * firstRange)
    // About how many documents of the column come up to `read`.
    let before = 0
    let read: End | undefined
    for (; ; before = documents, documents *= nextRange) {
      const loading = column?.loadOrder()
      if (loading !== undefined) yield* wait(loading)
      let cut = column?.cut(passed + documents, this.#direction)
      const reached = read ?? this.#survey.start?.key
      if (cut !== undefined && reached !== undefined && !this.#isBefore(reached, cut)) continue
      const floor = this.#floor(segment)
      const isFloored = floor !== undefined && (cut === undefined || this.#isBefore(floor.key, cut))
      let found = yield* this.#upTo(segment, read, isFloored ? floor : inclusive(cut))
      if (!isFloored && column !== undefined && found.upperCount > this.#many) {
        const range = { after: before, before: Math.min(documents, column.count - passed) }
        const nearer = yield* this.#nearerCut(segment, column, range, read)
        if (nearer !== undefined) ({ documents, key: cut } = nearer)
        found = yield* this.#upTo(segment, read, inclusive(cut))
      }
      if (!(yield* this.#readFound(segment, found, false))) return false
      if (this.#first.last === undefined && this.#seen.size > limit) return false
      if (isFloored || cut === undefined || this.#isSettled(cut)) return true
      read = cut
    }
  }

  /**
   * Candidates of a segment from what was read of its order up to an end.
   * @param listed see IndexView.evaluate()
   */
  #upTo(
    { number }: OrderedSegment,
    read: End | undefined,
    to: RangeEnd | undefined,
    listed?: number
  ): Waiting<SegmentCandidates> {
    return evaluateOn(this.#execution, number, this.#within(this.#between(read, to)), listed)
  }

  /** With more candidates in a range than this, part of it is read if that is enough. */
  get #many(): number {
    return this.#wanted * nextRange + fewCandidates
  }

  #nearerCut(
    segment: OrderedSegment,
    column: ColumnOrder,
    range: CutRange,
    read: End | undefined
  ): Waiting<Cut | undefined> {
    const countTo = function* (this: ColumnWalk, key: End): Waiting<number> {
      return (yield* this.#upTo(segment, read, inclusive(key), 0)).upperCount
    }
    const keyAt = (documents: number) => column.cut(segment.passed + documents, this.#direction)
    return nearerCut(range, { enough: this.#wanted, many: this.#many }, keyAt, countTo.bind(this))
  }

  /** Handles a segment in which enough documents certainly have the first value: most of them need not be read. */
  *#readTies(segment: OrderedSegment, column: ColumnOrder): Waiting<boolean> {
    const isCutOff = this.#survey.start?.isBefore !== undefined
    // Nearby strings may be found together.
    if (!this.#hasTies || isCutOff || this.#first.last !== undefined || column.type === Type.string) return false
    const first = this.#firstOf(column)
    if (first === undefined) return false
    const end = { key: first, isInclusive: true }
    const ties = this.#within(this.#survey.bounds.between(column.type, end, end))
    const { lowerCount } = yield* wait(this.#execution.view.index.evaluate(segment.number, ties, 0))
    return lowerCount >= this.#wanted && (yield* this.#read(segment, ties, true))
  }

  #between(read: End | undefined, to: RangeEnd | undefined): PairExpression {
    const { bounds, type } = this.#survey
    const from = read === undefined ? undefined : { key: read, isInclusive: false }
    return this.#direction === 1 ? bounds.between(type, from, to) : bounds.between(type, to, from)
  }

  /**
   * Returns the end of the range that can still contain one of the first documents; undefined while not enough are
   * known.
   */
  #floor({ firstOrdinal }: OrderedSegment): RangeEnd | undefined {
    const { last } = this.#first
    const key = last && endOfValue(last.key[0], this.#survey.type)
    if (last === undefined || key === undefined) return undefined
    return { key, isInclusive: !this.#hasTies || firstOrdinal < last.arrival }
  }

  /** Whether all values of the type come after the first documents. */
  #isAfterFirst(type: RangeType): boolean {
    const { last } = this.#first
    return last !== undefined && compareToType(last.key[0], type) * this.#direction < 0
  }

  /** Whether nothing that comes after the value in a segment can be among the first. */
  #isSettled(value: End): boolean {
    const { last } = this.#first
    if (last === undefined) return false
    return compareToValue(last.key[0], valueOfEnd(value, this.#survey.type)) * this.#direction <= 0
  }

  #isBefore(a: End, b: End): boolean {
    return this.#compare(a, b) < 0
  }

  #compare(a: End, b: End): number {
    const { type } = this.#survey
    return compareToValue(valueOfEnd(a, type), valueOfEnd(b, type)) * this.#direction
  }

  /** @returns false if there are too many nulls, and all of them would have to be read to know which come first */
  *#readNulls(): Waiting<boolean> {
    const nulls = this.#within(this.#survey.bounds.nulls)
    let areFew = false
    for (const segment of this.#survey.segments) {
      if (this.#areNullsAfterFirst(segment)) return true
      // Certain matches are ties.
      areFew ||= yield* this.#areFew(nulls, this.#hasTies)
      if (!areFew || !(yield* this.#read(segment, nulls, this.#hasTies))) return false
    }
    return true
  }

  /** Whether the nulls of this and all later segments cannot be among the first. */
  #areNullsAfterFirst({ firstOrdinal }: OrderedSegment): boolean {
    const { last } = this.#first
    if (last === undefined) return false
    const place = compareToValue(last.key[0], null) * this.#direction
    return place < 0 || (place === 0 && this.#hasTies && last.arrival < firstOrdinal)
  }

  /**
   * @param isTie documents that certainly match the expression have equal keys
   * @returns false, with nothing read, if there are too many
   */
  *#read(segment: OrderedSegment, expression: PairExpression, isTie: boolean): Waiting<boolean> {
    return yield* this.#readFound(segment, yield* evaluateOn(this.#execution, segment.number, expression), isTie)
  }

  *#readFound({ number }: OrderedSegment, found: SegmentCandidates, isTie: boolean): Waiting<boolean> {
    const execution = this.#execution
    const { start } = this.#survey
    execution.meter.countSegment(found)
    const candidates = this.#unseen(found, isTie ? this.#wanted : Number.POSITIVE_INFINITY)
    if (this.#seen.size > this.#maxReads + maxShareRead * this.#survey.candidates) return false
    if (candidates.count > 0) this.#segments.add(number)
    yield* readSome(execution, candidates, found, (match) => {
      if (start?.isBefore?.(match.document)) return
      this.#first.push(match.document, match, match.characters, match.ordinal)
    })
    yield* pauseIfDue(execution)
    return true
  }

  #unseen(found: SegmentCandidates, maxCertain: number): Candidates {
    const ordinals: number[] = []
    const certain: boolean[] = []
    let certainLeft = maxCertain
    for (let i = 0; i < found.upperCount; i++) {
      const ordinal = found.ordinal(i)
      const isCertain = found.isCertain(i)
      if (this.#seen.has(ordinal) || (isCertain && certainLeft-- <= 0)) continue
      this.#seen.add(ordinal)
      ordinals.push(ordinal)
      certain.push(isCertain)
    }
    return { count: ordinals.length, ordinal: (i) => ordinals[i]!, isCertain: (i) => certain[i]! }
  }
}

function inclusive(key: End | undefined): RangeEnd | undefined {
  return key === undefined ? undefined : { key, isInclusive: true }
}
