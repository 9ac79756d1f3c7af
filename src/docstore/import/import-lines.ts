/**
 * Imports newline-delimited JSON into a collection: lines are inserted in batches or, in a long import, passed to
 * threads.
 *
 * Invariants:
 * 1. When strict, nothing after the first bad line is inserted, and everything before it is.
 * 2. However the import ends, every whole line taken before its end is in the database.
 */
import { AbortedError } from '../../model/errors.ts'
import { BulkLoad, type LoadHost } from '../bulk/bulk-load.ts'
import type { CloseSignal } from '../close-signal.ts'
import type { OpenCollection } from '../open-collection.ts'
import { defaultThreads } from '../threads/default-threads.ts'
import { withIdlePause } from '../write/idle-source.ts'
import { SourceEnd } from '../write/source-end.ts'
import { type ImportOptions, notBytes } from './check-import.ts'
import { type ImportResult, ImportRun } from './import-run.ts'
import { type OpenSource, recycle } from './line-source.ts'
import { LineSplitter } from './line-splitter.ts'
import { maxLineBytes } from './read-line.ts'

export { openSource } from './line-source.ts'

/** Bytes of a chunk taken before the signal is looked at again: a chunk may be the whole input. */
const maxTakenBytes = 1024 * 1024

/** @param closing stops an asynchronous source, which may never end by itself */
export async function importLines(
  collection: OpenCollection,
  { chunks, bytes }: OpenSource,
  options: ImportOptions,
  closing: CloseSignal
): Promise<ImportResult> {
  const { signal } = options
  const lineImport = new LineImport(collection, options, options.sourceBytes ?? bytes)
  const end = new SourceEnd(signal, closing)
  try {
    try {
      for await (const chunk of withIdlePause(chunks, lineImport, end)) {
        if (signal?.aborted) break
        assertBytes(chunk)
        let isCopied = true
        for (let at = 0; at < chunk.length && !signal?.aborted; at += maxTakenBytes) {
          isCopied = (await lineImport.take(chunk.subarray(at, at + maxTakenBytes))) && isCopied
        }
        if (isCopied) chunks[recycle]?.(chunk)
      }
    } catch (error) {
      // The source failed: import what was read before.
      const counts = lineImport.hasFailed ? undefined : await lineImport.finish(false)
      throw error instanceof AbortedError ? new AbortedError(error.cause, { ...counts }) : error
    }
    // When aborted, the last line may be incomplete.
    const result = await lineImport.finish(!signal?.aborted)
    if (signal?.aborted) throw new AbortedError(signal.reason, { ...result })
    return result
  } finally {
    end.release()
    await lineImport.close()
  }
}

/** Splits bytes into lines, and passes them to batches to be inserted or, in a long import, to threads. */
class LineImport {
  readonly #run: ImportRun
  readonly #splitter = new LineSplitter(maxLineBytes)
  readonly #load: BulkLoad | undefined
  /** Bytes still to come, if known. */
  #bytesLeft: number | undefined

  /** @param bytes size of the source, if known */
  constructor(collection: OpenCollection, options: ImportOptions, bytes: number | undefined) {
    this.#bytesLeft = bytes
    const { threads = defaultThreads() } = options
    this.#run = new ImportRun(collection, options)
    const host: LoadHost = {
      insertNormally: (bytes) => this.#insertNormally(bytes),
      published: (lines, documents) => {
        this.#splitter.skipLines(lines)
        this.#run.addInserted(documents)
      }
    }
    this.#load = BulkLoad.for(collection, 'line', host, threads)
  }

  get hasFailed(): boolean {
    return this.#run.hasFailed || this.#load?.hasFailed === true
  }

  /** Lines are waiting for others to arrive. */
  get hasPending(): boolean {
    return this.#run.hasPending || this.#load?.isCollecting === true
  }

  /** @returns whether all bytes were copied: the others must not change before finish() */
  async take(chunk: Uint8Array): Promise<boolean> {
    const load = this.#load
    const left = this.#leftAfter(chunk)
    let rest = chunk
    let isCopied = true
    while (rest.length > 0) {
      if (load?.isCollecting) {
        rest = await load.take(rest, left)
        continue
      }
      isCopied = false
      // If there is more input when the next segment starts, several threads take over.
      const isAllTaken = await this.#run.takeAll(this.#splitter.push(rest), load)
      if (isAllTaken) break
      rest = this.#splitter.takeRest()
    }
    return isCopied
  }

  /** The source may be idle for a while: does not let whole lines wait. */
  async pause(): Promise<void> {
    if (this.#load?.isCollecting) await this.#load.flush()
    await this.#run.finish()
  }

  /** Imports the rest. @param isWhole the last line is complete, though no line feed ends it */
  async finish(isWhole: boolean): Promise<ImportResult> {
    if (this.#load?.isCollecting) await this.#load.finish()
    await this.#run.finish()
    if (isWhole) await this.#run.takeAll(this.#splitter.end())
    return this.#run.finish()
  }

  async close(): Promise<void> {
    await this.#load?.close(!this.hasFailed)
  }

  /** Once a source has delivered more bytes than announced, the number of remaining bytes is unknown. */
  #leftAfter({ length }: Uint8Array): number | undefined {
    if (this.#bytesLeft !== undefined) this.#bytesLeft = this.#bytesLeft < length ? undefined : this.#bytesLeft - length
    return this.#bytesLeft
  }

  async #insertNormally(bytes: Uint8Array): Promise<void> {
    await this.#run.takeAll(this.#splitter.push(bytes))
  }
}

/** @throws PetalError BadValue */
function assertBytes(chunk: unknown): void {
  if (chunk instanceof Uint8Array) return
  throw notBytes('chunks of bytes', chunk)
}
