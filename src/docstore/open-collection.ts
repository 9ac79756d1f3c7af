/** An open collection: its records, its index, its writer, and the views that read it. */
import type { Filled } from '../model/filled.ts'
import { TimeSlice, yieldIfTurnLong } from '../model/time-slice.ts'
import type { Document } from '../model/types.ts'
import type { DocumentIndex, IndexStats, IndexTuning } from '../sharded-bloom/document-index.ts'
import { OrdinalSet } from '../sharded-bloom/ordinal-set.ts'
import type { RemoteBuilder } from '../sharded-bloom/rebuild/remote-builder.ts'
import type { StoredChoice } from '../sharded-bloom/tune/stored-choice.ts'
import { decodeRecord } from './documents/record.ts'
import { idsOption, type ReversibleOption } from './ids/ids-option.ts'
import type { DeclaredIndexes } from './indexes/declared-indexes.ts'
import { sweepExpired } from './indexes/expired.ts'
import { AutoRebuild, type AutoRebuildStats, neverRebuilt } from './jobs/auto-rebuild.ts'
import { Expiry, type ExpiryStats, neverSwept } from './jobs/expiry.ts'
import { RebuildJob, type RebuildOptions, type RebuildResult, type RebuildTarget } from './jobs/rebuild-job.ts'
import type { AutoRebuildOptions } from './options.ts'
import { matchOf } from './read/find-by-id.ts'
import { ReadView } from './read/read-view.ts'
import type { CollectionStore } from './store/collection-store.ts'
import { Snapshots } from './store/snapshots.ts'
import type { ChangeFeed } from './watch/change-feed.ts'
import type { CallGroups } from './write/call-groups.ts'
import { Committer } from './write/committer.ts'
import { commitTogether, differentDocuments, type MutationCall } from './write/mutation-groups.ts'
import type { CollectionState } from './write/write-batch.ts'
import { Writer } from './write/writer.ts'

/** Background work of a collection. */
interface BackgroundWork {
  readonly autoRebuild: AutoRebuildOptions | undefined
  readonly ttlIntervalSeconds: number
}

/** What a collection is opened with. */
interface CollectionParts {
  readonly feed: ChangeFeed
  readonly store: CollectionStore
  readonly index: DocumentIndex
  readonly declared: DeclaredIndexes
  readonly state: CollectionState
  /** undefined in a read-only database. */
  readonly background: BackgroundWork | undefined
}

/** Above this many documents, a read yields to the event loop. */
const maxReadsWithoutView = 16
/** Documents that such a read asks the store for at once, which takes about a millisecond. */
const keysPerRead = 256

