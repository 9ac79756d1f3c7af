/** Turns decisions into jobs: memtables to flush, tables to merge. Pure. */
import type { KeyRange, TableJob } from '../compaction/job.ts'
import { spanOf } from '../compaction/key-span.ts'
import { level0Runs } from '../compaction/level0-runs.ts'
import { maxGrandparentTables } from '../compaction/moves.ts'
import { partitionRules } from '../compaction/own-partitions.ts'
import type { PartitionRules } from '../compaction/partition.ts'
import { partitionEnds } from '../compaction/partition-ends.ts'
import type { CompactionLimits, Merge } from '../compaction/pick.ts'
import type { TableWriteOptions, ValueWriteOptions } from '../format/table-options.ts'
import { levelCount } from '../format/version-edit.ts'
import type { Memtable } from '../memtable/memtable.ts'
import type { ResolvedOptions } from '../options.ts'
import type { TableMeta } from '../version/table-meta.ts'
import type { Version } from '../version/version.ts'

/** A job without its file numbers; it says how many to reserve. */
export type PlannedJob = Omit<TableJob, 'firstNumber'>

const lastLevel = levelCount - 1

/**
 * Extra filter bits per level up: with a tenth of the entries, dividing the false-positive rate by ten costs as much
 * memory (Monkey).
 */
const filterBitsPerLevel = 4.8
/** A filter beyond this size is hardly ever wrong. */
const maxFilterBits = 24

/** Outputs beyond what a job's bytes suggest: cuts between tombstones and new entries, and the last one. */
const spareNumbers = 16

export function compactionLimits(options: ResolvedOptions): CompactionLimits {
  return {
    level0Trigger: options.level0CompactionTrigger,
    level1Bytes: options.level1Bytes,
    maxFileBytes: options.maxFileSize,
    // Value filters have one size, chosen for a table of maxFileSize.
    level0FileBytes: options.values === undefined ? Number.POSITIVE_INFINITY : options.maxFileSize,
    partitionDepth: options.partitionDepth,
    minPartitionSize: options.minPartitionSize
  }
}

/** @param memtables oldest first */
export function flushJob(
  directory: string,
  memtables: readonly Memtable[],
  version: Version,
  snapshots: readonly number[],
  options: ResolvedOptions
): PlannedJob {
  const { level0FileBytes } = compactionLimits(options)
  const bytes = memtables.reduce((sum, memtable) => sum + memtable.arena.usedBytes, 0)
  const cuts = memtables.reduce((sum, memtable) => sum + maxPartitions(memtable, options.partitionDepth), 0)
  const partitions = partitionRules(options, version.levels, memtables)
  return {
    kind: 'flush',
    directory,
    memtables: memtables.map((memtable) => memtable.snapshot()),
    runs: [],
    snapshots,
    deeper: undefined,
    grandparents: [],
    maxGrandparentBytes: Number.POSITIVE_INFINITY,
    endAfter: partitionEnds(version, partitions),
    reservedNumbers: spareNumbers + 2 * (cuts + Math.ceil(bytes / level0FileBytes)),
    maxFileBytes: level0FileBytes,
    partitions,
    table: tableWriteOptions(options, 0)
  }
}

export function mergeJob(
  directory: string,
  merge: Merge,
  version: Version,
  snapshots: readonly number[],
  options: ResolvedOptions
): PlannedJob {
  const { inputs, outputLevel } = merge
  const limits = compactionLimits(options)
  const maxFileBytes = outputLevel === 0 ? limits.level0FileBytes : limits.maxFileBytes
  const tables = inputs.flatMap((input) => input.tables)
  const span = spanOf(tables)
  const overlapping = (level: number): readonly TableMeta[] => version.overlapping(level, span?.smallest, span?.largest)
  const grandparents = outputLevel > 0 && outputLevel < lastLevel ? overlapping(outputLevel + 1).map(rangeOf) : []
  const rawBytes = tables.reduce((sum, table) => sum + Math.max(table.bytes, table.rawBytes), 0)
  const levels = version.levels.map((_, level) => overlapping(level))
  const partitions = partitionRules(options, levels)
  return {
    kind: 'compaction',
    directory,
    memtables: [],
    runs: inputs.flatMap(({ level, tables }) => (level === 0 ? level0Runs(tables) : [tables])),
    snapshots,
    // Older level-0 runs, which may stay behind when newer ones are merged, hold entries that tombstones hide.
    deeper: outputLevel === 0 ? undefined : rangesBelow(outputLevel, overlapping),
    grandparents,
    maxGrandparentBytes: maxGrandparentTables * limits.maxFileBytes,
    endAfter: partitions.minBytes === 0 ? [] : partitionEnds({ levels }, partitions),
    reservedNumbers:
      spareNumbers + 2 * Math.ceil(rawBytes / maxFileBytes) + grandparents.length + maxCuts(partitions, rawBytes),
    maxFileBytes,
    partitions,
    table: tableWriteOptions(options, outputLevel)
  }
}

export function tableWriteOptions(options: ResolvedOptions, level: number): TableWriteOptions {
  const { keyFilterBits } = options
  const bits = Math.min(maxFilterBits, keyFilterBits + filterBitsPerLevel * (lastLevel - level))
  return {
    blockBytes: options.blockSize,
    restartInterval: options.blockRestartInterval,
    codec: options.compression ? 'lz4' : 'none',
    keyFilterBits: keyFilterBits === 0 ? 0 : bits,
    values: valueWriteOptions(options, level)
  }
}

function valueWriteOptions({ values }: ResolvedOptions, level: number): ValueWriteOptions | undefined {
  if (values === undefined) return undefined
  const { extractor, filterHashes, blockFilterBits, placement, levels } = values
  // Block filters and zone maps are written in any case.
  const filterBits = levels === 'not-last' && level === lastLevel ? 0 : values.filterBits
  return { extractor, filterBits, filterHashes, blockFilterBits, placement }
}

function rangesBelow(level: number, overlapping: (level: number) => readonly KeyRange[]): KeyRange[][] {
  const ranges: KeyRange[][] = []
  for (let below = level + 1; below < levelCount; below++) ranges.push(overlapping(below).map(rangeOf))
  return ranges
}

/** Reduces a table to what the job needs, to keep the message to the worker small. */
function rangeOf({ smallest, largest, bytes }: KeyRange | TableMeta): KeyRange {
  return { smallest, largest, bytes }
}

/**
 * How many tables may end at partitions where small ones share tables: before and after a large one, and at the end that
 * it had (see partitionEnds).
 */
function maxCuts({ minBytes, own }: PartitionRules, rawBytes: number): number {
  return minBytes === 0 ? 0 : 3 * own.size + Math.ceil(rawBytes / minBytes)
}

/** An upper bound. Numbers cost nothing; counting would mean looking at every key on the main thread. */
function maxPartitions({ keyCount }: Memtable, depth: number): number {
  return depth === 0 ? 1 : keyCount
}
