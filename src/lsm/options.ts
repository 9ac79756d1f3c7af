/** The user's options; names and defaults follow classic-level. */

import type { AbstractDatabaseOptions } from 'abstract-level'
import type { Filled } from '../model/filled.ts'
import type { FileSystem } from './fs/file-system.ts'
import type { ExtractorSpec } from './value/extractor.ts'

const kib = 1024
const mib = 1024 * kib

/** Options of the store itself, besides those that abstract-level handles. */
export interface StoreOptions {
  /** Create the directory if it does not exist. Default true. */
  readonly createIfMissing?: boolean | undefined
  /** Reject an existing database. Default false. */
  readonly errorIfExists?: boolean | undefined
  /** LZ4 for blocks that shrink by at least an eighth. Costs CPU in the worker, saves disk and cache. Default true. */
  readonly compression?: boolean | undefined
  /** Bytes of decompressed blocks kept in memory. Default 8 MiB. */
  readonly cacheSize?: number | undefined
  /**
   * Bytes of a memtable before it is written out as a table; up to four may be in memory at a time. A larger buffer
   * means fewer compactions, more memory and a longer recovery. Default 4 MiB.
   */
  readonly writeBufferSize?: number | undefined
  /** Bytes of a data block before compression: what an uncached get reads. Default 4 KiB. */
  readonly blockSize?: number | undefined
  /**
   * How get(), has(), getMany() and hasMany() read blocks that are not in the block cache. 'blocking': on this thread,
   * which takes some microseconds as long as the block is in the system's page cache. 'threaded': in Node's thread
   * pool, some tens of microseconds per block, so that a slow disk does not stall the event loop. getSync() and
   * iterators always block. Default 'blocking'.
   */
  readonly diskReads?: 'blocking' | 'threaded' | undefined
  /** Entries between restart points, which store the whole key, in a block. Default 16. */
  readonly blockRestartInterval?: number | undefined
  /** Target bytes of a table. Default 2 MiB. */
  readonly maxFileSize?: number | undefined
  /** Tables kept open. Default 1,000. */
  readonly maxOpenFiles?: number | undefined
  /** Bits per key of the key filter at the last level; each level above gets 4.8 more. 0: none. Default 9.5. */
  readonly keyFilterBits?: number | undefined
  /** Sorted runs in level 0 of one partition that trigger a compaction. Default 4. */
  readonly level0CompactionTrigger?: number | undefined
  /** Sorted runs in level 0 that slow writers down. Default 20. */
  readonly level0SlowdownTrigger?: number | undefined
  /**
   * Sorted runs in level 0 that stop writers: at least 3 × level0CompactionTrigger, since merges may not be due below
   * that. Default 36.
   */
  readonly level0StopTrigger?: number | undefined
  /**
   * False: nothing is merged except by compactRange(), and writers do not wait for it, however many runs level 0 has.
   * For read-only use. Default true.
   */
  readonly autoCompaction?: boolean | undefined
  /** Target bytes of level 1; each further level is ten times larger. Default 64 MiB. */
  readonly level1Bytes?: number | undefined
  /** Number of leading `!name!` groups of a key that name its partition; sublevels are such groups. Default 0. */
  readonly partitionDepth?: number | undefined
  /**
   * Bytes of keys and values from which a partition has tables of its own; smaller ones share tables with their
   * neighbours. Default 0: each has its own.
   */
  readonly minPartitionSize?: number | undefined
  /** Value filters, zone maps and the filter index. Default none. */
  readonly values?: ValueOptions | undefined
  /** Not supported: rejects with LEVEL_NOT_SUPPORTED when true. */
  readonly multithreading?: boolean | undefined
  /** For tests: another file system; jobs then run on this thread. */
  readonly fileSystem?: FileSystem | undefined
}

/** Filters over the values in tables: see docs/lsm-level.md. */
export interface ValueOptions {
  /** What tells which pairs an entry has: that of jsonExtractor(), or your own. */
  readonly extractor: ExtractorSpec
  /** Bits (m) of a table's filter, the same for all tables of a store. Default 2^18. */
  readonly filterBits?: number | undefined
  /** Hash functions (k) per pair. Default 6. */
  readonly filterHashes?: number | undefined
  /**
   * Bits per pair of block filters, 0 for none. Default 0. A table has hundreds of blocks: with 10 bits, a lookup of a
   * unique value reads four blocks in vain and takes twice the CPU time that it takes with 16.
   */
  readonly blockFilterBits?: number | undefined
  /** Levels whose tables get a filter: 'all', or all but the last. Default 'all'. */
  readonly levels?: 'all' | 'not-last' | undefined
  /** Filters in the tables, or in files of their own beside them. Default 'table'. */
  readonly placement?: 'table' | 'side-file' | undefined
  /** When filters are loaded. Default 'lazy': at the first lookup. */
  readonly loading?: 'open' | 'lazy' | undefined
  /** Data structure over the tables' filters. Default 'sliced'. */
  readonly index?: 'linear' | 'tree' | 'sliced' | undefined
  /** Order d of the tree: nodes have d to 2d children. Default 8. */
  readonly treeOrder?: number | undefined
  /** Bytes of filters kept in memory; the others are read from disk on demand. Default 64 MiB. */
  readonly filterMemory?: number | undefined
}

/** Options of a store: its own, and those of every abstract-level database. */
export type LsmOptions<K, V> = StoreOptions & AbstractDatabaseOptions<K, V>

/** The options with defaults filled in. */
export type ResolvedOptions = Filled<Omit<StoreOptions, 'values' | 'fileSystem' | 'multithreading'>> & {
  readonly values: Filled<ValueOptions> | undefined
}

export const defaults = {
  createIfMissing: true,
  errorIfExists: false,
  compression: true,
  cacheSize: 8 * mib,
  writeBufferSize: 4 * mib,
  blockSize: 4 * kib,
  diskReads: 'blocking',
  blockRestartInterval: 16,
  maxFileSize: 2 * mib,
  maxOpenFiles: 1000,
  keyFilterBits: 9.5,
  level0CompactionTrigger: 4,
  level0SlowdownTrigger: 20,
  level0StopTrigger: 36,
  autoCompaction: true,
  level1Bytes: 64 * mib,
  partitionDepth: 0,
  minPartitionSize: 0
} as const

/** @throws TypeError naming the call, unless options are an object */
export function assertOptions(call: string, options: object): void {
  if (typeof options === 'object' && options !== null) return
  throw new TypeError(`${call} takes options as an object, received ${String(options)}`)
}
