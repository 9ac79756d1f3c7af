/** $out: what it leaves in a collection; one shared specification that runs on every store. */
import { setTimeout } from 'node:timers/promises'
import { ObjectId } from 'bson'
import type { Test } from 'uvu'
import * as assert from 'uvu/assert'
import { AbortedError, type Database, type Document } from '../../src/index.ts'
import { allOf, givenSource, names, run, source, spin } from './aggregate-write-fixture.ts'
import { rejects } from './scratch.ts'

export function aggregateOutCases(test: Test, openEmpty: () => Promise<Database>): void {
  const given = givenSource(openEmpty)

  test('$out creates a collection and returns nothing', () =>
    given(async (db) => {
      await run(db, { $match: { n: { $gt: 1 } } }, { $set: { twice: { $multiply: ['$n', 2] } } }, { $out: 'made' })
      assert.equal(await allOf(db, 'made'), [
        { _id: 2, k: 'b', n: 2, twice: 4 },
        { _id: 3, k: 'c', n: 3, twice: 6 }
      ])
      assert.equal(await db.collection('made').find({ twice: 6 }).toArray(), [{ _id: 3, k: 'c', n: 3, twice: 6 }])
      assert.is(await db.collection('made').countDocuments(), 2)
      assert.equal((await db.verify()).problems, [])
    }))

  test('$out replaces all contents, also with nothing, and also those of the collection it reads', () =>
    given(async (db) => {
      await db.collection('made').insertMany([{ _id: 1, old: true }, { _id: 'x' }])
      await run(db, { $project: { n: 1 } }, { $out: { coll: 'made' } })
      assert.equal(
        await allOf(db, 'made'),
        source.map(({ _id, n }) => ({ _id, n }))
      )
      await run(db, { $match: { n: 'none' } }, { $out: 'made' })
      assert.equal(await allOf(db, 'made'), [])
      assert.equal(names(db), ['default', 'made'])
      await run(db, { $match: { n: { $ne: 2 } } }, { $out: 'default' })
      assert.equal(await allOf(db, 'default'), [source[0], source[2]])
      await db.insertOne({ _id: 9, n: 2 })
      assert.equal(await db.find({ n: 2 }).toArray(), [{ _id: 9, n: 2 }])
      await run(db, { $documents: [{ a: 1 }] }, { $out: 'made' })
      assert.equal(
        (await allOf(db, 'made')).map(({ a, _id }) => [a, _id instanceof ObjectId]),
        [[1, true]]
      )
      assert.equal((await db.verify()).problems, [])
    }))

  test('$out keeps the declared indexes; if they refuse a document, the collection stays unchanged', () =>
    given(async (db) => {
      const made = db.collection('made')
      await made.createIndex({ k: 1 }, { unique: true })
      await made.createIndex({ n: -1, k: 1 }, { name: 'both' })
      await made.insertOne({ _id: 'old', k: 'a', n: 0 })
      const declared = made.listIndexes()
      await run(db, { $out: 'made' })
      assert.equal([...made.listIndexes()], [...declared])
      assert.equal(await allOf(db, 'made'), source)
      assert.equal(await made.find({ k: 'b' }, { hint: { k: 1 } }).toArray(), [source[1]])
      assert.equal(await made.find({}, { hint: 'both', sort: { n: -1 } }).toArray(), [...source].reverse())
      await rejects(made.insertOne({ k: 'c' }), 'DuplicateKey')
      const error = await rejects(db.aggregate([{ $set: { k: 'same' } }, { $out: 'made' }]).toArray(), 'DuplicateKey')
      assert.match(error.message, /^\$out \(stage 1\): E11000 .*collection: made index: k_1/)
      assert.equal(error.details.keyValue, { k: 'same' })
      assert.equal(await allOf(db, 'made'), source)
      await rejects(made.insertOne({ k: 'c' }), 'DuplicateKey')
      await made.dropIndex('both')
      assert.equal((await db.verify()).problems, [])
    }))

  test('$out refuses a duplicate _id, and adds an _id where it is missing', () =>
    given(async (db) => {
      await db.collection('made').insertOne({ _id: 'old' })
      const twice = [{ $set: { _id: { $min: ['$_id', 2] } } }, { $out: 'made' }]
      assert.match((await rejects(db.aggregate(twice).toArray(), 'DuplicateKey')).message, /^\$out \(stage 1\): E11000/)
      assert.equal(await allOf(db, 'made'), [{ _id: 'old' }])
      await run(db, { $group: { _id: null, n: { $sum: '$n' } } }, { $out: 'made' })
      const [total] = await allOf(db, 'made')
      assert.is(total?.n, 6)
      assert.instance(total?._id, ObjectId)
      await run(db, { $project: { _id: 0 } }, { $out: 'made' })
      assert.is(new Set((await allOf(db, 'made')).map(({ _id }) => String(_id))).size, 3)
    }))

  test('$out keeps the codec of ids and the kind of index of a collection', () =>
    given(async (db) => {
      const counted = db.collection('counted', { ids: 'reversible' })
      await counted.insertMany([{ a: 1 }, { a: 2 }])
      const plain = db.collection('plain', { index: 'none' })
      await plain.insertOne({ a: 1 })
      await run(db, { $unset: '_id' }, { $out: 'counted' })
      await run(db, { $out: 'plain' })
      assert.equal((await allOf(db, 'counted')).map(({ n }) => n).sort(), [1, 2, 3])
      assert.equal(await plain.find({ n: 2 }).toArray(), [source[1]])
      const { collections } = await db.stats()
      const kinds = collections.map(({ name, ids, index }) => [name, ids === 'table' ? ids : ids.codec, index.kind])
      assert.equal(kinds.sort(), [
        ['counted', 'reversible', 'sharded'],
        ['default', 'table', 'sharded'],
        ['plain', 'table', 'none']
      ])
      await rejects(counted.insertOne({ _id: 'text' }), 'BadValue')
      await counted.insertOne({ a: 9 })
      assert.is(await counted.countDocuments(), 4)
    }))

  test('nothing is written before the first pull, by explain(), or by a cursor that is closed', () =>
    given(async (db) => {
      for (const last of [{ $out: 'made' }, { $merge: 'made' }]) {
        const cursor = db.aggregate([{ $set: { x: 1 } }, last])
        const { stages, nReturned } = await cursor.explain()
        assert.equal(
          stages.map(({ mode, position }) => [mode, position]),
          [
            ['streams', 0],
            ['writes', 1]
          ]
        )
        assert.is(nReturned, 3)
        assert.equal(names(db), ['default'])
      }
      await db.collection('made').insertOne({ _id: 'there' })
      const slow = { $set: { x: { $function: { body: () => spin(3), args: [], lang: 'js' } } } }
      for (const pipeline of [[{ $out: 'made' }], [slow, { $out: 'made' }]]) {
        const cursor = db.aggregate(pipeline)
        const pulled = cursor.next()
        await cursor.close()
        assert.is(await pulled, null)
        assert.equal(await allOf(db, 'made'), [{ _id: 'there' }])
      }
      assert.equal((await db.verify()).problems, [])
    }))

  test('a signal or a time limit leaves the collection unchanged', () =>
    given(async (db) => {
      await db.collection('made').insertOne({ _id: 'old' })
      const slow = { $set: { x: { $function: { body: () => spin(10), args: [], lang: 'js' } } } }
      const pipeline = [{ $unionWith: 'default' }, { $unionWith: 'default' }, slow, { $unset: '_id' }, { $out: 'made' }]
      await rejects(db.aggregate(pipeline, { maxTimeMS: 15 }).toArray(), 'MaxTimeMSExpired')
      const controller = new AbortController()
      const running = db.aggregate(pipeline, { signal: controller.signal }).toArray()
      await setTimeout(15)
      controller.abort()
      assert.instance(await running.catch((error: unknown) => error), AbortedError)
      assert.equal(await allOf(db, 'made'), [{ _id: 'old' }])
      assert.equal((await db.verify()).problems, [])
    }))

  test('concurrent readers, writers, streams and drops see either the old contents or the new', () =>
    given(async (db) => {
      const made = db.collection('made')
      await made.insertMany(Array.from({ length: 1500 }, (_, i) => ({ _id: i, old: true })))
      await db.insertMany(Array.from({ length: 2000 }, (_, i) => ({ _id: `n${i}`, n: 0 })))
      const changes = made.watch()
      let isOver = false
      const counts = new Set<number | undefined>()
      const reading = (async () => {
        while (!isOver)
          counts.add(
            await made
              .find()
              .toArray()
              .then(({ length }) => length, toldClosed)
          )
      })()
      await run(db, { $match: { n: 0 } }, { $out: 'made' })
      await run(db, { $match: { n: 0 } }, { $limit: 7 }, { $out: 'made' })
      isOver = true
      await reading
      for (const count of counts) assert.ok([1500, 2000, 7, undefined].includes(count), String(count))
      const told: unknown[] = []
      for await (const { operationType } of changes) told.push(operationType)
      assert.equal(told, ['drop', 'invalidate'])
      const inserted = made.insertOne({ _id: 'later' })
      await Promise.all([inserted, run(db, { $limit: 1 }, { $out: 'made' }), db.dropCollection('made')])
      await Promise.all([run(db, { $limit: 1 }, { $out: 'made' }), run(db, { $limit: 2 }, { $out: 'made' })])
      assert.ok([1, 2].includes(await made.countDocuments()))
      assert.equal((await db.verify()).problems, [])
    }))

  test('declaring an index while $out runs makes it fail', () =>
    given(async (db) => {
      const made = db.collection('made')
      await made.insertOne({ _id: 'old', n: 1 })
      await db.insertMany(Array.from({ length: 3000 }, (_, i) => ({ _id: `n${i}`, n: i })))
      const running = db.aggregate([{ $set: { x: 1 } }, { $out: 'made' }]).toArray()
      await made.createIndex({ n: 1 })
      let isRunning = true
      async function* whileRunning(): AsyncGenerator<Document> {
        for (let i = 0; isRunning; i++) {
          yield { _id: `with${i}` }
          await setTimeout(1)
        }
      }
      const inserting = made.insertMany(whileRunning())
      await rejects(running, 'CommandFailed')
      isRunning = false
      // Other writers of the collection do not notice.
      const { insertedCount } = await inserting
      assert.is(await made.countDocuments(), 1 + insertedCount)
      assert.equal(await made.get('old'), { _id: 'old', n: 1 })
      assert.equal((await db.verify()).problems, [])
    }))

  test('verify() finds no problem while collections are being replaced', () =>
    given(async (db) => {
      await db.insertMany(Array.from({ length: 500 }, (_, i) => ({ _id: `n${i}`, n: i })))
      let isOver = false
      const writing = (async () => {
        for (let i = 0; i < 10; i++) await run(db, { $limit: 300 + i }, { $out: 'made' })
        isOver = true
      })()
      while (!isOver) assert.equal((await db.verify()).problems, [])
      await writing
    }))

  test('closing the database waits for $out', () =>
    given(async (db) => {
      const running = db.aggregate([{ $set: { x: 1 } }, { $out: 'made' }]).toArray()
      await setTimeout(0)
      const closing = db.close()
      assert.equal(await running, [])
      await closing
    }))
}

/** A reader may find its collection closed while the contents are exchanged. */
function toldClosed(error: { readonly codeName: string }): undefined {
  assert.is(error.codeName, 'DatabaseNotOpen')
}
