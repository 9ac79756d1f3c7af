/**
 * Searches for tables in level 0, which may overlap and, with thousands of partitions, number in the thousands.
 *
 * Tables are sorted by first key, each with the greatest last key of the tables up to it: once that is before the
 * searched keys, no earlier table can match.
 */
import { compareKeys } from '../format/entry.ts'
import { firstStartingAfter } from './level.ts'
import type { TableMeta } from './table-meta.ts'

export class Level0Search {
  /** Sorted by first key. */
  readonly #tables: readonly TableMeta[]
  /** Position of each table in the level. */
  readonly #places: readonly number[]
  /** The greatest last key of the tables up to each. */
  readonly #reach: readonly Uint8Array[]

  /** @param level newest first */
  constructor(level: readonly TableMeta[]) {
    const places = level.map((_, place) => place)
    places.sort((a, b) => compareKeys(level[a]!.smallest, level[b]!.smallest))
    this.#places = places
    this.#tables = places.map((place) => level[place]!)
    let reach: Uint8Array | undefined
    this.#reach = this.#tables.map(({ largest }) => {
      if (reach === undefined || compareKeys(largest, reach) > 0) reach = largest
      return reach
    })
  }

  /** The tables that may hold keys in [smallest, largest], newest first; undefined is unbounded. */
  overlapping(smallest: Uint8Array | undefined, largest: Uint8Array | undefined): TableMeta[] {
    const found: number[] = []
    const end = largest === undefined ? this.#tables.length : firstStartingAfter(this.#tables, largest)
    for (let i = end - 1; i >= 0; i--) {
      if (smallest !== undefined && compareKeys(this.#reach[i]!, smallest) < 0) break
      if (smallest === undefined || compareKeys(this.#tables[i]!.largest, smallest) >= 0) found.push(i)
    }
    found.sort((a, b) => this.#places[a]! - this.#places[b]!)
    return found.map((i) => this.#tables[i]!)
  }
}
