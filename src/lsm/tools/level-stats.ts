/** What a store holds and has done, by level and partition, its value side included. */
import { level0Runs, levelsByPartition } from '../compaction/level0-runs.ts'
import type { WaitCounts } from '../engine/counters.ts'
import type { Engine } from '../engine/engine.ts'
import { type LevelStats, type StoreStats, storeStats } from '../engine/stats.ts'
import type { ValueStats } from '../value/value-stats.ts'
import type { Values } from '../value/values.ts'
import type { TableMeta } from '../version/table-meta.ts'

export interface LsmStats extends StoreStats {
  readonly levels: readonly FilteredLevelStats[]
  /** In the order of their keys; one without a name unless the option partitionDepth is set. */
  readonly partitions: readonly PartitionStats[]
  /** Waits of writers for memtables to be written out; those for merges are with the partitions. */
  readonly memtableWaits: Readonly<WaitCounts>
  /** Of filters and filter index; undefined without the option values. */
  readonly values: ValueStats | undefined
}

export interface FilteredLevelStats extends LevelStats, FilterFill {}

export interface FilterFill {
  /** Share of set bits, the mean over value filters that have been loaded; undefined when there is none. */
  readonly valueFill: number | undefined
}

export interface PartitionStats extends Readonly<WaitCounts> {
  /**
   * The leading groups of its keys, `!docs!` for one. Keys that have fewer than partitionDepth groups are in partitions
   * of their own, whose names have a space, a bang or a quote behind: they lie before, among or behind those that have more.
   */
  readonly name: string
  /** Sorted runs in level 0. */
  readonly level0Runs: number
  readonly levels: readonly PartitionLevelStats[]
}

export interface PartitionLevelStats extends FilterFill {
  readonly tables: number
  readonly bytes: number
  /** Keys and values before compression. */
  readonly rawBytes: number
  readonly entries: number
  readonly tombstones: number
}

/** @param values the value side; undefined for a store without one */
export function lsmStats(engine: Engine, values: Values | undefined): LsmStats {
  const stats = storeStats(engine)
  const { version, counters, options } = engine
  return {
    ...stats,
    levels: stats.levels.map((level, i) => ({ ...level, valueFill: meanFill(version.tables(i), values) })),
    partitions: partitionsOf(engine, options.partitionDepth, values),
    memtableWaits: { ...counters.memtableWaits },
    values: values?.stats()
  }
}

function partitionsOf({ version, counters }: Engine, depth: number, values: Values | undefined): PartitionStats[] {
  const noWaits = { slowdowns: 0, slowdownMilliseconds: 0, stalls: 0 }
  const partitions = new Map(levelsByPartition(version.levels, depth))
  // One that writers once waited for may have no tables any more.
  for (const name of counters.level0Waits.keys()) if (!partitions.has(name)) partitions.set(name, [])
  const stats = [...partitions].map(([name, levels]) => ({
    name,
    level0Runs: level0Runs(levels[0] ?? []).length,
    levels: version.levels.map((_, i) => levelOf(levels[i] ?? [], values)),
    ...noWaits,
    ...counters.level0Waits.get(name)
  }))
  return stats.sort((a, b) => (a.name < b.name ? -1 : 1))
}

function levelOf(tables: readonly TableMeta[], values: Values | undefined): PartitionLevelStats {
  const sum = (of: (table: TableMeta) => number) => tables.reduce((total, table) => total + of(table), 0)
  return {
    tables: tables.length,
    bytes: sum((table) => table.bytes),
    rawBytes: sum((table) => table.rawBytes),
    entries: sum((table) => table.entries),
    tombstones: sum((table) => table.tombstones),
    valueFill: meanFill(tables, values)
  }
}

function meanFill(tables: readonly TableMeta[], values: Values | undefined): number | undefined {
  const fills = tables.flatMap((table) => values?.fillOf(table) ?? [])
  return fills.length === 0 ? undefined : fills.reduce((sum, fill) => sum + fill, 0) / fills.length
}
