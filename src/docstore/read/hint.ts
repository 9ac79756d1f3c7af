/** Parses the option `hint`. */
import { isPlainObject } from '../../model/types.ts'
import { directionOf } from '../../query/sort.ts'
import { badOption } from '../option-checks.ts'

export interface Hint {
  /** `'scan'`, `'index'`, or a declared index by name or key pattern; undefined for none. */
  readonly value: unknown
  /**
   * Scan direction of `{ $natural: 1 }` (oldest first) or `{ $natural: -1 }` (newest first), used unless there is a
   * sort.
   */
  readonly natural: 1 | -1 | undefined
}

/** @throws PetalError BadValue for an invalid hint */
export function parseHint(hint: unknown): Hint {
  if (hint !== undefined && typeof hint !== 'string' && (typeof hint !== 'object' || hint === null)) {
    throw badOption('hint', "'scan', 'index' or an index", hint)
  }
  if (!isPlainObject(hint) || !Object.hasOwn(hint, '$natural')) return { value: hint, natural: undefined }
  const natural = directionOf(hint.$natural)
  if (natural !== undefined && Object.keys(hint).length === 1) return { value: 'scan', natural }
  throw badOption('hint', "'scan', an index, { $natural: 1 } or { $natural: -1 }", hint)
}
