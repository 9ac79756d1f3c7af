/**
 * Finding tables of level 0, which may overlap, and of which there are thousands where there are thousands of partitions.
 *
 * The tables stand in the order of their first keys, and beside each how far those up to it reach: where none of them reaches
 * the keys that are asked for, no table before has to be looked at.
 */
import { compareKeys } from '../format/entry.ts'
import { firstBeginningBehind } from './level.ts'
import type { TableMeta } from './table-meta.ts'

export class Level0Search {
  /** In the order of their first keys. */
  readonly #tables: readonly TableMeta[]
  /** Of each, its place in the level. */
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

  /** Those that may hold keys in [smallest, largest], newest first; undefined is unbounded. */
  overlapping(smallest: Uint8Array | undefined, largest: Uint8Array | undefined): TableMeta[] {
    const found: number[] = []
    const end = largest === undefined ? this.#tables.length : firstBeginningBehind(this.#tables, largest)
    for (let i = end - 1; i >= 0; i--) {
      if (smallest !== undefined && compareKeys(this.#reach[i]!, smallest) < 0) break
      if (smallest === undefined || compareKeys(this.#tables[i]!.largest, smallest) >= 0) found.push(i)
    }
    found.sort((a, b) => this.#places[a]! - this.#places[b]!)
    return found.map((i) => this.#tables[i]!)
  }
}
