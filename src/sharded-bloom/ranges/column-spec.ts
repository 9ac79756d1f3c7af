/** Which values of a segment's documents are kept as columns. */
import type { RangeType } from '../../model/pairs.ts'
import { Type } from '../../model/types.ts'

export interface ColumnSpec {
  readonly path: string
  readonly type: RangeType
  /** Of texts: what their keys leave out, ASCII (see range-key.ts). Else empty. */
  readonly prefix: string
}

/** Of one segment. The scanner has room for as many. */
export const maxColumns = 64
/** Characters of a prefix. */
export const maxPrefix = 60

export const rangeTypes: readonly RangeType[] = [Type.number, Type.date, Type.string]

export function isRangeType(type: unknown): type is RangeType {
  return type === Type.number || type === Type.date || type === Type.string
}
