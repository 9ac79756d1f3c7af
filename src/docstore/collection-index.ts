/** The index of a collection: statistics, tuning and rebuilds. */
import { PetalError } from '../model/errors.ts'
import { answered } from '../model/time-slice.ts'
import type { IndexStats } from '../sharded-bloom/document-index.ts'
import { type RebuildReason, rebuildReason } from '../sharded-bloom/rebuild/policy.ts'
import type { TuneResult } from '../sharded-bloom/tune/tune-result.ts'
import type { Collections } from './collections.ts'
import { knownRebuildOptions, type RebuildOptions, type RebuildResult } from './jobs/rebuild-job.ts'
import { knownTuneOptions, type TuneOptions, tuneCollection } from './jobs/tune.ts'
import { noIndex } from './open-index.ts'
import { assertOptions } from './option-checks.ts'
import { checkThreads } from './threads/threads-option.ts'

/** The index of a collection over all pairs of its documents, as `collection.index`. */
export interface CollectionIndex {
  /** Returns the size and contents of the index; zeros for a collection that does not exist. */
  stats(): Promise<IndexStats>

  /**
   * Tunes the parameters of the index: predicts the cost and accuracy of other parameters, builds the likely candidates
   * over a sample of the documents, runs the queries against them, and picks the best. Unless `dryRun` is set, the
   * choice is stored: new segments use it, and all segments do after a rebuild. Parameters given to `open()` take
   * precedence. See docs/tuning.md.
   * @throws PetalError NamespaceNotFound, IllegalOperation for fewer than 256 documents, InvalidOptions; AbortedError
   * @example
   * const { choices, taken, reason } = await db.index.tune({ queries: [{ lang: 'en' }], targetFpr: 1e-5, dryRun: true })
   * console.log(reason, choices[taken].measured.bytesPerDocument)
   */
  tune(options?: TuneOptions): Promise<TuneResult>

  /**
   * Rebuilds the index from the documents, while reads and writes continue. This reclaims the space of deleted and
   * replaced documents, merges small segments into large ones, and applies the parameters that tune() chose, for the
   * current documents. The old index stays in use until the end and is unaffected by a failure; closing the database
   * aborts the rebuild.
   * @throws PetalError NamespaceNotFound, IllegalOperation while a rebuild is running, or without an index;
   *   AbortedError
   * @example
   * await db.index.rebuild({ onProgress: ({ documents, total }) => console.log(`${documents} of ${total}`) })
   */
  rebuild(options?: RebuildOptions): Promise<RebuildResult>

  /** Returns why a rebuild would pay off (many dead documents, many small segments), or undefined if it would not. */
  rebuildReason(): Promise<RebuildReason | undefined>
}

export function collectionIndex(collections: Collections, name: string): CollectionIndex {
  return {
    stats: () => answered(async () => (await collections.openForRead(name))?.indexStats() ?? noIndex),
    tune: (options = {}) => answered(() => tune(collections, name, options)),
    rebuild: (options = {}) => answered(() => rebuild(collections, name, options)),
    rebuildReason: () =>
      answered(async () => {
        const collection = await collections.openForRead(name)
        const tuning = collection?.indexTuning
        return collection && tuning && rebuildReason(collection.indexStats(), tuning.segmentDocuments)
      })
  }
}

async function tune(collections: Collections, name: string, options: TuneOptions): Promise<TuneResult> {
  assertOptions('index.tune', options, knownTuneOptions)
  const collection = await collections.openForRead(name)
  if (collection === undefined) throw noCollection(name)
  return options.dryRun === true
    ? tuneCollection(collection, options)
    : collections.write(name, (writable) => tuneCollection(writable, options))
}

async function rebuild(collections: Collections, name: string, options: RebuildOptions): Promise<RebuildResult> {
  assertOptions('index.rebuild', options, knownRebuildOptions)
  checkThreads(options)
  if ((await collections.openForRead(name)) === undefined) throw noCollection(name)
  // The write returns before the rebuild is done: close() aborts a rebuild instead of waiting for it.
  const { done } = await collections.write(name, async (writable) => ({ done: writable.rebuildIndex(options) }))
  return done
}

function noCollection(name: string): PetalError {
  return new PetalError('NamespaceNotFound', `There is no collection '${name}'`)
}
