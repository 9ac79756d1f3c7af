/** What callers may choose when they open a database or run an operation. */
import type { AbstractLevel } from 'abstract-level'
import type { Document } from '../model/types.ts'
import type { Collation } from '../query/collation.ts'
import type { IdsOption } from './ids/ids-option.ts'
import type { Known } from './known-options.ts'
import type { LsmTuning } from './store/lsm-tuning.ts'

export type { Collation, LsmTuning }

/** Any abstract-level database whose keys and values may be bytes or text. */
export type Store = AbstractLevel<unknown, unknown, unknown>

/** An abstract-level database of whatever keys and values; the rest of its type would only get in the way. */
export type AnyLevel = Pick<Store, 'status' | 'supports'>

/** `lsm` and `level` keep a database in a directory, `memory` until it is closed. */
export type StoreName = 'lsm' | 'level' | 'memory'

/** What IndexOptions tells of. */
export type IndexKind = 'sharded' | 'embedded' | 'none'

/**
 * The index of a collection. `embedded` has none of its own: the value filters of the LSM store rule tables out, and
 * what is left is scanned. `none` scans, and is the oracle of the others.
 */
export interface IndexOptions {
  readonly kind?: IndexKind
  /**
   * Documents per segment (M), a power of two from 512 to 65,536. Default: as the collection has it, 65,536 for a new one.
   * Another than before builds the index again when the collection is opened.
   */
  readonly segmentBits?: number
  /**
   * What pairs are kept in that are too rare for a row of their own: Bloom filters over the documents (`'bloom'`), or fingerprints
   * with the documents that have them (`'fingerprint'`), which take less and are practically exact. Default: as `tune()` has
   * chosen, `'bloom'` where it has not. It decides of segments that begin from now on, and of all when the index is built again.
   */
  readonly tail?: 'bloom' | 'fingerprint'
  /** Rows per segment (P). Default `'auto'`: from the statistics of the documents. */
  readonly shards?: number | 'auto'
  /** Rows that a pair sets (R). Default `'auto'`. */
  readonly rowsPerPair?: number | 'auto'
  /** Row bits spent on each (pair, document). Default 24. */
  readonly bitsPerPosting?: number
  /**
   * Default: as the collection has it, `'murmur'` for a new one. Another than before builds the index again when the
   * collection is opened. `'farmhash'` is a native module: where it cannot be loaded, it is refused, and a collection that
   * has it is not opened with it.
   */
  readonly hash?: 'murmur' | 'farmhash'
  /**
   * Which paths get range codes: those of numbers and dates (`'numbers'`), of strings too (`'all'`), none, or by what
   * the documents hold (`'auto'`, the default).
   */
  readonly rangeCodes?: 'auto' | 'numbers' | 'all' | 'none'
  /** Bytes of rows kept in memory. Default 256 MiB. */
  readonly cacheBytes?: number
}

export const knownIndexOptions = {
  kind: true,
  segmentBits: true,
  tail: true,
  shards: true,
  rowsPerPair: true,
  bitsPerPosting: true,
  hash: true,
  rangeCodes: true,
  cacheBytes: true
} satisfies Known<IndexOptions>

/** When an index is built again by itself. */
export interface AutoRebuildOptions {
  /** Dead documents among all that the index holds, above 0 and at most 1; fewer than 1,024 never matter. Default 0.3. */
  readonly deadShare?: number
  /** How many times as many false positives as predicted, at least 1. Default 4. */
  readonly excess?: number
}

export const knownAutoRebuild = { deadShare: true, excess: true } satisfies Known<AutoRebuildOptions>

/** How a database is opened. What concerns the way it is stored is decided when it is made. */
export interface OpenOptions {
  /** Of collections that are made; the default collection must have been made so. Default `'table'`. */
  readonly ids?: IdsOption
  /** Which engine stores a new database; an existing directory is opened by the one that made it. Default `'lsm'`. */
  readonly store?: StoreName
  /** Of the LSM store; other stores have no use for it. */
  readonly lsm?: LsmTuning
  /** Default true. */
  readonly createIfMissing?: boolean
  /** Default false. */
  readonly errorIfExists?: boolean
  /**
   * Refuses every write. The LSM store changes nothing in the directory then, and keeps in memory what the logs of a
   * database that was not closed hold. The directory is locked all the same; where nothing can be written, or the disk is
   * full, it is opened without a lock, and must not be written from elsewhere meanwhile. LevelDB cannot be opened to be
   * read: with `store: 'level'` no record changes, but files do, as in every opening of it. It makes a table of its log,
   * begins a new log and a new manifest, and may compact tables. Default false.
   */
  readonly readOnly?: boolean
  /** Waits for the disk on every commit, so that acknowledged writes survive power loss. Default false. */
  readonly sync?: boolean
  /** Ends the opening, not the database. */
  readonly signal?: AbortSignal
  /**
   * Memory for documents that are read again and again, of all collections together, kept decoded: handing out a copy of one
   * costs a quarter of reading and decoding it. 0 keeps none, nor does a collection with `ids: 'reversible'`. Default 64 MiB.
   */
  readonly documentCacheBytes?: number
  /**
   * Of its collections. Another kind than before is built when a collection is opened; without one they keep theirs, and
   * new ones are `'sharded'`.
   */
  readonly index?: IndexKind | IndexOptions
  /** Builds the index again, beside reads and writes, when that pays; false never does. Default true. */
  readonly autoRebuild?: boolean | AutoRebuildOptions
  /**
   * Seconds between two looks for documents that have expired by an index with `expireAfterSeconds`; above 0, at most 2,000,000.
   * Default 60.
   */
  readonly ttlIntervalSeconds?: number
}

