/** The tables of a unit: one after the other of documents, and at the end one of ids and one of index records. */
import type { FileSystem } from '../../lsm/fs/file-system.ts'
import { IngestTables } from '../../lsm/ingest/ingest-tables.ts'
import type { TableMeta } from '../../lsm/version/table-meta.ts'
import { nextTurn } from '../../model/time-slice.ts'
import type { IndexWrite } from '../../sharded-bloom/document-index.ts'
import { ordinalSuffix } from '../store/layout.ts'
import { passingDigits } from '../store/ordinal-digits.ts'
import { documentTableBytes, type LoadPlan, type LoadRequest, smallNumbers } from './load-unit.ts'

export class UnitTables {
  readonly #plan: LoadPlan
  readonly #documents: IngestTables
  /** Ids and index records, small: kept until the end, so that there are few tables of them. */
  readonly #small: IngestTables

  constructor({ plan, firstNumber, numbers }: LoadRequest, fileSystem: FileSystem) {
    this.#plan = plan
    this.#small = new IngestTables(plan.ingest, firstNumber, smallNumbers, fileSystem)
    this.#documents = new IngestTables(plan.ingest, firstNumber + smallNumbers, numbers - smallNumbers, fileSystem)
  }

  putDocument(ordinal: number, record: Uint8Array): void {
    this.#documents.put(this.#plan.docs, ordinalSuffix(ordinal), record)
  }

  putId(key: Uint8Array, ordinal: number): void {
    this.#small.put(this.#plan.ids, key, passingDigits(ordinal))
  }

  /** The value may be written over at once. Nothing that would be deleted was ever there. */
  putIndexRecord({ key, value }: IndexWrite): void {
    if (value !== undefined) this.#small.put(this.#plan.index, key, value)
  }

  /** Makes a table of the documents so far, where these are enough for one. @throws LEVEL_IO_ERROR */
  async flushIfFull(): Promise<void> {
    if (this.#documents.bytes < documentTableBytes) return
    await this.#documents.flush()
    // What has been written is synced, and the memory used again.
    await nextTurn()
  }

  /** All tables, durable. @throws LEVEL_IO_ERROR */
  async finish(): Promise<readonly TableMeta[]> {
    return [...(await this.#documents.finish()), ...(await this.#small.finish())]
  }

  /** Removes what was written. */
  async discard(): Promise<void> {
    await this.#documents.discard()
    await this.#small.discard()
  }
}
