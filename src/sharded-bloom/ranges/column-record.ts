/** The columns in a segment record. */

import { isRangeType } from '../../model/pairs.ts'
import { ALL_DOCUMENTS } from '../segment/row-codec.ts'
import { type ColumnSpec, maxColumns, maxPrefix } from './column-spec.ts'
import { templateRoom } from './range-key.ts'
import { decodeDouble, encodeDouble, type StoredDouble } from './stored-double.ts'

/** How a sealed segment stores the keys of a column: see seal-column.ts. */
export type ColumnKind = 'codes' | 'growing' | 'zones'

/** A column of a sealed segment. */
export interface StoredColumn extends ColumnSpec {
  readonly kind: ColumnKind
  /** Number of documents in the column. */
  readonly count: number
  /** Least and greatest key; ∞ and −∞ without documents. */
  readonly min: number
  readonly max: number
  /**
   * Numbers of stored rows, as in `rowOfSlot`. Codes: slices, lowest bit first. Growing and zones: the column's
   * documents, then the slices of the sixteenths, which are missing in indexes of format 4 and before.
   */
  readonly rows: readonly number[]
  /** The row of the outsiders: documents with the type on the path that are not in the column. */
  readonly outside: number
  /** Number of keys. Codes: two per bin. Growing: one per 32 positions. Zones: two per 32 positions. */
  readonly keys: number
  /** Number of the first record of keys. */
  readonly firstKeys: number
}

/** Only the prefix when there is no template. */
type StoredForm = string | readonly [prefix: string, template: string]
type StoredSpec = readonly [path: string, type: number, form: StoredForm]
type Stored = readonly [
  ...StoredSpec,
  string,
  number,
  StoredDouble,
  StoredDouble,
  readonly number[],
  number,
  number,
  number
]

export function encodeSpecs(specs: readonly ColumnSpec[]): readonly StoredSpec[] {
  return specs.map((spec) => [spec.path, spec.type, encodeForm(spec)])
}

export function encodeColumns(columns: readonly StoredColumn[]): readonly Stored[] {
  return columns.map(({ kind, count, min, max, rows, outside, keys, firstKeys, ...spec }) => [
    spec.path,
    spec.type,
    encodeForm(spec),
    kind,
    count,
    encodeDouble(min),
    encodeDouble(max),
    rows,
    outside,
    keys,
    firstKeys
  ])
}

/** Returns undefined for a value that is not a list of specs. */
export function decodeSpecs(value: unknown): readonly ColumnSpec[] | undefined {
  if (!Array.isArray(value) || value.length > maxColumns) return undefined
  const specs = value.map((item: unknown) => (Array.isArray(item) ? decodeSpec(item) : undefined))
  return specs.every((spec) => spec !== undefined) ? specs : undefined
}

/** Number of slices of the sixteenths. */
export const sixteenthRows = 4

/** Upper limit on stored rows of all kinds, and on records of keys. */
export const maxStoredRows = 131_072

/** Returns undefined for a value that is not a list of columns. */
export function decodeColumns(value: unknown, documents: number): readonly StoredColumn[] | undefined {
  const specs = decodeSpecs(value)
  if (specs === undefined) return undefined
  const columns = (value as readonly Stored[]).map((item, i) => decodeColumn(specs[i]!, item, documents))
  return columns.every((column) => column !== undefined) ? columns : undefined
}

/** Reads element by element: opening decodes about ten columns per segment before anything is JIT-compiled. */
function decodeColumn(
  { path, type, prefix, template }: ColumnSpec,
  item: readonly unknown[],
  documents: number
): StoredColumn | undefined {
  const kind = item[3]
  const count = item[4]
  const min = decodeDouble(item[5])
  const max = decodeDouble(item[6])
  const rows = item[7]
  const outside = item[8]
  const keys = item[9]
  const firstKeys = item[10]
  if (!isKind(kind)) return undefined
  if (!isInteger(count, 0, documents) || min === undefined || max === undefined) return undefined
  if (!Array.isArray(rows) || rows.length > 8 || !rows.every(isRow) || !isRow(outside)) return undefined
  const zones = Math.ceil(documents / 32)
  if (!isInteger(keys, 0, kind === 'codes' ? 510 : 2 * zones)) return undefined
  if (!isInteger(firstKeys, 0, maxStoredRows)) return undefined
  if (kind === 'codes' ? rows.length === 0 : rows.length !== 1 && rows.length !== 1 + sixteenthRows) return undefined
  if (kind === 'codes' && keys % 2 !== 0) return undefined
  if (kind !== 'codes' && keys !== (kind === 'zones' ? 2 * zones : zones)) return undefined
  return { path, type, prefix, template, kind, count, min, max, rows, outside, keys, firstKeys }
}

function decodeSpec(item: readonly unknown[]): ColumnSpec | undefined {
  const path = item[0]
  const type = item[1]
  const form = item[2]
  const [prefix, template] = Array.isArray(form) ? (form as unknown[]) : [form, '']
  if (typeof path !== 'string' || !isAscii(prefix) || prefix.length > maxPrefix) return undefined
  if (!isAscii(template) || templateRoom(template, 0) < template.length) return undefined
  return isRangeType(type) ? { path, type, prefix, template } : undefined
}

function isAscii(value: unknown): value is string {
  return typeof value === 'string' && /^[\0-\x7f]*$/.test(value)
}

function encodeForm({ prefix, template }: ColumnSpec): StoredForm {
  return template === '' ? prefix : [prefix, template]
}

function isKind(value: unknown): value is ColumnKind {
  return value === 'codes' || value === 'growing' || value === 'zones'
}

function isRow(value: unknown): value is number {
  return isInteger(value, ALL_DOCUMENTS, maxStoredRows)
}

function isInteger(value: unknown, low: number, high: number): value is number {
  return Number.isSafeInteger(value) && (value as number) >= low && (value as number) <= high
}
