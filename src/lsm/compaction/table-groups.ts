/**
 * Groups of tables that are merged by themselves, each with levels, targets and triggers of its own: the tables of a
 * partition that has tables of its own, and those that the small partitions between two such partitions share.
 *
 * Any grouping is correct, as long as tables that overlap in level 0 are in one group: newer entries must not sink below
 * older ones of another group.
 */
import { countWhile } from '../../model/count-while.ts'
import { compareKeys } from '../format/entry.ts'
import type { TableMeta } from '../version/table-meta.ts'
import { overlaps } from './key-span.ts'
import { isWithinPartition, partitionOfTable } from './table-partition.ts'

export interface Grouping {
  /** Number of leading `!name!` groups that name a partition; 0: all tables are one group. */
  readonly depth: number
  /** Names of the partitions with tables of their own, ascending; undefined: all. */
  readonly own: readonly string[] | undefined
}

export type TableGroups = ReadonlyMap<string, readonly TableMeta[]>

/** Ends the name of a group of small partitions, which begins with the large one before them. Ends no partition's name. */
const shared = '+'

export function groupOfTable(table: TableMeta, { depth, own }: Grouping): string {
  const partition = partitionOfTable(table, depth)
  if (depth === 0 || own === undefined) return partition
  const before = lastUpTo(own, partition)
  return before === partition && isWithinPartition(table, depth) ? partition : `${before}${shared}`
}

/** The last name that is not after `name`; if there is none, an empty one. */
function lastUpTo(ascending: readonly string[], name: string): string {
  return ascending[countWhile(ascending.length, (i) => ascending[i]! <= name) - 1] ?? ''
}

/** The tables of every level by group, levels in order; groups whose tables overlap in level 0 count as one. */
export function levelsByGroup(
  levels: readonly (readonly TableMeta[])[],
  grouping: Grouping
): ReadonlyMap<string, readonly (readonly TableMeta[])[]> {
  const joined = joinedGroups(levels[0] ?? [], grouping)
  const groups = new Map<string, (readonly TableMeta[])[]>()
  for (const [level, tables] of levels.entries()) {
    for (const [name, members] of groupsOf(tables, grouping, joined)) {
      const ofGroup = groups.get(name) ?? levels.map(() => [])
      ofGroup[level] = members
      groups.set(name, ofGroup)
    }
  }
  return groups
}

/** Tables of level 0 by group; groups whose tables overlap count as one. */
export function level0ByGroup(tables: readonly TableMeta[], grouping: Grouping): TableGroups {
  return groupsOf(tables, grouping, joinedGroups(tables, grouping))
}

function groupsOf(tables: readonly TableMeta[], grouping: Grouping, joined: JoinedGroups): TableGroups {
  if (joined.size === 0) return groupsOfLevel(tables, grouping)
  return groupsBy(tables, (table) => {
    const name = groupOfTable(table, grouping)
    return joined.get(name) ?? name
  })
}

/** What was computed of a level, which never changes, with the grouping that was used. */
export class LevelCache<Result> {
  readonly #known = new WeakMap<readonly TableMeta[], { readonly grouping: Grouping; readonly result: Result }>()

  /** A level rarely changes from one version to the next, and grouping a last level of thousands of tables is slow. */
  of(tables: readonly TableMeta[], grouping: Grouping, compute: () => Result): Result {
    const known = this.#known.get(tables)
    if (known !== undefined && isSame(known.grouping, grouping)) return known.result
    const result = compute()
    this.#known.set(tables, { grouping, result })
    return result
  }
}

function isSame(a: Grouping, b: Grouping): boolean {
  if (a === b) return true
  if (a.depth !== b.depth || a.own?.length !== b.own?.length) return false
  return a.own === b.own || a.own?.every((name, i) => name === b.own?.[i]) === true
}

const grouped = new LevelCache<TableGroups>()

function groupsOfLevel(tables: readonly TableMeta[], grouping: Grouping): TableGroups {
  if (grouping.depth === 0) return new Map(tables.length === 0 ? [] : [['', tables]])
  return grouped.of(tables, grouping, () => groupsBy(tables, (table) => groupOfTable(table, grouping)))
}

function groupsBy(tables: readonly TableMeta[], nameOf: (table: TableMeta) => string): TableGroups {
  const groups = new Map<string, TableMeta[]>()
  for (const table of tables) {
    const name = nameOf(table)
    const list = groups.get(name)
    if (list === undefined) groups.set(name, [table])
    else list.push(table)
  }
  return groups
}

/** Maps the name of a group to the name it shares with the groups it is joined with; only joined groups. */
type JoinedGroups = ReadonlyMap<string, string>

const joins = new LevelCache<JoinedGroups>()

function joinedGroups(level0: readonly TableMeta[], grouping: Grouping): JoinedGroups {
  return grouping.depth === 0 ? new Map() : joins.of(level0, grouping, () => joinOverlapping(level0, grouping))
}

function joinOverlapping(level0: readonly TableMeta[], grouping: Grouping): JoinedGroups {
  const joined = new Map<string, string>()
  const rootOf = (name: string): string => {
    const next = joined.get(name)
    return next === undefined || next === name ? name : rootOf(next)
  }
  let widest: TableMeta | undefined
  for (const table of [...level0].sort((a, b) => compareKeys(a.smallest, b.smallest))) {
    if (widest !== undefined && overlaps(widest, table)) {
      const [before, name] = [rootOf(groupOfTable(widest, grouping)), rootOf(groupOfTable(table, grouping))]
      if (before !== name) joined.set(name, before)
    }
    if (widest === undefined || compareKeys(table.largest, widest.largest) > 0) widest = table
  }
  for (const name of joined.keys()) joined.set(name, rootOf(name))
  return joined
}
