/** The values of one type on one path in a segment: the contract of open and sealed columns. */
import type { RowPart } from '../segment/and-groups.ts'
import type { ColumnOrder } from './column-order.ts'
import type { QueryRange, Side } from './interval.ts'

/** Documents as bits at the given address; none or all of the part; or unknown because of damage. */
export type Selection = 'bits' | 'none' | 'all' | 'unknown'

/**
 * A document is in the column when it has exactly one value of the type on the path, which is not NaN, and is not
 * irregular below the path's top-level key. The others that have the type on the path are the column's outsiders.
 */
export interface RangeColumn extends ColumnOrder {
  /**
   * Returns the groups that may have documents within the range, or outsiders, one bit each (see
   * segment/upper-level.ts), as far as least and greatest keys in memory tell.
   */
  groups(range: QueryRange): number

  /** True when select() gives the same for upper and lower, and there are no outsiders. */
  isExact(range: QueryRange): boolean

  /** Loads what select() and outsiders() need for the range; returns a promise only when the store is asynchronous. */
  load(range: QueryRange): void | Promise<void>

  /**
   * Selects documents of the column whose value is within the range: at least all of them for upper, only such
   * documents for lower.
   * @param out room for a row, of which the part is written
   */
  select(range: QueryRange, side: Side, out: number, part: RowPart): Selection

  /** Selects the outsiders, whose values are not known. */
  outsiders(out: number, part: RowPart): Selection

  /** Number of rows that the last select() read. */
  readonly rowsRead: number
}
