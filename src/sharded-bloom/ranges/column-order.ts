/**
 * Where the values of a segment's column can be cut, for reads in their order: "the twenty greatest" begins with the range
 * above a cut that about twenty documents are beyond.
 *
 * Invariant: a cut is a guess of how many, never of which. Whoever asks reads the range that it ends, and is told by the
 * range's bounds, and by documents, what lies in it.
 */
import type { RangeType } from '../../model/pairs.ts'
import { Type } from '../../model/types.ts'
import { type TextForm, textNear } from './range-key.ts'

export type Direction = 1 | -1

export interface ColumnOrder {
  readonly type: RangeType
  /** Documents in the column. */
  readonly count: number
  /** About the value that comes first in the order; undefined where nobody can tell. */
  first(direction: Direction): number | string | undefined
  /** Brings in what cut() needs; a promise only where the store is asynchronous. */
  loadOrder(): void | Promise<void>
  /**
   * A value that about `documents` of the column have, or have one before it in the order. undefined where that is all of
   * them, or nobody can tell. REQUIRES: loadOrder(), in the same step.
   */
  cut(documents: number, direction: Direction): number | string | undefined
}

/** The value that a key stands for: of texts one that is near. undefined for texts that have no key of their own. */
export function valueOfKey(key: number, type: RangeType, form: TextForm): number | string | undefined {
  if (!Number.isFinite(key)) return type === Type.string || Number.isNaN(key) ? undefined : key
  return type === Type.string ? textNear(key, form) : key
}

/**
 * The key that a cut is at.
 * @param steps keys of about equally many documents each, `steps` of them, from the least on
 * @param documents of all steps together
 */
export function stepOf(steps: number, documents: number, wanted: number): number | undefined {
  const step = Math.ceil((wanted * steps) / documents)
  return step < steps ? Math.max(1, step) : undefined
}
