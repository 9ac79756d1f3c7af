/**
 * Builds the tables of a unit from its lines: documents, ids and index records as the write path would have stored
 * them, without log, memtable and checkpoints. Runs in a thread of its own, and knows nothing of the database except
 * the plan.
 *
 * Invariants:
 * 1. A unit is built as a whole or not at all: a single bad line leaves all lines to the write path, which reports what
 *    is wrong.
 * 2. A unit that was not built leaves no files.
 */
import type { FileSystem } from '../../lsm/fs/file-system.ts'
import { PetalError } from '../../model/errors.ts'
import { wrappedMarkByte } from '../../model/record-marks.ts'
import type { Document } from '../../model/types.ts'
import { BulkSegments } from '../../sharded-bloom/bulk/bulk-segments.ts'
import type { EarlierChoices } from '../../sharded-bloom/bulk/earlier-choices.ts'
import { IndexedRecords } from '../documents/indexed-records.ts'
import { JsonRecord } from '../documents/json-record.ts'
import { markBytesOf } from '../documents/record.ts'
import { RecordArena } from '../documents/record-arena.ts'
import { encodeLoad, loadKey } from '../store/load-records.ts'
import { prepareEntry } from '../write/insert-entry.ts'
import { runEntries } from './entry-runs.ts'
import { IdKeys } from './id-keys.ts'
import type { BuiltUnit, LoadRequest } from './load-unit.ts'
import { UnitLines } from './unit-lines.ts'
import { UnitTables } from './unit-tables.ts'

/** Maximum size of a run with more than one line: it should fit in the second-level cache. */
const maxRunBytes = 128 << 10
/** No auto-incremented `_id`s. */
const noCounter = { nextId: undefined }

/**
 * Builds a unit.
 * @param earlier choices of the thread's earlier units; this unit's are added
 * @returns undefined if the lines have to be imported individually
 * @throws LEVEL_IO_ERROR
 */
