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
import { level0ByGroup } from './table-groups.ts'

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

/** Number of level-0 runs in the partition that has most: decides when writers are slowed down and stopped. */
export function level0Depth(tables: readonly TableMeta[], depth: number): number {
  return deepestPartition(tables, depth).runs
}

/**
 * The partition with most runs in level 0; without tables, a result with no runs. A table that partitions share counts
 * for the first of them, and tables that overlap are of one in any case.
 */
export function deepestPartition(tables: readonly TableMeta[], depth: number): { name: string; runs: number } {
  let deepest = { name: '', runs: 0 }
  for (const [name, list] of level0ByGroup(tables, { depth, own: undefined })) {
    const runs = level0Runs(list).length
    if (runs > deepest.runs) deepest = { name, runs }
  }
  return deepest
}
