/**
 * The tables of a unit: one after the other of documents, and at the end one of ids and some of index records.
 *
 * Index records stand by their kind first and by their segment second. Kinds of which a unit has many get tables of their own:
 * they overlap no other unit's, go to the deepest level, and are never merged. What is left of a unit is small.
 */
import type { FileSystem } from '../../lsm/fs/file-system.ts'
import { IngestTables } from '../../lsm/ingest/ingest-tables.ts'
import type { TableMeta } from '../../lsm/version/table-meta.ts'
import { nextTurn } from '../../model/time-slice.ts'
import type { IndexWrite } from '../../sharded-bloom/document-index.ts'
import { compareBytes, ordinalSuffix } from '../store/layout.ts'
import { DocumentRun, idRuns } from './entry-runs.ts'
import { documentTableBytes, type LoadedIds, type LoadPlan, type LoadRequest, smallNumbers } from './load-unit.ts'

/** Of records of one kind: with a table of their own. */
const ownTableBytes = 128 << 10

/** Records of one kind: they begin with the same byte. */
interface Kind {
  bytes: number
  greatest: Uint8Array
}

export class UnitTables {
  readonly #plan: LoadPlan
  readonly #kinds = new Map<number, Kind>()
  readonly #documentRun: DocumentRun
  readonly #documents: IngestTables
  /** Ids and index records, small: kept until the end, so that there are few tables of them. */
  readonly #small: IngestTables

  constructor({ plan, firstNumber, numbers }: LoadRequest, fileSystem: FileSystem) {
    this.#plan = plan
    this.#documentRun = new DocumentRun(plan.docs)
    this.#small = new IngestTables(plan.ingest, firstNumber, smallNumbers, fileSystem)
    this.#documents = new IngestTables(plan.ingest, firstNumber + smallNumbers, numbers - smallNumbers, fileSystem)
  }

  putDocument(ordinal: number, record: Uint8Array): void {
    this.#documents.put(this.#plan.docs, ordinalSuffix(ordinal), record)
  }

  /** Documents as they stand in the lines, under ordinals that follow each other. @param count at most runEntries */
  putLines(firstOrdinal: number, count: number, bytes: Uint8Array, places: Uint32Array, firstPlace: number): void {
    this.#documents.putRun(this.#documentRun.of(firstOrdinal, count, bytes, places, firstPlace))
  }

  putIds(ids: LoadedIds, firstOrdinal: number): void {
    for (const run of idRuns(this.#plan.ids, ids, firstOrdinal)) this.#small.putRun(run)
  }

  /** The value may be written over at once. Nothing that would be deleted was ever there. */
  putIndexRecord({ key, value }: IndexWrite): void {
    if (value === undefined) return
    this.#small.put(this.#plan.index, key, value)
    const first = key[0]!
    const kind = this.#kinds.get(first)
    if (kind === undefined) {
      this.#kinds.set(first, { bytes: value.length, greatest: key.slice() })
      return
    }
    kind.bytes += value.length
    if (compareBytes(key, kind.greatest) > 0) kind.greatest = key.slice()
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
    return [...(await this.#documents.finish()), ...(await this.#small.finish(this.#ends()))]
  }

  /** Removes what was written. */
  async discard(): Promise<void> {
    await this.#documents.discard()
    await this.#small.discard()
  }

  /** The last keys of kinds that are large, and of those in front of one. */
  #ends(): readonly Uint8Array[] {
    const { index } = this.#plan
    const kinds = [...this.#kinds].sort(([a], [b]) => a - b).map(([, kind]) => kind)
    return kinds
      .filter(({ bytes }, i) => Math.max(bytes, kinds[i + 1]?.bytes ?? 0) >= ownTableBytes)
      .map(({ greatest }) => Buffer.concat([index, greatest]))
  }
}
