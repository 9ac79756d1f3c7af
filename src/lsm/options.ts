/** What users may choose; names and defaults as users of classic-level know them. */
import type { AbstractDatabaseOptions } from 'abstract-level'
import type { FileSystem } from './fs/file-system.ts'
import type { ExtractorSpec } from './value/extractor.ts'

const kib = 1024
const mib = 1024 * kib

/** Options of the store itself, without what abstract-level handles. */
export interface StoreOptions {
  /** Creates the directory when there is none. Default true. */
  readonly createIfMissing?: boolean | undefined
  /** Refuses an existing database. Default false. */
  readonly errorIfExists?: boolean | undefined
  /** LZ4 for blocks that shrink by an eighth at least. Costs CPU in the worker, saves disk and cache. Default true. */
  readonly compression?: boolean
  /** Bytes of decompressed blocks kept in memory. Default 8 MiB. */
  readonly cacheSize?: number
  /**
   * Bytes of new entries kept in memory before they become a table; four of these may be in memory at a time. Larger
   * means fewer compactions, more memory and a longer recovery. Default 4 MiB.
   */
  readonly writeBufferSize?: number
  /** Bytes of a data block before compression: what one uncached get reads. Default 4 KiB. */
  readonly blockSize?: number
  /**
   * Where get(), has(), getMany() and hasMany() wait for blocks that are in no cache. 'blocking': on this thread, which
   * takes some microseconds as long as the system has them in its memory. 'threaded': in Node's thread pool, some tens
   * of microseconds for each, so that a slow disk does not stop the event loop. getSync() and iterators always block.
   * Default 'blocking'.
   */
  readonly diskReads?: 'blocking' | 'threaded'
  /** Entries between two whole keys in a block. Default 16. */
  readonly blockRestartInterval?: number
  /** Bytes of a table before a new one is begun. Default 2 MiB. */
  readonly maxFileSize?: number
  /** Tables kept open. Default 1,000. */
  readonly maxOpenFiles?: number
  /** Bits per key of the key filter at the last level; each level above gets 4.8 more. 0: none. Default 9.5. */
  readonly keyFilterBits?: number
  /** Tables of one partition in level 0 that start a compaction. Default 4. */
  readonly level0CompactionTrigger?: number
  /** … that slow writers down. Default 20. */
  readonly level0SlowdownTrigger?: number
  /** … that stop writers: not below 3 × level0CompactionTrigger, where merges may not be due yet. Default 36. */
  readonly level0StopTrigger?: number
  /** False: nothing is merged unless compactRange() asks for it. For stores that are only read. Default true. */
  readonly autoCompaction?: boolean
  /** Target bytes of level 1; each level below is ten times larger. Default 64 MiB. */
  readonly level1Bytes?: number
  /** Leading `!name!` groups of a key that name its partition; sublevels are such groups. Default 0. */
  readonly partitionDepth?: number
  /** Value filters, zone maps and the filter index. Default none. */
  readonly values?: ValueOptions
  /** Not supported: rejects with LEVEL_NOT_SUPPORTED when true. */
  readonly multithreading?: boolean
  /** For tests: another file system, and jobs on this thread. */
  readonly fileSystem?: FileSystem
}

export interface ValueOptions {
  readonly extractor: ExtractorSpec
  /** m of a table's filter, the same for all tables of a store. Default 2^18. */
  readonly filterBits?: number
  /** k. Default 6. */
  readonly filterHashes?: number
  /**
   * Bits per pair of block filters, 0 for none. Default 0. Tables have hundreds of blocks: with 10 bits a lookup of a unique
   * value reads four blocks in vain, and takes twice the processor's time that it takes with 16.
   */
  readonly blockFilterBits?: number
  /** Levels that get a table filter; 'all' or all but the last. Default 'all'. */
  readonly levels?: 'all' | 'not-last'
  readonly placement?: 'table' | 'side-file'
  /** When filters are brought into memory. Default 'lazy': at the first lookup. */
  readonly loading?: 'open' | 'lazy'
  /** The structure over the tables' filters. Default 'sliced'. */
  readonly index?: 'linear' | 'tree' | 'sliced'
  /** Order d of the tree: d to 2d children. Default 8. */
  readonly treeOrder?: number
  /** Bytes of filters in memory; the rest are read from disk when asked. Default 64 MiB. */
  readonly filterMemory?: number
}

export type LsmOptions<K, V> = StoreOptions & AbstractDatabaseOptions<K, V>

/** Every option with its value. */
export type ResolvedOptions = Required<Omit<StoreOptions, 'values' | 'fileSystem' | 'multithreading'>> & {
  readonly values: Required<ValueOptions> | undefined
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
  partitionDepth: 0
} as const

/** @throws TypeError, which names the call, for options that are neither an object nor left out */
export function assertOptions(call: string, options: object): void {
  if (typeof options === 'object' && options !== null) return
  throw new TypeError(`${call} takes options as an object, received ${String(options)}`)
}
