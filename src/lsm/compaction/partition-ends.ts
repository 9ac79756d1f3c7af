/** The current ends of the partitions: keys after them are new and need no merging. */
import { compareKeys } from '../format/entry.ts'
import type { PartitionRules } from './partition.ts'
import type { Levels } from './pick.ts'
import { isWithinPartition, partitionOfTable } from './table-partition.ts'

/** The last key of each partition that has tables of its own, ascending: see TableJob.endAfter. */
export function partitionEnds(version: Levels, { depth, minBytes, own }: PartitionRules): readonly Uint8Array[] {
  const ends = new Map<string, Uint8Array>()
  for (const tables of version.levels) {
    for (const table of tables) {
      const name = partitionOfTable(table, depth)
      if (minBytes > 0 && !(own.has(name) && isWithinPartition(table, depth))) continue
      const end = ends.get(name)
      if (end === undefined || compareKeys(end, table.largest) < 0) ends.set(name, table.largest)
    }
  }
  return [...ends.values()].sort(compareKeys)
}