export class OpenCollection {
  readonly name: string
  readonly store: CollectionStore
  readonly writer: Writer
  readonly committer: Committer
  /** Changes of single documents, waiting for their turn. */
  readonly mutations: CallGroups<MutationCall, unknown>
  readonly snapshots: Snapshots
  /** Indexes created by createIndex(). */
  readonly declared: DeclaredIndexes
  readonly index: DocumentIndex
  readonly #views = new Set<ReadView>()
  readonly #rebuildJob = new RebuildJob()
  /** undefined if turned off, or if the index has nothing to rebuild. */
  readonly autoRebuild: AutoRebuild | undefined
  /** undefined in a read-only database. */
  readonly expiry: Expiry | undefined
  readonly #forgetView = (view: ReadView): void => {
    this.#views.delete(view)
  }

  private constructor({ feed, store, index, declared, state, background }: CollectionParts) {
    const { collection: name } = feed
    this.name = name
    this.store = store
    this.index = index
    this.declared = declared
    this.snapshots = new Snapshots(store)
    this.committer = new Committer(store, index, declared, this.snapshots, feed, state)
    this.writer = new Writer(name, store, index, this.committer, () => store.greatestId(state))
    this.mutations = this.writer.exclusiveGroups((calls) => commitTogether(this, calls), differentDocuments)
    this.autoRebuild = background?.autoRebuild && this.#watch(background.autoRebuild)
    this.expiry = background && this.#expire(background.ttlIntervalSeconds)
  }

  static async open(parts: CollectionParts): Promise<OpenCollection> {
    await parts.index.open(parts.state.nextOrdinal, parts.state.documents)
    // The first collection of a process is slow to open because nothing has been JIT-compiled yet.
    await yieldIfTurnLong()
    return new OpenCollection(parts)
  }

  /**
   * Captures the current committed state. The caller closes the view.
   * @param fillsCache false if the documents that are read are about to be replaced or deleted
   * @param hidden ordinals of documents that the view does not show
   */
  capture(fillsCache = true, hidden = OrdinalSet.empty): ReadView {
    const view = new ReadView(
      this.store,
      this.snapshots.acquire(),
      this.index.capture(this.committer.limit, hidden),
      this.committer.state.documentBytes,
      this.#forgetView,
      { fillsCache, hidden }
    )
    this.#views.add(view)
    return view
  }

  /** Returns documents by encoded `_id`, as currently committed. */
  documentsOf(keys: readonly Uint8Array[]): (Document | undefined)[] | Promise<(Document | undefined)[]> {
    if (!this.store.canReadSync || keys.length > maxReadsWithoutView) return this.#documentsOfView(keys)
    return keys.map((key) => matchOf(this, key)?.document)
  }

  async #documentsOfView(keys: readonly Uint8Array[]): Promise<(Document | undefined)[]> {
    const view = this.capture()
    try {
      const documents: (Document | undefined)[] = []
      const timeSlice = new TimeSlice()
      for (let from = 0; from < keys.length; from += keysPerRead) {
        const ordinals = await view.ordinalsOf(keys.slice(from, from + keysPerRead))
        const visible = ordinals.filter((ordinal) => ordinal !== undefined && view.shows(ordinal)) as number[]
        const records = await view.records(visible)
        let next = 0
        for (const ordinal of ordinals) {
          if (timeSlice.isOver()) await timeSlice.renew()
          const record = ordinal !== undefined && view.shows(ordinal) ? records[next++] : undefined
          documents.push(record === undefined ? undefined : decodeRecord(record))
        }
      }
      return documents
    } finally {
      view.close()
    }
  }

  get state(): CollectionState {
    return this.committer.state
  }

  indexStats(): IndexStats {
    return this.index.stats()
  }

  /** In the form that collection() accepts. */
  get ids(): 'table' | Filled<ReversibleOption> {
    return idsOption(this.store.ids?.header)
  }

  get autoRebuildStats(): AutoRebuildStats {
    return this.autoRebuild?.stats ?? neverRebuilt
  }

  get expiryStats(): ExpiryStats {
    return this.expiry?.stats ?? neverSwept
  }

  /** Tuning parameters of the index; undefined for an index without parameters. */
  get indexTuning(): IndexTuning | undefined {
    return this.index.tuning
  }

  async retuneIndex(choice: StoredChoice): Promise<void> {
    await this.index.retune?.(choice)
  }

  rebuildIndex(options: RebuildOptions): Promise<RebuildResult> {
    return this.#rebuildJob.run(this.#rebuildTarget, options)
  }

  get #rebuildTarget(): RebuildTarget {
    const { index, writer, store, committer } = this
    return { index, writer, limit: () => committer.limit, remote: () => remoteBuilder(store) }
  }

  /** Waits for writes, aborts all reads, and leaves nothing to recover at the next open. */
  async close(): Promise<void> {
    this.autoRebuild?.close()
    await this.expiry?.close()
    await this.#rebuildJob.close()
    await this.writer.close()
    this.closeViews()
    this.store.cache.close()
    await this.index.close(this.committer.limit)
  }

  closeViews(): void {
    for (const view of [...this.#views]) view.close()
  }

  #expire(intervalSeconds: number): Expiry {
    const { declared } = this
    return new Expiry(
      {
        isWanted: () => declared.expiring.length > 0,
        sweep: async (now, isOver, onDeleted) => {
          for (const index of declared.expiring) {
            await sweepExpired({ collection: this, index, now, isOver, onDeleted })
          }
        }
      },
      intervalSeconds
    )
  }

  #watch(options: AutoRebuildOptions): AutoRebuild | undefined {
    const index = this.index
    const { tuning } = index
    if (index.beginRebuild === undefined || tuning === undefined) return undefined
    const watched = new AutoRebuild(
      {
        stats: () => index.stats(),
        segmentDocuments: tuning.segmentDocuments,
        rebuild: () => this.#rebuildJob.runAutomatically(this.#rebuildTarget)
      },
      options
    )
    this.committer.onDeletions = (count) => watched.noteDeletions(count)
    return watched
  }
}

/** Imported lazily because it needs Node's worker threads. */
function remoteBuilder(store: CollectionStore): Promise<RemoteBuilder> | undefined {
  const { beginIngest } = store
  if (beginIngest === undefined || store.ids !== undefined) return undefined
  return import('./rebuild/remote-segments.ts').then(({ RemoteSegments }) => new RemoteSegments(store, beginIngest))
}
