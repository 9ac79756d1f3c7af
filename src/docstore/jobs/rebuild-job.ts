/**
 * Rebuilds a collection's index: starts and publishes the rebuild while no other write runs, and builds concurrently
 * with writes.
 */
import { AbortedError, PetalError, throwIfAborted } from '../../model/errors.ts'
import type { DocumentIndex, RebuildProgress } from '../../sharded-bloom/document-index.ts'
import type { RemoteBuilder } from '../../sharded-bloom/rebuild/remote-builder.ts'
import { collectionGone, commitFailed } from '../errors.ts'
import type { Known } from '../known-options.ts'
import { defaultThreads } from '../threads/default-threads.ts'
import type { Writer } from '../write/writer.ts'
import { ProgressReporter } from './progress-reporter.ts'

/** Options of a rebuild. */
export interface RebuildOptions {
  /**
   * 0 builds all segments on this thread, in slices. Otherwise a worker thread builds them if the database is on the LSM
   * store and in a directory; this thread only builds the first if it has fewer than 16,384 documents, and later ones
   * with fewer than 1,024. The thread takes some 150 MB while it works; rebuilds of several collections at the same time
   * share as many threads as an import has by default. Default: as for imports, 0 only on a single processor or with
   * less than a GiB of memory.
   */
  readonly threads?: number | undefined
  /** Called every few milliseconds, and at the end. */
  readonly onProgress?: ((progress: RebuildProgress) => void) | undefined
  /** Aborts the rebuild; the index stays as it was. */
  readonly signal?: AbortSignal | undefined
}

export const knownRebuildOptions = { threads: true, signal: true, onProgress: true } satisfies Known<RebuildOptions>

/** What is rebuilt. */
export interface RebuildTarget {
  readonly index: DocumentIndex
  readonly writer: Writer
  /** Ordinals below it are committed. */
  readonly limit: () => number
  /** Where segments can be built apart from this thread; undefined if they cannot. */
  readonly remote: () => Promise<RemoteBuilder> | undefined
}

/** Result of a rebuild. */
export interface RebuildResult {
  /** Number of documents indexed. */
  readonly documents: number
  readonly milliseconds: number
}

export class RebuildJob {
  readonly #closing = new AbortController()
  /** Aborts the running automatic rebuild. */
  #automatic: AbortController | undefined
  #running: Promise<void> = Promise.resolve()
  #explicitRebuilds = 0

  /**
   * Starts an explicit rebuild, aborting an automatic one.
   * @throws PetalError IllegalOperation for an index that has nothing to rebuild, or is being rebuilt; AbortedError
   */
  run(target: RebuildTarget, options: RebuildOptions): Promise<RebuildResult> {
    this.#explicitRebuilds++
    const begin = (): Promise<RebuildResult> => rebuild(target, options, this.#closing.signal)
    const automatic = this.#automatic
    automatic?.abort()
    const running = automatic === undefined ? begin() : this.#running.then(begin)
    const ended = (): void => {
      this.#explicitRebuilds--
    }
    running.then(ended, ended)
    this.#follow(running)
    return running
  }

  /** Like run(), but gives way to it. @returns undefined when it gave way */
  async runAutomatically(target: RebuildTarget): Promise<RebuildResult | undefined> {
    if (this.#explicitRebuilds > 0 || this.#automatic !== undefined) return undefined
    const preemption = new AbortController()
    this.#automatic = preemption
    const running = rebuild(target, { signal: preemption.signal }, this.#closing.signal)
    this.#follow(running)
    try {
      return await running
    } catch (error) {
      if (preemption.signal.aborted && error instanceof AbortedError) return undefined
      throw error
    } finally {
      this.#automatic = undefined
    }
  }

  /** Aborts the running rebuild, if any, and waits until it has cleaned up. */
  async close(): Promise<void> {
    this.#closing.abort()
    await this.#running
  }

  /** Without results and errors, which would stay as long as the collection is open. */
  #follow(running: Promise<unknown>): void {
    this.#running = Promise.allSettled([this.#running, running]).then(() => {})
  }
}

async function rebuild(
  { index, writer, limit, remote }: RebuildTarget,
  { threads = defaultThreads(), onProgress, signal }: RebuildOptions,
  closing: AbortSignal
): Promise<RebuildResult> {
  if (index.beginRebuild === undefined) {
    throw new PetalError('IllegalOperation', 'A collection without an index has nothing to rebuild')
  }
  throwIfAborted(signal)
  const started = performance.now()
  const ended = signal === undefined ? closing : AbortSignal.any([signal, closing])
  const reporter = new ProgressReporter(onProgress)
  let documents = 0
  const builder = threads === 0 ? undefined : await remote()
  const begun = await writer.exclusive(async () => index.beginRebuild!(limit(), builder))
  try {
    await begun.build(ended, (progress) => {
      documents = progress.documents
      reporter.report?.(progress)
    })
    await writer.exclusive(async () => {
      throwIfAborted(ended)
      await begun.publish()
    })
  } catch (error) {
    throw reporter.failure(() => {
      if (!(error instanceof AbortedError)) return commitFailed(error)
      return signal?.aborted === true ? error : collectionGone()
    })
  } finally {
    await begun.end()
  }
  return { documents, milliseconds: performance.now() - started }
}
