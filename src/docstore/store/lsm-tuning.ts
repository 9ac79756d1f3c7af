/** What of the LSM store is the caller's choice. */
import type { StoreOptions, ValueOptions } from '../../lsm/options.ts'
import type { Known } from '../known-options.ts'

/** What may be chosen of the LSM store; defaults are its own, but for a larger cache and a larger write buffer. */
export interface LsmTuning
  extends Omit<
    StoreOptions,
    | 'createIfMissing'
    | 'errorIfExists'
    | 'autoCompaction'
    | 'partitionDepth'
    | 'values'
    | 'multithreading'
    | 'fileSystem'
  > {
  /**
   * Value filters over the documents of each table, which rule tables out for a query. They cost 15 to 19 bytes a tweet
   * and some 14 µs of the compaction thread, and pay where there is no other index. Default: on where a collection has
   * `index: 'embedded'`.
   */
  readonly values?: boolean | Omit<ValueOptions, 'extractor'>
}

export const knownLsmTuning = {
  compression: true,
  cacheSize: true,
  writeBufferSize: true,
  blockSize: true,
  diskReads: true,
  blockRestartInterval: true,
  maxFileSize: true,
  maxOpenFiles: true,
  keyFilterBits: true,
  level0CompactionTrigger: true,
  level0SlowdownTrigger: true,
  level0StopTrigger: true,
  level1Bytes: true,
  values: true
} satisfies Known<LsmTuning>

export const knownValueOptions = {
  filterBits: true,
  filterHashes: true,
  blockFilterBits: true,
  levels: true,
  placement: true,
  loading: true,
  index: true,
  treeOrder: true,
  filterMemory: true
} satisfies Known<Omit<ValueOptions, 'extractor'>>
