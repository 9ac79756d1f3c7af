/**
 * Cuts through the values of a segment's column, for reads in their order: "the twenty greatest" begins with the range
 * above a cut that about twenty documents are beyond.
 *
 * Invariant: a cut estimates how many documents are beyond it, never which. The caller reads the range that the cut
 * delimits, and the range's bounds and the documents determine what is in it.
 */
import type { RangeType } from '../../model/pairs.ts'
import { Type } from '../../model/types.ts'
import { type TextForm, textNear } from './range-key.ts'

export type Direction = 1 | -1

export interface ColumnOrder {
  readonly type: RangeType
  /** Number of documents in the column. */
  readonly count: number
  /** Approximately the first value in the order; undefined when it is not known. */
  first(direction: Direction): number | string | undefined
  /** Loads what cut() needs; returns a promise only when the store is asynchronous. */
  loadOrder(): void | Promise<void>
  /**
   * Returns a value that about `documents` of the column's documents are at or before in the order; undefined when that
   * is all of them, or when it is not known. REQUIRES: loadOrder(), in the same synchronous step.
   */
  cut(documents: number, direction: Direction): number | string | undefined
}

/** Returns the value of a key, for texts a nearby one; undefined for the key of texts outside the form's prefix. */
export function valueOfKey(key: number, type: RangeType, form: TextForm): number | string | undefined {
  if (!Number.isFinite(key)) return type === Type.string || Number.isNaN(key) ? undefined : key
  return type === Type.string ? textNear(key, form) : key
}

/**
 * Returns the index of the step at which to cut.
 * @param steps number of steps, which divide the documents about equally, in ascending order of keys
 * @param documents of all steps together
 */
export function stepOf(steps: number, documents: number, wanted: number): number | undefined {
  const step = Math.ceil((wanted * steps) / documents)
  return step < steps ? Math.max(1, step) : undefined
}
