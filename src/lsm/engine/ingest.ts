/**
 * Takes tables in that were written elsewhere, with keys that the store does not have: without log and memtable, by one
 * edit of the manifest.
 *
 * Invariants:
 * 1. Reads, also after a crash, see all of the tables or none.
 * 2. Whatever was acknowledged before install() is durable before the edit is: what a crash leaves is a prefix of the
 *    writes, with all that came before the ingest if any of the ingest is there.
 * 3. Snapshots and iterators from before go on seeing what was there then, though the new entries have an older sequence
 *    number than they.
 */
import { join } from 'node:path'
import { levelCount } from '../format/version-edit.ts'
import { tableName } from '../fs/file-names.ts'
import { hasTombstonesIn, placeTables } from '../ingest/ingest-levels.ts'
import type { IngestPlan } from '../ingest/ingest-plan.ts'
import type { TableMeta } from '../version/table-meta.ts'
import type { Engine } from './engine.ts'
import { tableWriteOptions } from './table-jobs.ts'

export class Ingest {
  readonly plan: IngestPlan
  readonly #engine: Engine

  /** REQUIRES: the store keeps no value filters. */
  constructor(engine: Engine) {
    const { directory, options } = engine
    this.#engine = engine
    // Most tables stay in the last level.
    const table = tableWriteOptions(options, levelCount - 1)
    this.plan = { directory, sequence: 0, partitionDepth: options.partitionDepth, table }
  }

  /** Reserves file numbers for IngestTables; returns the first. */
  takeNumbers(count: number): number {
    return this.#engine.versions.takeFileNumbers(count)
  }

  /**
   * Makes the tables part of the store, durably and all at once. May be called several times, with other tables.
   *
   * REQUIRES: the tables are what IngestTables.finish() resolved to, made by this plan and with numbers taken here; none
   * of their keys has a value in the store, is in two of them, or was written or deleted since the plan was made or
   * before this has settled.
   * @param isNew whether the store never had any key of a table, not even one that was deleted since
   * @returns false, and nothing has changed, when there are tombstones where tables would go whose keys are not that new: they
   * may be of these keys, and would hide them
   * @throws LEVEL_IO_ERROR, LEVEL_ABORTED. Whether the tables are part of the store is then unknown until it is opened
   * again, and their files have to stay; after a failure of the manifest nothing can be written any more
   */
  install(tables: readonly TableMeta[], isNew: (table: TableMeta) => boolean = () => false): Promise<boolean> {
    const old = tables.filter((table) => !isNew(table))
    return this.#engine.addTables(() => {
      const { buffers, version } = this.#engine
      const isHidden = hasTombstonesIn(version, old) || buffers.some(({ memtable }) => memtable.hasTombstonesIn(old))
      return isHidden ? undefined : placeTables(version, tables)
    })
  }

  /** Removes tables that install() has not taken; what cannot be removed is removed when the store is opened. */
  async discard(tables: readonly TableMeta[]): Promise<void> {
    for (const { number } of tables) await this.#remove(number)
  }

  /** As discard(), of all tables that whoever was given the numbers may have written. REQUIRES: nobody writes any more */
  async discardNumbers(first: number, count: number): Promise<void> {
    for (let number = first; number < first + count; number++) await this.#remove(number)
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
