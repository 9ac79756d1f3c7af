/**
 * The tables of a unit: tables of documents one after the other, and at the end one of ids and some of index records.
 */
import type { FileSystem } from '../../lsm/fs/file-system.ts'
import { IngestTables } from '../../lsm/ingest/ingest-tables.ts'
import type { TableMeta } from '../../lsm/version/table-meta.ts'
import { nextTurn } from '../../model/time-slice.ts'
import type { IndexWrite } from '../../sharded-bloom/document-index.ts'
import { IndexTables } from '../store/index-tables.ts'
import { ordinalSuffix } from '../store/layout.ts'
import { DocumentRun, idRuns } from './entry-runs.ts'
import { documentTableBytes, type LoadedIds, type LoadPlan, type LoadRequest, smallNumbers } from './load-unit.ts'

export class UnitTables {
  readonly #plan: LoadPlan
  readonly #documentRun: DocumentRun
  readonly #documents: IngestTables
  /** Ids and index records are small, and are kept until the end, so that there are few tables of them. */
  readonly #small: IndexTables

  constructor({ plan, firstNumber, numbers }: LoadRequest, fileSystem: FileSystem) {
    this.#plan = plan
    this.#documentRun = new DocumentRun(plan.docs)
    this.#small = new IndexTables(plan.ingest, plan.index, firstNumber, smallNumbers, fileSystem)
    this.#documents = new IngestTables(plan.ingest, firstNumber + smallNumbers, numbers - smallNumbers, fileSystem)
  }

  putDocument(ordinal: number, record: Uint8Array): void {
    this.#documents.put(this.#plan.docs, ordinalSuffix(ordinal), record)
  }

  /** Stores documents as they are in the lines, with consecutive ordinals. @param count at most runEntries */
  putLines(firstOrdinal: number, count: number, bytes: Uint8Array, places: Uint32Array, firstPlace: number): void {
    this.#documents.putRun(this.#documentRun.of(firstOrdinal, count, bytes, places, firstPlace))
  }

  putIds(ids: LoadedIds, firstOrdinal: number): void {
    for (const run of idRuns(this.#plan.ids, ids, firstOrdinal)) this.#small.putRun(run)
  }

  /** See IndexTables.put(). */
  putIndexRecord(record: IndexWrite): void {
    this.#small.put(record)
  }

  /** Writes the documents collected so far to a table, if they are enough for one. @throws LEVEL_IO_ERROR */
  async flushIfFull(): Promise<void> {
    if (this.#documents.bytes < documentTableBytes) return
    await this.#documents.flush()
    // Pause: the table was synced to disk, and its memory can be reused.
    await nextTurn()
  }

  /** Finishes all tables and makes them durable. @throws LEVEL_IO_ERROR */
  async finish(): Promise<readonly TableMeta[]> {
    return [...(await this.#documents.finish()), ...(await this.#small.finish())]
  }

  /** Removes the files written. */
  async discard(): Promise<void> {
    await this.#documents.discard()
    await this.#small.discard()
  }
}
