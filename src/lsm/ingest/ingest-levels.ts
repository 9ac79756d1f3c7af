/**
 * Decides where ingested tables go: pure policy.
 *
 * Invariants:
 * 1. No table of the store has a version of an ingested key: none is live, and nothing is ingested where a table has
 *    tombstones. So reads are unaffected by which tables are above an ingested one, and it goes
 *    to the deepest level where it overlaps none.
 * 2. Entries have sequence number 0. Level 0 is ordered by the newest entry of each table: tables with only ingested
 *    entries come last there, and merging them with others does not move the result to another position. (With the
 *    current sequence number, several tables would have the same newest entry, and the result of merging one of them
 *    with older tables would come before newer ones.)
 */
import { overlaps } from '../compaction/key-span.ts'
import { compareKeys } from '../format/entry.ts'
import { levelCount, type VersionEdit } from '../format/version-edit.ts'
import type { TableMeta } from '../version/table-meta.ts'
import type { Version } from '../version/version.ts'

export type PlacedTables = NonNullable<VersionEdit['newTables']>

/**
 * Places each table in the deepest level where it overlaps neither a table of the version nor one placed before, or
 * else in level 0.
 */
export function placeTables(version: Version, tables: readonly TableMeta[]): PlacedTables {
  /** The last table placed in each level: the others end before it. */
  const last: (TableMeta | undefined)[] = []
  // In key order this takes as few levels as possible.
  return [...tables]
    .sort((a, b) => compareKeys(a.smallest, b.smallest))
    .map((table) => {
      let level = levelCount - 1
      while (level > 0 && !isFree(version, level, last[level], table)) level--
      last[level] = table
      return { level, table }
    })
}

function isFree(version: Version, level: number, last: TableMeta | undefined, table: TableMeta): boolean {
  if (last !== undefined && overlaps(last, table)) return false
  return version.overlapping(level, table.smallest, table.largest).length === 0
}
