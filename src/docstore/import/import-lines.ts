/**
 * Newline-delimited JSON into a collection: lines go into runs that are inserted one after the other, and from some length on
 * to threads.
 *
 * Invariants:
 * 1. When strict, nothing after the first bad line is inserted, and everything before it is.
 * 2. However the import ends, every whole line read before its end is in the database.
 */
import { AbortedError } from '../../model/errors.ts'
import { BulkLoad, type LoadHost } from '../bulk/bulk-load.ts'
import { defaultThreads } from '../bulk/default-threads.ts'
import type { Closing } from '../closing.ts'
import type { OpenCollection } from '../open-collection.ts'
import { patiently } from '../write/patient-source.ts'
import { SourceEnd } from '../write/source-end.ts'
import { type ImportOptions, notBytes } from './check-import.ts'
import { type ImportResult, ImportRun, type LineSource } from './import-run.ts'
import { LineSplitter } from './line-splitter.ts'
import { maxLineBytes } from './read-line.ts'

/** @param closing ends an asynchronous source, which may never end by itself */
export async function importLines(
  collection: OpenCollection,
  source: LineSource,
  options: ImportOptions,
  closing: Closing
): Promise<ImportResult> {
  const { signal } = options
  const lineImport = new LineImport(collection, options, options.sourceBytes ?? bytesOf(source))
  const end = new SourceEnd(signal, closing)
  try {
    try {
      for await (const chunk of patiently(source, lineImport, end)) {
        if (signal?.aborted) break
        assertBytes(chunk)
        await lineImport.take(chunk)
      }
    } catch (error) {
      // The source broke off or was ended before its time: what was read before is good.
      if (!lineImport.hasFailed) await lineImport.finish(false)
      throw error
    }
    // The last line of an input that was cut off is no line.
    const result = await lineImport.finish(!signal?.aborted)
    if (signal?.aborted) throw new AbortedError(signal.reason)
    return result
  } finally {
    end.release()
    await lineImport.close()
  }
}

/** Bytes to lines, and where they go: into runs that are inserted, or, of a long import, to threads. */
class LineImport {
  readonly #run: ImportRun
  readonly #splitter = new LineSplitter(maxLineBytes)
  readonly #load: BulkLoad | undefined
  /** Bytes still to come, where it is known. */
  #bytesLeft: number | undefined

  /** @param bytes of the source, where it is known */
  constructor(collection: OpenCollection, options: ImportOptions, bytes: number | undefined) {
    this.#bytesLeft = bytes
    const { threads = defaultThreads() } = options
    this.#run = new ImportRun(collection, options)
    const host: LoadHost = {
      insertOrdinarily: (bytes) => this.#insertOrdinarily(bytes),
      published: (lines, documents) => {
        this.#splitter.passOver(lines)
        this.#run.tell(documents)
      }
    }
    this.#load = BulkLoad.for(collection, 'line', host, threads)
  }

  get hasFailed(): boolean {
    return this.#run.hasFailed || this.#load?.hasFailed === true
  }

  /** Lines wait for others: what comes late makes a difference. */
  get isWaiting(): boolean {
    return this.#run.isWaiting || this.#load?.isCollecting === true
  }

  async take(chunk: Uint8Array): Promise<void> {
    const load = this.#load
    const left = this.#leftAfter(chunk)
    let rest = chunk
    while (rest.length > 0) {
      if (load?.isCollecting) {
        rest = await load.take(rest, left)
        continue
      }
      // What one thread has not done with when the next segment begins, several do.
      const isAllTaken = await this.#run.takeAll(this.#splitter.push(rest), load)
      if (isAllTaken) return
      rest = this.#splitter.takeRest()
    }
  }

  /** Nothing may come for a while: whole lines that have come are not to wait for others. */
  async pause(): Promise<void> {
    if (this.#load?.isCollecting) await this.#load.leave()
    await this.#run.finish()
  }

  /** Imports what is left. @param isWhole the last line is one, though no line feed ends it */
  async finish(isWhole: boolean): Promise<ImportResult> {
    if (this.#load?.isCollecting) await this.#load.end()
    await this.#run.finish()
    if (isWhole) await this.#run.takeAll(this.#splitter.end())
    return this.#run.finish()
  }

  async close(): Promise<void> {
    await this.#load?.close(!this.hasFailed)
  }

  /** A source that has more bytes than it was said to have is one of which nobody knows. */
  #leftAfter({ length }: Uint8Array): number | undefined {
    if (this.#bytesLeft !== undefined) this.#bytesLeft = this.#bytesLeft < length ? undefined : this.#bytesLeft - length
    return this.#bytesLeft
  }

  async #insertOrdinarily(bytes: Uint8Array): Promise<void> {
    await this.#run.takeAll(this.#splitter.push(bytes))
  }
}

/** Of a list, whose chunks are all there. */
function bytesOf(source: LineSource): number | undefined {
  if (!Array.isArray(source)) return undefined
  return source.reduce((sum: number, chunk: unknown) => sum + (chunk instanceof Uint8Array ? chunk.length : 0), 0)
}

/** @throws PetalError BadValue */
function assertBytes(chunk: unknown): void {
  if (chunk instanceof Uint8Array) return
  throw notBytes('chunks of bytes', chunk, 'createReadStream(path) without an encoding, or Buffer.from(text),')
}
