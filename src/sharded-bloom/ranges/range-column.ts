/** What a segment knows of the values of one type on one path: the contract of open and sealed columns. */
import type { Range } from '../../model/pairs.ts'
import type { Side } from './interval.ts'

/** Documents as bits at the address that was asked for, none, all of the segment, or nothing known for damage. */
export type Selection = 'bits' | 'none' | 'all' | 'unknown'

/**
 * A document is in the column when it has exactly one value of the type on the path, which is not NaN, and is not
 * irregular below the path's top-level key. The others that have the type on the path are the column's outsiders.
 */
export interface RangeColumn {
  /** True when least and greatest key tell that no document is within the range. */
  excludes(range: Range): boolean

  /** True when what select() gives for upper is what it gives for lower, and there are no outsiders. */
  isExact(range: Range): boolean

  /** Brings in what select() and outsiders() need for the range; a promise only where the store is asynchronous. */
  load(range: Range): void | Promise<void>

  /**
   * Documents of the column whose value is within the range: all of them for upper, none but them for lower.
   * @param out `rowBytes` bytes, as many as the segment's rows have
   */
  select(range: Range, side: Side, out: number, rowBytes: number): Selection

  /** The outsiders, of whose values nothing is known. */
  outsiders(out: number, rowBytes: number): Selection

  /** Rows and bytes that the last select() has read. */
  readonly rowsRead: number
}
