/**
 * Level 0 as sorted runs. What counts for readers, and so for triggers, is not the number of tables but how many of
 * them may hold a given key.
 *
 * Invariants:
 * 1. Runs are newest first; tables of one run ascend and do not overlap.
 * 2. A run is contiguous in age within its partition: only adjacent runs are merged, so that every version in the
 *    result is older than all versions of the runs before it and newer than all of the runs after it.
 */
import { compareKeys } from '../format/entry.ts'
import type { TableMeta } from '../version/table-meta.ts'
import { overlaps } from './key-span.ts'
import { partitionName } from './partition.ts'

export type Run = readonly TableMeta[]

/** @param tables of one partition, newest first */
export function level0Runs(tables: readonly TableMeta[]): readonly Run[] {
  const runs: TableMeta[][] = []
  let run: TableMeta[] = []
  for (const table of tables) {
    if (run.some((other) => overlaps(other, table))) {
      runs.push(run)
      run = []
    }
    run.push(table)
  }
  if (run.length > 0) runs.push(run)
  return runs.map((members) => members.sort((a, b) => compareKeys(a.smallest, b.smallest)))
}

/**
 * Cache: a level rarely changes from one version to the next, and grouping a last level of thousands of tables is
 * slow.
 */
const grouped = new WeakMap<readonly TableMeta[], { readonly depth: number; readonly groups: Partitions }>()

type Partitions = ReadonlyMap<string, readonly TableMeta[]>

/** A level's tables by partition, each list in the order given. REQUIRES: the level never changes. */
export function byPartition(tables: readonly TableMeta[], depth: number): Partitions {
  if (depth === 0) return new Map(tables.length === 0 ? [] : [['', tables]])
  const known = grouped.get(tables)
  if (known?.depth === depth) return known.groups
  const groups = groupsBy(tables, (table) => partitionOfTable(table, depth))
  grouped.set(tables, { depth, groups })
  return groups
}

/**
 * The tables of every level by partition, levels in order. Partitions whose tables overlap in level 0 count as one: a
 * table written before partitionDepth was set holds keys of several partitions, and newer entries must not sink below
 * it.
 */
export function levelsByPartition(
  levels: readonly (readonly TableMeta[])[],
  depth: number
): ReadonlyMap<string, readonly (readonly TableMeta[])[]> {
  const joined = joinedPartitions(levels[0] ?? [], depth)
  const partitions = new Map<string, (readonly TableMeta[])[]>()
  for (const [level, tables] of levels.entries()) {
    for (const [name, members] of joinedGroups(tables, depth, joined)) {
      const own = partitions.get(name) ?? levels.map(() => [])
      own[level] = members
      partitions.set(name, own)
    }
  }
  return partitions
}

/** Number of level-0 runs in the partition that has most: decides when writers are slowed down and stopped. */
export function level0Depth(tables: readonly TableMeta[], depth: number): number {
  return deepestPartition(tables, depth).runs
}

/** The partition with most runs in level 0; without tables, a result with no runs. */
export function deepestPartition(tables: readonly TableMeta[], depth: number): { name: string; runs: number } {
  let deepest = { name: '', runs: 0 }
  const joined = joinedPartitions(tables, depth)
  for (const [name, list] of joinedGroups(tables, depth, joined)) {
    const runs = level0Runs(list).length
    if (runs > deepest.runs) deepest = { name, runs }
  }
  return deepest
}

function joinedGroups(tables: readonly TableMeta[], depth: number, joined: JoinedPartitions): Partitions {
  if (joined.size === 0) return byPartition(tables, depth)
  return groupsBy(tables, (table) => {
    const name = partitionOfTable(table, depth)
    return joined.get(name) ?? name
  })
}

function groupsBy(tables: readonly TableMeta[], nameOf: (table: TableMeta) => string): Partitions {
  const groups = new Map<string, TableMeta[]>()
  for (const table of tables) {
    const name = nameOf(table)
    const list = groups.get(name)
    if (list === undefined) groups.set(name, [table])
    else list.push(table)
  }
  return groups
}

/** Maps the name of a partition to the name it shares with the partitions it is joined with; only joined partitions. */
type JoinedPartitions = ReadonlyMap<string, string>

const joins = new WeakMap<readonly TableMeta[], { readonly depth: number; readonly joined: JoinedPartitions }>()

function joinedPartitions(level0: readonly TableMeta[], depth: number): JoinedPartitions {
  if (depth === 0) return new Map()
  const known = joins.get(level0)
  if (known?.depth === depth) return known.joined
  const joined = joinOverlapping(level0, depth)
  joins.set(level0, { depth, joined })
  return joined
}

function joinOverlapping(level0: readonly TableMeta[], depth: number): JoinedPartitions {
  const joined = new Map<string, string>()
  const rootOf = (name: string): string => {
    const next = joined.get(name)
    return next === undefined || next === name ? name : rootOf(next)
  }
  let widest: TableMeta | undefined
  for (const table of [...level0].sort((a, b) => compareKeys(a.smallest, b.smallest))) {
    if (widest !== undefined && overlaps(widest, table)) {
      const [before, name] = [rootOf(partitionOfTable(widest, depth)), rootOf(partitionOfTable(table, depth))]
      if (before !== name) joined.set(name, before)
    }
    if (widest === undefined || compareKeys(table.largest, widest.largest) > 0) widest = table
  }
  for (const name of joined.keys()) joined.set(name, rootOf(name))
  return joined
}

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

/** Cached per table. */
function partitionsOf(table: TableMeta, depth: number): TablePartition {
  const known = partitions.get(table)
  if (known?.depth === depth) return known
  const name = partitionName(table.smallest, depth)
  const found = { depth, name, isOnly: name === partitionName(table.largest, depth) }
  partitions.set(table, found)
  return found
}
