/** What must behave alike on every store and with every index: one shared specification that all of them run. */
import { ObjectId } from 'bson'
import type { Test } from 'uvu'
import * as assert from 'uvu/assert'
import { BulkWriteError, type Database } from '../../src/index.ts'
import { cpuMilliseconds } from '../support/cpu-time.ts'
import { rejects } from './scratch.ts'

type OpenEmpty = () => Promise<Database>

export function databaseCases(test: Test, openEmpty: OpenEmpty): void {
  const claim = (title: string, run: (db: Database) => Promise<void>): void =>
    test(title, async () => {
      const db = await openEmpty()
      try {
        await run(db)
      } finally {
        await db.close()
      }
    })

  claim('insertOne() adds a missing _id to the document and returns it', async (db) => {
    const document: Record<string, unknown> = { a: 1 }
    const { acknowledged, insertedId } = await db.insertOne(document)
    assert.is(acknowledged, true)
    assert.instance(insertedId, ObjectId)
    assert.is(document._id, insertedId)
    assert.equal(Object.keys((await db.findOne({ a: 1 })) ?? {}), ['_id', 'a'])
  })

  claim('insertOne() changes nothing but a missing _id, and takes frozen documents', async (db) => {
    const document = Object.freeze({ b: 2, _id: 'x', a: { c: [1] } })
    await db.insertOne(document)
    assert.equal(await db.get('x'), { _id: 'x', b: 2, a: { c: [1] } })
    const { insertedId } = await db.insertOne(Object.freeze({ frozen: true }))
    assert.equal((await db.findOne({ frozen: true }))?._id, insertedId)
  })

  claim('an _id is stored only once, whatever its number type', async (db) => {
    await db.insertOne({ _id: 1 })
    const error = await rejects(db.insertOne({ _id: 1n }), 'DuplicateKey')
    assert.is(error.code, 11000)
    assert.equal(error.details.keyPattern, { _id: 1 })
    assert.equal(error.details.keyValue, { _id: 1n })
    assert.equal([error.keyPattern, error.keyValue], [{ _id: 1 }, { _id: 1n }])
    assert.is(await db.countDocuments(), 1)
  })

  claim('ids in any order are stored and found', async (db) => {
    const ids = ['m', 3, 'a', -1, new ObjectId(), { part: 1 }, true, new Date(5), 'z', 2.5, { nothing: null }]
    for (const _id of ids) await db.insertOne({ _id })
    for (const _id of ids) await rejects(db.insertOne({ _id }), 'DuplicateKey')
    assert.equal(
      (await db.getMany(ids)).map((document) => document?._id),
      ids
    )
  })

  claim('ordered insertMany() stops at the first refused document', async (db) => {
    const error = await rejects(db.insertMany([{ _id: 1 }, { _id: 2 }, { _id: 1 }, { _id: 3 }]), 'DuplicateKey')
    assert.instance(error, BulkWriteError)
    const { insertedCount, insertedIds, writeErrors, code } = error as BulkWriteError
    assert.is(code, 11000)
    assert.is(insertedCount, 2)
    assert.equal(insertedIds, { 0: 1, 1: 2 })
    assert.equal(
      writeErrors.map((each) => [each.index, each.code]),
      [[2, 11000]]
    )
    assert.is(await db.countDocuments(), 2)
  })

  claim('unordered insertMany() inserts everything else', async (db) => {
    await db.insertOne({ _id: 2 })
    const documents = [{ _id: 1 }, { _id: 2 }, { _id: 3 }, { _id: 3 }, { _id: [1] }, { _id: 4 }]
    const error = (await rejects(db.insertMany(documents, { ordered: false }), 'DuplicateKey')) as BulkWriteError
    assert.equal(
      error.writeErrors.map(({ index, codeName }) => [index, codeName]),
      [
        [1, 'DuplicateKey'],
        [3, 'DuplicateKey'],
        [4, 'BadValue']
      ]
    )
    assert.equal(error.insertedIds, { 0: 1, 2: 3, 5: 4 })
    assert.is(await db.countDocuments(), 4)
  })

  claim('insertMany() takes iterables and async iterables of any length', async (db) => {
    function* some(from: number, to: number) {
      for (let i = from; i < to; i++) yield { _id: i, half: i % 2 }
    }
    async function* later(from: number, to: number) {
      yield* some(from, to)
    }
    assert.is((await db.insertMany(some(0, 2345))).insertedCount, 2345)
    assert.is((await db.insertMany(later(2345, 5000))).insertedCount, 2655)
    assert.is((await db.insertMany(new Set([{ _id: 5000, half: 0 }]))).insertedIds[0], 5000)
    assert.is(await db.countDocuments({ half: 1 }), 2500)
    assert.is(await db.estimatedDocumentCount(), 5001)
  })

  claim('the same object twice in one insertMany() is a duplicate', async (db) => {
    const document = { a: 1 }
    await rejects(db.insertMany([document, document]), 'DuplicateKey')
    assert.is(await db.countDocuments(), 1)
  })

  claim('sort, skip, limit and projection apply in that order', async (db) => {
    await db.insertMany(Array.from({ length: 500 }, (_, i) => ({ _id: i, rank: (i * 7) % 500, text: `t${i}` })))
    const cursor = db
      .find({ rank: { $gte: 100 } })
      .project({ rank: 1, _id: 0 })
      .limit(3)
      .skip(2)
      .sort({ rank: 1 })
    assert.equal(await cursor.toArray(), [{ rank: 102 }, { rank: 103 }, { rank: 104 }])
    assert.equal(
      (await db.find({}).sort({ $natural: -1 }).limit(2).toArray()).map(({ _id }) => _id),
      [499, 498]
    )
    assert.is(
      await db
        .find({ rank: { $lt: 50 } })
        .skip(10)
        .limit(100)
        .count(),
      40
    )
    assert.is((await db.find().sort('rank', -1).toArray())[0]?.rank, 499)
  })

  claim('updateOne() and updateMany() count matches and modifications, and write only what changes', async (db) => {
    await db.insertMany([
      { _id: 1, a: 1 },
      { _id: 2, a: 1 },
      { _id: 3, a: 2 }
    ])
    const one = await db.updateOne({ a: 1 }, { $set: { b: 1 } })
    assert.equal([one.matchedCount, one.modifiedCount, one.upsertedCount, one.upsertedId], [1, 1, 0, null])
    const many = await db.updateMany({ a: 1 }, { $set: { b: 1 } })
    assert.equal([many.matchedCount, many.modifiedCount], [2, 1])
    assert.equal(await db.find({ b: 1 }).sort({ _id: 1 }).toArray(), [
      { _id: 1, a: 1, b: 1 },
      { _id: 2, a: 1, b: 1 }
    ])
    assert.is((await db.updateOne({ a: 9 }, { $set: { b: 1 } })).matchedCount, 0)
    await rejects(db.updateOne({ _id: 1 }, { $set: { _id: 2 } }), 'ImmutableField')
  })

  claim('an upsert inserts the equalities of its filter with the update applied', async (db) => {
    const first = await db.updateOne({ _id: 7, 'a.b': 1, c: { $gt: 2 } }, { $set: { d: 4 } }, { upsert: true })
    assert.equal([first.matchedCount, first.upsertedCount, first.upsertedId], [0, 1, 7])
    assert.equal(await db.get(7), { _id: 7, a: { b: 1 }, d: 4 })
    const second = await db.updateOne({ _id: 7 }, { $set: { d: 5 }, $setOnInsert: { e: 1 } }, { upsert: true })
    assert.equal([second.matchedCount, second.modifiedCount, second.upsertedCount], [1, 1, 0])
    const replaced = await db.replaceOne({ k: 'new' }, { v: 1 }, { upsert: true })
    assert.instance(replaced.upsertedId, ObjectId)
    // Only the _id is taken from the filter of a replacement.
    const apart = { $and: [{ _id: 8, tags: 'x' }, { tags: 'y' }] }
    assert.is((await db.replaceOne(apart, { v: 2 }, { upsert: true })).upsertedId, 8)
    assert.equal(await db.findOne({ _id: 8 }), { _id: 8, v: 2 })
    await rejects(db.updateOne({ _id: 7, d: 99 }, { $set: { x: 1 } }, { upsert: true }), 'DuplicateKey')
  })

  claim('replaceOne() keeps the _id and drops fields that the replacement lacks', async (db) => {
    await db.insertOne({ _id: 1, a: 1, b: 2 })
    assert.is((await db.replaceOne({ a: 1 }, { c: 3 })).modifiedCount, 1)
    assert.equal(await db.get(1), { _id: 1, c: 3 })
    assert.is(await db.countDocuments({ a: 1 }), 0)
    assert.is(await db.countDocuments({ c: 3 }), 1)
  })

  claim('deleteOne() and deleteMany() delete, and the _id is free again', async (db) => {
    await db.insertMany(Array.from({ length: 20 }, (_, i) => ({ _id: i, even: i % 2 === 0 })))
    assert.is((await db.deleteOne({ even: true })).deletedCount, 1)
    assert.is((await db.deleteMany({ even: true })).deletedCount, 9)
    assert.is((await db.deleteMany({ even: true })).deletedCount, 0)
    await db.insertOne({ _id: 4, again: true })
    assert.equal(await db.get(4), { _id: 4, again: true })
    assert.is(await db.countDocuments(), 11)
    assert.is(await db.estimatedDocumentCount(), 11)
  })

  claim('updateOne() and replaceOne() change the first document of a sort, in bulkWrite(), too', async (db) => {
    await db.insertMany([1, 2, 3, 4].map((_id) => ({ _id, n: _id % 3 })))
    const shown = async () => (await db.find().sort({ _id: 1 }).toArray()).map(({ n }) => n)
    await db.updateOne({}, { $inc: { n: 10 } }, { sort: { n: -1 } })
    assert.equal(await shown(), [1, 12, 0, 1])
    await db.replaceOne({ n: { $lt: 10 } }, { n: 20 }, { sort: { n: 1 } })
    assert.equal(await shown(), [1, 12, 20, 1])
    await db.bulkWrite([
      { updateOne: { filter: { n: 1 }, update: { $set: { n: 30 } }, sort: { _id: -1 } } },
      { replaceOne: { filter: { n: { $gte: 12 } }, replacement: { n: 40 }, sort: [['n', 'asc']] } }
    ])
    assert.equal(await shown(), [1, 40, 20, 30])
    const { upsertedId } = await db.updateOne({ _id: 5 }, { $set: { n: 50 } }, { sort: { n: 1 }, upsert: true })
    assert.is(upsertedId, 5)
    await rejects(db.updateMany({}, { $inc: { n: 1 } }, { sort: { n: 1 } } as never), 'BadValue')
    await rejects(db.updateOne({}, { $inc: { n: 1 } }, { sort: { n: 2 } } as never), 'BadValue')
  })

  claim('findOneAnd…() return the requested version', async (db) => {
    await db.insertMany([
      { _id: 1, n: 1 },
      { _id: 2, n: 2 }
    ])
    assert.equal(await db.findOneAndUpdate({}, { $inc: { n: 10 } }, { sort: { n: -1 } }), { _id: 2, n: 2 })
    const after = await db.findOneAndUpdate({ _id: 1 }, { $inc: { n: 10 } }, { returnDocument: 'after' })
    assert.equal(after, { _id: 1, n: 11 })
    const upserted = { upsert: true, returnDocument: 'after', projection: { n: 1, _id: 0 } } as const
    assert.equal(await db.findOneAndReplace({ _id: 3 }, { n: 3 }, upserted), { n: 3 })
    assert.equal(await db.findOneAndDelete({}, { sort: { n: -1 } }), { _id: 2, n: 12 })
    assert.is(await db.findOneAndDelete({ _id: 'none' }), null)
    assert.is(await db.findOneAndUpdate({ _id: 'none' }, { $set: { a: 1 } }), null)
    assert.is(await db.countDocuments(), 2)
  })

  claim('bulkWrite() sums up its operations; ordered it stops after an error, unordered it continues', async (db) => {
    const result = await db.bulkWrite([
      { insertOne: { document: { _id: 1, a: 1 } } },
      { insertOne: { document: { _id: 2, a: 1 } } },
      { updateMany: { filter: { a: 1 }, update: { $inc: { a: 1 } } } },
      { updateOne: { filter: { _id: 9 }, update: { $set: { a: 9 } }, upsert: true } },
      { replaceOne: { filter: { _id: 1 }, replacement: { a: 0 } } },
      { deleteOne: { filter: { _id: 2 } } }
    ])
    assert.equal(
      [result.insertedCount, result.matchedCount, result.modifiedCount, result.deletedCount, result.upsertedCount],
      [2, 3, 3, 1, 1]
    )
    assert.equal(result.upsertedIds, { 3: 9 })
    const operations = [{ insertOne: { document: { _id: 1 } } }, { deleteMany: { filter: {} } }] as const
    const error = (await rejects(db.bulkWrite(operations), 'DuplicateKey')) as BulkWriteError
    assert.is(error.result.deletedCount, 0)
    const unordered = db.bulkWrite(operations, { ordered: false })
    assert.is(((await rejects(unordered, 'DuplicateKey')) as BulkWriteError).result.deletedCount, 2)
  })

  claim('an upsert whose filter names a field twice fails only when it would insert', async (db) => {
    await db.insertOne({ _id: 1, a: 1 })
    const ambiguous = { a: 1, $and: [{ a: 1 }] }
    const change = { $set: { b: 1 } }
    assert.is((await db.updateOne(ambiguous, change, { upsert: true })).modifiedCount, 1)
    assert.equal(await db.findOneAndUpdate(ambiguous, change, { upsert: true }), { _id: 1, a: 1, b: 1 })
    await db.deleteMany({})
    await rejects(db.updateOne(ambiguous, change, { upsert: true }), 'NotSingleValueField')
    assert.is(await db.countDocuments(), 0)
  })

  claim('distinct() returns each value once, including the elements of arrays', async (db) => {
    await db.insertMany([{ t: ['a', 'b'] }, { t: 'b' }, { t: 1 }, { t: 1n }, { u: { v: [{ w: 1 }, { w: 2 }] } }])
    assert.equal(await db.distinct('t'), [1, 'a', 'b'])
    assert.equal(await db.distinct('u.v.w'), [1, 2])
    assert.equal(await db.distinct('t', { t: 'b' }), ['a', 'b'])
  })

  claim('distinct() compares thousands of objects and arrays quickly', async (db) => {
    const values = Array.from({ length: 12_000 }, (_, i) => (i % 2 === 0 ? { i } : [[i]]))
    const large = ['a', 'b'].map((letter) => ({ text: letter.repeat(2 ** 20) }))
    await db.insertMany(
      [...values, ...values.slice(0, 100), { i: 0n }, ...large, ...large].map((v, _id) => ({ _id, v }))
    )
    const started = cpuMilliseconds()
    const found = await db.distinct('v')
    const milliseconds = cpuMilliseconds() - started
    assert.is(found.length, 12_000 + 2)
    // Comparing them pairwise took more than four seconds.
    assert.ok(milliseconds < 2000, `${milliseconds.toFixed(0)} ms`)
  })

  claim('find() by _id returns what a scan returns, with any form of filter', async (db) => {
    await db.insertMany(Array.from({ length: 300 }, (_, i) => ({ _id: i % 3 === 0 ? `s${i}` : i, i })))
    for (const filter of [{ _id: 7 }, { _id: { $in: [200, 's3', 7, 7, 'none'] } }, { _id: 's9', i: 8 }]) {
      const found = await db.find(filter).toArray()
      assert.equal(found, await db.find(filter, { hint: 'scan' }).toArray())
      assert.equal(found, await db.find(filter, { hint: 'index' }).toArray())
    }
  })

  claim('collections are separate, created by the first write and gone when dropped', async (db) => {
    const people = db.collection('people')
    assert.equal(await people.find().toArray(), [])
    assert.is(await people.countDocuments({ a: 1 }), 0)
    assert.equal([...db.listCollections()], [])
    await people.insertOne({ _id: 1, name: 'Ada' })
    await db.insertOne({ _id: 1, name: 'Bob' })
    assert.equal(await db.collection('people').get(1), { _id: 1, name: 'Ada' })
    assert.equal((await db.listCollections().toArray()).map(({ name }) => name).sort(), ['default', 'people'])
    assert.is(await db.dropCollection('people'), true)
    assert.is(await db.dropCollection('people'), false)
    assert.equal(await people.find().toArray(), [])
    await people.insertOne({ _id: 1, name: 'Eve' })
    assert.equal(await people.find().toArray(), [{ _id: 1, name: 'Eve' }])
    assert.is(await db.countDocuments(), 1)
  })

  claim('stats() counts documents and bytes after inserts, updates and deletions', async (db) => {
    await db.insertMany([{ _id: 1, t: 'ä' }, { _id: 2 }])
    await db.updateOne({ _id: 2 }, { $set: { x: 'yz' } })
    await db.deleteOne({ _id: 1 })
    const { documents, documentBytes, collections } = await db.stats()
    assert.equal([documents, documentBytes], [1, Buffer.byteLength('{"_id":2,"x":"yz"}')])
    assert.is(collections[0]?.name, 'default')
    assert.is((await db.index.stats()).documents, 1)
  })

  claim('explain() returns the plan and its costs', async (db) => {
    await db.insertMany(Array.from({ length: 200 }, (_, i) => ({ _id: i, a: i % 20, b: 'x' })))
    const { queryPlanner, executionStats, index } = await db
      .find({ a: 3, b: 'x' })
      .sort({ b: 1, _id: -1 })
      .limit(4)
      .explain()
    assert.is(queryPlanner.winningPlan.stage, 'LIMIT')
    assert.is(queryPlanner.winningPlan.inputStage?.stage, 'SORT')
    assert.is(executionStats.nReturned, 4)
    assert.match(index.bounds, /a = 3 AND b = "x"/)
    assert.is(index.candidates >= 10, true)
    assert.is(index.confirmed + index.certain, 10)
    assert.is((await db.find({ _id: 3 }).explain()).queryPlanner.winningPlan.inputStage?.stage, 'IDHACK')
    const all = await db.find({}).explain()
    assert.is(all.queryPlanner.winningPlan.inputStage?.stage, 'COLLSCAN')
    assert.is(all.executionStats.totalKeysExamined, 0)
    const hinted = await db.find({ _id: 3 }, { hint: 'scan' }).explain()
    assert.is(hinted.executionStats.totalKeysExamined, 0)
  })

  claim('values that JSON cannot represent are returned unchanged', async (db) => {
    const document = {
      _id: 2n ** 60n,
      at: new Date(3),
      nan: Number.NaN,
      bytes: new Uint8Array([1, 2]),
      $odd: { $date: 1 }
    }
    await db.insertOne(document)
    const found = await db.findOne({ at: new Date(3) })
    assert.is(found?._id, 2n ** 60n)
    assert.equal(found?.at, new Date(3))
    assert.ok(Number.isNaN(found?.nan))
    assert.equal(found?.$odd, { $date: 1 })
    assert.is(await db.countDocuments({ nan: Number.NaN }), 1)
  })
}
