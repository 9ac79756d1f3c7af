/** Deletes the keys of a scan one by one, in batches, yielding to the event loop between them. */
import type { Engine } from './engine.ts'
import { nextTurn } from './event-loop-turn.ts'
import type { KeyTest } from './unchanged-since.ts'
import type { WriteOperation } from './write-group.ts'

/** Limits on the keys examined for one batch. */
const maxKeys = 512
const maxKeyBytes = 64 * 1024

/** Keys in any order, with RangeScan's methods. */
export interface KeyScan {
  prepareSlice(): boolean
  advance(): boolean
  key(): Uint8Array
  readonly hasEnded: boolean
  close(): void
}

interface DeleteOptions {
  /** Maximum number of keys to delete; −1: no limit. */
  readonly limit?: number
  /** Called before each batch; keys for which the test returns false stay. */
  readonly wanted?: () => KeyTest
}

/**
 * @param scan is closed at the end
 * @throws LEVEL_CORRUPTION, LEVEL_IO_ERROR
 */
export async function deleteKeys(
  engine: Engine,
  scan: KeyScan,
  { limit = -1, wanted }: DeleteOptions = {}
): Promise<void> {
  let left = limit < 0 ? Number.POSITIVE_INFINITY : limit
  try {
    while (scan.prepareSlice()) await nextTurn()
    while (left > 0) {
      const deletes = nextDeletes(scan, left, wanted?.())
      left -= deletes.length
      if (deletes.length > 0) await engine.batch(deletes, false)
      if (scan.hasEnded) return
      await nextTurn()
    }
  } finally {
    scan.close()
  }
}

function nextDeletes(scan: KeyScan, limit: number, isWanted: KeyTest | undefined): WriteOperation[] {
  const deletes: WriteOperation[] = []
  let bytes = 0
  for (let seen = 0; seen < Math.min(limit, maxKeys) && bytes < maxKeyBytes && scan.advance(); seen++) {
    const key = scan.key()
    bytes += key.length
    if (isWanted === undefined || isWanted(key)) deletes.push({ type: 'del', key })
  }
  return deletes
}
