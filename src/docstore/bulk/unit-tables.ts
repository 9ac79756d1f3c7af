/**
 * The tables of a unit: tables of documents one after the other, and at the end one of ids and some of index records.
 *
 * Index records are ordered by kind, then by segment. Kinds of which a unit has many get tables of their own, which
 * overlap no other unit's tables, go to the deepest level, and are never merged. The remaining tables of a unit are
 * small.
 */
import type { FileSystem } from '../../lsm/fs/file-system.ts'
import { IngestTables } from '../../lsm/ingest/ingest-tables.ts'
import type { TableMeta } from '../../lsm/version/table-meta.ts'
import { nextTurn } from '../../model/time-slice.ts'
import type { IndexWrite } from '../../sharded-bloom/document-index.ts'
import { compareBytes, ordinalSuffix } from '../store/layout.ts'
import { DocumentRun, idRuns } from './entry-runs.ts'
import { documentTableBytes, type LoadedIds, type LoadPlan, type LoadRequest, smallNumbers } from './load-unit.ts'

/** Bytes of records of one kind that make a table of its own. */
const ownTableBytes = 128 << 10

/** Records of one kind, that is, with the same first byte. */
interface Kind {
  bytes: number
  greatest: Uint8Array
}

export class UnitTables {
  readonly #plan: LoadPlan
  readonly #kinds = new Map<number, Kind>()
  readonly #documentRun: DocumentRun
  readonly #documents: IngestTables
  /** Ids and index records are small, and are kept until the end, so that there are few tables of them. */
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

  /** Stores documents as they are in the lines, with consecutive ordinals. @param count at most runEntries */
  putLines(firstOrdinal: number, count: number, bytes: Uint8Array, places: Uint32Array, firstPlace: number): void {
    this.#documents.putRun(this.#documentRun.of(firstOrdinal, count, bytes, places, firstPlace))
  }

  putIds(ids: LoadedIds, firstOrdinal: number): void {
    for (const run of idRuns(this.#plan.ids, ids, firstOrdinal)) this.#small.putRun(run)
  }

  /** The caller may reuse the value's buffer at once. Deletions are ignored, because nothing was there before. */
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

  /** Writes the documents collected so far to a table, if they are enough for one. @throws LEVEL_IO_ERROR */
  async flushIfFull(): Promise<void> {
    if (this.#documents.bytes < documentTableBytes) return
    await this.#documents.flush()
    // Pause: the table was synced to disk, and its memory can be reused.
    await nextTurn()
  }

  /** Finishes all tables and makes them durable. @throws LEVEL_IO_ERROR */
  async finish(): Promise<readonly TableMeta[]> {
    return [...(await this.#documents.finish()), ...(await this.#small.finish(this.#ends()))]
  }

  /** Removes the files written. */
  async discard(): Promise<void> {
    await this.#documents.discard()
    await this.#small.discard()
  }

  /** Returns the last keys of the large kinds, and of the kinds just before one. */
  #ends(): readonly Uint8Array[] {
    const { index } = this.#plan
    const kinds = [...this.#kinds].sort(([a], [b]) => a - b).map(([, kind]) => kind)
    return kinds
      .filter(({ bytes }, i) => Math.max(bytes, kinds[i + 1]?.bytes ?? 0) >= ownTableBytes)
      .map(({ greatest }) => Buffer.concat([index, greatest]))
  }
}
