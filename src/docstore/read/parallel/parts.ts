/** Splits a read into parts: the candidates of a segment, or some of them where threads could decide about them. */
import type { SegmentCandidates } from '../../../sharded-bloom/document-index.ts'
import { allCandidates, type Candidates, slice, uncertainCandidates } from '../candidates.ts'
import { isDense } from '../confirm.ts'
import type { OrdinalRange } from '../confirm-by-scan.ts'
import type { Execution } from '../execution.ts'
import type { Plan } from '../planner.ts'
import { rangeOf } from '../segment-reads.ts'

/** A part at first, and the limits of its size. */
const firstCandidates = 1024
const minCandidates = 64
const maxCandidates = 8192
/** What a part takes: threads then end at about the same time, and results that wait for a part do so for not longer. */
const partMilliseconds = 15

export interface Part {
  readonly candidates: Candidates
  /** The ordinals that they lie in. */
  readonly range: OrdinalRange
  /** Whether reading the range is faster than reading the candidates by key. */
  readonly isDense: boolean
  /** Matches that are only counted, and not among the candidates. */
  readonly counted: number
}

/** A plan that goes through segments. */
export type SegmentPlan = Exclude<Plan, { readonly kind: 'ids' }>

export class Parts {
  readonly #execution: Execution
  readonly #plan: SegmentPlan
  readonly #isCounting: boolean
  readonly #reverse: boolean
  /** Segments visited or skipped so far. */
  #segments = 0
  /** The segment that is being split, and how many of its candidates are in earlier parts. */
  #whole: Part | undefined
  #taken = 0
  #size = firstCandidates

  /** @param isCounting certain candidates are counted; the order does not matter */
  constructor(execution: Execution, plan: SegmentPlan, isCounting: boolean) {
    this.#execution = execution
    this.#plan = plan
    this.#isCounting = isCounting
    this.#reverse = plan.reverse && !isCounting
    execution.meter.segments += execution.view.index.segmentCount
  }

  /** Makes parts as long as they should be. @param perCandidate milliseconds */
  adapt(perCandidate: number): void {
    this.#size = Math.min(maxCandidates, Math.max(minCandidates, Math.ceil(partMilliseconds / perCandidate)))
  }

  /** The next part, which may have no candidates; undefined at the end. A promise only if rows have to be read. */
  next(): Part | undefined | Promise<Part | undefined> {
    const whole = this.#whole ?? this.#nextSegment()
    return whole instanceof Promise ? whole.then((segment) => this.#takeFrom(segment)) : this.#takeFrom(whole)
  }

  #takeFrom(whole: Part | undefined): Part | undefined {
    if (whole === undefined || !whole.isDense || this.#execution.parallel === undefined) return whole
    const { candidates } = whole
    const from = this.#taken
    const to = Math.min(candidates.count, from + this.#size)
    this.#taken = to === candidates.count ? 0 : to
    this.#whole = to === candidates.count ? undefined : whole
    return from === 0 && to === candidates.count ? whole : partOf(whole, from, to)
  }

  #nextSegment(): Part | undefined | Promise<Part> {
    const { index } = this.#execution.view
    this.#segments += this.#skip()
    if (this.#segments >= index.segmentCount) return undefined
    const number = this.#number
    this.#segments++
    const segment = index.evaluate(number, this.#plan.bounds, this.#isCounting ? 0 : undefined)
    return segment instanceof Promise ? segment.then((found) => this.#partOf(found)) : this.#partOf(segment)
  }

  /** The whole segment. */
  #partOf(segment: SegmentCandidates): Part {
    this.#execution.meter.countSegment(segment)
    const range = rangeOf(segment, this.#reverse)
    const candidates = this.#isCounting ? uncertainCandidates(segment) : allCandidates(segment, this.#reverse)
    const counted = this.#isCounting ? segment.lowerCount : 0
    return { candidates, range, isDense: isDense(this.#execution, candidates.count, range), counted }
  }

  get #number(): number {
    return this.#reverse ? this.#execution.view.index.segmentCount - 1 - this.#segments : this.#segments
  }

  /** Returns how many segments from here on have no candidates. */
  #skip(): number {
    const { view, meter } = this.#execution
    const { index } = view
    if (index.skip === undefined || this.#segments >= index.segmentCount) return 0
    const skipped = index.skip(this.#number, this.#plan.bounds, this.#reverse ? -1 : 1)
    meter.segmentsPruned += skipped
    return skipped
  }
}

function partOf({ candidates, range, isDense, counted }: Part, from: number, to: number): Part {
  const some = slice(candidates, from, to)
  return { candidates: some, range: spanOf(some, range.reverse), isDense, counted: from === 0 ? counted : 0 }
}

/** REQUIRES: some candidates */
function spanOf(candidates: Candidates, reverse: boolean): OrdinalRange {
  const first = candidates.ordinal(0)
  const last = candidates.ordinal(candidates.count - 1)
  return { from: Math.min(first, last), to: Math.max(first, last) + 1, reverse }
}
