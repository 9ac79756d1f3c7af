/** What goes wrong while a thread builds segments reaches the caller once, and nobody else. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Database } from '../../src/index.ts'
import { openCounted, tweet } from './load-cases.ts'
import { rejects } from './scratch.ts'

/** The smallest segments that are worth a thread. */
const large = { index: { segmentBits: 16_384 }, autoRebuild: false } as const
const count = 40_000

const fill = (db: Pick<Database, 'insertMany'>) =>
  db.insertMany(
    Array.from({ length: count }, (_, i) => tweet(i, i)),
    { threads: 0 }
  )

/** Keeps this thread busy while the other one goes on and sends messages. */
function block(milliseconds: number): void {
  const end = performance.now() + milliseconds
  while (performance.now() < end);
}

test('the progress function is not called again after it has thrown, or after the signal has fired', async () => {
  await using opened = await openCounted(undefined, large)
  const { db } = opened
  await fill(db)
  // The thread has started and compiled everything.
  await db.index.rebuild({ threads: 1 })
  const controller = new AbortController()
  for (const end of ['throws', 'aborts']) {
    const calls: Error[] = []
    const onProgress = ({ documents }: { documents: number }): void => {
      if (documents === 0) return
      calls.push(new Error(`call ${calls.length + 1}`))
      block(100)
      if (end === 'throws') throw calls.at(-1)
      controller.abort()
    }
    const rebuilding = db.index.rebuild({ threads: 1, onProgress, signal: controller.signal })
    if (end === 'throws') assert.is(await rebuilding.catch((error: unknown) => error), calls[0])
    else await rejects(rebuilding, 'Aborted')
    assert.is(calls.length, 1, end)
  }
})

test.run()
