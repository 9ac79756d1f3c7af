/**
 * Inserts lines into a collection in batches of bounded size: the next batch is read while one is being written.
 *
 * Invariants:
 * 1. At most two batches are held, each bounded in documents and in bytes, whatever the lines are.
 * 2. A rejected document is traced back to its line, and bad lines are reported in their order.
 */
import { TimeSlice } from '../../model/time-slice.ts'
import type { Document } from '../../model/types.ts'
import type { BulkLoad } from '../bulk/bulk-load.ts'
import { JsonRecord } from '../documents/json-record.ts'
import type { OpenCollection } from '../open-collection.ts'
import type { ImportOptions } from './check-import.ts'
import type { Line } from './line-splitter.ts'
import { BadLine, readLine, refusedLine } from './read-line.ts'

/** A batch is full at this many bytes of lines, however few its documents. */
const maxRunBytes = 4 * 1024 * 1024

/** Result of importLines(). */
export interface ImportResult {
  readonly insertedCount: number
  readonly skippedCount: number
}

export class ImportRun {
  readonly #collection: OpenCollection
  readonly #options: ImportOptions
  readonly #batch: number
  #items: (JsonRecord | Document)[] = []
  /** Line number of each item. */
  #lines: number[] = []
  /** Bad lines among those of the items, to be reported together with documents that the database refuses. */
  #bad: BadLine[] = []
  #bytes = 0
  #inFlight: Promise<void> = Promise.resolve()
  #insertedCount = 0
  #skippedCount = 0
  readonly #timeSlice = new TimeSlice()
  /** A bad line or the store aborted the import: nothing more is inserted. */
  hasFailed = false

  constructor(collection: OpenCollection, options: ImportOptions) {
    this.#collection = collection
    this.#options = options
    this.#batch = options.batch ?? 1000
  }

  /**
   * Takes lines until there are no more, or until `load` takes over at the end of the open segment.
   * @param load bulk load that may take over
   * @returns false when it took over: the remaining lines are its to process
   */
  async takeAll(lines: Iterable<Line>, load?: BulkLoad): Promise<boolean> {
    if (load !== undefined && (await this.#handOverIfDue(load))) return false
    for (const line of lines) {
      // Before anything is known of the line: blank and bad ones may be all there are.
      if (this.#timeSlice.isOver()) await this.#timeSlice.renew()
      const item = readLine(line)
      if (item === undefined) continue
      if (item instanceof BadLine) {
        if (this.#options.strict) await this.#stopAt(item)
        this.#bad.push(item)
        if (this.#bad.length >= this.#batch) await this.#start()
        continue
      }
      if (!(item instanceof JsonRecord)) this.#collection.writer.ensureId(item)
      this.#items.push(item)
      this.#lines.push(line.number)
      this.#bytes += line.kind === 'line' ? line.bytes.length : 0
      if (this.#items.length >= this.#batch || this.#bytes >= maxRunBytes) await this.#start()
      if (load !== undefined) {
        load.noteInserted()
        const isHandedOver = this.#handOverIfDue(load)
        if (isHandedOver instanceof Promise ? await isHandedOver : isHandedOver) return false
      }
    }
    return true
  }

  /** Whether there are documents waiting for their batch to fill up. */
  get hasPending(): boolean {
    return this.#items.length > 0 || this.#bad.length > 0
  }

  /** Counts and reports documents that were inserted by other means. */
  addInserted(documents: number): void {
    this.#insertedCount += documents
    this.#options.onProgress?.({ insertedCount: this.#insertedCount, skippedCount: this.#skippedCount })
  }

  /** Inserts the remaining documents. */
  async finish(): Promise<ImportResult> {
    await this.#settle()
    return { insertedCount: this.#insertedCount, skippedCount: this.#skippedCount }
  }

  async #settle(): Promise<void> {
    await this.#start()
    await this.#guard(this.#inFlight)
  }

  /** Whether `load` takes over from here, with everything before already inserted. */
  #handOverIfDue(load: BulkLoad): boolean | Promise<boolean> {
    return load.isDue && this.#tryHandOver(load)
  }

  async #tryHandOver(load: BulkLoad): Promise<boolean> {
    await this.#settle()
    return load.tryToBegin()
  }

  async #stopAt(bad: BadLine): Promise<never> {
    await this.finish()
    this.hasFailed = true
    throw bad
  }

  /** Waits for the batch being written, then starts writing the one collected meanwhile. */
  async #start(): Promise<void> {
    const items = this.#items
    const lines = this.#lines
    const bad = this.#bad
    this.#items = []
    this.#lines = []
    this.#bad = []
    this.#bytes = 0
    await this.#guard(this.#inFlight)
    if (items.length === 0 && bad.length === 0) return
    this.#inFlight = this.#insert(items, lines, bad)
    // Whoever awaits this promise next handles its error; until then, avoid an unhandled rejection.
    this.#inFlight.catch(() => {})
  }

  async #guard(run: Promise<void>): Promise<void> {
    try {
      await run
    } catch (error) {
      this.hasFailed = true
      throw error
    }
  }

  async #insert(
    items: readonly (JsonRecord | Document)[],
    lines: readonly number[],
    unreadable: readonly BadLine[]
  ): Promise<void> {
    const strict = this.#options.strict === true
    const { errors, count, done } = await this.#collection.writer.insert(items, strict)
    await done
    this.#insertedCount += count
    const refused = errors.map(({ index, error }) => refusedLine(lines[index] ?? 0, error))
    const bad = [...unreadable, ...refused].sort((a, b) => a.line - b.line)
    if (!strict) for (const line of bad) this.#skip(line)
    this.#options.onProgress?.({ insertedCount: this.#insertedCount, skippedCount: this.#skippedCount })
    // Only now, so that documents inserted before the bad one are reported first.
    if (strict && bad[0] !== undefined) throw bad[0]
  }

  #skip(bad: BadLine): void {
    this.#skippedCount++
    this.#options.onSkipped?.(bad)
  }
}
