/** Deletes a range of keys: those that are visible when it begins, in batches between which the event loop turns. */
import { RangeScan, type ScanOptions } from '../read/range-scan.ts'
import type { Engine } from './engine.ts'
import { nextTurn } from './event-loop-turn.ts'
import type { WriteOperation } from './write-group.ts'

/** A batch of deletes is as large as these allow. */
const maxDeletes = 512
const maxKeyBytes = 64 * 1024

/**
 * Not atomic: when it fails half way, a part of the keys is deleted.
 * @param sequence of the snapshot whose keys are deleted
 * @throws LEVEL_CORRUPTION, LEVEL_IO_ERROR
 */
export async function clearRange(engine: Engine, options: ScanOptions, sequence: number | undefined): Promise<void> {
  const scan = new RangeScan(engine.view(sequence), options)
  const limit = options.limit === undefined || options.limit < 0 ? Number.POSITIVE_INFINITY : options.limit
  try {
    let deleted = 0
    while (deleted < limit) {
      const deletes = nextDeletes(scan, limit - deleted)
      if (deletes.length === 0) return
      deleted += deletes.length
      await engine.batch(deletes, false)
      if (deleted < limit) await nextTurn()
    }
  } finally {
    scan.close()
  }
}

function nextDeletes(scan: RangeScan, limit: number): WriteOperation[] {
  const deletes: WriteOperation[] = []
  let bytes = 0
  while (deletes.length < Math.min(limit, maxDeletes) && bytes < maxKeyBytes && scan.advance()) {
    const key = scan.key()
    deletes.push({ type: 'del', key })
    bytes += key.length
  }
  return deletes
}
