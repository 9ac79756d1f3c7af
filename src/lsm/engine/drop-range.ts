/**
 * Clears a range by dropping the tables that lie within it, in one version edit, which costs the same for any number
 * of keys. Keys of the range in tables that straddle its borders get tombstones.
 *
 * Invariants, where S is the sequence number at the start of the clear:
 * 1. Only tables without anything newer than S are dropped: concurrent puts survive. The sequence numbers of ingested
 *    tables do not tell when they arrived: if any were ingested since the start, nothing is dropped.
 * 2. Nothing reappears that a dropped table has hidden. When the edit is written, any entry of the range up to S in
 *    another table is hidden by a durable entry newer than S. A tombstone in one of those tables does not count: a
 *    merge may move it into a table that is dropped.
 * 3. So a crash leaves each key either unchanged or without a value.
 */
import type { Range } from '../read/range.ts'
import type { TableMeta } from '../version/table-meta.ts'
import { Version } from '../version/version.ts'
import { deleteKeys } from './delete-keys.ts'
import { type ClearStart, isWithin, sumWithin } from './drop-at-once.ts'
import type { Engine } from './engine.ts'
import { EngineReadView } from './engine-read-view.ts'
import { StoredKeys } from './stored-keys.ts'
import { unchangedSince } from './unchanged-since.ts'
import { entryBytes } from './write-buffer.ts'

/**
 * Dropping tables, which begins with a flush, pays only if tombstones would fill more than this share of a memtable.
 */
const minMemtableShare = 1 / 16

/** Merges may write new tables across the borders while the old ones get their tombstones: then those are next. */
const maxAttempts = 4

/** Whether there is enough to drop; otherwise tombstones are cheaper. */
export function isWorthDropping(engine: Engine, range: Range): boolean {
  const bytes = sumWithin(engine, range, ({ entries, largest }) => entries * (entryBytes + largest.length))
  return bytes > engine.options.writeBufferSize * minMemtableShare
}

/**
 * @returns false if the range is not cleared, because merges kept producing new tables across its borders, or because
 * tables were ingested meanwhile. Some of its keys may have durable tombstones then.
 * @throws LEVEL_CORRUPTION, LEVEL_IO_ERROR
 */
export async function dropRange(engine: Engine, range: Range, start: ClearStart): Promise<boolean> {
  const { sequence } = start.view
  // From here on memtables hold nothing of the range up to S, and all of that is durable.
  await engine.flush()
  const cleared = new Set<number>()
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const rest = await dropOrFindRemaining(engine, range, start, cleared)
    if (rest === undefined) return !start.isOvertaken()
    const wanted = unchangedSince(engine, sequence)
    const { view, tables } = rest
    try {
      const versions = view.cursor({ fillCache: 'none', reusesMemory: false })
      await deleteKeys(engine, new StoredKeys(versions, range, sequence), { wanted })
    } finally {
      view.release()
    }
    // Keys with a pending write got no tombstone: the write that hides them has to be in the log, too.
    await engine.whenWritten()
    await engine.sync()
    for (const { number } of tables) cleared.add(number)
  }
  return false
}

interface RemainingTables {
  readonly tables: readonly TableMeta[]
  /** A view of these tables only. */
  readonly view: EngineReadView
}

/**
 * Drops the tables within the range, unless other tables hold entries of it.
 * @param cleared numbers of tables whose keys in the range have their tombstones
 * @returns those other tables; undefined once there are none
 */
async function dropOrFindRemaining(
  engine: Engine,
  range: Range,
  { view: { sequence }, isOvertaken }: ClearStart,
  cleared: ReadonlySet<number>
): Promise<RemainingTables | undefined> {
  const found: { rest?: RemainingTables } = {}
  await engine.dropTables(() => {
    if (isOvertaken()) return []
    const dropped: { level: number; number: number }[] = []
    const rest = engine.version.levels.map((_, level) =>
      engine.version.overlapping(level, range.start, range.end).filter((table) => {
        const { number, smallestSequence, largestSequence } = table
        const isDropped = isWithin(range, table) && largestSequence <= sequence
        if (isDropped) dropped.push({ level, number })
        return !isDropped && smallestSequence <= sequence && !cleared.has(number)
      })
    )
    const tables = rest.flat()
    if (tables.length === 0) return dropped
    const holder = engine.view()
    // Not the whole store: what it lacks is no gap.
    const part = { buffers: [], version: new Version(rest), tables: engine.tables, sequence, epoch: undefined }
    found.rest = { tables, view: new EngineReadView(part, undefined, () => holder.release()) }
    return []
  })
  return found.rest
}
