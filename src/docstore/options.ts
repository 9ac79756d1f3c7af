/** Options for opening a database and for running operations. An option that is undefined counts as absent. */
import type { AbstractLevel } from 'abstract-level'
import type { Collation } from '../query/collation.ts'
import type { IdsOption } from './ids/ids-option.ts'
import type { Known } from './known-options.ts'
import type { LsmTuning } from './store/lsm-tuning.ts'
import type { AnyFields } from './types/fields.ts'

export type { Collation, LsmTuning }

/** Any abstract-level database whose keys and values may be bytes or text. */
export type Store = AbstractLevel<unknown, unknown, unknown>

/** Any abstract-level database, whatever its key and value types; the rest of its type would only get in the way. */
export type AnyLevel = Pick<Store, 'status' | 'supports'>

/** `lsm` and `level` store a database in a directory; `memory` keeps it until it is closed. */
export type StoreName = 'lsm' | 'level' | 'memory'

/** Kind of a collection's index; see IndexOptions. */
export type IndexKind = 'sharded' | 'embedded' | 'none'

/**
 * Options of a collection's index. `sharded` indexes every pair of every document. `embedded` keeps no index of its
 * own: the LSM store's value filters rule out tables, and the remaining documents are scanned. `none` scans every
 * document; it is the oracle that the other kinds are tested against.
 */
