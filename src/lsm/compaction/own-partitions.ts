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
import { type PartitionRules, partitionName } from './partition.ts'
import { type Grouping, LevelCache } from './table-groups.ts'
import { isWithinPartition, partitionOfTable } from './table-partition.ts'

/**
 * Entries of a memtable that are looked at, in one turn of the event loop: those of a partition worth a table are hit often
 * enough.
 */
const sampledEntries = 1024

type PartitionOptions = Pick<ResolvedOptions, 'partitionDepth' | 'minPartitionSize'>

/**
 * @param levels tables of the store, or those that the job may touch
 * @param memtables to be flushed
 */
export function partitionRules(
  { partitionDepth, minPartitionSize }: PartitionOptions,
  levels: readonly (readonly TableMeta[])[],
  memtables: readonly Memtable[] = []
): PartitionRules {
  const rules = { depth: partitionDepth, minBytes: minPartitionSize }
  if (partitionDepth === 0 || minPartitionSize === 0) return { ...rules, own: new Set() }
  const bytes = new Map<string, number>()
  for (const tables of levels) {
    for (const [name, sum] of bytesByPartition(tables, partitionDepth)) addTo(bytes, name, sum)
  }
  for (const memtable of memtables) {
    memtable.sample(sampledEntries, (key, entryBytes) => addTo(bytes, partitionName(key, partitionDepth), entryBytes))
  }
  const own = new Set<string>()
  for (const [name, sum] of bytes) if (sum >= minPartitionSize) own.add(name)
  return { ...rules, own }
}

/** How the store's tables are grouped for merging. */
export function groupingOf(options: PartitionOptions, levels: readonly (readonly TableMeta[])[]): Grouping {
  const { depth, minBytes, own } = partitionRules(options, levels)
  return { depth, own: minBytes === 0 ? undefined : [...own].sort() }
}

const levelBytes = new LevelCache<ReadonlyMap<string, number>>()

/** Keys and values of tables within a partition, by its name. */
function bytesByPartition(tables: readonly TableMeta[], depth: number): ReadonlyMap<string, number> {
  return levelBytes.of(tables, { depth, own: undefined }, () => {
    const bytes = new Map<string, number>()
    for (const table of tables) {
      if (isWithinPartition(table, depth)) addTo(bytes, partitionOfTable(table, depth), table.rawBytes)
    }
    return bytes
  })
}

function addTo(sums: Map<string, number>, name: string, more: number): void {
  sums.set(name, (sums.get(name) ?? 0) + more)
}
