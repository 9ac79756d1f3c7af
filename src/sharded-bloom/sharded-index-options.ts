/** What an index is opened with. */
import type { HashName } from '../bloom/hash.ts'
import type { DocumentSource, IndexStore } from './document-index.ts'
import type { RangeCodes } from './ranges/choose-columns.ts'
import type { IndexSeed } from './records/index-header.ts'
import type { TailKind } from './segment/tail/tail.ts'

export interface ShardedIndexOptions {
  readonly store: IndexStore
  readonly documents: DocumentSource
  /**
   * M, ordinals per segment: a power of two from 512 to 65,536. Default: that of the stored index, 65,536 for a new one.
   * Another one builds the index again.
   */
  readonly segmentDocuments?: number | undefined
  /** What hashed pairs are kept in; default 'bloom'. Decides of segments that begin from now on. */
  readonly tail?: TailKind | undefined
  readonly shards?: number | 'auto' | undefined
  readonly rowsPerPair?: number | 'auto' | undefined
  /** Default 24. */
  readonly bitsPerPosting?: number | undefined
  /** Which values get range codes; default 'auto'. */
  readonly rangeCodes?: RangeCodes | undefined
  /** Default: that of the stored index, murmur for a new one. Another one builds the index again. */
  readonly hash?: HashName | undefined
  /** Seed of an index that is created now: random unless given, so that nobody can craft documents that collide. */
  readonly seed?: IndexSeed | undefined
  /** Budget of the row cache, default 256 MiB. */
  readonly cacheBytes?: number | undefined
  /** Told of damage, once; the index is built again at the next open. */
  readonly onDamage?: ((message: string) => void) | undefined
}
