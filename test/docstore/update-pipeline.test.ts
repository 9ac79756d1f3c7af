/** Updates by pipelines on each kind of store: what is written, in which order, and what is refused beforehand. */
import { ObjectId } from 'bson'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type BulkWriteError, type Database, type Document, open } from '../../src/index.ts'
import { AsyncLevel, SlowLevel } from './odd-stores.ts'
import { rejects, scratchPath } from './scratch.ts'

const stores = {
  lsm: () => open(scratchPath(), { store: 'lsm' }),
  level: () => open(scratchPath(), { store: 'level' }),
  memory: () => open('unused', { store: 'memory' }),
  slow: () => open(new SlowLevel()),
  'no synchronous reads': () => open(new AsyncLevel()),
  'computed ids': () => open(scratchPath(), { ids: { codec: 'reversible', from: 0, to: 1000 } })
}

const total = [{ $set: { total: { $add: ['$a', '$b'] } } }, { $unset: 'a' }]
const byId = (db: Database) => db.find({}, { sort: { _id: 1 } }).toArray()

for (const [name, openEmpty] of Object.entries(stores)) {
  const claim = (title: string, run: (db: Database) => Promise<void>): void =>
    test(`${name}: ${title}`, async () => {
      await using db = await openEmpty()
      await run(db)
    })

  // The first test, because operators must not have been loaded before.
  claim('writes take effect in the order of the calls', async (db) => {
    const changing: Document[] = [{ $set: { n: { $add: ['$n', 1] } } }]
    const writes = [
      db.insertOne({ _id: 1, n: 0 }),
      db.updateOne({ _id: 1 }, changing),
      db.updateOne({ _id: 1 }, { $mul: { n: 10 } }),
      db.updateOne({ _id: 1 }, [{ $set: { n: { $add: ['$n', 2] } } }]),
      db.deleteOne({ _id: 1, n: 12 }),
      db.insertOne({ _id: 1, n: 5 }),
      db.updateMany({}, [{ $set: { n: { $pow: ['$n', 2] } } }])
    ]
    changing.push({ $set: { n: 1000 } })
    await Promise.all(writes)
    assert.equal(await byId(db), [{ _id: 1, n: 25 }])
  })

  claim('every kind of update takes a pipeline, and filters find its results', async (db) => {
    await db.insertMany(Array.from({ length: 20 }, (_, i) => ({ _id: i, a: i, b: 1 })))
    const one = await db.updateOne({ _id: 3 }, total)
    assert.equal([one.matchedCount, one.modifiedCount, one.upsertedCount, one.upsertedId], [1, 1, 0, null])
    const before = await db.findOneAndUpdate({ _id: 4 }, total)
    assert.equal(before, { _id: 4, a: 4, b: 1 })
    const after = await db.findOneAndUpdate({ a: { $gt: 4 } }, total, { sort: { a: -1 }, returnDocument: 'after' })
    assert.equal(after, { _id: 19, b: 1, total: 20 })
    const bulk = await db.bulkWrite([
      { updateOne: { filter: { _id: 5 }, update: total } },
      { updateMany: { filter: { a: { $gte: 15 } }, update: total } }
    ])
    assert.equal([bulk.matchedCount, bulk.modifiedCount], [5, 5])
    const many = await db.updateMany({ total: { $exists: false } }, total)
    assert.equal([many.matchedCount, many.modifiedCount], [12, 12])
    assert.equal(
      await byId(db),
      Array.from({ length: 20 }, (_, i) => ({ _id: i, b: 1, total: i + 1 }))
    )
    assert.is(await db.countDocuments({ a: { $exists: true } }), 0)
    assert.equal(await db.findOne({ total: 13 }), { _id: 12, b: 1, total: 13 })
  })

  claim('a document that the pipeline leaves unchanged is matched, but not modified', async (db) => {
    await db.insertMany([{ _id: 1, a: -1 }, { _id: 2, a: 2 }, { _id: 3 }])
    const { matchedCount, modifiedCount } = await db.updateMany({}, [{ $set: { a: { $abs: '$a' } } }])
    // $abs of a missing value is null.
    assert.equal([matchedCount, modifiedCount], [3, 2])
    assert.equal((await db.updateMany({}, [])).modifiedCount, 0)
    assert.equal(await byId(db), [
      { _id: 1, a: 1 },
      { _id: 2, a: 2 },
      { _id: 3, a: null }
    ])
  })

  claim("an upsert inserts what the pipeline makes of the filter's equalities", async (db) => {
    const upsert = { upsert: true } as const
    const first = await db.updateOne({ _id: 7, a: 1, b: 2, c: { $gt: 5 } }, total, upsert)
    assert.equal([first.matchedCount, first.upsertedCount, first.upsertedId], [0, 1, 7])
    assert.equal(await db.get(7), { _id: 7, b: 2, total: 3 })
    await db.updateOne({ a: 'x' }, [{ $set: { _id: 8 } }], upsert)
    assert.equal(await db.get(8), { _id: 8, a: 'x' })
    await db.updateOne({ _id: 9, x: 1 }, [{ $project: { _id: 0, y: '$x' } }], upsert)
    assert.equal(await db.get(9), { _id: 9, y: 1 })
    const made = await db.findOneAndUpdate({ k: 'new' }, [{ $set: { l: '$k' } }], {
      ...upsert,
      returnDocument: 'after'
    })
    assert.equal(Object.keys(made ?? {}), ['_id', 'k', 'l'])
    assert.equal(await db.findOne({ l: 'new' }), made)
    if (name !== 'computed ids') assert.instance(made?._id, ObjectId)
    await rejects(db.updateOne({ _id: 10 }, [{ $set: { _id: 11 } }], upsert), 'ImmutableField')
    await db.updateOne({ _id: 12, z: 1 }, [], upsert)
    assert.equal(await db.get(12), { _id: 12, z: 1 })
    assert.is(await db.countDocuments(), 5)
  })

  claim('a malformed pipeline changes nothing, and the error names its stage', async (db) => {
    await db.insertMany([{ _id: 1, a: 1 }, { _id: 2 }])
    const refusals = [
      [[{ $set: { b: 1 } }, { $limit: 1 }], 'InvalidOptions', /^\$limit \(stage 1\)/],
      [[{ $set: { b: 1 } }, { $set: { c: { $nope: 1 } } }], 'InvalidPipelineOperator', /^\$set \(stage 1\)/],
      [[{ $set: { b: { $cond: 1 } } }], 'BadValue', /^\$set \(stage 0\)/],
      [[{ $set: { b: undefined } }], 'BadValue', /undefined/]
    ] as const
    for (const [pipeline, codeName, message] of refusals) {
      assert.match((await rejects(db.updateMany({}, pipeline), codeName)).message, message)
      assert.match((await rejects(db.findOneAndUpdate({ _id: 1 }, pipeline), codeName)).message, message)
      await rejects(db.updateOne({ _id: 3 }, pipeline, { upsert: true }), codeName)
      const error = await rejects(db.bulkWrite([{ updateOne: { filter: {}, update: pipeline } }]), codeName)
      assert.is((error as BulkWriteError).result.modifiedCount, 0)
    }
    const arrayFilters = [{ x: 1 }]
    await rejects(db.updateOne({}, [{ $set: { b: 1 } }], { arrayFilters }), 'FailedToParse')
    await rejects(db.findOneAndUpdate({}, [{ $set: { b: 1 } }], { arrayFilters }), 'FailedToParse')
    const filtered = { arrayFilters } as object
    await rejects(db.replaceOne({}, { b: 1 }, filtered), 'FailedToParse')
    await rejects(db.findOneAndReplace({}, { b: 1 }, filtered), 'FailedToParse')
    const replaceOne = { filter: {}, replacement: { b: 1 }, arrayFilters }
    const refused = await rejects(db.bulkWrite([{ replaceOne }]), 'FailedToParse')
    assert.match(refused.message, /arrayFilters can only be used with update operators, not with a replacement/)
    await rejects(db.updateOne({}, [{ $set: { b: 1 } }], { let: 5 as never }), 'BadValue')
    await rejects(db.replaceOne({}, [{ $set: { b: 1 } }] as never), 'TypeMismatch')
    assert.equal(await byId(db), [{ _id: 1, a: 1 }, { _id: 2 }])
    await db.updateOne({ _id: 2 }, [{ $set: { b: 1 } }], { arrayFilters: [] })
    assert.equal(await db.get(2), { _id: 2, b: 1 })
  })

  claim('an update that fails midway keeps its earlier changes', async (db) => {
    await db.insertMany([1, 2, 'three', 4].map((n, i) => ({ _id: i, n })))
    const scanned = (await db.find().toArray()).map(({ n }) => n)
    const failing = db.updateMany({}, [{ $set: { n: { $add: ['$n', 10] } } }])
    assert.match((await rejects(failing, 'BadValue')).message, /^\$set \(stage 0\): \$add/)
    const expected = scanned.map((n, i) => (i < scanned.indexOf('three') ? Number(n) + 10 : n))
    assert.equal((await db.find().toArray()).map(({ n }) => n).sort(), expected.sort())
  })

  claim('a result that cannot be stored is refused as for any update', async (db) => {
    await db.insertOne({ _id: 1, text: 'x'.repeat(2 ** 20) })
    const twenty = Array.from({ length: 20 }, () => '$text')
    await rejects(db.updateOne({}, [{ $set: { text: { $concat: twenty } } }]), 'DocumentTooLarge')
    const body = (): unknown => new Map()
    await rejects(db.updateOne({}, [{ $set: { a: { $function: { body, args: [], lang: 'js' } } } }]), 'BadValue')
    await rejects(db.updateOne({}, [{ $set: { a: () => 1 } }]), 'BadValue')
    assert.equal(Object.keys((await db.get(1)) ?? {}), ['_id', 'text'])
  })

  claim('let passes values to a pipeline, as of the call', async (db) => {
    await db.insertMany([
      { _id: 1, x: 1 },
      { _id: 2, x: 2 }
    ])
    const given = { list: [1, 2], text: '$x' }
    const update = db.updateMany(
      {},
      [{ $set: { last: { $arrayElemAt: ['$$given.list', -1] }, text: '$$given.text' } }],
      {
        let: { given }
      }
    )
    given.list.push(3)
    assert.is((await update).modifiedCount, 2)
    assert.equal(await db.get(1), { _id: 1, x: 1, last: 2, text: '$x' })
    const options = { let: { n: 5 }, returnDocument: 'after', upsert: true } as const
    assert.equal(await db.findOneAndUpdate({ _id: 3 }, [{ $set: { n: '$$n' } }], options), { _id: 3, n: 5 })
    await db.bulkWrite([{ updateOne: { filter: { _id: 3 }, update: [{ $set: { n: { $add: ['$n', '$$m'] } } }] } }], {
      let: { m: 2 }
    })
    assert.equal(await db.get(3), { _id: 3, n: 7 })
    await rejects(db.updateOne({}, [{ $set: { n: '$$n' } }]), 'FailedToParse')
  })

  claim('a unique index is enforced, and $$NOW is the same for all documents', async (db) => {
    await db.createIndex({ key: 1 }, { unique: true })
    await db.insertMany([1, 2, 3].map((key) => ({ _id: key, key })))
    await rejects(db.updateMany({}, [{ $set: { key: { $min: [{ $add: ['$key', 5] }, 7] } } }]), 'DuplicateKey')
    await db.updateMany({}, [{ $set: { key: { $multiply: ['$key', -1] }, at: '$$NOW' } }])
    assert.is((await db.find({ key: { $lt: 0 } }).toArray()).length, 3)
    assert.is((await db.distinct('at')).length, 1)
  })
}

test.run()
