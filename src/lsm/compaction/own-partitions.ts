/**
 * Which partitions have tables of their own.
 *
 * A large partition does, so that it is merged by itself and what is appended to it moves down without being rewritten.
 * Small ones share tables with their neighbours: a store of thousands of small sublevels would otherwise have thousands
 * of tables of a few entries, and each flush would add as many. Merging them with their neighbours costs little, for the
 * same reason.
 *
 * This is a matter of cost alone: readers and the picker cope with any table, see partition.ts.
 */
import type { Memtable } from '../memtable/memtable.ts'
import type { ResolvedOptions } from '../options.ts'
import type { TableMeta } from '../version/table-meta.ts'
import { isWithinPartition, partitionOfTable } from './level0-runs.ts'
import { type PartitionRules, partitionName } from './partition.ts'

/** Entries of a memtable that are looked at: those of a partition worth a table are hit often enough. */
const sampledEntries = 4096

/**
 * @param tables of the store, or those that the job may touch
 * @param memtables to be flushed
 */
export function partitionRules(
  { partitionDepth, minPartitionSize }: Pick<ResolvedOptions, 'partitionDepth' | 'minPartitionSize'>,
  tables: Iterable<TableMeta>,
  memtables: readonly Memtable[] = []
): PartitionRules {
  const rules = { depth: partitionDepth, minBytes: minPartitionSize }
  if (partitionDepth === 0 || minPartitionSize === 0) return { ...rules, own: new Set() }
  const bytes = new Map<string, number>()
  const add = (name: string, more: number): void => {
    bytes.set(name, (bytes.get(name) ?? 0) + more)
  }
  for (const table of tables) {
    if (isWithinPartition(table, partitionDepth)) add(partitionOfTable(table, partitionDepth), table.rawBytes)
  }
  for (const memtable of memtables) {
    memtable.sample(sampledEntries, (key, entryBytes) => add(partitionName(key, partitionDepth), entryBytes))
  }
  const own = new Set<string>()
  for (const [name, sum] of bytes) if (sum >= minPartitionSize) own.add(name)
  return { ...rules, own }
}
