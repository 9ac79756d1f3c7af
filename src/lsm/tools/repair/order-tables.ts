/**
 * Orders tables whose levels are unknown: pure policy.
 *
 * Reads expect the newest version of a key in the first place that has the key. For two tables with common keys that
 * holds if all entries of one are newer than all of the other: they can then follow each other in level 0. Tables that
 * overlap both in keys and in sequence numbers have to be merged into one run first.
 */
import { compareKeys } from '../../format/entry.ts'
import type { TableMeta } from '../../version/table-meta.ts'

/** Tables that will become one sorted run. A single table already is one. */
export interface TableGroup {
  readonly tables: readonly TableMeta[]
  readonly smallest: Uint8Array
  readonly largest: Uint8Array
  readonly smallestSequence: number
  readonly largestSequence: number
}

/** Groups tables such that no two groups overlap in both keys and sequence numbers; the groups are minimal. */
export function groupTables(tables: readonly TableMeta[]): readonly TableGroup[] {
  let groups: TableGroup[] = tables.map((table) => ({ ...table, tables: [table] }))
  for (;;) {
    const merged = mergeOnce(groups)
    if (merged.length === groups.length) return merged
    // A group spans more than its members: it may overlap others that they did not.
    groups = merged
  }
}

/** The minimum number of runs: tables of a run ascend and do not overlap. */
export function runsOf(tables: readonly TableMeta[]): readonly (readonly TableMeta[])[] {
  const runs: TableMeta[][] = []
  for (const table of [...tables].sort(bySmallest)) {
    const run = runs.find((members) => compareKeys(lastOf(members).largest, table.smallest) < 0)
    if (run === undefined) runs.push([table])
    else run.push(table)
  }
  return runs
}

/** Visits the groups in key order and joins each with those overlapping ones that it conflicts with. */
function mergeOnce(groups: readonly TableGroup[]): TableGroup[] {
  const done: TableGroup[] = []
  let open: TableGroup[] = []
  for (const next of [...groups].sort(bySmallest)) {
    const stillOpen: TableGroup[] = []
    let joined = next
    for (const group of open) {
      if (compareKeys(group.largest, next.smallest) < 0) done.push(group)
      else if (overlapsInSequence(group, joined)) joined = join(group, joined)
      else stillOpen.push(group)
    }
    open = [...stillOpen, joined]
  }
  return [...done, ...open]
}

function overlapsInSequence(a: TableGroup, b: TableGroup): boolean {
  return a.smallestSequence <= b.largestSequence && b.smallestSequence <= a.largestSequence
}

function join(a: TableGroup, b: TableGroup): TableGroup {
  return {
    tables: [...a.tables, ...b.tables],
    smallest: compareKeys(a.smallest, b.smallest) <= 0 ? a.smallest : b.smallest,
    largest: compareKeys(a.largest, b.largest) >= 0 ? a.largest : b.largest,
    smallestSequence: Math.min(a.smallestSequence, b.smallestSequence),
    largestSequence: Math.max(a.largestSequence, b.largestSequence)
  }
}

function bySmallest(a: { readonly smallest: Uint8Array }, b: { readonly smallest: Uint8Array }): number {
  return compareKeys(a.smallest, b.smallest)
}

function lastOf(tables: readonly TableMeta[]): TableMeta {
  // Every run is created with one table.
  return tables[tables.length - 1] as TableMeta
}
