/**
 * Adds tables written elsewhere, with keys that the store does not have: by one version edit, without log or memtable.
 *
 * Invariants:
 * 1. Reads, also after a crash, see all of the tables or none.
 * 2. Everything acknowledged before install() is durable before the edit is: a crash leaves a prefix of the writes,
 *    which includes all writes before the ingest if it includes the ingest.
 * 3. Earlier snapshots and iterators do not see the new entries, even though these have an older sequence number.
 */
import { join } from 'node:path'
import { nextTurn } from '../../model/time-slice.ts'
import { levelCount } from '../format/version-edit.ts'
import { tableName } from '../fs/file-names.ts'
import { placeTables } from '../ingest/ingest-levels.ts'
import type { IngestPlan } from '../ingest/ingest-plan.ts'
import { hasKeyIn } from '../read/has-key-in.ts'
import type { TableMeta } from '../version/table-meta.ts'
import type { Engine } from './engine.ts'
import { type SharedView, shareView } from './share-view.ts'
import { tableWriteOptions } from './table-jobs.ts'
import { loadTombstones, mayHaveTombstonesIn } from './table-tombstones.ts'

/** Merges may write new tables with tombstones while those of the old ones are loaded. */
const maxAttempts = 4

export class Ingest {
  readonly plan: IngestPlan
  readonly #engine: Engine

  /** REQUIRES: the store keeps no value filters. */
  constructor(engine: Engine) {
    const { directory, options } = engine
    this.#engine = engine
    // Most tables stay in the last level.
    const table = tableWriteOptions(options, levelCount - 1)
    // What is ingested is worth tables of its own.
    const partitions = { depth: options.partitionDepth, minBytes: 0, own: new Set<string>() }
    this.plan = { directory, sequence: 0, partitions, table }
  }

  /** Reserves file numbers for IngestTables; returns the first. */
  takeNumbers(count: number): number {
    return this.#engine.versions.takeFileNumbers(count)
  }

  /**
   * Makes the tables part of the store, durably and atomically. May be called several times, with other tables.
   *
   * REQUIRES: the tables are results of IngestTables.finish(), made with this plan and with numbers taken here; none
   * of their keys has a value in the store, is in two of the tables, or is written or deleted between the creation of
   * the plan and the moment this settles.
   * @param isNew whether the store never had any key of a table, not even one deleted since
   * @returns false, leaving the store unchanged, if there are tombstones where tables that are not new in this sense
   * would go: they may be for the tables' keys and would hide them
   * @throws LEVEL_IO_ERROR, LEVEL_ABORTED. Whether the tables are part of the store is then unknown until it is
   * reopened, and their files have to stay; after a manifest failure nothing can be written any more
   */
  async install(tables: readonly TableMeta[], isNew: (table: TableMeta) => boolean = () => false): Promise<boolean> {
    const old = tables.filter((table) => !isNew(table))
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const unknown = new Set<TableMeta>()
      const isAdded = await this.#engine.addTables(() => {
        const { buffers, version } = this.#engine
        const isHidden =
          this.#hasTombstonesIn(old, unknown) || buffers.some(({ memtable }) => memtable.hasTombstonesIn(old))
        return isHidden || unknown.size > 0 ? undefined : placeTables(version, tables)
      })
      if (isAdded || unknown.size === 0) return isAdded
      await loadTombstones(this.#engine, unknown)
    }
    return false
  }

  /**
   * Whether the store has no entry in these key ranges, [from, to), and no trace of a deleted one: no key in them was
   * ever in a table or memtable that still exists, and install() may take it for new.
   * @throws LEVEL_DATABASE_NOT_OPEN, LEVEL_CORRUPTION, LEVEL_IO_ERROR
   */
  async hasNothingIn(ranges: readonly (readonly [from: Uint8Array, to: Uint8Array])[]): Promise<boolean> {
    const view = this.#engine.view()
    try {
      for (const [start, end] of ranges) {
        await nextTurn()
        while (view.prepareSlice({ start, end }, false)) await nextTurn()
        const cursor = view.cursor({ fillCache: 'none', reusesMemory: true }, { start, end })
        if (hasKeyIn(cursor, { start, end })) return false
      }
      return true
    } finally {
      view.release()
    }
  }

  /**
   * Lets threads read the keys from ≤ k < to as the store is now, each with a ThreadView. The store is not closed before
   * the view is released.
   * @throws LEVEL_DATABASE_NOT_OPEN
   */
  shareView(from: Uint8Array, to: Uint8Array): SharedView {
    return shareView(this.#engine, { start: from, end: to })
  }

  /** Removes tables that install() has not added; leftovers are removed at the next open. */
  async discard(tables: readonly TableMeta[]): Promise<void> {
    for (const { number } of tables) await this.#remove(number)
  }

  /** As discard(), for all tables that may have been written under these numbers. REQUIRES: all writers have stopped */
  async discardNumbers(first: number, count: number): Promise<void> {
    for (let number = first; number < first + count; number++) await this.#remove(number)
  }

  /** Whether tables of the store have tombstones in the spans of these. @param unknown receives tables to be loaded */
  #hasTombstonesIn(spans: readonly TableMeta[], unknown: Set<TableMeta>): boolean {
    const { version, options } = this.#engine
    for (const span of spans) {
      for (let level = 0; level < levelCount; level++) {
        for (const table of version.overlapping(level, span.smallest, span.largest)) {
          const may = mayHaveTombstonesIn(table, span, options.partitionDepth)
          if (may === true) return true
          if (may === undefined) unknown.add(table)
        }
      }
    }
    return false
  }

  async #remove(number: number): Promise<void> {
    const { fileSystem, directory } = this.#engine
    try {
      await fileSystem.removeLater(join(directory, tableName(number)))
    } catch {
      // See above.
    }
  }
}
