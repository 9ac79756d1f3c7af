/**
 * Checks a version's invariants from the manifest's table descriptions alone. Pure; see check-shadowing.ts for the
 * rest.
 */
import { join } from 'node:path'
import { compareKeys } from '../format/entry.ts'
import { tableName } from '../fs/file-names.ts'
import { compareInLevel } from '../version/level.ts'
import type { TableMeta } from '../version/table-meta.ts'
import type { Levels } from '../version/version.ts'
import type { ProblemList } from './problems.ts'

export function checkLevels(levels: Levels, directory: string, problems: ProblemList): void {
  const seen = new Map<number, number>()
  for (const [level, tables] of levels.entries()) {
    const add = (table: TableMeta, what: string) =>
      problems.add('levels', join(directory, tableName(table.number)), `level ${level}: ${what}`)
    for (const [at, table] of tables.entries()) {
      const other = seen.get(table.number)
      if (other !== undefined) add(table, `it is also in level ${other}`)
      seen.set(table.number, level)
      if (compareKeys(table.smallest, table.largest) > 0) add(table, 'its largest key is before its smallest key')
      if (table.smallestSequence > table.largestSequence)
        add(table, 'its largest sequence number is below its smallest')
      const previous = tables[at - 1]
      if (previous === undefined) continue
      if (compareInLevel(level, previous, table) > 0) add(table, `it is out of order after table ${previous.number}`)
      else if (level > 0 && compareKeys(previous.largest, table.smallest) >= 0) {
        add(table, `it overlaps table ${previous.number}`)
      }
    }
  }
}
