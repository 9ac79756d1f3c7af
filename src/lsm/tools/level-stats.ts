/** Statistics of a store by level and partition, including its value filters. */
import { level0Runs } from '../compaction/level0-runs.ts'
import { levelsByGroup } from '../compaction/table-groups.ts'
import type { WaitCounts } from '../engine/counters.ts'
import type { Engine } from '../engine/engine.ts'
import { type LevelStats, type StoreStats, storeStats } from '../engine/stats.ts'
import type { ValueStats } from '../value/value-stats.ts'
import type { Values } from '../value/values.ts'
import type { TableMeta } from '../version/table-meta.ts'

export interface LsmStats extends StoreStats {
  readonly levels: readonly FilteredLevelStats[]
  /** In key order; a single one without a name unless the option partitionDepth is set. */
  readonly partitions: readonly PartitionStats[]
  /** Waits of writers for memtables to be flushed; those for merges are in `partitions`. */
  readonly memtableWaits: Readonly<WaitCounts>
  /** Statistics of filters and filter index; undefined without the option `values`. */
  readonly values: ValueStats | undefined
}

/** A level with its value filters. */
export interface FilteredLevelStats extends LevelStats, FilterFill {}

export interface FilterFill {
  /** Mean share of set bits over the loaded value filters; undefined if there are none. */
  readonly valueFill: number | undefined
}

export interface PartitionStats extends Readonly<WaitCounts> {
  /**
   * The leading groups of the partition's keys, for example `!docs!`. Keys with fewer than partitionDepth groups are
   * in partitions of their own, whose names end in a space, a bang or a quote: they sort before, among or after those
   * with more. A table that small partitions share counts for the first of them.
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

/** @param values undefined for a store without value filters */
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
  const partitions = new Map(levelsByGroup(version.levels, { depth, own: undefined }))
  // A partition that writers once waited for may have no tables any more.
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
