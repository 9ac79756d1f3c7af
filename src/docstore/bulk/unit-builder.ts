/**
 * Lines → tables: documents, ids and index records of a unit as the write path would have stored them, without log, memtable
 * and checkpoints. Runs in a thread of its own, and knows nothing of the database but its plan.
 *
 * Invariants:
 * 1. A unit is built whole or not at all: one line that is not as it should be, and every line is left to the write path,
 *    which tells what is wrong with it.
 * 2. What was not built leaves no file.
 */
import { isUtf8 } from 'node:buffer'
import type { FileSystem } from '../../lsm/fs/file-system.ts'
import { PetalError } from '../../model/errors.ts'
import { BulkSegments } from '../../sharded-bloom/bulk/bulk-segments.ts'
import { IndexedRecords } from '../documents/indexed-records.ts'
import { RecordArena } from '../documents/record-arena.ts'
import { JsonLine } from '../import/json-line.ts'
import { encodeLoad, loadKey } from '../store/load-records.ts'
import { prepareEntry } from '../write/insert-entry.ts'
import { IdKeys } from './id-keys.ts'
import type { BuiltUnit, LoadRequest } from './load-unit.ts'
import { UnitLines } from './unit-lines.ts'
import { UnitTables } from './unit-tables.ts'

/** Lines between two looks at what has become of them. */
const linesPerRun = 64
/** `_id`s are not counted. */
const noCounter = { nextId: undefined }

/**
 * @returns undefined where the lines have to be imported one by one
 * @throws LEVEL_IO_ERROR
 */
export async function buildUnit(request: LoadRequest, fileSystem: FileSystem): Promise<BuiltUnit | undefined> {
  const bytes = Buffer.from(request.unit.bytes, 0, request.unit.length)
  if (!isUtf8(bytes)) return undefined
  const lines = new UnitLines(bytes, request.firstOrdinal)
  if (lines.count === 0 || lines.isOneTooLong) return undefined
  const building = await UnitBuilding.begin(request, lines, fileSystem)
  try {
    const built = (await building.addAll()) ? await building.finish() : undefined
    if (built === undefined) await building.discard()
    return built
  } catch (error) {
    await building.discard()
    if (error instanceof PetalError) return undefined
    throw error
  } finally {
    building.close()
  }
}

class UnitBuilding {
  readonly #request: LoadRequest
  readonly #lines: UnitLines
  readonly #tables: UnitTables
  readonly #segments: BulkSegments
  readonly #records: IndexedRecords
  readonly #arena = new RecordArena('passing')
  readonly #ids: IdKeys
  #documentBytes = 0

  private constructor(request: LoadRequest, lines: UnitLines, tables: UnitTables, segments: BulkSegments) {
    this.#request = request
    this.#lines = lines
    this.#tables = tables
    this.#segments = segments
    this.#records = new IndexedRecords(segments)
    this.#ids = new IdKeys(lines.count)
  }

  static async begin(request: LoadRequest, lines: UnitLines, fileSystem: FileSystem): Promise<UnitBuilding> {
    const tables = new UnitTables(request, fileSystem)
    const segments = await BulkSegments.create(
      request.plan.segments,
      (from, to) => lines.stored(from, to),
      (record) => tables.putIndexRecord(record)
    )
    return new UnitBuilding(request, lines, tables, segments)
  }

  /** @returns false for a document that is refused. @throws PetalError for another one */
  async addAll(): Promise<boolean> {
    const { firstOrdinal } = this.#request
    const { count } = this.#lines
    let added = 0
    while (added < count) {
      if (!this.#segments.isReady) await this.#segments.begin(firstOrdinal + added, firstOrdinal + count)
      const next = this.#addRun(added, Math.min(added + linesPerRun, count))
      if (next === undefined) return false
      added = next
      await this.#tables.flushIfFull()
    }
    return this.#ids.areDifferent
  }

  async finish(): Promise<BuiltUnit> {
    const { firstOrdinal } = this.#request
    const { count: documents } = this.#lines
    const documentBytes = this.#documentBytes
    const segments = await this.#segments.finish()
    const load = { nextOrdinal: firstOrdinal + documents, documents, documentBytes }
    this.#tables.putIndexRecord({ key: loadKey(firstOrdinal), value: encodeLoad(load) })
    const tables = await this.#tables.finish()
    return { tables, segments, documents, documentBytes, ids: this.#ids.loaded }
  }

  discard(): Promise<void> {
    return this.#tables.discard()
  }

  close(): void {
    this.#segments.close()
  }

  /**
   * A function of its own, called often: the compiler makes a loop that is left by `await` anew again and again.
   * @returns the line after the last one added; undefined when one is refused
   */
  #addRun(from: number, to: number): number | undefined {
    let i = from
    for (; i < to && this.#segments.isReady; i++) if (!this.#add(i)) return undefined
    return i
  }

  #add(i: number): boolean {
    const ordinal = this.#request.firstOrdinal + i
    const entry = prepareEntry(this.#lines.item(i), undefined, noCounter)
    if (entry instanceof PetalError) return false
    const { document, key } = entry
    const added =
      document instanceof JsonLine
        ? this.#records.addLine(ordinal, document, this.#arena)
        : this.#records.add(ordinal, document, this.#arena)
    const record = typeof added === 'string' ? this.#arena.encode(added) : added
    this.#tables.putDocument(ordinal, record)
    this.#tables.putId(key, ordinal)
    this.#ids.add(key)
    this.#documentBytes += record.length
    return true
  }
}
