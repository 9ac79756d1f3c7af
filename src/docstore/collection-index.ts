/** What may be asked of the index of a collection, and done with it. */
import { PetalError } from '../model/errors.ts'
import type { IndexStats } from '../sharded-bloom/document-index.ts'
import { type RebuildReason, rebuildReason } from '../sharded-bloom/rebuild/policy.ts'
import type { TuneResult } from '../sharded-bloom/tune/tune-result.ts'
import type { Collections } from './collections.ts'
import { knownRebuildOptions, type RebuildOptions, type RebuildResult } from './jobs/rebuild-job.ts'
import { knownTuneOptions, type TuneOptions, tuneCollection } from './jobs/tune.ts'
import { noIndex } from './open-index.ts'
import { assertOptions } from './option-checks.ts'

export interface CollectionIndex {
  /** What the index holds and takes, in bytes; zeros for a collection that is not there. */
  stats(): Promise<IndexStats>

  /**
   * Predicts what other parameters of the index would cost and find, builds the likely ones over a sample of the
   * documents, asks them the queries, and takes the best. The choice is kept: segments to come get their parameters by
   * it, and all of them when the index is built again. What `open()` was told to use stays as it was told.
   * See docs/tuning.md.
   * @throws PetalError NamespaceNotFound, IllegalOperation for fewer than 256 documents, InvalidOptions; AbortedError
   * @example
   * const { choices, taken, reason } = await db.index.tune({ queries: [{ lang: 'en' }], targetFpr: 1e-5, dryRun: true })
   * console.log(reason, choices[taken].measured.bytesPerDocument)
   */
  tune(options?: TuneOptions): Promise<TuneResult>

  /**
   * Builds the index again from the documents, while reads and writes go on: what was deleted or replaced costs nothing
   * any more, small segments become large ones, and parameters are those that tune() chose, for the documents there are
   * now. Until the end the index is what it was, whatever happens; closing the database ends the rebuild.
   * @throws PetalError NamespaceNotFound, IllegalOperation while it is being built, or without an index; AbortedError
   * @example
   * await db.index.rebuild({ onProgress: ({ documents, total }) => console.log(`${documents} of ${total}`) })
   */
  rebuild(options?: RebuildOptions): Promise<RebuildResult>

  /** Why a rebuild would pay: many dead documents, many small segments; undefined when it would not. */
  rebuildReason(): Promise<RebuildReason | undefined>
}

export function collectionIndex(collections: Collections, name: string): CollectionIndex {
  return {
    stats: async () => (await collections.reading(name))?.indexStats() ?? noIndex,
    tune: async (options = {}) => {
      assertOptions('index.tune', options, knownTuneOptions)
      const collection = await collections.reading(name)
      if (collection === undefined) throw noCollection(name)
      return options.dryRun === true
        ? tuneCollection(collection, options)
        : collections.write(name, (writable) => tuneCollection(writable, options))
    },
    rebuild: async (options = {}) => {
      assertOptions('index.rebuild', options, knownRebuildOptions)
      if ((await collections.reading(name)) === undefined) throw noCollection(name)
      // Closing does not wait for the rebuild as it does for writes: it ends it.
      const { done } = await collections.write(name, async (writable) => ({ done: writable.rebuildIndex(options) }))
      return done
    },
    rebuildReason: async () => {
      const collection = await collections.reading(name)
      const tuning = collection?.indexTuning
      return collection && tuning && rebuildReason(collection.indexStats(), tuning.segmentDocuments)
    }
  }
}

function noCollection(name: string): PetalError {
  return new PetalError('NamespaceNotFound', `There is no collection '${name}'`)
}
