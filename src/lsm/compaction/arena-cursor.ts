/** A memtable's arena as a sorted run, in a thread that does not have the memtable: its batches are replayed. */
import type { Cursor } from '../format/cursor.ts'
import { decodeBatches } from '../format/write-batch.ts'
import { Arena } from '../memtable/arena.ts'
import { Memtable } from '../memtable/memtable.ts'
import type { ArenaSnapshot } from './job.ts'
import type { Pace } from './job-queue.ts'

/** Entries after which a replay sorts what it has, so that no sorting takes long. */
const sortedAtOnce = 8192

/**
 * @param path of the database, for errors
 * @throws LEVEL_CORRUPTION for bytes that are not write batches
 */
export async function replayArena(snapshot: ArenaSnapshot, path: string, pace: Pace): Promise<Cursor> {
  const arena = Arena.of(snapshot)
  const memtable = new Memtable(arena)
  let sorted = 0
  for (const [number, { payloads }] of snapshot.chunks.entries()) {
    const bytes = arena.chunk(number)
    for (let i = 0; i + 1 < payloads.length; i += 2) {
      decodeBatches(bytes, payloads[i] ?? 0, payloads[i + 1] ?? 0, { path }, (operation) => {
        memtable.add(number, operation)
      })
      if (memtable.entryCount - sorted >= sortedAtOnce) {
        memtable.cursor().close()
        sorted = memtable.entryCount
      }
      const pause = pace.breathe()
      if (pause !== undefined) await pause
    }
  }
  return memtable.cursor()
}
