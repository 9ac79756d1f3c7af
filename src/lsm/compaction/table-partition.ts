/** The partition of a table's keys, cached per table. */
import type { TableMeta } from '../version/table-meta.ts'
import { isSamePartition, partitionName } from './partition.ts'

interface TablePartition {
  readonly depth: number
  /** Of the first key. */
  readonly name: string
  /** Whether the last key is in the same one. */
  readonly isOnly: boolean
}

const partitions = new WeakMap<TableMeta, TablePartition>()

/** The partition of a table's first key. */
export function partitionOfTable(table: TableMeta, depth: number): string {
  return depth === 0 ? '' : partitionsOf(table, depth).name
}

/** Whether all keys of a table are of one partition. */
export function isWithinPartition(table: TableMeta, depth: number): boolean {
  return depth === 0 || partitionsOf(table, depth).isOnly
}

function partitionsOf(table: TableMeta, depth: number): TablePartition {
  const known = partitions.get(table)
  if (known?.depth === depth) return known
  const { smallest, largest } = table
  const isOnly = isSamePartition(smallest, smallest.length, largest, 0, largest.length, depth)
  const found = { depth, name: partitionName(smallest, depth), isOnly }
  partitions.set(table, found)
  return found
}
