/** Finding tables in a level below 0: they ascend and do not overlap. */
import { compareKeys } from '../format/entry.ts'
import { KeyHeads } from '../format/key-heads.ts'
import type { TableMeta } from './table-meta.ts'

/** Index of the first table that ends at or behind `key`; the number of tables when there is none. */
export function firstEndingAt(tables: readonly TableMeta[], key: Uint8Array): number {
  let low = 0
  let high = tables.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compareKeys(tables[middle]!.largest, key) < 0) low = middle + 1
    else high = middle
  }
  return low
}

/** Index of the first table that begins behind `key`; the number of tables when there is none. */
export function firstBeginningBehind(tables: readonly TableMeta[], key: Uint8Array): number {
  let low = 0
  let high = tables.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compareKeys(tables[middle]!.smallest, key) <= 0) low = middle + 1
    else high = middle
  }
  return low
}

/** Index of the first table that begins at or behind `key`; the number of tables when there is none. */
export function firstBeginningAt(tables: readonly TableMeta[], key: Uint8Array): number {
  let low = 0
  let high = tables.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compareKeys(tables[middle]!.smallest, key) < 0) low = middle + 1
    else high = middle
  }
  return low
}

/** The tables that may hold keys k with start ≤ k < end; undefined is unbounded. */
export function tablesWithin(
  tables: readonly TableMeta[],
  { start, end }: { readonly start: Uint8Array | undefined; readonly end: Uint8Array | undefined }
): readonly TableMeta[] {
  const from = start === undefined ? 0 : firstEndingAt(tables, start)
  const to = end === undefined ? tables.length : firstBeginningAt(tables, end)
  return from === 0 && to === tables.length ? tables : tables.slice(from, Math.max(from, to))
}

/** Finds the one table of a level that may hold a key, again and again. */
export class LevelSearch {
  readonly #tables: readonly TableMeta[]
  /** The first and the last key of each table, one after another. */
  readonly #borders: readonly Uint8Array[]
  readonly #heads: KeyHeads

  constructor(tables: readonly TableMeta[]) {
    this.#tables = tables
    this.#borders = tables.flatMap(({ smallest, largest }) => [smallest, largest])
    this.#heads = KeyHeads.ofKeys(this.#borders)
  }

  tableFor(key: Uint8Array): TableMeta | undefined {
    const borders = this.#borders
    const heads = this.#heads
    heads.locate(key)
    let { low, high } = heads
    const end = high
    while (low < high) {
      const middle = (low + high) >>> 1
      if (compareKeys(borders[middle]!, key) < 0) low = middle + 1
      else high = middle
    }
    // The first border at or behind the key is the last key of its table, or the key is the first one itself.
    const isLast = (low & 1) === 1
    const isWithin = isLast || (low < end && compareKeys(borders[low]!, key) === 0)
    return isWithin ? this.#tables[low >>> 1] : undefined
  }
}

/** Order of tables in a level: newest first in level 0, by key below. */
export function compareInLevel(level: number, a: TableMeta, b: TableMeta): number {
  if (level > 0) return compareKeys(a.smallest, b.smallest)
  return b.largestSequence - a.largestSequence || b.number - a.number
}

/** The first two neighbours that overlap, undefined when the level is in order. */
export function findOverlap(tables: readonly TableMeta[]): readonly [TableMeta, TableMeta] | undefined {
  for (let i = 1; i < tables.length; i++) {
    const [before, table] = [tables[i - 1]!, tables[i]!]
    if (compareKeys(before.largest, table.smallest) >= 0) return [before, table]
  }
  return undefined
}
