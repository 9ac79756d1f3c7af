/** A `$merge` or `$out` that waits for other writes ends when it is no longer wanted, and holds up nobody meanwhile. */
import { setTimeout } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { AbortedError, type Database, type Document, open } from '../../src/index.ts'
import { allOf, givenSource, names, source } from './aggregate-write-fixture.ts'
import { rejects, scratchPath } from './scratch.ts'

const stores: readonly (readonly [string, () => Promise<Database>])[] = [
  ['memory', () => open('unused', { store: 'memory' })],
  ['lsm', () => open(scratchPath())]
]

/** Runs a task while a transaction holds the collection 'made', which fails if the task waits for its end. */
async function whileHeld(db: Database, task: () => Promise<void>): Promise<void> {
  let begin = (): void => {}
  let release = (): void => {}
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const transaction = db.withTransaction(
    async (tx) => {
      await tx.collection('made').updateOne({ _id: 'old' }, { $inc: { held: 1 } }, { upsert: true })
      begin()
      await released
    },
    { maxTimeMS: 10_000 }
  )
  transaction.catch(() => {})
  await begun
  try {
    await task()
  } finally {
    release()
    await transaction
  }
}

for (const [name, openEmpty] of stores) {
  const given = givenSource(openEmpty)

  for (const last of [{ $merge: 'made' }, { $merge: { into: 'made', whenMatched: 'fail' } }, { $out: 'made' }]) {
    const pipeline: readonly Document[] = [{ $match: {} }, last]
    const title = JSON.stringify(last)

    test(`${name}: ${title} ends with its time limit or its signal`, () =>
      given(async (db) => {
        await whileHeld(db, async () => {
          await rejects(db.aggregate(pipeline, { maxTimeMS: 50 }).toArray(), 'MaxTimeMSExpired')
          const error = await rejects(db.aggregate(pipeline, { signal: AbortSignal.timeout(50) }).toArray(), 'Aborted')
          assert.instance(error, AbortedError)
        })
        assert.equal(await allOf(db, 'made'), [{ _id: 'old', held: 1 }])
        // Behind whatever is left of them.
        await db.collection('made').updateOne({ _id: 'old' }, { $set: { last: true } })
        assert.equal(await allOf(db, 'made'), [{ _id: 'old', held: 1, last: true }])
        assert.equal(names(db), ['default', 'made'])
        await db.aggregate([...pipeline.slice(0, -1), { $merge: 'made' }]).toArray()
        assert.equal(await allOf(db, 'made'), [...source, { _id: 'old', held: 1, last: true }])
        assert.equal((await db.verify()).problems, [])
      }))

    test(`${name}: ${title} writes nothing after its cursor was closed`, () =>
      given(async (db) => {
        const pulls: Promise<unknown>[] = []
        await whileHeld(db, async () => {
          const cursor = db.aggregate(pipeline)
          pulls.push(cursor.next())
          await setTimeout(20)
          await cursor.close()
        })
        assert.equal(await Promise.all(pulls), [null])
        assert.equal(await allOf(db, 'made'), [{ _id: 'old', held: 1 }])
        assert.equal(names(db), ['default', 'made'])
      }))

    test(`${name}: ${title} waits for its turn if it has the time`, () =>
      given(async (db) => {
        const runs: Promise<unknown>[] = []
        const signal = new AbortController().signal
        await whileHeld(db, async () => {
          runs.push(db.aggregate(pipeline, { signal, maxTimeMS: 100_000 }).toArray())
          await setTimeout(20)
        })
        assert.equal(await Promise.all(runs), [[]])
        assert.equal(await allOf(db, 'made'), '$out' in last ? source : [...source, { _id: 'old', held: 1 }])
      }))
  }
}

test('while $out waits to replace a collection, others read it and write to it', () =>
  givenSource(() => open('unused', { store: 'memory' }))(async (db) => {
    const runs: Promise<unknown>[] = []
    const made = db.collection('made')
    await made.insertMany(Array.from({ length: 2000 }, (_, i) => ({ _id: i })))
    const cursor = made.find()
    await whileHeld(db, async () => {
      await cursor.next()
      const aborted = new AbortController()
      const { signal } = aborted
      runs.push(rejects(db.aggregate([{ $out: 'made' }], { signal }).toArray(), 'Aborted'))
      await setTimeout(20)
      assert.is(await made.countDocuments({}, { maxTimeMS: 5000 }), 2000)
      assert.equal(await made.find({ _id: 7 }).toArray(), [{ _id: 7 }])
      assert.is((await made.aggregate([{ $match: { _id: 7 } }]).toArray()).length, 1)
      await rejects(made.updateOne({ _id: 7 }, { $set: { late: true } }, { maxTimeMS: 20 }), 'MaxTimeMSExpired')
      aborted.abort()
    })
    await Promise.all(runs)
    // It stays open, because nothing took its place.
    assert.is((await cursor.toArray()).length, 1999)
    assert.is(await made.countDocuments(), 2001)
  }))

test('$out ends with its time limit, too, while another $out waits to replace the collection', () =>
  givenSource(() => open('unused', { store: 'memory' }))(async (db) => {
    const runs: Promise<unknown>[] = []
    await whileHeld(db, async () => {
      runs.push(db.aggregate([{ $limit: 1 }, { $out: 'made' }]).toArray())
      await setTimeout(20)
      for (const last of [{ $merge: 'made' }, { $out: 'made' }]) {
        await rejects(db.aggregate([last], { maxTimeMS: 50 }).toArray(), 'MaxTimeMSExpired')
      }
    })
    await Promise.all(runs)
    assert.equal(await allOf(db, 'made'), source.slice(0, 1))
    assert.equal(names(db), ['default', 'made'])
  }))

test.run()
