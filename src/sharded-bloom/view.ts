/** A read view of the index: segments, their live documents and the ordinal limit, as of its capture. */
import type { RowMemory } from '../bloom/kernels/index.ts'
import type { PairExpression, TypePair, ValuePair } from '../model/pairs.ts'
import { type PreparedBounds, prepareBounds } from './bounds.ts'
import type { IndexView, SegmentCandidates } from './document-index.ts'
import { evaluateSegment } from './evaluate.ts'
import { type Evaluation, noDocuments } from './evaluation.ts'
import { loadGroups, loadOthers, loadPairs, locateAll, rarePairs } from './leaf-loading.ts'
import { OrdinalSet } from './ordinal-set.ts'
import type { PairHash } from './pairs/pair-hash.ts'
import { typePair, valuePair } from './pairs/pair-tags.ts'
import type { ColumnOrder } from './ranges/column-order.ts'
import { areSparse } from './segment/and-groups.ts'
import { CapturedSegment } from './segment/captured-segment.ts'
import { groupsOf } from './segment/groups.ts'
import type { PositionMap } from './segment/position-map.ts'
import type { RowCache } from './segment/row-cache.ts'
import type { Segment } from './segment/segment.ts'
import type { SegmentHandle } from './segment/segment-handle.ts'
import { allGroups } from './segment/upper-level.ts'

export interface ViewContext {
  readonly memory: RowMemory
  readonly cache: RowCache
  readonly pairHash: PairHash
}

/** One attempt suffices when nothing else is evaluated; a few are needed when some rows decide which others to read. */
const maxAttempts = 16

export class ShardedView implements IndexView {
  readonly limit: number
  readonly #context: ViewContext
  readonly #segments: readonly CapturedSegment[]
  /** The last expression: a read evaluates all segments with the same one. */
  #lastExpression: PairExpression | undefined
  #bounds: PreparedBounds | undefined
  /** The evaluation of the segment at which skip() stopped, usually evaluated next. It holds as long as the view. */
  #stoppedAt:
    | { readonly captured: CapturedSegment; readonly bounds: PreparedBounds; readonly evaluation: Evaluation }
    | undefined
  /** Evaluations waiting for rows: a closed view keeps its segments until they end. */
  #waiting = 0
  #isOpen = true

  /** @param hidden see DocumentIndex.capture() */
  constructor(context: ViewContext, handles: readonly SegmentHandle[], limit: number, hidden = OrdinalSet.empty) {
    this.limit = limit
    this.#context = context
    const segments: CapturedSegment[] = []
    for (const handle of handles) {
      if (handle.firstOrdinal < limit) segments.push(new CapturedSegment(handle, limit, hidden))
    }
    this.#segments = segments
  }

  get segmentCount(): number {
    return this.#segments.length
  }

  /** The segment's ordinals are at or above it. */
  firstOrdinalOf(segment: number): number {
    return this.#segments[segment]!.handle.firstOrdinal
  }

  skip(segment: number, expression: PairExpression, step: 1 | -1): number {
    const { cache } = this.#context
    const bounds = this.#prepare(expression)
    const segments = this.#segments
    cache.beginEvaluation()
    let at = segment
    for (; at >= 0 && at < segments.length; at += step) {
      const captured = segments[at]!
      const evaluation = this.#evaluateInMemory(captured, bounds)
      if (evaluation?.upperCount === 0) continue
      this.#stoppedAt = evaluation && { captured, bounds, evaluation }
      break
    }
    return (at - segment) * step
  }

  evaluate(
    segment: number,
    expression: PairExpression,
    listed = Number.POSITIVE_INFINITY
  ): SegmentCandidates | Promise<SegmentCandidates> {
    const captured = this.#segments[segment]!
    const bounds = this.#prepare(expression)
    const stoppedAt = this.#stoppedAt
    if (stoppedAt?.captured === captured && stoppedAt.bounds === bounds) {
      return new Candidates(stoppedAt.evaluation, captured.handle, captured.documents)
    }
    const evaluating = this.#attempt(captured, bounds, listed)
    if (!(evaluating instanceof Promise)) return evaluating
    this.#waiting++
    return evaluating.finally(() => {
      this.#waiting--
      this.#releaseIfUnused()
    })
  }

  orders(segment: number, path: string): readonly ColumnOrder[] | Promise<readonly ColumnOrder[]> {
    return this.#whenReady(segment, (each) => each.rangeColumns(path))
  }

  values(segment: number, path: string): readonly ValuePair[] | Promise<readonly ValuePair[]> {
    return this.#whenReady(segment, (each) => each.privateValues(path).map(valuePair))
  }

  types(segment: number): readonly TypePair[] | undefined | Promise<readonly TypePair[] | undefined> {
    return this.#whenReady(segment, (each) => each.typePairs()?.map(typePair))
  }

  close(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#releaseIfUnused()
  }

