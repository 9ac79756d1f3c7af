/** What goes wrong while a thread builds segments reaches the caller once, and nobody else. */
import { readdirSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { defaultThreads } from '../../src/docstore/threads/default-threads.ts'
import type { ThreadMessage } from '../../src/docstore/threads/thread-work.ts'
import type { Database } from '../../src/index.ts'
import { testSeed } from '../support/arbitraries.ts'
import { randomFrom } from '../support/random.ts'
import { assertNoTableIsLeft, assertSound, openCounted, tweet } from './load-cases.ts'
import { rejects } from './scratch.ts'

const random = randomFrom(testSeed())
/** The smallest segments that are worth a thread. */
const large = { index: { segmentBits: 16_384 }, autoRebuild: false } as const
const count = 40_000

const fill = (collection: Pick<Database, 'insertMany'>, documents = count) =>
  collection.insertMany(
    Array.from({ length: documents }, (_, i) => tweet(i, i)),
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

test('segments that a thread has when it dies are built all the same, and it leaves no file', async () => {
  const { postMessage } = Worker.prototype
  let killed = 0
  const opened = await openCounted(undefined, large)
  const { db, location } = opened
  await fill(db)
  Worker.prototype.postMessage = function (this: Worker, message: unknown, ...rest: never[]) {
    postMessage.call(this, message, ...rest)
    const work = message as ThreadMessage | undefined
    if (work?.kind !== 'segment') return
    const { firstNumber, numbers } = work.request
    // At any moment of its work, or once it has started to write a table.
    const latest = random() < 0.5 ? Math.floor(random() * 300) : 10_000
    const start = performance.now()
    const watch = setInterval(() => {
      const isWriting = readdirSync(location).some((name) => {
        const number = Number.parseInt(name, 10)
        return number >= firstNumber && number < firstNumber + numbers
      })
      if (!isWriting && performance.now() - start < latest) return
      clearInterval(watch)
      killed++
      void this.terminate()
    }, 0)
    watch.unref()
  }
  try {
    for (let round = 0; round < 4; round++) {
      await db.deleteMany({ 'user.followers': round })
      const progress: number[] = []
      const onProgress = ({ documents }: { documents: number }): void => void progress.push(documents)
      const { documents } = await db.index.rebuild({ threads: 1, onProgress })
      assert.is(documents, count * (1 - (round + 1) / 1000))
      assert.equal(
        progress,
        progress.toSorted((a, b) => a - b),
        'what is built again is not counted twice'
      )
      assert.is(progress.at(-1), documents)
    }
  } finally {
    Worker.prototype.postMessage = postMessage
  }
  assert.ok(killed >= 4)
  await assertSound(db)
  await db.index.rebuild({ threads: 1 })
  assert.ok(opened.ingestedTables > 0)
  await opened[Symbol.asyncDispose]()
  await assertNoTableIsLeft(location, large)
})

test('collections that are rebuilt at the same time share a few threads, and one that waits can be aborted', async () => {
  const { postMessage } = Worker.prototype
  const threads = new Set<Worker>()
  await using opened = await openCounted(undefined, large)
  const { db } = opened
  const collections = Array.from({ length: 8 }, (_, i) => db.collection(`c${i}`))
  for (const collection of collections) await fill(collection, 17_000)
  const ends: string[] = []
  Worker.prototype.postMessage = function (this: Worker, message: unknown, ...rest: never[]) {
    postMessage.call(this, message, ...rest)
    if ((message as ThreadMessage | undefined)?.kind === 'segment') threads.add(this)
  }
  try {
    const aborted = new AbortController()
    const rebuilding = collections.map(async ({ index }, i) => {
      const options = i === 7 ? { threads: 1, signal: aborted.signal } : { threads: 1 }
      await index.rebuild(options).then(
        ({ documents }) => ends.push(`${documents} documents`),
        ({ codeName }) => ends.push(codeName)
      )
    })
    setTimeout(() => aborted.abort(), 50)
    await Promise.all(rebuilding)
  } finally {
    Worker.prototype.postMessage = postMessage
  }
  assert.equal(ends.sort(), [...Array.from({ length: 7 }, () => '17000 documents'), 'Aborted'])
  assert.ok(threads.size <= Math.max(1, defaultThreads()), `${threads.size} threads`)
  for (const collection of collections) assert.is(await collection.countDocuments({ lang: 'de' }), 5667)
})

test.run()
