/**
 * Newline-delimited JSON into a collection: lines are cut, read and inserted in runs; the next run is read while one is
 * being written.
 *
 * Invariants:
 * 1. At most two runs are held, each bounded in documents and in bytes, whatever the lines are.
 * 2. A refused document is traced back to its line.
 * 3. When strict, nothing after the first bad line is inserted, and everything before it is.
 * 4. However the import ends, every whole line read before its end is in the database.
 */
import { AbortedError, PetalError } from '../../model/errors.ts'
import { breathe } from '../../model/time-slice.ts'
import type { Document } from '../../model/types.ts'
import type { OpenCollection } from '../open-collection.ts'
import { JsonLine } from './json-line.ts'
import { type Line, LineSplitter } from './line-splitter.ts'
import { BadLine, maxLineBytes, readLine } from './read-line.ts'

/** Bytes of lines after which a run is full, however few its documents are. */
const maxRunBytes = 4 * 1024 * 1024

export interface ImportOptions {
  /** End the import at the first line that cannot be imported, with its BadLine. Default false: skip it. */
  readonly strict?: boolean
  /** Documents written together. Default 1,000. */
  readonly batch?: number
  /** Ends the import with an AbortedError; what was imported stays. */
  readonly signal?: AbortSignal
  /** Told of every line that is skipped. */
  readonly onSkipped?: (bad: BadLine) => void
  /** Told after every run that is in the database. */
  readonly onProgress?: (progress: ImportResult) => void
}

export interface ImportResult {
  readonly insertedCount: number
  readonly skippedCount: number
}

export type LineSource = AsyncIterable<Uint8Array> | Iterable<Uint8Array>

export async function importLines(
  collection: OpenCollection,
  source: LineSource,
  options: ImportOptions
): Promise<ImportResult> {
  const run = new ImportRun(collection, options)
  const splitter = new LineSplitter(maxLineBytes)
  const { signal } = options
  try {
    for await (const chunk of source) {
      if (signal?.aborted) break
      assertBytes(chunk)
      await run.takeAll(splitter.push(chunk))
    }
    // The last line of an input that was cut off is no line.
    if (!signal?.aborted) await run.takeAll(splitter.end())
  } catch (error) {
    // The source broke off: what was read before is good.
    if (!run.hasFailed) await run.finish()
    throw error
  }
  const result = await run.finish()
  if (signal?.aborted) throw new AbortedError(signal.reason)
  return result
}

class ImportRun {
  readonly #collection: OpenCollection
  readonly #options: ImportOptions
  readonly #batch: number
  #items: (JsonLine | Document)[] = []
  /** Line number of each item. */
  #lines: number[] = []
  #bytes = 0
  #underWay: Promise<void> = Promise.resolve()
  #insertedCount = 0
  #skippedCount = 0
  #sliceStart = performance.now()
  /** A bad line, or the store, ended the import: nothing more is inserted. */
  hasFailed = false

  constructor(collection: OpenCollection, options: ImportOptions) {
    this.#collection = collection
    this.#options = options
    this.#batch = options.batch ?? 1000
  }

  async takeAll(lines: Iterable<Line>): Promise<void> {
    for (const line of lines) {
      const item = readLine(line)
      if (item === undefined) continue
      if (item instanceof BadLine) {
        if (this.#options.strict) await this.#stopAt(item)
        this.#skip(item)
        continue
      }
      if (!(item instanceof JsonLine)) this.#collection.writer.ensureId(item)
      this.#items.push(item)
      this.#lines.push(line.number)
      this.#bytes += line.kind === 'line' ? line.bytes.length : 0
      if (this.#items.length >= this.#batch || this.#bytes >= maxRunBytes) await this.#start()
      const slice = breathe(this.#sliceStart)
      this.#sliceStart = slice instanceof Promise ? await slice : slice
    }
  }

  /** Inserts what is left. */
  async finish(): Promise<ImportResult> {
    await this.#start()
    await this.#guard(this.#underWay)
    return { insertedCount: this.#insertedCount, skippedCount: this.#skippedCount }
  }

  async #stopAt(bad: BadLine): Promise<never> {
    await this.finish()
    this.hasFailed = true
    throw bad
  }

  /** Waits for the run under way, then sends the one that was collected meanwhile. */
  async #start(): Promise<void> {
    const items = this.#items
    const lines = this.#lines
    this.#items = []
    this.#lines = []
    this.#bytes = 0
    await this.#guard(this.#underWay)
    if (items.length === 0) return
    this.#underWay = this.#insert(items, lines)
    // Its error belongs to whoever waits for it next; until then it is not an unhandled one.
    this.#underWay.catch(() => {})
  }

  async #guard(run: Promise<void>): Promise<void> {
    try {
      await run
    } catch (error) {
      this.hasFailed = true
      throw error
    }
  }

  async #insert(items: readonly (JsonLine | Document)[], lines: readonly number[]): Promise<void> {
    const strict = this.#options.strict === true
    const { errors, count, done } = await this.#collection.writer.insert(items, strict)
    await done
    this.#insertedCount += count
    const bad = errors.map(({ index, errmsg, error }) => new BadLine(lines[index] ?? 0, errmsg, error))
    if (!strict) for (const line of bad) this.#skip(line)
    this.#options.onProgress?.({ insertedCount: this.#insertedCount, skippedCount: this.#skippedCount })
    // After what was inserted before it is told.
    if (strict && bad[0] !== undefined) throw bad[0]
  }

  #skip(bad: BadLine): void {
    this.#skippedCount++
    this.#options.onSkipped?.(bad)
  }
}

/** @throws PetalError BadValue */
function assertBytes(chunk: unknown): void {
  if (chunk instanceof Uint8Array) return
  throw new PetalError('BadValue', `importLines takes chunks of bytes, got one of type ${typeof chunk}`)
}

/** @throws PetalError BadValue */
export function checkImport(source: unknown, { batch }: ImportOptions): void {
  const isSource =
    typeof source === 'object' && source !== null && (Symbol.asyncIterator in source || Symbol.iterator in source)
  if (!isSource) throw new PetalError('BadValue', `importLines takes an iterable of bytes, got ${typeof source}`)
  if (batch === undefined || (Number.isSafeInteger(batch) && batch > 0)) return
  throw new PetalError('BadValue', `batch must be a whole number above 0, got ${String(batch)}`, {
    details: { option: 'batch' }
  })
}
