/** What there is to know before the first documents of an order are looked for by columns. */
import type { PairExpression, RangeType } from '../../model/pairs.ts'
import type { SortBounds } from '../../query/sort-bounds.ts'
import type { ColumnOrder } from '../../sharded-bloom/ranges/column-order.ts'
import type { Execution } from './execution.ts'
import { wait } from './steps.ts'

/** With fewer candidates they are all read. */
const minCandidates = 256

/** A segment that has candidates. */
export interface OrderedSegment {
  readonly number: number
  readonly firstOrdinal: number
  readonly candidates: number
  readonly column: ColumnOrder | undefined
}

/** What a walk goes by; `candidates` of all segments together. */
export interface OrderSurvey {
  readonly filter: PairExpression
  readonly type: RangeType
  readonly bounds: SortBounds
  readonly segments: readonly OrderedSegment[]
  readonly candidates: number
}

/** undefined where no segment has a column, or few candidates are all that there are. */
export function* surveyOrder(
  { view: { index } }: Execution,
  filter: PairExpression,
  bounds: SortBounds,
  wanted: number
): Generator<Promise<unknown>, OrderSurvey | undefined, unknown> {
  const columns: (readonly ColumnOrder[])[] = []
  const documents = new Map<RangeType, number>()
  for (let i = 0; i < index.segmentCount; i++) {
    const orders = yield* wait(index.orders?.(i, bounds.path) ?? [])
    columns.push(orders)
    for (const { type, count } of orders) documents.set(type, (documents.get(type) ?? 0) + count)
  }
  const [type] = [...documents].reduce<readonly [RangeType | undefined, number]>(
    (most, each) => (each[1] > most[1] ? each : most),
    [undefined, 0]
  )
  if (type === undefined) return undefined
  const segments: OrderedSegment[] = []
  let candidates = 0
  for (let i = 0; i < index.segmentCount; i++) {
    const { upperCount, firstOrdinal } = yield* wait(index.evaluate(i, filter))
    if (upperCount === 0) continue
    candidates += upperCount
    const column = columns[i]?.find((order) => order.type === type)
    segments.push({ number: i, firstOrdinal, candidates: upperCount, column })
  }
  return candidates > 2 * wanted + minCandidates ? { filter, type, bounds, segments, candidates } : undefined
}
