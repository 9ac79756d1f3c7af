/**
 * A read view of the index: segments, their live documents and the ordinal limit, as they were when it was captured.
 */
import type { RowMemory } from '../bloom/kernels/index.ts'
import type { PairExpression } from '../model/pairs.ts'
import type { BoundsLeaf, PreparedBounds } from './bounds.ts'
import type { IndexView, SegmentCandidates } from './document-index.ts'
import { type Evaluation, evaluateSegment, type LeafLocation } from './evaluate.ts'
import type { RowCache } from './row-cache.ts'
import type { SegmentHandle } from './segment-handle.ts'

export interface ViewContext {
  readonly memory: RowMemory
  readonly cache: RowCache
  /** Prepared once per expression and index. */
  readonly prepare: (expression: PairExpression) => PreparedBounds
}

interface CapturedSegment {
  readonly handle: SegmentHandle
  readonly live: Uint32Array | undefined
  /** Positions below it are visible. Later ones may be below the limit: ordinals that are skipped when the next is added. */
  readonly documents: number
}

export class ShardedView implements IndexView {
  readonly limit: number
  readonly #context: ViewContext
  readonly #segments: readonly CapturedSegment[]

  constructor(context: ViewContext, handles: readonly SegmentHandle[], limit: number) {
    this.limit = limit
    this.#context = context
    this.#segments = handles
      .filter((handle) => handle.firstOrdinal < limit)
      .map((handle) => ({
        handle,
        live: handle.live.capture(),
        documents: Math.min(limit - handle.firstOrdinal, handle.segment.documents)
      }))
  }

  get segmentCount(): number {
    return this.#segments.length
  }

  evaluate(segment: number, expression: PairExpression): SegmentCandidates | Promise<SegmentCandidates> {
    const captured = this.#segments[segment]!
    const bounds = this.#context.prepare(expression)
    const locations = new Map<BoundsLeaf, LeafLocation>()
    return this.#load(captured, bounds, locations) ?? this.#evaluate(captured, bounds, locations)
  }

  close(): void {}

  /** Loads the rows of all leaves; a promise of the result when some have to be waited for. */
  #load(
    captured: CapturedSegment,
    bounds: PreparedBounds,
    locations: Map<BoundsLeaf, LeafLocation>
  ): Promise<SegmentCandidates> | undefined {
    const { segment } = captured.handle
    this.#context.cache.beginEvaluation()
    locations.clear()
    const pending: Promise<void>[] = []
    for (const leaf of bounds.leaves) {
      const location = { pair: segment.locate(leaf.pair), irregular: segment.locate(leaf.irregular) }
      locations.set(leaf, location)
      const loading = [segment.load(location.pair), segment.load(location.irregular)]
      for (const promise of loading) if (promise !== undefined) pending.push(promise)
    }
    if (pending.length === 0) return undefined
    // While the rows were on their way, others may have been evicted or the segment sealed: look again until all of
    // them are there at once.
    return Promise.all(pending).then(
      () => this.#load(captured, bounds, locations) ?? this.#evaluate(captured, bounds, locations)
    )
  }

  #evaluate(
    { handle, live, documents }: CapturedSegment,
    bounds: PreparedBounds,
    locations: ReadonlyMap<BoundsLeaf, LeafLocation>
  ): SegmentCandidates {
    const { memory } = this.#context
    const evaluation = evaluateSegment(memory, handle.segment, bounds, locations, live, documents)
    return new Candidates(evaluation, handle.firstOrdinal, documents)
  }
}

class Candidates implements SegmentCandidates {
  readonly firstOrdinal: number
  readonly endOrdinal: number
  readonly #evaluation: Evaluation

  constructor(evaluation: Evaluation, firstOrdinal: number, visible: number) {
    this.#evaluation = evaluation
    this.firstOrdinal = firstOrdinal
    this.endOrdinal = firstOrdinal + visible
  }

  get upperCount(): number {
    return this.#evaluation.upper.length
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
    return this.firstOrdinal + this.#evaluation.upper[i]!
  }

  isCertain(i: number): boolean {
    const { isLowerUpper, lowerBits, upper } = this.#evaluation
    if (lowerBits === undefined) return isLowerUpper
    const position = upper[i]!
    return (lowerBits[position >>> 5]! & (1 << (position & 31))) !== 0
  }

  has(ordinal: number): boolean {
    if (ordinal < this.firstOrdinal || ordinal >= this.endOrdinal) return false
    const position = ordinal - this.firstOrdinal
    const word = this.#evaluation.upperBits[position >>> 5]
    return word !== undefined && (word & (1 << (position & 31))) !== 0
  }
}