export async function buildUnit(
  request: LoadRequest,
  fileSystem: FileSystem,
  earlier: EarlierChoices
): Promise<BuiltUnit | undefined> {
  const lines = UnitLines.of(request.unit, request.firstOrdinal)
  if (lines === undefined) return undefined
  const building = await UnitBuilding.begin(request, lines, fileSystem, earlier)
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
  readonly #arena = new RecordArena('transient')
  readonly #ids: IdKeys
  #documentBytes = 0
  /** Whether the last run was shortened: the next one's end is found before its bytes are copied. */
  #isMixed = false
  /** Maximum number of lines in the next run. */
  #runLines = runEntries
  /** End of the `_id` of each line in the current run. */
  readonly #idEnds = new Int32Array(runEntries)

  private constructor(request: LoadRequest, lines: UnitLines, tables: UnitTables, segments: BulkSegments) {
    this.#request = request
    this.#lines = lines
    this.#tables = tables
    this.#segments = segments
    this.#records = new IndexedRecords(segments)
    this.#ids = new IdKeys(lines.count)
  }

  static async begin(
    request: LoadRequest,
    lines: UnitLines,
    fileSystem: FileSystem,
    earlier: EarlierChoices
  ): Promise<UnitBuilding> {
    const tables = new UnitTables(request, fileSystem)
    const segments = await BulkSegments.create(
      request.plan.segments,
      (from, to) => lines.stored(from, to),
      (record) => tables.putIndexRecord(record),
      earlier
    )
    return new UnitBuilding(request, lines, tables, segments)
  }

  /**
   * @returns false if a document was rejected, or there are duplicate `_id`s @throws PetalError for an invalid document
   */
  async addAll(): Promise<boolean> {
    const { firstOrdinal } = this.#request
    const { count } = this.#lines
    let added = 0
    while (added < count) {
      if (!this.#segments.isReady) await this.#segments.begin(firstOrdinal + added, firstOrdinal + count)
      const next = this.#addRun(added)
      if (next === undefined) return false
      added = next
      await this.#tables.flushIfFull()
    }
    return this.#ids.areDistinct
  }

  async finish(): Promise<BuiltUnit> {
    const { firstOrdinal } = this.#request
    const { count: documents } = this.#lines
    const documentBytes = this.#documentBytes
    const segments = await this.#segments.finish()
    const ids = this.#ids.loaded
    this.#tables.putIds(ids, firstOrdinal)
    const load = { nextOrdinal: firstOrdinal + documents, documents, documentBytes }
    this.#tables.putIndexRecord({ key: loadKey(firstOrdinal), value: encodeLoad(load) })
    const tables = await this.#tables.finish()
    return { tables, segments, documents, documentBytes, ids }
  }

  discard(): Promise<void> {
    return this.#tables.discard()
  }

  close(): void {
    this.#segments.close()
    this.#ids.release()
    this.#lines.release()
  }

  /**
   * Adds a run of lines. A separate function because V8 would recompile a long-running loop with an `await` in it again
   * and again.
   * @returns the line after the last one added; undefined if one was rejected
   */
  #addRun(from: number): number | undefined {
    const { bytes, places } = this.#lines
    const limit = this.#limitOfRun(from)
    let to = this.#isMixed ? this.#endOfRun(from, limit) : limit
    const isStaged =
      this.#lines.endOfId(from) >= 0 && this.#segments.stage(bytes.subarray(places[2 * from], places[2 * to - 1]))
    // Staging has brought the bytes into the processor's caches.
    if (!this.#isMixed) to = this.#endOfRun(from, limit)
    this.#isMixed = to < limit
    if (isStaged) return this.#addStaged(from, to)
    let i = from
    for (; i < to && this.#segments.isReady; i++) if (!this.#add(i)) return undefined
    return i
  }

  /** Returns the greatest end that a run of at least one line may have. */
  #limitOfRun(from: number): number {
    const { count, places } = this.#lines
    let to = Math.min(from + this.#runLines, count)
    while (to > from + 1 && places[2 * to - 1]! - places[2 * from]! > maxRunBytes) to--
    return to
  }

  /** Shortens a run: all lines start with an `_id` that can be read from bytes, or none does. */
  #endOfRun(from: number, limit: number): number {
    for (let to = from; to < limit; to++) {
      const idEnd = this.#lines.endOfId(to)
      if (to > from && idEnd >= 0 !== this.#idEnds[0]! >= 0) return to
      this.#idEnds[to - from] = idEnd
    }
    return limit
  }

  /**
   * The fast path for lines that start with an `_id` and can be indexed from their bytes: produces nothing but index
   * rows and tables. The first line that cannot be ends the run, and the next runs are shorter for a while, because
   * each is copied to the scanner.
   * @returns see #addRun()
   */
  #addStaged(from: number, to: number): number | undefined {
    const { bytes, places } = this.#lines
    const ordinal = this.#request.firstOrdinal
    const runStart = places[2 * from]!
    let isIndexed = true
    let i = from
    /** The first line that is not stored yet. */
    let put = from
    for (; i < to && this.#segments.isReady; i++) {
      const form = this.#lines.form(i)!
      const start = places[2 * i]! + markBytesOf(form)
      const end = places[2 * i + 1]!
      const detectedForm = this.#segments.addStaged(ordinal + i, start - runStart, end - start, form)
      isIndexed = detectedForm !== false
      if (!isIndexed) break
      this.#ids.addLeading(bytes, start, this.#idEnds[i - from]!, form === 'objectId')
      this.#documentBytes += end - places[2 * i]!
      if (detectedForm !== 'wrapped' || form === detectedForm) continue
      this.#putLines(put, i)
      this.#tables.putDocument(ordinal + i, this.#arena.mark(wrappedMarkByte, this.#lines.line(i)))
      this.#documentBytes++
      put = i + 1
    }
    this.#putLines(put, i)
    this.#runLines = isIndexed ? Math.min(runEntries, 2 * this.#runLines) : Math.max(1, i - from)
    if (isIndexed) return i
    return this.#add(i, true) ? i + 1 : undefined
  }

  /** Stores lines as they are. */
  #putLines(from: number, to: number): void {
    const { bytes, places } = this.#lines
    if (to > from) this.#tables.putLines(this.#request.firstOrdinal + from, to - from, bytes, places, from)
  }

  /** @param isTried the scanner could not index the line */
  #add(i: number, isTried = false): boolean {
    const ordinal = this.#request.firstOrdinal + i
    const entry = prepareEntry(this.#lines.item(i), undefined, noCounter)
    if (entry instanceof PetalError) return false
    const { document, key } = entry
    const record = this.#addRecord(ordinal, document, i, isTried)
    this.#tables.putDocument(ordinal, record)
    this.#ids.add(key)
    this.#documentBytes += record.length
    return true
  }

  #addRecord(ordinal: number, document: JsonRecord | Document, i: number, isTried: boolean): Uint8Array {
    if (!(document instanceof JsonRecord) && this.#lines.kind === 'record') {
      this.#segments.add(ordinal, this.#segments.flatten(document))
      return this.#lines.line(i)
    }
    const added =
      document instanceof JsonRecord
        ? this.#records.addJson(ordinal, document, this.#arena, undefined, isTried)
        : this.#records.add(ordinal, document, this.#arena)
    return typeof added === 'string' ? this.#arena.encode(added) : added
  }
}
