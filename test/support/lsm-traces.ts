/**
 * Short random histories of a store: puts, deletes and batches, some synced, several at a time, between flushes,
 * compactions, clears and reopens; and option sets under which a few dozen writes exercise every part of the store.
 */
import type { StoreOptions } from '../../src/lsm/index.ts'
import { jsonExtractor } from '../../src/lsm/value/json-extractor.ts'
import type { Random } from '../bloom/random.ts'
import type { TestOperation } from './lsm-history.ts'

export type TraceStep =
  /** Submitted together, each as a batch of its own. */
  | { readonly kind: 'write'; readonly batches: readonly (readonly TestOperation[])[]; readonly sync: boolean }
  | { readonly kind: 'flush' | 'compact' | 'reopen' }
  /** Of one partition, of both, or of a part of them. */
  | { readonly kind: 'clear'; readonly gte: string; readonly lt: string }
  /** Turns of the event loop in which flushes and compactions make progress. */
  | { readonly kind: 'pause'; readonly turns: number }

export const colors = ['red', 'green', 'blue', 'grey'] as const

/** All keys that a trace may use: in two partitions, some being prefixes of others. */
export const traceKeys = [
  ...Array.from({ length: 12 }, (_, i) => `!a!key${i}`),
  ...Array.from({ length: 6 }, (_, i) => `!b!${'k'.repeat(i + 1)}`)
]

const clearings = [
  { gte: '!a!', lt: '!a"' },
  { gte: '!b!', lt: '!b"' },
  { gte: '', lt: '~' },
  { gte: '!a!key10', lt: '!b!kkk' },
  { gte: '!a!key2', lt: '!a!key7' }
]

/**
 * @param length number of steps; each writes up to four batches
 * @param random decides everything: the same generator yields the same trace
 */
export function randomTrace(length: number, random: Random): TraceStep[] {
  let serial = 0
  const operation = (): TestOperation => {
    const key = traceKeys[random.below(traceKeys.length)]!
    // All values differ, so that a state identifies the prefix it came from.
    return random.below(4) === 0 ? { key } : { key, value: newValue(++serial, random) }
  }
  const batch = () => Array.from({ length: random.below(3) === 0 ? 2 + random.below(5) : 1 }, operation)
  return Array.from({ length }, (): TraceStep => {
    const dice = random.below(100)
    if (dice < 5) return { kind: 'flush' }
    if (dice < 10) return { kind: 'compact' }
    if (dice < 17) return { kind: 'reopen' }
    if (dice < 24) return { kind: 'pause', turns: 1 + random.below(20) }
    if (dice < 29) return { kind: 'clear', ...clearings[random.below(clearings.length)]! }
    const batches = Array.from({ length: random.below(3) === 0 ? 2 + random.below(3) : 1 }, batch)
    return { kind: 'write', batches, sync: random.below(3) === 0 }
  })
}

function newValue(serial: number, random: Random): string {
  // Some are longer than a sector, and than the blocks and memtables of the option sets.
  const filler = random.below(8) === 0 ? 600 + random.below(600) : random.below(60)
  const color = colors[random.below(colors.length)]
  return JSON.stringify({ n: serial, color, text: 'abcdefgh'.repeat(filler / 8) })
}

const tiny: StoreOptions = {
  writeBufferSize: 400,
  blockSize: 128,
  blockRestartInterval: 2,
  maxFileSize: 800,
  level0CompactionTrigger: 2,
  level1Bytes: 1600,
  cacheSize: 4096
}

const values = {
  extractor: jsonExtractor({ fields: ['color'], zones: ['n'] }),
  filterBits: 256,
  filterHashes: 3,
  blockFilterBits: 8,
  treeOrder: 2
} as const

/** By purpose. */
export const optionSets = {
  'tiny memtables and tables': tiny,
  'one table starts a compaction, blocks are not compressed': {
    ...tiny,
    level0CompactionTrigger: 1,
    compression: false,
    cacheSize: 0,
    keyFilterBits: 0
  },
  'two partitions': { ...tiny, partitionDepth: 1, writeBufferSize: 800 },
  'two partitions that share tables': { ...tiny, partitionDepth: 1, minPartitionSize: 600, writeBufferSize: 800 },
  'value filters in tables': { ...tiny, values },
  'value filters in side files': {
    ...tiny,
    values: { ...values, placement: 'side-file', loading: 'open', index: 'tree' }
  },
  'everything stays in the log': { writeBufferSize: 1 << 20 }
} satisfies Record<string, StoreOptions>
