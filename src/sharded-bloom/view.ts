/**
 * A read view of the index: segments, their live documents and the ordinal limit, as they were when it was captured.
 */
import type { RowMemory } from '../bloom/kernels/index.ts'
import type { PairExpression } from '../model/pairs.ts'
import type { BoundsLeaf, PreparedBounds } from './bounds.ts'
import type { IndexView, SegmentCandidates } from './document-index.ts'
import { type Evaluation, evaluateSegment, type LeafLocation } from './evaluate.ts'
import { columnOf, groupsOf } from './groups.ts'
import type { PositionMap } from './position-map.ts'
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
  /** Evaluations that wait for rows: a closed view keeps its segments until they end. */
  #waiting = 0
  #isOpen = true

  constructor(context: ViewContext, handles: readonly SegmentHandle[], limit: number) {
    this.limit = limit
    this.#context = context
    this.#segments = handles
      .filter((handle) => handle.firstOrdinal < limit)
      .map((handle) => ({
        handle,
        live: handle.live.capture(),
        documents: handle.positions.positionsBelow(limit, handle.segment.documents)
      }))
    for (const { handle } of this.#segments) handle.hold()
  }

  get segmentCount(): number {
    return this.#segments.length
  }

  evaluate(segment: number, expression: PairExpression): SegmentCandidates | Promise<SegmentCandidates> {
    const captured = this.#segments[segment]!
    const bounds = this.#context.prepare(expression)
    const locations = new Map<BoundsLeaf, LeafLocation>()
    const loading = this.#load(captured, bounds, locations)
    if (loading === undefined) return this.#evaluate(captured, bounds, locations)
    this.#waiting++
    return loading.finally(() => {
      this.#waiting--
      this.#letGoIfUnused()
    })
  }

  close(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#letGoIfUnused()
  }

  #letGoIfUnused(): void {
    if (this.#isOpen || this.#waiting > 0) return
    for (const { handle } of this.#segments) handle.letGo()
  }

  /** Loads the rows of all leaves; a promise of the result when some have to be waited for. */
  #load(
    captured: CapturedSegment,
    bounds: PreparedBounds,
    locations: Map<BoundsLeaf, LeafLocation>
  ): Promise<SegmentCandidates> | undefined {
    const preparing = captured.handle.prepare()
    if (preparing !== undefined) {
      return preparing.then(
        () => this.#load(captured, bounds, locations) ?? this.#evaluate(captured, bounds, locations)
      )
    }
    const { segment } = captured.handle
    this.#context.cache.beginEvaluation()
    locations.clear()
    const pending: Promise<void>[] = []
    const wait = (loading: void | Promise<void>): void => {
      if (loading !== undefined) pending.push(loading)
    }
    for (const leaf of bounds.leaves) {
      if (columnOf(segment, leaf) !== undefined) continue
      const pairLeaf = leaf.kind === 'range' ? leaf.type : leaf
      const location = { pair: segment.locate(pairLeaf.pair), irregular: segment.locate(pairLeaf.irregular) }
      locations.set(pairLeaf, location)
      wait(segment.loadGroups(location.pair))
    }
    // Rows are read where the upper level leaves a group in which a document may match.
    if (pending.length === 0 && groupsOf(segment, bounds.root, locations) !== 0) {
      for (const leaf of bounds.leaves) if (leaf.kind === 'range') wait(columnOf(segment, leaf)?.load(leaf.range))
      for (const { pair, irregular } of locations.values()) {
        wait(segment.load(pair))
        wait(segment.load(irregular))
      }
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
    const { segment } = handle
    const isExcluded = groupsOf(segment, bounds.root, locations) === 0
    if (isExcluded && segment.alwaysCandidates.length === 0) return new Candidates(nothing, handle, documents)
    const evaluated = isExcluded ? excluded : bounds
    const evaluation = evaluateSegment(memory, segment, evaluated, locations, live, documents)
    return new Candidates(evaluation, handle, documents)
  }
}

const excluded: PreparedBounds = { root: { kind: 'none' }, leaves: [] }

const nothing: Evaluation = {
  upper: new Uint16Array(0),
  lowerCount: 0,
  isLowerUpper: true,
  certain: undefined,
  rowsRead: 0,
  bytesTouched: 0
}

class Candidates implements SegmentCandidates {
  readonly firstOrdinal: number
  readonly endOrdinal: number
  readonly #positions: PositionMap
  readonly #evaluation: Evaluation

  constructor(evaluation: Evaluation, { firstOrdinal, positions }: SegmentHandle, visible: number) {
    this.#evaluation = evaluation
    this.#positions = positions
    this.firstOrdinal = firstOrdinal
    this.endOrdinal = visible === 0 ? firstOrdinal : positions.ordinalAt(visible - 1) + 1
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
    return this.#positions.ordinalAt(this.#evaluation.upper[i]!)
  }

  isCertain(i: number): boolean {
    const { isLowerUpper, certain } = this.#evaluation
    return certain === undefined ? isLowerUpper : (certain[i >>> 3]! & (1 << (i & 7))) !== 0
  }

  has(ordinal: number): boolean {
    if (ordinal < this.firstOrdinal || ordinal >= this.endOrdinal) return false
    const position = this.#positions.positionOf(ordinal)
    if (position < 0) return false
    const { upper } = this.#evaluation
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