  #whenReady<T>(segment: number, question: (segment: Segment) => T): T | Promise<T> {
    const { handle } = this.#segments[segment]!
    const preparing = handle.isReady ? undefined : handle.prepare()
    if (preparing === undefined) return question(handle.segment)
    this.#waiting++
    return preparing
      .then(() => question(handle.segment))
      .finally(() => {
        this.#waiting--
        this.#releaseIfUnused()
      })
  }

  #prepare(expression: PairExpression): PreparedBounds {
    if (this.#bounds === undefined || expression !== this.#lastExpression) {
      this.#lastExpression = expression
      this.#bounds = prepareBounds(expression, this.#context.pairHash)
    }
    return this.#bounds
  }

  #releaseIfUnused(): void {
    if (this.#isOpen || this.#waiting > 0) return
    for (const segment of this.#segments) segment.release()
  }

  /** Evaluates from rows in memory, reading none; undefined unless few groups are left and their rows are there. */
  #evaluateInMemory(captured: CapturedSegment, bounds: PreparedBounds): Evaluation | undefined {
    const { isReady, segment } = captured.handle
    if (!isReady || segment.alwaysCandidates.length > 0) return undefined
    locateAll(captured.handle, bounds)
    const { root, locations } = bounds
    let groups = groupsOf(segment, root, locations)
    if (groups === 0) return noDocuments
    if (!areSparse(groups, segment.groupDocuments)) return undefined
    if (root.kind === 'pair') {
      const { pair } = locations[root.index]!
      if (pair.kind === 'hashed') groups = segment.narrowGroups(pair, groups)
      if (groups === 0) return noDocuments
    }
    return this.#evaluateLoaded(captured, bounds, groups, Number.POSITIVE_INFINITY)
  }

  /**
   * Evaluates the segment once everything it needs is in memory at the same time. While rows are loading others may be
   * evicted, or the segment sealed, so each attempt checks again. The last attempt takes the rows that are there, so
   * that evaluations that evict each other's rows terminate.
   */
  #attempt(
    captured: CapturedSegment,
    bounds: PreparedBounds,
    listed: number,
    attempt = 1
  ): SegmentCandidates | Promise<SegmentCandidates> {
    const { handle, documents } = captured
    const { memory, cache } = this.#context
    const preparing = handle.isReady ? undefined : handle.prepare()
    if (preparing !== undefined) return preparing.then(() => this.#attempt(captured, bounds, listed, attempt))
    const isLast = attempt === maxAttempts
    const { segment } = handle
    cache.beginEvaluation()
    locateAll(handle, bounds)
    let pending = isLast ? undefined : loadGroups(segment, bounds)
    if (pending !== undefined)
      return Promise.all(pending).then(() => this.#attempt(captured, bounds, listed, attempt + 1))
    // Rows are read only if the upper level leaves a group in which a document may match.
    const groups = groupsOf(segment, bounds.root, bounds.locations)
    if (groups === 0) return new Candidates(this.#excluded(captured), handle, documents)
    if (!isLast) {
      const rare = rarePairs(segment, bounds, groups)
      pending = loadPairs(segment, bounds, rare)
      if (rare.length > 0 && pending === undefined) {
        const evaluation = this.#evaluateLoaded(captured, bounds, groups, listed)
        if (evaluation !== undefined) return new Candidates(evaluation, handle, documents)
      }
      pending = loadOthers(segment, bounds, rare, pending)
      if (pending !== undefined)
        return Promise.all(pending).then(() => this.#attempt(captured, bounds, listed, attempt + 1))
    }
    const evaluation = evaluateSegment(memory, segment, bounds, captured.live, documents, groups, listed)
    return new Candidates(evaluation, handle, documents)
  }

  /** Evaluates from the rows in memory; undefined if rows not in memory could still exclude documents. */
  #evaluateLoaded(
    { handle: { segment }, live, documents }: CapturedSegment,
    bounds: PreparedBounds,
    groups: number,
    listed: number
  ): Evaluation | undefined {
    const { memory, cache } = this.#context
    const { misses } = cache
    const evaluation = evaluateSegment(memory, segment, bounds, live, documents, groups, listed)
    return cache.misses === misses || evaluation.upperCount === 0 ? evaluation : undefined
  }

  /** The result when the upper level excludes every document: only those whose pairs are not all known remain. */
  #excluded({ handle: { segment }, live, documents }: CapturedSegment): Evaluation {
    if (segment.alwaysCandidates.length === 0) return noDocuments
    return evaluateSegment(this.#context.memory, segment, excluded, live, documents, allGroups)
  }
}

const excluded: PreparedBounds = { root: { kind: 'none' }, leaves: [], locations: [], located: undefined }

class Candidates implements SegmentCandidates {
  readonly #handle: SegmentHandle
  readonly #evaluation: Evaluation
  readonly #visible: number
  /** Fields of the evaluation and the handle, cached because results of thousands of documents read them as often. */
  readonly #upper: Uint16Array
  readonly #positions: PositionMap
  readonly #first: number | undefined

  constructor(evaluation: Evaluation, handle: SegmentHandle, visible: number) {
    this.#evaluation = evaluation
    this.#handle = handle
    this.#visible = visible
    this.#upper = evaluation.upper
    this.#positions = handle.positions
    this.#first = handle.positions.first
  }

  get firstOrdinal(): number {
    return this.#handle.firstOrdinal
  }

  get endOrdinal(): number {
    return this.#visible === 0 ? this.firstOrdinal : this.#positions.ordinalAt(this.#visible - 1) + 1
  }

  get upperCount(): number {
    return this.#evaluation.upperCount
  }

  get lowerCount(): number {
    return this.#evaluation.lowerCount
  }

  get rowsRead(): number {
    return this.#evaluation.rowsRead
  }

  get bytesTouched(): number {
    return this.#evaluation.bytesTouched
  }

  ordinal(i: number): number {
    const position = this.#upper[i]!
    return this.#first === undefined ? this.#positions.ordinalAt(position) : this.#first + position
  }

  isCertain(i: number): boolean {
    const { isExact: isLowerUpper, certain } = this.#evaluation
    return certain === undefined ? isLowerUpper : (certain[i >>> 3]! & (1 << (i & 7))) !== 0
  }

  has(ordinal: number): boolean {
    if (ordinal < this.firstOrdinal || ordinal >= this.endOrdinal) return false
    const position = this.#positions.positionOf(ordinal)
    if (position < 0) return false
    const upper = this.#upper
    let low = 0
    let high = upper.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (upper[middle]! < position) low = middle + 1
      else high = middle
    }
    return upper[low] === position
  }
}
