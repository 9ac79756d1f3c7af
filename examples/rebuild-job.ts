/**
 * Rebuilds an index at times of the application's choosing, instead of automatically: periodically checks whether a
 * rebuild pays off, and does it while the application keeps reading and writing.
 *
 * Run it with `node --import tsx examples/rebuild-job.ts`.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Collection, open } from 'petaldb'

/** Ends when the signal fires; a running rebuild is abandoned, and the index stays unchanged. */
async function keepInShape(collection: Collection, everyMilliseconds: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const reason = await collection.index.rebuildReason()
    if (reason !== undefined) {
      const { documents, milliseconds } = await collection.index.rebuild({ signal })
      console.log(
        `${reason}: ${documents} documents reindexed, ${Math.round(documents / milliseconds)} per millisecond`
      )
    }
    await sleep(everyMilliseconds, undefined, { signal }).catch(() => undefined)
  }
}

const directory = await mkdtemp(join(tmpdir(), 'petaldb-rebuild-job-'))
const ending = new AbortController()
try {
  await using db = await open(directory, { autoRebuild: false })
  const readings = db.collection('readings')
  const reading = (_id: number) => ({ _id, sensor: `s${_id % 40}`, value: (_id * 7919) % 1000, isOld: false })
  await readings.insertMany(Array.from({ length: 6000 }, (_, i) => reading(i)))

  const job = keepInShape(readings, 20, ending.signal)
  // The application continues: half of the readings are replaced.
  await readings.updateMany({ value: { $lt: 500 } }, { $set: { isOld: true } })
  console.log(`${await readings.countDocuments({ isOld: true })} readings are old`)
  while ((await readings.index.stats()).dead > 0) await sleep(20)
  console.log(`${(await readings.index.stats()).dead} dead documents are in the index`)
  ending.abort()
  await job
} finally {
  await rm(directory, { recursive: true, force: true })
}
