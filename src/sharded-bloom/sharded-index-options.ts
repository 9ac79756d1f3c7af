/** The options of a sharded index. */
import type { HashName } from '../bloom/hash.ts'
import type { DocumentSource, IndexStore } from './document-index.ts'
import type { RangeCodes } from './ranges/choose-columns.ts'
import type { IndexSeed } from './records/index-header.ts'
import type { TailKind } from './segment/tail/tail.ts'

export interface ShardedIndexOptions {
  readonly store: IndexStore
  readonly documents: DocumentSource
  /**
   * M, ordinals per segment: a power of two from 512 to 65,536. Default: that of the stored index, 65,536 for a new
   * one. Choosing another value rebuilds the index.
   */
  readonly segmentDocuments?: number | undefined
  /** What stores hashed pairs; default 'bloom'. Applies to segments begun from now on. */
  readonly tail?: TailKind | undefined
  readonly shards?: number | 'auto' | undefined
  readonly rowsPerPair?: number | 'auto' | undefined
  /** Default 24. */
  readonly bitsPerPosting?: number | undefined
  /** Which values get range codes; default 'auto'. */
  readonly rangeCodes?: RangeCodes | undefined
  /** Default: that of the stored index, murmur for a new one. Choosing another hash rebuilds the index. */
  readonly hash?: HashName | undefined
  /** Seed of a new index: random unless given, so that nobody can craft documents that collide. */
  readonly seed?: IndexSeed | undefined
  /** Budget of the row cache, default 256 MiB. */
  readonly cacheBytes?: number | undefined
  /** Called once on damage; the index is rebuilt at the next open. */
  readonly onDamage?: ((message: string) => void) | undefined
}
