/**
 * Tables of index records, written by threads.
 *
 * Index records are ordered by kind, then by segment. Kinds of which there are many get tables of their own, which
 * overlap no tables of other segments, go to the deepest level, and are never merged. The remaining tables are small.
 */
import type { FileSystem } from '../../lsm/fs/file-system.ts'
import type { IngestPlan } from '../../lsm/ingest/ingest-plan.ts'
import type { EntryRun } from '../../lsm/ingest/ingest-tables.ts'
import { IngestTables } from '../../lsm/ingest/ingest-tables.ts'
import type { TableMeta } from '../../lsm/version/table-meta.ts'
import type { IndexWrite } from '../../sharded-bloom/document-index.ts'
import { compareBytes } from './layout.ts'

/** Bytes of records of one kind that make a table of its own. */
const ownTableBytes = 128 << 10

/** Records of one kind, that is, with the same first byte. */
interface Kind {
  bytes: number
  greatest: Uint8Array
}

export class IndexTables {
  readonly #prefix: Uint8Array
  readonly #kinds = new Map<number, Kind>()
  readonly #tables: IngestTables

  /** @param prefix of the index's keys @param numbers count of file numbers from `firstNumber` on */
  constructor(plan: IngestPlan, prefix: Uint8Array, firstNumber: number, numbers: number, fileSystem: FileSystem) {
    this.#prefix = prefix
    this.#tables = new IngestTables(plan, firstNumber, numbers, fileSystem)
  }

  /** The caller may reuse the value's buffer at once. Deletions are ignored, because nothing was there before. */
  put({ key, value }: IndexWrite): void {
    if (value === undefined) return
    this.#tables.put(this.#prefix, key, value)
    const first = key[0]!
    const kind = this.#kinds.get(first)
    if (kind === undefined) {
      this.#kinds.set(first, { bytes: value.length, greatest: key.slice() })
      return
    }
    kind.bytes += value.length
    if (compareBytes(key, kind.greatest) > 0) kind.greatest = key.slice()
  }

  /** Adds entries of another partition, which are to be in tables of the same age. */
  putRun(run: EntryRun): void {
    this.#tables.putRun(run)
  }

  /** Finishes the tables and makes them durable. @throws LEVEL_IO_ERROR */
  finish(): Promise<readonly TableMeta[]> {
    return this.#tables.finish(this.#ends())
  }

  /** Removes the files written. */
  discard(): Promise<void> {
    return this.#tables.discard()
  }

  /** Returns the last keys of the large kinds, and of the kinds just before one. */
  #ends(): readonly Uint8Array[] {
    const kinds = [...this.#kinds].sort(([a], [b]) => a - b).map(([, kind]) => kind)
    return kinds
      .filter(({ bytes }, i) => Math.max(bytes, kinds[i + 1]?.bytes ?? 0) >= ownTableBytes)
      .map(({ greatest }) => Buffer.concat([this.#prefix, greatest]))
  }
}
