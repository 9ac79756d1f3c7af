/**
 * Rebuild of a collection's index: begins and publishes when nothing else is written, builds beside all writes.
 */
import { AbortedError, PetalError, throwIfAborted } from '../model/errors.ts'
import type { DocumentIndex, RebuildProgress } from '../sharded-bloom/document-index.ts'
import { commitFailed, notOpen } from './errors.ts'
import type { Writer } from './writer.ts'

export interface RebuildOptions {
  /** Told every few milliseconds, and at the end. */
  readonly onProgress?: (progress: RebuildProgress) => void
  /** Ends the rebuild; the index is then what it was. */
  readonly signal?: AbortSignal
}

export interface RebuildResult {
  /** Indexed again. */
  readonly documents: number
  readonly milliseconds: number
}

export class RebuildJob {
  readonly #closing = new AbortController()
  #running: Promise<unknown> = Promise.resolve()

  /** @throws PetalError IllegalOperation for an index that has nothing to build, or is being built; AbortedError */
  run(index: DocumentIndex, writer: Writer, limit: () => number, options: RebuildOptions): Promise<RebuildResult> {
    const running = rebuild(index, writer, limit, options, this.#closing.signal)
    this.#running = Promise.allSettled([this.#running, running])
    return running
  }

  /** Ends the rebuild that is running, if any, and waits until it has tidied up. */
  async close(): Promise<void> {
    this.#closing.abort()
    await this.#running
  }
}

async function rebuild(
  index: DocumentIndex,
  writer: Writer,
  limit: () => number,
  { onProgress, signal }: RebuildOptions,
  closing: AbortSignal
): Promise<RebuildResult> {
  if (index.beginRebuild === undefined) {
    throw new PetalError('IllegalOperation', 'A collection without an index has none to build again')
  }
  throwIfAborted(signal)
  const started = performance.now()
  const ended = signal === undefined ? closing : AbortSignal.any([signal, closing])
  let documents = 0
  const begun = await writer.exclusive(async () => index.beginRebuild!(limit()))
  try {
    await begun.build(ended, (progress) => {
      documents = progress.documents
      onProgress?.(progress)
    })
    await writer.exclusive(async () => {
      throwIfAborted(ended)
      await begun.publish()
    })
  } catch (error) {
    if (!(error instanceof AbortedError)) throw commitFailed(error)
    throw signal?.aborted === true ? error : notOpen('The database, or the collection,')
  } finally {
    await begun.end()
  }
  return { documents, milliseconds: performance.now() - started }
}
