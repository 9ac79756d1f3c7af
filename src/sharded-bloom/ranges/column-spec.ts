/** Which values of a segment's documents are kept as columns. */
import type { RangeType } from '../../model/pairs.ts'
import { Type } from '../../model/types.ts'
import type { TextForm } from './range-key.ts'

/** The prefix and the template of texts; both are empty for other types. */
export interface ColumnSpec extends TextForm {
  readonly path: string
  readonly type: RangeType
}

/** Of one segment. The scanner has room for as many. */
export const maxColumns = 64
/** Characters of a prefix. */
export const maxPrefix = 60

export const rangeTypes: readonly RangeType[] = [Type.number, Type.date, Type.string]

export function isRangeType(type: unknown): type is RangeType {
  return type === Type.number || type === Type.date || type === Type.string
}
