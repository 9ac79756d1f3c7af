/** Deletes a range of keys: those that are visible when it begins. */
import { RangeScan, type ScanOptions } from '../read/range-scan.ts'
import { deleteKeys } from './delete-keys.ts'
import { dropRange } from './drop-range.ts'
import type { Engine } from './engine.ts'
import type { Moment } from './snapshots.ts'

/**
 * Not atomic: when it fails half way, a part of the keys is deleted.
 * @param at the snapshot whose keys are deleted; undefined: as of now
 * @throws LEVEL_CORRUPTION, LEVEL_IO_ERROR
 */
export async function clearRange(engine: Engine, options: ScanOptions, at: Moment | undefined): Promise<void> {
  const { limit = -1 } = options
  // Of a snapshot, keys that were written again since are deleted, too.
  if (limit < 0 && at === undefined && (await dropRange(engine, options))) return
  await deleteKeys(engine, new RangeScan(engine.view(at), options), { limit })
}