export interface IndexOptions {
  /** Kind of the index; see above. Default: see OpenOptions. */
  readonly kind?: IndexKind | undefined
  /**
   * Documents per segment (M), a power of two from 512 to 65,536. Default: the collection's current value, 65,536 for a
   * new one. A different value rebuilds the index when the collection is opened.
   */
  readonly segmentBits?: number | undefined
  /**
   * How pairs too rare for a row of their own are stored: in Bloom filters over the documents (`'bloom'`), or as
   * fingerprints with the documents that have them (`'fingerprint'`), which take less space and are practically exact.
   * Default: the choice of `tune()`, or `'bloom'` if there is none. Applies to segments started from now on, and to all
   * segments after a rebuild.
   */
  readonly tail?: 'bloom' | 'fingerprint' | undefined
  /** Rows per segment (P). Default `'auto'`: derived from statistics of the documents. */
  readonly shards?: number | 'auto' | undefined
  /** Rows that a pair sets (R). Default `'auto'`. */
  readonly rowsPerPair?: number | 'auto' | undefined
  /** Row bits spent on each (pair, document). Default 24. */
  readonly bitsPerPosting?: number | undefined
  /**
   * Hash function of the index. Default: the collection's current one, `'murmur'` for a new collection. A different one
   * rebuilds the index when the collection is opened. `'farmhash'` is a native module: where it cannot be loaded, the
   * option is rejected, and a collection indexed with it cannot be opened without choosing another hash.
   */
  readonly hash?: 'murmur' | 'farmhash' | undefined
  /**
   * Which paths get range codes: those with numbers and dates (`'numbers'`), those with strings as well (`'all'`), no
   * paths (`'none'`), or as the documents suggest (`'auto'`, the default).
   */
  readonly rangeCodes?: 'auto' | 'numbers' | 'all' | 'none' | undefined
  /** Cache size for index rows, in bytes. Default 256 MiB. */
  readonly cacheBytes?: number | undefined
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

/** When an index is rebuilt automatically. */
export interface AutoRebuildOptions {
  /**
   * Rebuild when this fraction of the indexed documents is dead: above 0, at most 1. Fewer than 1,024 dead documents
   * never trigger a rebuild. Default 0.3.
   */
  readonly deadShare?: number | undefined
  /** Rebuild when there are this many times as many false positives as predicted: at least 1. Default 4. */
  readonly excess?: number | undefined
}

export const knownAutoRebuild = { deadShare: true, excess: true } satisfies Known<AutoRebuildOptions>

/** Options of open(). Those that determine how data is stored take effect only when the database is created. */
export interface OpenOptions {
  /**
   * How new collections map `_id`s to documents; the default collection must have been created with the same setting.
   * Default `'table'`.
   */
  readonly ids?: IdsOption | undefined
  /**
   * Storage engine of a new database; an existing directory is opened with the engine that created it. Default `'lsm'`.
   */
  readonly store?: StoreName | undefined
  /** Tuning of the LSM store; other stores ignore it. */
  readonly lsm?: LsmTuning | undefined
  /** Create the database if its directory does not contain one; other locations have none to find. Default true. */
  readonly createIfMissing?: boolean | undefined
  /** Fail if the directory already contains a database; ignored for other locations. Default false. */
  readonly errorIfExists?: boolean | undefined
  /**
   * Reject every write. The LSM store then changes nothing in the directory and takes no lock: any number of threads and
   * processes can read a database as it was when they opened it, while one goes on writing. A reader reads the logs into
   * memory, has a file descriptor for each table, and keeps the room of tables that the writer removes until it is
   * closed. LevelDB has no read-only mode: with `store: 'level'` no record changes, but files do, as on every open: it
   * writes its log to a table, starts a new log and a new manifest, and may compact tables. Default false.
   */
  readonly readOnly?: boolean | undefined
  /** Wait for the disk on every commit, so that acknowledged writes survive power loss. Default false. */
  readonly sync?: boolean | undefined
  /** Aborts opening; it does not close a database that is already open. */
  readonly signal?: AbortSignal | undefined
  /**
   * Memory for decoded copies of frequently read documents, shared by all collections: returning a copy costs a quarter
   * of reading and decoding the document. 0 disables the cache; collections with `ids: 'reversible'` never use it.
   * Default 64 MiB.
   */
  readonly documentCacheBytes?: number | undefined
  /**
   * Most worker threads that may help reads in this process that no index helps with; 0 for none. A read is helped only
   * if it would take 200 ms more, and returns few of the documents it reads. Only the LSM store can be read by threads.
   * Default: one less than the number of processors, at most 3, and one per GiB of memory.
   */
  readonly scanThreads?: number | undefined
  /**
   * Index of the collections. A collection with an index of another kind gets the new one built when it is opened.
   * Without a kind, existing collections keep theirs and new ones are `'sharded'`.
   */
  readonly index?: IndexKind | IndexOptions | undefined
  /**
   * Rebuild an index in the background, alongside reads and writes, when that pays off; false never does. Default true.
   */
  readonly autoRebuild?: boolean | AutoRebuildOptions | undefined
  /**
   * Seconds between sweeps for documents that have expired by an index with `expireAfterSeconds`: above 0, at most
   * 2,000,000. Default 60.
   */
  readonly ttlIntervalSeconds?: number | undefined
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
  scanThreads: true,
  index: true,
  autoRebuild: true,
  ttlIntervalSeconds: true
} satisfies Known<OpenOptions>

/** Options of one collection; where omitted, those of its database apply. */
export interface CollectionOptions {
  /** How the collection maps `_id`s to documents; fixed when the collection is created. */
  readonly ids?: IdsOption | undefined
  /** A kind other than the stored one is built when the collection is opened. */
  readonly index?: IndexKind | IndexOptions | undefined
  /** Rebuild the index in the background when that pays off; see OpenOptions. */
  readonly autoRebuild?: boolean | AutoRebuildOptions | undefined
}

export const knownCollectionOptions = { ids: true, index: true, autoRebuild: true } satisfies Known<CollectionOptions>

/** Of calls without options of their own: those of MongoDB's driver that make no difference are ignored. */
export type NoOptions = Readonly<Record<string, never>>

/** Options of one read. */
export interface ReadOptions {
  /** Aborts the operation with an AbortedError, at the next turn of the event loop: not within a document's expressions. */
  readonly signal?: AbortSignal | undefined
  /**
   * Time limit in milliseconds, waiting for other writes included; then the call fails with MaxTimeMSExpired, even within
   * an expression over a long array.
   */
  readonly maxTimeMS?: number | undefined
  /**
   * Forces a plan: `'scan'` reads every document; `'index'` uses the index over all pairs even where `_id` or a
   * declared index would be faster; any other string names a declared index, and an object is its key pattern.
   * `{ $natural: 1 }` scans, and `{ $natural: -1 }` scans from the newest document to the oldest.
   */
  readonly hint?: 'scan' | 'index' | (string & {}) | Readonly<Record<string, 1 | -1>> | undefined
  /**
   * Language-specific rules for comparing strings in filters, sorts, `distinct` and update operators; without it,
   * strings compare by code point. No index supports a collation: string equality and range conditions read every
   * document with a string on the path. Pipelines with a collation reject stages that group or join, and operators that
   * compare.
   */
  readonly collation?: Collation | undefined
  /** Variables that expressions in `$expr` and in update pipelines can refer to as `$$name`. */
  readonly let?: AnyFields | undefined
}

export const knownReadOptions = {
  signal: true,
  maxTimeMS: true,
  hint: true,
  collation: true,
  let: true
} satisfies Known<ReadOptions>

/** Ascending or descending. */
export type SortDirection = 1 | -1 | 'asc' | 'ascending' | 'desc' | 'descending'

/**
 * `{ name: 1 }`, `[['name', 1]]`, `['name', 1]`, a Map, a field name or an array of them; `$natural` is the order of
 * last writes.
 */
export type SortSpec =
  | string
  | Readonly<Record<string, SortDirection>>
  | ReadonlyMap<string, SortDirection>
  | readonly [string, SortDirection]
  | readonly (string | readonly [string, SortDirection])[]

/** Options of find() and findOne(). */
export interface FindOptions extends ReadOptions {
  /**
   * Fields to include or exclude, as in MongoDB: `{ text: 1 }`, `{ text: 0 }`, `{ 'tags.$': 1 }` for the array element
   * that matched the filter, and, alongside included fields, computed ones: `{ words: { $size: '$tags' } }`. The
   * compiler takes what is returned for whole documents; `find().project<U>()` gives it another type.
   */
  readonly projection?: AnyFields | undefined
  /** Sort order. Default: `$natural`, the order of last writes. */
  readonly sort?: SortSpec | undefined
  /** Number of matches to skip, after sorting. Default 0. */
  readonly skip?: number | undefined
  /** Maximum number of documents to return; a negative one counts as positive, as in MongoDB. Default 0: no limit. */
  readonly limit?: number | undefined
}

export const knownFindOptions = {
  ...knownReadOptions,
  projection: true,
  sort: true,
  skip: true,
  limit: true
} satisfies Known<FindOptions>

/** Options of countDocuments(). */
export interface CountOptions extends ReadOptions {
  /** Number of matches to skip. Default 0. */
  readonly skip?: number | undefined
  /** Maximum count. Default 0: no limit. */
  readonly limit?: number | undefined
}

export const knownCountOptions = { ...knownReadOptions, skip: true, limit: true } satisfies Known<CountOptions>

/** Options of updateMany(), and of every update and replacement. */
export interface UpdateOptions extends ReadOptions {
  /** Insert a document if none matches. Default false. */
  readonly upsert?: boolean | undefined
  /** Filters for the array elements that `$[name]` in the update refers to. */
  readonly arrayFilters?: readonly AnyFields[] | undefined
}

export const knownUpdateOptions = {
  ...knownReadOptions,
  upsert: true,
  arrayFilters: true
} satisfies Known<UpdateOptions>

/** Options of updateOne() and replaceOne(). */
export interface UpdateOneOptions extends UpdateOptions {
  /** Sort order; the first match in this order is changed. */
  readonly sort?: SortSpec | undefined
}

export const knownUpdateOneOptions = { ...knownUpdateOptions, sort: true } satisfies Known<UpdateOneOptions>

/** Options of findOneAndDelete(). */
export interface FindOneAndDeleteOptions extends ReadOptions {
  /** Sort order; the first match in this order is deleted or changed. */
  readonly sort?: SortSpec | undefined
  /** Fields of the returned document, as in FindOptions. */
  readonly projection?: AnyFields | undefined
}

export const knownFindOneAndDelete = {
  ...knownReadOptions,
  sort: true,
  projection: true
} satisfies Known<FindOneAndDeleteOptions>

/** Options of findOneAndUpdate() and findOneAndReplace(). */
export interface FindOneAndUpdateOptions extends FindOneAndDeleteOptions {
  /** Insert a document if none matches. Default false. */
  readonly upsert?: boolean | undefined
  /** Filters for the array elements that `$[name]` in the update refers to. */
  readonly arrayFilters?: readonly AnyFields[] | undefined
  /** Which version of the document to return. Default `'before'`. */
  readonly returnDocument?: 'before' | 'after' | undefined
}

export const knownFindOneAndUpdate = {
  ...knownFindOneAndDelete,
  upsert: true,
  arrayFilters: true,
  returnDocument: true
} satisfies Known<FindOneAndUpdateOptions>
