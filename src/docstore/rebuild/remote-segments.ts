/**
 * Has segments of an index built by threads: each reads the documents from the store's tables and writes tables of its
 * own, which are then made part of the store.
 *
 * Invariant: what a thread could not build leaves nothing behind, and is built in this thread, which reports errors. But
 * if the thread could not read or write files, the rebuild fails: on a full disk, for example, records that this thread
 * would write to the log might end all writing.
 */
import type { Ingest } from '../../lsm/engine/ingest.ts'
import { hasCode } from '../../lsm/errors.ts'
import { transferListOf } from '../../lsm/thread-view/view-data.ts'
import { throwIfAborted } from '../../model/errors.ts'
import type { Following, RebuiltSegment } from '../../sharded-bloom/rebuild/build-segment.ts'
import type { RemoteBuilder, SegmentJob } from '../../sharded-bloom/rebuild/remote-builder.ts'
import type { CollectionStore } from '../store/collection-store.ts'
import { type Area, areaOf } from '../store/layout.ts'
import { buildInThread } from '../threads/build-threads.ts'
import type { BuiltSegmentTables, SegmentRequest } from './segment-request.ts'
import { inTurn } from './thread-turns.ts'

/** More than a segment has kinds of records. */
const fileNumbers = 16

export class RemoteSegments implements RemoteBuilder {
  readonly #docs: Area
  readonly #index: Area
  readonly #beginIngest: () => Promise<Ingest>

  constructor(store: CollectionStore, beginIngest: () => Promise<Ingest>) {
    const { docs, index } = store.prefixes
    this.#docs = areaOf(docs)
    this.#index = areaOf(index)
    this.#beginIngest = beginIngest
  }

  async isUnused(ranges: Parameters<RemoteBuilder['isUnused']>[0]): Promise<boolean> {
    const ingest = await this.#beginIngest()
    return ingest.hasNothingIn(ranges.map(([from, to]) => [this.#index.key(from), this.#index.key(to)]))
  }

  async build(job: SegmentJob, following: Following): Promise<RebuiltSegment | undefined> {
    const ingest = await this.#beginIngest()
    const built = await inTurn(() => this.#buildInThread(ingest, job, following), following.signal)
    if (built === undefined) return undefined
    // The store has nothing of this segment: see isUnused().
    await ingest.install(built.tables, () => true)
    return built.segment
  }

  async #buildInThread(
    ingest: Ingest,
    job: SegmentJob,
    { signal, onProgress }: Following
  ): Promise<BuiltSegmentTables | undefined> {
    throwIfAborted(signal)
    const view = ingest.shareView(this.#docs.first, this.#docs.end)
    const firstNumber = ingest.takeNumbers(fileNumbers)
    const request: SegmentRequest = {
      job,
      view: view.data,
      ingest: ingest.plan,
      docs: this.#docs.first,
      index: this.#index.first,
      firstNumber,
      numbers: fileNumbers
    }
    const stop = new AbortController()
    const ended = signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal])
    let failure: { readonly error: unknown } | undefined
    try {
      const built = await buildInThread('segment', request, {
        signal: ended,
        // Called by the event loop, which would end the process if it threw.
        onProgress: (documents) => {
          // The thread may have sent more before it learned of the end.
          if (ended.aborted) return
          try {
            onProgress(documents)
          } catch (error) {
            failure = { error }
            stop.abort()
          }
        },
        transfer: transferListOf(view.data)
      }).catch((error) => {
        if (hasCode(error, 'LEVEL_IO_ERROR')) failure ??= { error }
        return undefined
      })
      if (built !== undefined && !ended.aborted) return built
      await ingest.discardNumbers(firstNumber, fileNumbers)
      if (failure !== undefined) throw failure.error
      throwIfAborted(signal)
      return undefined
    } finally {
      view.release()
    }
  }
}
