/** Collects what is needed to find the first documents of an order by columns. */
import type { PairExpression, RangeEnd, RangeType } from '../../model/pairs.ts'
import type { Document } from '../../model/types.ts'
import type { SortBounds } from '../../query/sort-bounds.ts'
import type { ColumnOrder } from '../../sharded-bloom/ranges/column-order.ts'
import { type Execution, pauseIfDue } from './execution.ts'
import { wait } from './steps.ts'

/** A segment with candidates. */
export interface OrderedSegment {
  readonly number: number
  readonly firstOrdinal: number
  readonly candidates: number
  readonly column: ColumnOrder | undefined
  /** About how many of the column's documents come before the start. */
  readonly passed: number
  /** About how many of them come after it, and before the other end of the filter's range. */
  readonly ahead: number
}

/** A value at which an order is entered. */
export interface OrderStart {
  readonly key: RangeEnd['key']
  /** Whether a document comes before it, and is not wanted; undefined if the filter matches none of them. */
  readonly isBefore: ((document: Document) => boolean) | undefined
}

/** Input of a column walk; `candidates` is the total over all segments. */
export interface OrderSurvey {
  readonly filter: PairExpression
  readonly type: RangeType
  readonly bounds: SortBounds
  readonly segments: readonly OrderedSegment[]
  readonly candidates: number
  /** Nothing is wanted that comes before it; undefined: everything is. */
  readonly start: OrderStart | undefined
}

/** Returns undefined if no segment has a column, or there are no more candidates than this. */
export function* surveyOrder(
  execution: Execution,
  filter: PairExpression,
  bounds: SortBounds,
  fewCandidates: number
): Generator<Promise<unknown>, OrderSurvey | undefined, unknown> {
  const { index } = execution.view
  const found: Omit<OrderedSegment, 'column' | 'passed' | 'ahead'>[] = []
  let candidates = 0
  for (let i = 0; i < index.segmentCount; i++) {
    // Skipped segments need not be prepared either.
    i += index.skip?.(i, filter, 1) ?? 0
    if (i === index.segmentCount) break
    const { upperCount, firstOrdinal } = yield* wait(index.evaluate(i, filter, 0))
    yield* pauseIfDue(execution)
    if (upperCount === 0) continue
    candidates += upperCount
    found.push({ number: i, firstOrdinal, candidates: upperCount })
  }
  if (candidates <= fewCandidates) return undefined
  const columns = new Map<number, readonly ColumnOrder[]>()
  for (const { number } of found) {
    columns.set(number, yield* wait(index.orders?.(number, bounds.path) ?? []))
    yield* pauseIfDue(execution)
  }
  const type = mostFrequentType([...columns.values()].flat())
  if (type === undefined) return undefined
  const segments = found.map((segment): OrderedSegment => {
    const column = columns.get(segment.number)?.find((order) => order.type === type)
    return { ...segment, column, passed: 0, ahead: column?.count ?? 0 }
  })
  return { filter, type, bounds, segments, candidates, start: undefined }
}

function mostFrequentType(columns: readonly ColumnOrder[]): RangeType | undefined {
  const documents = new Map<RangeType, number>()
  for (const { type, count } of columns) documents.set(type, (documents.get(type) ?? 0) + count)
  const [most] = [...documents].reduce<readonly [RangeType | undefined, number]>(
    (best, each) => (each[1] > best[1] ? each : best),
    [undefined, 0]
  )
  return most
}
