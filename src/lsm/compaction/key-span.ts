/** Key ranges with inclusive bounds, and the tables that overlap them. */
import { compareKeys } from '../format/entry.ts'
import { firstEndingAt } from '../version/level.ts'
import type { TableMeta } from '../version/table-meta.ts'

export interface KeySpan {
  readonly smallest: Uint8Array
  readonly largest: Uint8Array
}

export function overlaps(a: KeySpan, b: KeySpan): boolean {
  return compareKeys(a.smallest, b.largest) <= 0 && compareKeys(b.smallest, a.largest) <= 0
}

/** The smallest span that contains all; undefined if there are none. */
export function spanOf(spans: Iterable<KeySpan>): KeySpan | undefined {
  let smallest: Uint8Array | undefined
  let largest: Uint8Array | undefined
  for (const span of spans) {
    if (smallest === undefined || compareKeys(span.smallest, smallest) < 0) smallest = span.smallest
    if (largest === undefined || compareKeys(span.largest, largest) > 0) largest = span.largest
  }
  return smallest === undefined || largest === undefined ? undefined : { smallest, largest }
}

/** REQUIRES: tables ascend and do not overlap (a level below 0, or a run). */
export function overlapping(tables: readonly TableMeta[], span: KeySpan): readonly TableMeta[] {
  const first = firstEndingAt(tables, span.smallest)
  let end = first
  for (let table = tables[end]; table !== undefined; table = tables[++end]) {
    if (compareKeys(table.smallest, span.largest) > 0) break
  }
  return tables.slice(first, end)
}

export function bytesOf(tables: readonly TableMeta[]): number {
  let bytes = 0
  for (const table of tables) bytes += table.bytes
  return bytes
}
