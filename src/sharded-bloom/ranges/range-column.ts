/** What a segment knows of the values of one type on one path: the contract of open and sealed columns. */
import type { RowPart } from '../segment/and-groups.ts'
import type { ColumnOrder } from './column-order.ts'
import type { AskedRange, Side } from './interval.ts'

/** Documents as bits at the address that was asked for, none or all of the part, or nothing known for damage. */
export type Selection = 'bits' | 'none' | 'all' | 'unknown'

/**
 * A document is in the column when it has exactly one value of the type on the path, which is not NaN, and is not
 * irregular below the path's top-level key. The others that have the type on the path are the column's outsiders.
 */
export interface RangeColumn extends ColumnOrder {
  /**
   * The groups that may have documents within the range, or outsiders, one bit each (see segment/upper-level.ts), as far as
   * least and greatest keys in memory tell.
   */
  groups(range: AskedRange): number

  /** True when what select() gives for upper is what it gives for lower, and there are no outsiders. */
  isExact(range: AskedRange): boolean

  /** Brings in what select() and outsiders() need for the range; a promise only where the store is asynchronous. */
  load(range: AskedRange): void | Promise<void>

  /**
   * Documents of the column whose value is within the range: all of them for upper, none but them for lower.
   * @param out room for a row, of which the part is written
   */
  select(range: AskedRange, side: Side, out: number, part: RowPart): Selection

  /** The outsiders, of whose values nothing is known. */
  outsiders(out: number, part: RowPart): Selection

  /** Rows and bytes that the last select() has read. */
  readonly rowsRead: number
}
