/** Searches for tables in a level below 0, where they ascend and do not overlap. */
import { countWhile } from '../../model/count-while.ts'
import { compareKeys } from '../format/entry.ts'
import { KeyHeads } from '../format/key-heads.ts'
import type { TableMeta } from './table-meta.ts'

/** Index of the first table that ends at or after `key`; the number of tables if there is none. */
export function firstEndingAt(tables: readonly TableMeta[], key: Uint8Array): number {
  return countWhile(tables.length, (i) => compareKeys(tables[i]!.largest, key) < 0)
}

/** Index of the first table that begins after `key`; the number of tables if there is none. */
export function firstStartingAfter(tables: readonly TableMeta[], key: Uint8Array): number {
  return countWhile(tables.length, (i) => compareKeys(tables[i]!.smallest, key) <= 0)
}

/** The tables that may hold keys k with start ≤ k < end; undefined is unbounded. */
export function tablesWithin(
  tables: readonly TableMeta[],
  { start, end }: { readonly start: Uint8Array | undefined; readonly end: Uint8Array | undefined }
): readonly TableMeta[] {
  const from = start === undefined ? 0 : firstEndingAt(tables, start)
  const to =
    end === undefined ? tables.length : countWhile(tables.length, (i) => compareKeys(tables[i]!.smallest, end) < 0)
  return from === 0 && to === tables.length ? tables : tables.slice(from, Math.max(from, to))
}

/** Finds the one table of a level that may hold a key; built once for many searches. */
export class LevelSearch {
  readonly #tables: readonly TableMeta[]
  /** The first and the last key of each table, alternating. */
  readonly #boundaries: readonly Uint8Array[]
  readonly #heads: KeyHeads

  constructor(tables: readonly TableMeta[]) {
    this.#tables = tables
    this.#boundaries = tables.flatMap(({ smallest, largest }) => [smallest, largest])
    this.#heads = KeyHeads.ofKeys(this.#boundaries)
  }

  tableFor(key: Uint8Array): TableMeta | undefined {
    const boundaries = this.#boundaries
    const heads = this.#heads
    heads.locate(key)
    let { low, high } = heads
    const end = high
    while (low < high) {
      const middle = (low + high) >>> 1
      if (compareKeys(boundaries[middle]!, key) < 0) low = middle + 1
      else high = middle
    }
    // If the first border at or after the key is a table's last key, the key is within that table; if it is a table's
    // first key, only if it equals the key.
    const isLast = (low & 1) === 1
    const isWithin = isLast || (low < end && compareKeys(boundaries[low]!, key) === 0)
    return isWithin ? this.#tables[low >>> 1] : undefined
  }
}

/** Table order within a level: newest first in level 0, by key below. */
export function compareInLevel(level: number, a: TableMeta, b: TableMeta): number {
  if (level > 0) return compareKeys(a.smallest, b.smallest)
  return b.largestSequence - a.largestSequence || b.number - a.number
}

/** The first two adjacent tables that overlap; undefined if the level is in order. */
export function findOverlap(tables: readonly TableMeta[]): readonly [TableMeta, TableMeta] | undefined {
  for (let i = 1; i < tables.length; i++) {
    const [before, table] = [tables[i - 1]!, tables[i]!]
    if (compareKeys(before.largest, table.smallest) >= 0) return [before, table]
  }
  return undefined
}
