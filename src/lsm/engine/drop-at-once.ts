/**
 * Clears a range by dropping the tables that lie within it, if nothing else has keys of it: without a flush and without
 * tombstones.
 *
 * Invariants, where S is the sequence number at the start of the clear:
 * 1. Only tables without anything newer than S are dropped: concurrent puts survive. If tables were ingested since the
 *    start, nothing is dropped.
 * 2. Nothing reappears: no entry of the range up to S is anywhere else.
 * 3. What was written before the clear is durable before the tables are gone: a crash leaves a prefix of the writes.
 */
import { hasKeyIn } from '../read/has-key-in.ts'
import { isInRange, type Range } from '../read/range.ts'
import type { TableMeta } from '../version/table-meta.ts'
import type { DroppedTables } from './background.ts'
import type { Engine } from './engine.ts'
import type { EngineReadView } from './engine-read-view.ts'
import { nextTurn } from './event-loop-turn.ts'

/** Smaller tables are not worth waiting for a merge, which may take minutes: their keys get tombstones. */
const minBytesToWaitFor = 32 * 1024

/** The moment at which a clear began. */
export interface ClearStart {
  /** Also keeps the store open. */
  readonly view: EngineReadView
  /** Whether tables were ingested since: their sequence numbers do not tell. */
  isOvertaken(): boolean
}

/**
 * @returns false, with nothing changed, if the range has to be cleared some other way
 * @throws LEVEL_CORRUPTION, LEVEL_IO_ERROR
 */
export async function dropAtOnce(engine: Engine, range: Range, { view, isOvertaken }: ClearStart): Promise<boolean> {
  const others = await othersWithoutKeys(view, range)
  if (others === undefined) return false
  if (engine.isMerging && sumWithin(view, range, ({ bytes }) => bytes) < minBytesToWaitFor) return false
  await engine.sync()
  let isCleared = false
  await engine.dropTables(() => {
    if (isOvertaken()) return []
    const dropped: DroppedTables[number][] = []
    for (const { level, table } of tablesIn(engine, range)) {
      if (isWithin(range, table) && table.largestSequence <= view.sequence) {
        dropped.push({ level, number: table.number })
      } else if (table.smallestSequence <= view.sequence && !others.has(table.number)) return []
    }
    // Also if another clear of the range has left nothing to drop.
    isCleared = true
    return dropped
  })
  return isCleared
}

/** Whether every key of the table is in the range. */
export function isWithin(range: Range, { smallest, largest }: TableMeta): boolean {
  return isInRange(range, smallest) && isInRange(range, largest)
}

/**
 * Returns the numbers of the tables that straddle the range but have no key in it; undefined if some table or memtable
 * has one, or if no table lies within the range.
 */
async function othersWithoutKeys(view: EngineReadView, range: Range): Promise<ReadonlySet<number> | undefined> {
  const tables = [...tablesIn(view, range)].map(({ table }) => table)
  const straddling = tables.filter((table) => !isWithin(range, table))
  if (straddling.length === tables.length) return undefined
  while (view.prepareSlice(range, false)) await nextTurn()
  if (view.buffers.some(({ memtable }) => hasKeyIn(memtable.cursor(), range))) return undefined
  for (const table of straddling) {
    await nextTurn()
    const cursor = view.tables.table(table).cursor({ fillCache: 'none', readahead: false })
    if (hasKeyIn(cursor, range)) return undefined
  }
  return new Set(straddling.map(({ number }) => number))
}

/** The sum of a measure over the tables that lie within the range. */
export function sumWithin(at: HasVersion, range: Range, measure: (table: TableMeta) => number): number {
  let sum = 0
  for (const { table } of tablesIn(at, range)) if (isWithin(range, table)) sum += measure(table)
  return sum
}

type HasVersion = Pick<EngineReadView, 'version'>

function* tablesIn({ version }: HasVersion, { start, end }: Range) {
  for (const level of version.levels.keys()) {
    for (const table of version.overlapping(level, start, end)) yield { level, table }
  }
}
