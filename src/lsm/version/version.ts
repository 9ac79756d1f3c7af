/**
 * The tables of the store at one moment, by level.
 *
 * Invariants:
 * 1. A version never changes.
 * 2. Tables of level 0 are ordered newest first and may overlap; those of a deeper level ascend by key and do not.
 * 3. The level determines a key's newest version: entries in a lower-numbered level, and in an earlier table of level
 *    0, are newer.
 * 4. The files of a version's tables exist as long as it is retained.
 */
import { compareKeys } from '../format/entry.ts'
import { levelCount } from '../format/version-edit.ts'
import { firstEndingAt, firstStartingAfter, LevelSearch } from './level.ts'
import { Level0Search } from './level0-search.ts'
import type { TableMeta } from './table-meta.ts'

export type Levels = readonly (readonly TableMeta[])[]

/** Up to this many level-0 tables are searched linearly. */
const fewTables = 24

export class Version {
  /** Always seven; missing ones are empty. */
  readonly levels: Levels
  /** Total table bytes of each level. */
  readonly levelBytes: readonly number[]
  /** Created when a level is first searched: most versions are soon replaced. */
  readonly #searches: (LevelSearch | undefined)[] = Array.from({ length: levelCount }, () => undefined)
  #level0Search: Level0Search | undefined
  #references = 1
  readonly #onUnused: ((version: Version) => void) | undefined

  /**
   * Creates a version with one reference, held by the caller.
   * @param onUnused called at the last release
   */
  constructor(levels: Levels = [], onUnused?: (version: Version) => void) {
    this.levels = Array.from({ length: levelCount }, (_, level) => levels[level] ?? [])
    this.levelBytes = this.levels.map((tables) => tables.reduce((bytes, table) => bytes + table.bytes, 0))
    this.#onUnused = onUnused
  }

  get tableCount(): number {
    return this.levels.reduce((count, tables) => count + tables.length, 0)
  }

  get bytes(): number {
    return this.levelBytes.reduce((sum, bytes) => sum + bytes, 0)
  }

  get isUsed(): boolean {
    return this.#references > 0
  }

  /** Tables of a level, in level order. */
  tables(level: number): readonly TableMeta[] {
    return this.levels[level] ?? []
  }

  /**
   * Tables of a level that may hold keys in [smallest, largest], in level order.
   * @param smallest undefined: from the first key on
   * @param largest undefined: to the last key
   */
  overlapping(level: number, smallest?: Uint8Array, largest?: Uint8Array): readonly TableMeta[] {
    const tables = this.tables(level)
    if (level > 0) {
      const from = smallest === undefined ? 0 : firstEndingAt(tables, smallest)
      const to = largest === undefined ? tables.length : firstStartingAfter(tables, largest)
      return tables.slice(from, Math.max(from, to))
    }
    if (tables.length > fewTables) return this.#search0.overlapping(smallest, largest)
    return tables.filter(
      (table) =>
        (smallest === undefined || compareKeys(table.largest, smallest) >= 0) &&
        (largest === undefined || compareKeys(table.smallest, largest) <= 0)
    )
  }

  /** A superset of the level-0 tables that may hold `key`, newest first. */
  level0TablesFor(key: Uint8Array): readonly TableMeta[] {
    const tables = this.tables(0)
    return tables.length > fewTables ? this.#search0.overlapping(key, key) : tables
  }

  get #search0(): Level0Search {
    this.#level0Search ??= new Level0Search(this.tables(0))
    return this.#level0Search
  }

  /**
   * The only table of a level that may hold `key`.
   * REQUIRES: level > 0.
   */
  tableFor(level: number, key: Uint8Array): TableMeta | undefined {
    const search = this.#searches[level] ?? new LevelSearch(this.tables(level))
    this.#searches[level] = search
    return search.tableFor(key)
  }

  /** Every table, from level 0 down. */
  *allTables(): Generator<TableMeta, void> {
    for (const tables of this.levels) yield* tables
  }

  /** Keeps the files until release(). REQUIRES: isUsed. Returns this. */
  retain(): this {
    this.#references++
    return this
  }

  /** REQUIRES: once by the creator, and once per retain(). */
  release(): void {
    this.#references--
    if (this.#references === 0) this.#onUnused?.(this)
  }
}
