/** Option sets under which a hundred operations reach every part of the store. */
import type { StoreOptions, ValueOptions } from '../../src/lsm/index.ts'
import { jsonExtractor } from '../../src/lsm/value/json-extractor.ts'
import type { Setting } from './model-subject.ts'

/** A few writes fill a memtable, and a few memtables fill a level. */
const tiny: StoreOptions = {
  writeBufferSize: 600,
  blockSize: 150,
  blockRestartInterval: 3,
  maxFileSize: 1000,
  level0CompactionTrigger: 2,
  level1Bytes: 2000
}

const extractor = jsonExtractor({ fields: ['color', 'mixed'], zones: ['n', 'mixed'] })

function withValues(values: Omit<ValueOptions, 'extractor'>, options: StoreOptions = {}): Setting {
  return { variants: [{ ...tiny, ...options, values: { extractor, filterBits: 512, filterHashes: 3, ...values } }] }
}

/** Extreme sizes. Up to `filterSettings`, stores are in memory, where jobs run in slices on this thread. */
export const sizeSettings: Readonly<Record<string, Setting>> = {
  'tiny memtables': { variants: [{ ...tiny, writeBufferSize: 1 }] },
  'tiny blocks': { variants: [{ ...tiny, blockSize: 1, blockRestartInterval: 1 }] },
  'a cache of one byte, one open table': { variants: [{ ...tiny, cacheSize: 1, maxOpenFiles: 1 }] },
  'a merge after every flush': { variants: [{ ...tiny, level0CompactionTrigger: 1, level1Bytes: 1 }] },
  'no compression, no key filters': { variants: [{ ...tiny, compression: false, keyFilterBits: 0 }] }
}

/** Levels, partitions, and options that change. */
export const levelSettings: Readonly<Record<string, Setting>> = {
  'a table for every key': { variants: [{ ...tiny, maxFileSize: 1 }] },
  'writers that are stopped': {
    variants: [{ ...tiny, level0CompactionTrigger: 1, level0SlowdownTrigger: 2, level0StopTrigger: 2 }]
  },
  'merges within level 0': {
    variants: [{ ...tiny, writeBufferSize: 200, level0CompactionTrigger: 1, level1Bytes: 100_000 }]
  },
  partitions: { variants: [{ ...tiny, partitionDepth: 1, level0CompactionTrigger: 1 }] },
  'partitions that share tables while they are small': {
    variants: [
      { ...tiny, partitionDepth: 1, minPartitionSize: 400 },
      { ...tiny, partitionDepth: 1, minPartitionSize: 1500, level0CompactionTrigger: 1 },
      { ...tiny, partitionDepth: 1 },
      { ...tiny, partitionDepth: 2, minPartitionSize: 700, level1Bytes: 500 },
      tiny
    ]
  },
  defaults: { variants: [{}] },
  'other options at every opening': {
    variants: [
      tiny,
      { ...tiny, partitionDepth: 1, compression: false },
      { ...tiny, writeBufferSize: 3000, blockSize: 1000, keyFilterBits: 20, blockRestartInterval: 16 },
      { ...tiny, level0CompactionTrigger: 1, level1Bytes: 1, maxFileSize: 300, keyFilterBits: 0 }
    ]
  }
}

/** With filters and zone maps. */
export const valueSettings: Readonly<Record<string, Setting>> = {
  'linear index': withValues({ index: 'linear' }),
  'tree of order two, in side files, loaded at open': withValues({
    index: 'tree',
    treeOrder: 2,
    placement: 'side-file',
    loading: 'open'
  }),
  'sliced index, block filters': withValues({ index: 'sliced', blockFilterBits: 8 }, { level0CompactionTrigger: 1 })
}

/** With filters that help little or not at all. */
export const filterSettings: Readonly<Record<string, Setting>> = {
  'filters that are full': withValues({ filterBits: 8, filterHashes: 1, blockFilterBits: 1 }, { partitionDepth: 1 }),
  'filters beyond their budget': withValues({ filterMemory: 0 }, { cacheSize: 1, maxOpenFiles: 2 }),
  'no filters at the last level': withValues(
    { levels: 'not-last', index: 'tree', treeOrder: 2 },
    { writeBufferSize: 1 }
  ),
  'other extractors at every opening': {
    variants: [
      { ...tiny, values: { extractor, filterBits: 512 } },
      { ...tiny, values: { extractor: { ...extractor, version: 2 }, filterBits: 512, placement: 'side-file' } },
      {
        ...tiny,
        values: {
          extractor: jsonExtractor({ fields: ['mixed', 'color'], zones: ['mixed'] }),
          filterBits: 1024,
          index: 'linear'
        }
      },
      tiny
    ]
  }
}

/** On disk, where jobs run in the worker. */
export const diskSettings: Readonly<Record<string, Setting>> = {
  'tiny memtables and tables on disk': { isReal: true, variants: [{ ...tiny, writeBufferSize: 1 }] },
  'partitions and values on disk': {
    isReal: true,
    variants: [
      { ...tiny, partitionDepth: 1, values: { extractor, filterBits: 512, blockFilterBits: 8 } },
      { ...tiny, values: { extractor, filterBits: 512, placement: 'side-file', index: 'tree', treeOrder: 2 } }
    ]
  }
}
