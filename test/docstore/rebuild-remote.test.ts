/** Segments rebuilt by a thread: the index is the same as without one, whatever else happens meanwhile. */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Database, Document } from '../../src/index.ts'
import { generateTweets } from '../../src/workload/index.ts'
import { testSeed } from '../support/arbitraries.ts'
import { randomFrom } from '../support/random.ts'
import { assertNoTableIsLeft, assertSound, openCounted, tweet } from './load-cases.ts'
import { rejects } from './scratch.ts'

const random = randomFrom(testSeed())
/** The smallest segments that are worth a thread. */
const large = { index: { segmentBits: 16_384 }, autoRebuild: false } as const
const count = 40_000

/** Inserts tweets, replaces some and deletes others; most of them are in tables, the rest in the memtable. */
async function fill(opened: Awaited<ReturnType<typeof openCounted>>): Promise<void> {
  const { db, store } = opened
  const tweets = Array.from({ length: count }, (_, i) => tweet(i, i))
  await db.insertMany(tweets.slice(0, count - 3000), { threads: 0 })
  await store.flush()
  await db.insertMany(tweets.slice(count - 3000), { threads: 0 })
  await db.updateMany({ 'user.followers': { $mod: [10, 3] } }, { $set: { lang: 'ja' } })
  await db.deleteMany({ 'user.followers': { $mod: [10, 7] } })
}

const without = (shape: object, ...names: string[]): object =>
  Object.fromEntries(Object.entries(shape).filter(([name]) => !names.includes(name)))

test('a thread builds the segments that this thread would build, without the log', async () => {
  await using opened = await openCounted(undefined, large)
  const { db, store } = opened
  await fill(opened)
  const there = await db.index.rebuild({ threads: 0 })
  assert.is(opened.ingestedTables, 0)
  const { parameters, bytes } = await db.index.stats()
  const logged = store.stats().writes.loggedBytes
  const progress: number[] = []
  const { documents } = await db.index.rebuild({ threads: 1, onProgress: (each) => progress.push(each.documents) })
  assert.is(documents, there.documents)
  assert.ok(opened.ingestedTables > 0)
  assert.ok(store.stats().writes.loggedBytes - logged < bytes.total / 4)
  assert.is(progress.at(-1), documents)
  assert.equal(
    progress,
    [...progress].sort((a, b) => a - b)
  )
  const after = await db.index.stats()
  assert.equal(after.parameters, parameters)
  assert.equal(without(after.bytes, 'live', 'directory', 'total'), without(bytes, 'live', 'directory', 'total'))
  await assertSound(db)
})

test('a reopened database has the segments that a thread built, and recovers nothing', async () => {
  const opened = await openCounted(undefined, large)
  await fill(opened)
  await opened.db.index.rebuild({ threads: 1 })
  const { parameters } = await opened.db.index.stats()
  await opened[Symbol.asyncDispose]()
  await assertNoTableIsLeft(opened.location, large)
  await using again = await openCounted(opened.location, large)
  await assertSound(again.db)
  const stats = await again.db.index.stats()
  assert.equal(stats.parameters, parameters)
  assert.is(stats.recovered, 0)
})

test('writes during the rebuild are right', async () => {
  await using opened = await openCounted(undefined, large)
  const { db } = opened
  await fill(opened)
  let isOver = false
  const rebuilding = db.index.rebuild({ threads: 1 }).finally(() => {
    isOver = true
  })
  const expected = new Map<unknown, Document>()
  for (const each of await db.find({}, { hint: 'scan' }).toArray()) expected.set(each._id, each)
  for (let next = count; !isOver; next += 10) {
    const added = Array.from({ length: 10 }, (_, i) => tweet(next + i, next + i))
    await db.insertMany(added)
    for (const each of added) expected.set(each._id, each)
    const gone = Math.floor(random() * count)
    await db.deleteMany({ _id: { $gte: gone, $lt: gone + 5 } })
    for (let id = gone; id < gone + 5; id++) expected.delete(id)
    const changed = Math.floor(random() * count)
    const document = { ...tweet(changed, changed + 1), changed: true }
    await db.replaceOne({ _id: changed }, document, { upsert: true })
    expected.set(changed, document)
  }
  await rebuilding
  assert.ok(opened.ingestedTables > 0)
  const all = await db.find({}, { hint: 'scan' }).toArray()
  assert.equal(new Map(all.map((each) => [each._id, each])), expected)
  await assertSound(db)
  assert.is(await db.countDocuments({ changed: true }), all.filter(({ changed }) => changed).length)
})

