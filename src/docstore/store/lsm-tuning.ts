/** Tuning options of the LSM store. */
import type { StoreOptions, ValueOptions } from '../../lsm/options.ts'
import type { Known } from '../known-options.ts'

/** Tuning of the LSM store. Defaults are the store's own, except for a larger cache and a larger write buffer. */
export interface LsmTuning
  extends Omit<
    StoreOptions,
    | 'createIfMissing'
    | 'errorIfExists'
    | 'autoCompaction'
    | 'partitionDepth'
    | 'minPartitionSize'
    | 'values'
    | 'multithreading'
    | 'fileSystem'
  > {
  /**
   * Value filters over the documents of each table, which rule out tables for a query. They cost 15 to 19 bytes and
   * some 14 µs of the compaction thread per tweet, and pay off where there is no other index. Default: on if a
   * collection has `index: 'embedded'`.
   */
  readonly values?: boolean | Omit<ValueOptions, 'extractor'> | undefined
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
