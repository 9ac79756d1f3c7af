/** Validates the user's options and fills in defaults. */
import type { Filled } from '../../model/filled.ts'
import { manyRunsFactor } from '../compaction/level0-policy.ts'
import { notSupported } from '../errors.ts'
import { defaults, type ResolvedOptions, type StoreOptions, type ValueOptions } from '../options.ts'

const valueDefaults = {
  filterBits: 2 ** 18,
  filterHashes: 6,
  blockFilterBits: 0,
  levels: 'all',
  placement: 'table',
  loading: 'lazy',
  index: 'sliced',
  treeOrder: 8,
  filterMemory: 64 * 1024 * 1024
} as const

const maxFilterBits = 2 ** 30
const maxFilterHashes = 32

/**
 * Undefined means the default, as everywhere in Level.
 * @throws TypeError for a number out of range or an unknown choice, LEVEL_NOT_SUPPORTED for multithreading
 */
export function resolveOptions(given: StoreOptions): ResolvedOptions {
  if (given.multithreading === true) {
    throw notSupported('Option multithreading is not supported: open one instance per directory and share it')
  }
  return {
    createIfMissing: given.createIfMissing ?? defaults.createIfMissing,
    errorIfExists: given.errorIfExists ?? defaults.errorIfExists,
    compression: boolean('compression', given.compression, defaults.compression),
    cacheSize: integer('cacheSize', given.cacheSize, defaults.cacheSize, 0),
    writeBufferSize: integer('writeBufferSize', given.writeBufferSize, defaults.writeBufferSize, 1),
    blockSize: integer('blockSize', given.blockSize, defaults.blockSize, 1),
    diskReads: oneOf('diskReads', given.diskReads, defaults.diskReads, ['blocking', 'threaded']),
    blockRestartInterval: integer('blockRestartInterval', given.blockRestartInterval, defaults.blockRestartInterval, 1),
    maxFileSize: integer('maxFileSize', given.maxFileSize, defaults.maxFileSize, 1),
    maxOpenFiles: integer('maxOpenFiles', given.maxOpenFiles, defaults.maxOpenFiles, 1),
    keyFilterBits: number('keyFilterBits', given.keyFilterBits, defaults.keyFilterBits, 0),
    ...resolveTriggers(given),
    autoCompaction: boolean('autoCompaction', given.autoCompaction, defaults.autoCompaction),
    level1Bytes: integer('level1Bytes', given.level1Bytes, defaults.level1Bytes, 1),
    partitionDepth: integer('partitionDepth', given.partitionDepth, defaults.partitionDepth, 0),
    minPartitionSize: integer('minPartitionSize', given.minPartitionSize, defaults.minPartitionSize, 0),
    values: given.values === undefined ? undefined : resolveValueOptions(given.values)
  }
}

function resolveTriggers(given: StoreOptions) {
  const trigger = integer('level0CompactionTrigger', given.level0CompactionTrigger, defaults.level0CompactionTrigger, 1)
  // Each default adapts to what the user chose for the other.
  const likelySlowdown = Math.min(defaults.level0SlowdownTrigger, given.level0StopTrigger ?? Number.MAX_SAFE_INTEGER)
  const slowdown = integer('level0SlowdownTrigger', given.level0SlowdownTrigger, likelySlowdown, 1)
  const likelyStop = Math.max(defaults.level0StopTrigger, slowdown)
  const stop = integer('level0StopTrigger', given.level0StopTrigger, likelyStop, slowdown)
  return {
    level0CompactionTrigger: trigger,
    level0SlowdownTrigger: slowdown,
    // Writers that stop before a merge is due would wait for ever.
    level0StopTrigger: Math.max(stop, manyRunsFactor * trigger)
  }
}

function resolveValueOptions(given: ValueOptions): Filled<ValueOptions> {
  return {
    extractor: given.extractor,
    filterBits: integer('values.filterBits', given.filterBits, valueDefaults.filterBits, 1, maxFilterBits),
    filterHashes: integer('values.filterHashes', given.filterHashes, valueDefaults.filterHashes, 1, maxFilterHashes),
    blockFilterBits: number('values.blockFilterBits', given.blockFilterBits, valueDefaults.blockFilterBits, 0),
    levels: oneOf('values.levels', given.levels, valueDefaults.levels, ['all', 'not-last']),
    placement: oneOf('values.placement', given.placement, valueDefaults.placement, ['table', 'side-file']),
    loading: oneOf('values.loading', given.loading, valueDefaults.loading, ['open', 'lazy']),
    index: oneOf('values.index', given.index, valueDefaults.index, ['linear', 'tree', 'sliced']),
    treeOrder: integer('values.treeOrder', given.treeOrder, valueDefaults.treeOrder, 2),
    filterMemory: integer('values.filterMemory', given.filterMemory, valueDefaults.filterMemory, 0)
  }
}

function integer(
  name: string,
  given: number | undefined,
  fallback: number,
  least: number,
  most = Number.MAX_SAFE_INTEGER
): number {
  const value = given ?? fallback
  if (Number.isSafeInteger(value) && value >= least && value <= most) return value
  const range = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`
  throw new TypeError(`Option ${name} must be an integer ${range}, received ${String(value)}`)
}

function number(name: string, given: number | undefined, fallback: number, least: number): number {
  const value = given ?? fallback
  if (Number.isFinite(value) && value >= least) return value
  throw new TypeError(`Option ${name} must be a number of at least ${least}, received ${String(value)}`)
}

function boolean(name: string, given: boolean | undefined, fallback: boolean): boolean {
  const value = given ?? fallback
  if (typeof value === 'boolean') return value
  throw new TypeError(`Option ${name} must be true or false, received ${typeof value}`)
}

function oneOf<T extends string>(name: string, given: T | undefined, fallback: T, choices: readonly T[]): T {
  const value = given ?? fallback
  if (choices.includes(value)) return value
  const received = typeof value === 'string' ? `'${String(value)}'` : typeof value
  throw new TypeError(`Option ${name} must be one of ${choices.join(', ')}, received ${received}`)
}
