/** A pipeline's cursor is lazy, sees one moment and can be used once; and what ends it. */
import { setTimeout } from 'node:timers/promises'
import { MemoryLevel } from 'memory-level'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { AbortedError, type Database, open } from '../../src/index.ts'
import { rejects, scratchPath } from './scratch.ts'

const count = 1000
let db: Database

test.before(async () => {
  db = await open('unused', { store: 'memory' })
  await db.insertMany(Array.from({ length: count }, (_, i) => ({ _id: i, n: i % 10, tags: ['a', 'b'] })))
})

test.after(() => db.close())

test('nothing is read and nothing fails before the first pull', async () => {
  const fresh = await open('unused', { store: 'memory' })
  fresh.aggregate([{ $nothing: 1 }])
  const cursor = fresh.aggregate([{ $set: { x: '$a' } }])
  await fresh.insertOne({ _id: 1, a: 1 })
  assert.equal(await cursor.toArray(), [{ _id: 1, a: 1, x: 1 }])
  await fresh.close()
})

test('everything a pipeline reads, other collections included, is as of the first pull', async () => {
  const fresh = await open(scratchPath())
  const others = fresh.collection('others')
  await fresh.insertMany([{ _id: 1 }, { _id: 2 }])
  await others.insertOne({ _id: 'a', of: 1 })
  const pipeline = [
    { $lookup: { from: 'others', localField: '_id', foreignField: 'of', as: 'joined' } },
    { $set: { joined: { $size: '$joined' } } },
    { $unionWith: 'others' }
  ]
  const cursor = fresh.aggregate(pipeline)
  const first = cursor.next()
  await Promise.all([
    fresh.insertOne({ _id: 3 }),
    others.insertMany([{ _id: 'b', of: 2 }]),
    others.deleteOne({ _id: 'a' })
  ])
  assert.equal(
    [await first, ...(await cursor.toArray())],
    [
      { _id: 1, joined: 1 },
      { _id: 2, joined: 0 },
      { _id: 'a', of: 1 }
    ]
  )
  await fresh.close()
})

test('a cursor runs once, but its clone runs again; map() chains; forEach() stops', async () => {
  const cursor = db.aggregate<{ n: number }>([{ $match: { n: 3 } }, { $set: { m: '$n' } }])
  const texts = cursor.map(({ n }) => n + 1).map(String)
  const clone = texts.clone()
  assert.is(await texts.hasNext(), true)
  assert.is(await texts.next(), '4')
  assert.is(await texts.tryNext(), '4')
  assert.is((await texts.toArray()).length, 98)
  await rejects(texts.toArray(), 'CursorNotFound')
  assert.throws(() => texts.map(String), /once iteration has started/)
  let seen = 0
  // biome-ignore lint/suspicious/useIterableCallbackReturn: a cursor's forEach does look at what is returned
  await clone.forEach(() => {
    seen++
    return seen < 7
  })
  assert.is(seen, 7)
  assert.is(clone.closed, true)
})

test('leaving a loop frees every snapshot, and so do errors and closing during a pull', async () => {
  const store = new SnapshotCountingLevel()
  const counted = await open(store)
  await counted.insertMany(Array.from({ length: 500 }, (_, i) => ({ _id: i })))
  await counted.collection('other').insertOne({ _id: 1 })
  const pipeline = [{ $lookup: { from: 'other', localField: '_id', foreignField: '_id', as: 'o' } }]
  for await (const document of counted.aggregate(pipeline)) if (document._id === 3) break
  {
    await using cursor = counted.aggregate(pipeline)
    await cursor.next()
  }
  await rejects(counted.aggregate([...pipeline, { $replaceWith: '$missing' }]).toArray(), 'BadValue')
  const closing = counted.aggregate(pipeline)
  const pulled = closing.next()
  await closing.close()
  await pulled
  assert.is(store.openSnapshots, 0)
  await counted.close()
})

test('results are copies that share nothing with each other', async () => {
  const cursor = db.aggregate<{ all: { n: number }; tag: string }>([
    { $match: { _id: 5 } },
    { $set: { all: { n: 1 } } },
    { $unwind: '$tags' }
  ])
  const [a, b] = await cursor.toArray()
  Object.assign(a?.all ?? {}, { n: 2 })
  assert.is(b?.all.n, 1)
})

test('changing the pipeline does not affect a cursor that is running', async () => {
  const stage = { $set: { x: { $literal: { y: 1 } } } }
  const cursor = db.aggregate([{ $match: { n: 1 } }, stage])
  assert.equal((await cursor.next())?.x, { y: 1 })
  stage.$set.x.$literal.y = 2
  assert.ok((await cursor.toArray()).every(({ x }) => (x as { y: number }).y === 1))
})

test('a signal and a time limit end stages that group and stages that compute', async () => {
  const slow = { $function: { body: () => spin(5), args: [], lang: 'js' } }
  const grouping = [{ $group: { _id: '$n', all: { $push: slow } } }]
  await db.aggregate([{ $limit: 1 }, { $set: { x: slow } }]).toArray()
  const started = performance.now()
  await rejects(db.aggregate(grouping, { maxTimeMS: 30 }).toArray(), 'MaxTimeMSExpired')
  const controller = new AbortController()
  const running = db.aggregate([{ $set: { x: slow } }, { $sort: { x: 1 } }], { signal: controller.signal }).toArray()
  await setTimeout(20)
  controller.abort()
  assert.instance(await running.catch((error: unknown) => error), AbortedError)
  // All of it would take ten seconds.
  assert.ok(performance.now() - started < 5000)
})

