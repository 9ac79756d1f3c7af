/** Specifies which values of a segment's documents are kept as columns. */
import type { RangeType } from '../../model/pairs.ts'
import type { TextForm } from './range-key.ts'

/** The text form's prefix and template are empty for other types than strings. */
export interface ColumnSpec extends TextForm {
  readonly path: string
  readonly type: RangeType
}

/** The spec without what else a column has. */
export function plainSpec({ path, type, prefix, template }: ColumnSpec): ColumnSpec {
  return { path, type, prefix, template }
}

/** Per segment. The scanner has room for as many. */
export const maxColumns = 64
/** Maximum characters of a prefix. */
export const maxPrefix = 60