test('segments that a thread built are replaced by dropping their tables', async () => {
  await using opened = await openCounted(undefined, large)
  const { db, store, location } = opened
  await db.insertMany(generateTweets({ count }), { threads: 0 })
  await store.flush()
  const bytesOfTables = (): number =>
    readdirSync(location)
      .filter((name) => name.endsWith('.sst'))
      .reduce((sum, name) => sum + statSync(join(location, name)).size, 0)
  await db.index.rebuild({ threads: 1 })
  const bytes = bytesOfTables()
  const { total } = (await db.index.stats()).bytes
  for (let round = 0; round < 3; round++) await db.index.rebuild({ threads: 1 })
  await untilDeleted(db)
  // Two kinds of records of the full segments have tables of their own.
  assert.ok(store.stats().writes.droppedTables >= 3 * 2 * 2)
  assert.ok(bytesOfTables() < bytes + total, `${bytes} became ${bytesOfTables()}, with an index of ${total}`)
})

/** Records of replaced segments are deleted after the rebuild; closing waits for that, but loses the counters. */
async function untilDeleted(db: Database): Promise<void> {
  for (let turn = 0; turn < 50; turn++) {
    await new Promise((resolve) => setTimeout(resolve, 10))
    await db.findOne({})
  }
}

test('an aborted rebuild leaves index and files as they were; the next ones work, also after reopening', async () => {
  const opened = await openCounted(undefined, large)
  const { db, location } = opened
  await fill(opened)
  // After it all segments are sealed: nothing but a rebuild changes them.
  await db.index.rebuild({ threads: 0 })
  const before = (await db.index.stats()).parameters
  // After two segments, after one, while the thread adds, while it samples, before it begins.
  for (const after of [34_000, 17_000, 5000, 1, 0]) {
    const controller = new AbortController()
    if (after === 0) setImmediate(() => controller.abort())
    const rebuilding = db.index.rebuild({
      threads: 1,
      signal: controller.signal,
      onProgress: ({ documents }) => {
        if (after > 0 && documents >= after) controller.abort()
      }
    })
    await rejects(rebuilding, 'Aborted')
    assert.equal((await db.index.stats()).parameters, before)
    await assertSound(db)
  }
  await opened[Symbol.asyncDispose]()
  await assertNoTableIsLeft(location, large)
  await using again = await openCounted(location, large)
  await again.db.index.rebuild({ threads: 1 })
  assert.ok(again.ingestedTables > 0)
  assert.is((await again.db.index.stats()).dead, 0)
  await assertSound(again.db)
})

test('numbers of segments that were deleted are not given to others while the store has tombstones under them', async () => {
  // Merges would remove the tombstones.
  const withoutMerges = { autoCompaction: false }
  const opened = await openCounted(undefined, large, withoutMerges)
  const { db, location } = opened
  await fill(opened)
  await db.index.rebuild({ threads: 0 })
  const controller = new AbortController()
  const onProgress = ({ documents }: { documents: number }): void => {
    if (documents > 34_000) controller.abort()
  }
  await rejects(db.index.rebuild({ threads: 1, signal: controller.signal, onProgress }), 'Aborted')
  assert.ok(opened.ingestedTables > 0)
  await opened[Symbol.asyncDispose]()
  await using again = await openCounted(location, large, withoutMerges)
  await again.db.index.rebuild({ threads: 1 })
  assert.ok(again.ingestedTables > 0)
  await assertSound(again.db)
})

test('an error of the progress function aborts the rebuild, and is what the caller gets', async () => {
  await using opened = await openCounted(undefined, large)
  const { db } = opened
  await fill(opened)
  const failure = new Error('enough')
  for (const after of [0, 20_000]) {
    const onProgress = ({ documents }: { documents: number }): void => {
      if (documents > after) throw failure
    }
    try {
      await db.index.rebuild({ threads: 1, onProgress })
      assert.unreachable()
    } catch (error) {
      assert.is(error, failure)
    }
    await assertSound(db)
  }
  await db.index.rebuild({ threads: 1 })
  await assertSound(db)
})

test('close() ends a rebuild by a thread, and leaves no file', async () => {
  const opened = await openCounted(undefined, large)
  await fill(opened)
  const rebuilding = opened.db.index.rebuild({ threads: 1 })
  const ended = rebuilding.then(
    () => 'built',
    (error) => error.codeName
  )
  await new Promise((resolve) => setTimeout(resolve, random() * 150))
  await opened[Symbol.asyncDispose]()
  assert.ok(['built', 'DatabaseNotOpen'].includes(await ended), await ended)
  await assertNoTableIsLeft(opened.location, large)
})

test('the number of threads is checked', async () => {
  await using opened = await openCounted()
  await opened.db.insertOne({ a: 1 })
  for (const threads of [-1, 1.5, 65, '1' as unknown as number]) {
    await rejects(opened.db.index.rebuild({ threads }), 'BadValue')
  }
})

test.run()