test('a stage that needs no more documents ends the read', async () => {
  let calls = 0
  const where = (): boolean => {
    calls++
    return true
  }
  const found = await db.aggregate([{ $match: { $where: where } }, { $unwind: '$tags' }, { $limit: 3 }]).toArray()
  assert.is(found.length, 3)
  // Slices grow: the second one was the last.
  assert.ok(calls < 200, `${calls} documents were tested`)
})

test('a stage that would exceed its memory limit is named in the error', async () => {
  const large = await open('unused', { store: 'memory' })
  await large.insertMany(Array.from({ length: 60 }, (_, i) => ({ _id: i, text: 'x'.repeat(2 ** 20) })))
  for (const stage of [
    { $group: { _id: null, all: { $push: { one: '$text', two: '$text' } } } },
    { $facet: { a: [{ $match: {} }], b: [{ $match: {} }] } },
    { $bucketAuto: { groupBy: '$_id', buckets: 2, output: { all: { $push: { $concat: ['$text', '$text'] } } } } }
  ]) {
    const stages = [{ $set: { more: '$text' } }, stage]
    const error = await rejects(large.aggregate(stages).toArray(), 'QueryExceededMemoryLimit')
    assert.match(error.message, `${Object.keys(stage)[0]} (stage 1)`)
  }
  // Sums hold nothing.
  assert.is((await large.aggregate([{ $group: { _id: '$text', n: { $sum: 1 } } }]).toArray()).length, 1)
  await large.close()
})

test('a collection that does not exist is empty', async () => {
  const none = db.collection('none')
  assert.equal(await none.aggregate([{ $group: { _id: null, n: { $sum: 1 } } }]).toArray(), [])
  assert.equal(await none.aggregate([{ $facet: { a: [] } }]).toArray(), [{ a: [] }])
  const { read, stages } = await none.aggregate([{ $set: { a: 1 } }]).explain()
  assert.equal([read, stages.length], [undefined, 1])
})

test('explain() reports which stages became one read, and what each other stage returned', async () => {
  const cursor = db.aggregate([
    { $match: { n: 3 } },
    { $match: { _id: { $lt: 500 } } },
    { $sort: { _id: -1 } },
    { $limit: 20 },
    { $unwind: '$tags' },
    { $group: { _id: '$tags' } }
  ])
  const { pushedDown, read, stages, nReturned } = await cursor.explain()
  assert.equal(pushedDown, ['$match (stage 0)', '$match (stage 1)', '$sort (stage 2)', '$limit (stage 3)'])
  assert.is(read?.executionStats.nReturned, 20)
  assert.is(read?.queryPlanner.winningPlan.stage, 'LIMIT')
  assert.equal(stages, [
    { stage: '$unwind', position: 4, mode: 'streams', nReturned: 40 },
    { stage: '$group', position: 5, mode: 'collects', nReturned: 2 }
  ])
  assert.is(nReturned, 2)
  const counted = await db.aggregate([{ $match: {} }, { $count: 'n' }]).explain()
  assert.is(counted.read?.index.documentsFetched, 0)
  assert.is((await cursor.toArray()).length, 2)
})

test('$sample returns the requested number of different documents', async () => {
  const ids = await db
    .aggregate([{ $sample: { size: 300 } }])
    .map(({ _id }) => _id)
    .toArray()
  assert.is(new Set(ids).size, 300)
  assert.is((await db.aggregate([{ $match: { n: 3 } }, { $sample: { size: 300 } }]).toArray()).length, 100)
})

test('expressions can use let variables and functions', async () => {
  const [found] = await db
    .aggregate([{ $match: { $expr: { $eq: ['$_id', '$$id'] } } }, { $project: { _id: 0, twice: '$$id' } }], {
      let: { id: 7 }
    })
    .toArray()
  assert.equal(found, { twice: 7 })
  const init = (): number => 0
  const accumulate = (sum: number, n: number): number => sum + n
  const [summed] = await db
    .aggregate([
      {
        $group: {
          _id: null,
          sum: { $accumulator: { init, accumulate, accumulateArgs: ['$n'], merge: accumulate, lang: 'js' } }
        }
      }
    ])
    .toArray()
  assert.is(summed?.sum, 4500)
})

/** Counts the snapshots that have not been closed. */
class SnapshotCountingLevel extends MemoryLevel<unknown, unknown> {
  openSnapshots = 0

  override snapshot(options?: never): ReturnType<MemoryLevel<unknown, unknown>['snapshot']> {
    const snapshot = super.snapshot(options)
    this.openSnapshots++
    const close = snapshot.close.bind(snapshot)
    let isClosed = false
    snapshot.close = async () => {
      if (!isClosed) this.openSnapshots--
      isClosed = true
      await close()
    }
    return snapshot
  }
}

function spin(milliseconds: number): number {
  const end = performance.now() + milliseconds
  while (performance.now() < end);
  return 1
}

test.run()
