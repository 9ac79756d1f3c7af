/**
 * A view of an index without the ordinals that the store's value filters rule out.
 *
 * The filters are queried once per expression, when its first segment is evaluated.
 */
import type { PairExpression, TypePair, ValuePair } from '../../model/pairs.ts'
import type { IndexView, OrdinalRange, SegmentCandidates } from '../../sharded-bloom/document-index.ts'
import type { ColumnOrder } from '../../sharded-bloom/ranges/column-order.ts'
import { everyOrdinal, isEveryOrdinal, type OrdinalRanges } from './ordinal-ranges.ts'
import type { TablePruning } from './table-pruning.ts'

export class PrunedView implements IndexView {
  readonly limit: number
  /** Tables with documents of the collection, and how many of them were ruled out for the last expression. */
  tables = 0
  tablesPruned = 0
  readonly #view: IndexView
  readonly #pruning: TablePruning
  #expression: PairExpression | undefined
  #ranges: OrdinalRanges = everyOrdinal

  constructor(view: IndexView, pruning: TablePruning) {
    this.limit = view.limit
    this.#view = view
    this.#pruning = pruning
  }

  get segmentCount(): number {
    return this.#view.segmentCount
  }

  evaluate(
    segment: number,
    expression: PairExpression,
    listed?: number
  ): SegmentCandidates | Promise<SegmentCandidates> {
    if (expression === this.#expression) return this.#evaluate(segment, expression, listed)
    const asking = this.#pruning.prune(expression)
    if (asking === undefined) return this.#view.evaluate(segment, expression, listed)
    return asking.then(({ ranges, tables, pruned }) => {
      this.#expression = expression
      this.#ranges = ranges
      this.tables = tables
      this.tablesPruned = pruned
      return this.#evaluate(segment, expression, listed)
    })
  }

  orders(segment: number, path: string): readonly ColumnOrder[] | Promise<readonly ColumnOrder[]> {
    return this.#view.orders?.(segment, path) ?? []
  }

  values(segment: number, path: string): readonly ValuePair[] | Promise<readonly ValuePair[]> {
    return this.#view.values?.(segment, path) ?? []
  }

  types(segment: number): readonly TypePair[] | undefined | Promise<readonly TypePair[] | undefined> {
    return this.#view.types?.(segment)
  }

  close(): void {
    this.#view.close()
  }

  #evaluate(
    segment: number,
    expression: PairExpression,
    listed: number | undefined
  ): SegmentCandidates | Promise<SegmentCandidates> {
    const ranges = this.#ranges
    if (isEveryOrdinal(ranges)) return this.#view.evaluate(segment, expression, listed)
    if (this.#view.evaluateWithin !== undefined) return this.#view.evaluateWithin(segment, expression, ranges)
    const candidates = this.#view.evaluate(segment, expression)
    return candidates instanceof Promise
      ? candidates.then((found) => new RangedCandidates(found, ranges))
      : new RangedCandidates(candidates, ranges)
  }
}

/** The candidates of a segment that lie within the ranges. */
class RangedCandidates implements SegmentCandidates {
  readonly firstOrdinal: number
  readonly endOrdinal: number
  readonly rowsRead: number
  readonly bytesTouched: number
  readonly lowerCount: number
  readonly #all: SegmentCandidates
  /** Positions of the remaining candidates. */
  readonly #kept: readonly number[]

  constructor(all: SegmentCandidates, ranges: readonly OrdinalRange[]) {
    this.firstOrdinal = all.firstOrdinal
    this.endOrdinal = all.endOrdinal
    this.rowsRead = all.rowsRead
    this.bytesTouched = all.bytesTouched
    this.#all = all
    const kept: number[] = []
    let certain = 0
    for (let i = 0, range = 0; i < all.upperCount; i++) {
      const ordinal = all.ordinal(i)
      while (range < ranges.length && ranges[range]!.to <= ordinal) range++
      if (range === ranges.length) break
      if (ranges[range]!.from > ordinal) continue
      kept.push(i)
      if (all.isCertain(i)) certain++
    }
    this.#kept = kept
    this.lowerCount = certain
  }

  get upperCount(): number {
    return this.#kept.length
  }

  ordinal(i: number): number {
    return this.#all.ordinal(this.#kept[i]!)
  }

  isCertain(i: number): boolean {
    return this.#all.isCertain(this.#kept[i]!)
  }

  has(ordinal: number): boolean {
    return this.#all.has(ordinal) && this.#kept.some((i) => this.#all.ordinal(i) === ordinal)
  }
}
