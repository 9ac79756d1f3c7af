/** Deletes the keys of a range that are visible when the call begins. */
import { rangeOf } from '../read/range.ts'
import { RangeScan, type ScanOptions } from '../read/range-scan.ts'
import { deleteKeys } from './delete-keys.ts'
import { type ClearStart, dropAtOnce } from './drop-at-once.ts'
import { dropRange, isWorthDropping } from './drop-range.ts'
import type { Engine } from './engine.ts'
import type { Moment } from './snapshots.ts'
import { unchangedSince } from './unchanged-since.ts'

export interface ClearOptions extends ScanOptions {
  /** Most keys to delete; −1: all. */
  readonly limit?: number | undefined
}

/**
 * Not atomic: if it fails half way, some of the keys are deleted. Entries that become visible meanwhile stay, even on
 * deleted keys.
 * @param at the snapshot whose keys are deleted, even if they were written again since; undefined: as of now
 * @throws LEVEL_CORRUPTION, LEVEL_IO_ERROR
 */
export async function clearRange(engine: Engine, options: ClearOptions, at: Moment | undefined): Promise<void> {
  const { limit = -1, fillCache = false } = options
  const view = engine.view(at)
  // Only keys are needed, which are copied.
  const scan = new RangeScan(view, { ...options, fillCache }, true)
  if (at !== undefined) return deleteKeys(engine, scan, { limit })
  const { counters } = engine
  const { ingestedTables } = counters
  const start: ClearStart = { view, isOvertaken: () => counters.ingestedTables > ingestedTables }
  const range = rangeOf(options)
  try {
    if (limit < 0 && (await dropAtOnce(engine, range, start))) return
    const isWorth = limit < 0 && isWorthDropping(engine, range)
    if (isWorth && (await dropRange(engine, range, start))) return
    await deleteKeys(engine, scan, { limit, wanted: unchangedSince(engine, view.sequence) })
    // Keys with a pending write got no tombstone: until that write is visible, they have the value that is to be cleared.
    await engine.whenWritten()
    // As durable as the tombstones that dropRange() has written: a crash after the clear must not leave half of the range.
    if (isWorth) await engine.sync()
  } finally {
    scan.close()
  }
}