export const knownOpenOptions = {
  ids: true,
  store: true,
  lsm: true,
  createIfMissing: true,
  errorIfExists: true,
  readOnly: true,
  sync: true,
  signal: true,
  documentCacheBytes: true,
  index: true,
  autoRebuild: true,
  ttlIntervalSeconds: true
} satisfies Known<OpenOptions>

/** How a collection is opened, where that differs from its database. */
export interface CollectionOptions {
  /** Decided when the collection is made, and not to be changed. */
  readonly ids?: IdsOption
  /** Another kind than before is built when the collection is opened. */
  readonly index?: IndexKind | IndexOptions
  readonly autoRebuild?: boolean | AutoRebuildOptions
}

export const knownCollectionOptions = { ids: true, index: true, autoRebuild: true } satisfies Known<CollectionOptions>

/** Options of one read. */
export interface ReadOptions {
  /** Ends the operation with an AbortedError. */
  readonly signal?: AbortSignal
  /** Milliseconds after which the operation fails with MaxTimeMSExpired. */
  readonly maxTimeMS?: number
  /**
   * Forces a plan: `'scan'` reads every document, `'index'` uses the index of all pairs even where `_id` or a declared
   * index would be shorter; any other text is the name of a declared index, an object its key pattern. `{ $natural: 1 }` is a
   * scan, and `{ $natural: -1 }` one from the newest document to the oldest.
   */
  readonly hint?: 'scan' | 'index' | (string & {}) | Readonly<Record<string, 1 | -1>>
  /**
   * How strings compare in the filter, the sort, `distinct` and operators of an update; without it, by code point. Equality and ranges of
   * strings are then a matter of reading all documents that have a string on the path: no index knows them. Of pipelines, stages that
   * group or join, and operators that compare, are refused beside it.
   */
  readonly collation?: Collation
  /** Values that expressions, in `$expr` and in updates that are pipelines, know as `$$name`. */
  readonly let?: Readonly<Record<string, unknown>>
}

export const knownReadOptions = {
  signal: true,
  maxTimeMS: true,
  hint: true,
  collation: true,
  let: true
} satisfies Known<ReadOptions>

export type SortDirection = 1 | -1 | 'asc' | 'ascending' | 'desc' | 'descending'

/** `{ name: 1 }`, `[['name', 1]]`, `['name', 1]`, a Map, a field name or several; `$natural` is the order of last writes. */
export type SortSpec =
  | string
  | Readonly<Record<string, SortDirection>>
  | ReadonlyMap<string, SortDirection>
  | readonly [string, SortDirection]
  | readonly (string | readonly [string, SortDirection])[]

/** What is returned of the matches, and in which order. */
export interface FindOptions extends ReadOptions {
  /**
   * Fields to return or to leave out, as in MongoDB: `{ text: 1 }`, `{ text: 0 }`, `{ 'tags.$': 1 }` for the element that the filter
   * matched; beside fields that are returned, those that an expression gives: `{ words: { $size: '$tags' } }`.
   */
  readonly projection?: Readonly<Record<string, unknown>>
  readonly sort?: SortSpec
  /** Matches to pass over, after sorting. Default 0. */
  readonly skip?: number
  /** 0 is no limit. */
  readonly limit?: number
}

export const knownFindOptions = {
  ...knownReadOptions,
  projection: true,
  sort: true,
  skip: true,
  limit: true
} satisfies Known<FindOptions>

/** Which of the matches are counted. */
export interface CountOptions extends ReadOptions {
  readonly skip?: number
  readonly limit?: number
}

export const knownCountOptions = { ...knownReadOptions, skip: true, limit: true } satisfies Known<CountOptions>

/** How matches are changed. */
export interface UpdateOptions extends ReadOptions {
  /** Insert a document when none matches. Default false. */
  readonly upsert?: boolean
  readonly arrayFilters?: readonly Document[]
}

export const knownUpdateOptions = {
  ...knownReadOptions,
  upsert: true,
  arrayFilters: true
} satisfies Known<UpdateOptions>

/** Which one of the matches is deleted, and what is returned of it. */
export interface FindOneAndDeleteOptions extends ReadOptions {
  readonly sort?: SortSpec
  readonly projection?: Readonly<Record<string, unknown>>
}

export const knownFindOneAndDelete = {
  ...knownReadOptions,
  sort: true,
  projection: true
} satisfies Known<FindOneAndDeleteOptions>

/** Which one of the matches is changed, and what is returned of it. */
export interface FindOneAndUpdateOptions extends FindOneAndDeleteOptions {
  readonly upsert?: boolean
  readonly arrayFilters?: readonly Document[]
  /** Which version to return. Default `'before'`. */
  readonly returnDocument?: 'before' | 'after'
}

export const knownFindOneAndUpdate = {
  ...knownFindOneAndDelete,
  upsert: true,
  arrayFilters: true,
  returnDocument: true
} satisfies Known<FindOneAndUpdateOptions>
