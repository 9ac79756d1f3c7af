/**
 * Values too long for a key: they cannot be an `_id` or in a declared index, but filters and stages may contain them.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Database, type Document, open } from '../../src/index.ts'
import { maxKeyBytes } from '../../src/model/key-writer.ts'
import { rejects } from './scratch.ts'

const long = 'x'.repeat(maxKeyBytes + 1)
const asIds: readonly unknown[] = [long, { a: long }, `${'é'.repeat(maxKeyBytes / 2)}`]
let db: Database

test.before(async () => {
  db = await open('unused', { store: 'memory' })
})

test.before.each(async () => {
  await db.deleteMany({})
  await db.insertMany([
    { _id: 1, a: 'x' },
    { _id: 2, a: 'y' }
  ])
})

test.after(() => db.close())

test('a filter by an _id that is too long matches nothing', async () => {
  for (const id of asIds) {
    assert.equal(await db.find({ _id: id }).toArray(), [])
    assert.equal(await db.find({ _id: { $in: [1, id] } }).toArray(), [{ _id: 1, a: 'x' }])
    assert.equal(await db.find({ $or: [{ _id: id }, { _id: 2 }] }).toArray(), [{ _id: 2, a: 'y' }])
    assert.equal(await db.find({ $or: [{ _id: id }, { a: 'y' }] }).toArray(), [{ _id: 2, a: 'y' }])
    assert.is(await db.countDocuments({ _id: id }), 0)
    assert.equal(await db.find({ _id: { $in: [2, id] } }, { hint: '_id_' }).toArray(), [{ _id: 2, a: 'y' }])
    assert.equal(await db.find({ _id: { $in: [2, id] } }, { sort: { _id: -1 } }).toArray(), [{ _id: 2, a: 'y' }])
  }
  assert.is(await db.countDocuments({ _id: { $lt: long } }), 0)
})

test('writes by an _id that is too long find nothing', async () => {
  for (const id of asIds) {
    assert.is((await db.updateMany({ _id: { $in: [1, id] } }, { $set: { b: 1 } })).matchedCount, 1)
    assert.is((await db.updateOne({ _id: id }, { $set: { b: 1 } })).matchedCount, 0)
    assert.is((await db.deleteOne({ _id: id })).deletedCount, 0)
    assert.is(await db.findOneAndDelete({ _id: id }), null)
    await rejects(db.updateOne({ _id: id }, { $set: { b: 1 } }, { upsert: true }), 'BadValue')
    await rejects(db.insertOne({ _id: id }), 'BadValue')
  }
  assert.is(await db.countDocuments({}), 2)
})

test('get() and getMany() find nothing for an _id that is too long, but refuse invalid values', async () => {
  for (const id of asIds) {
    assert.is(await db.get(id), undefined)
    assert.equal(await db.getMany([id, 2, id, 3, 1]), [
      undefined,
      { _id: 2, a: 'y' },
      undefined,
      undefined,
      { _id: 1, a: 'x' }
    ])
  }
  await rejects(db.get(undefined), 'BadValue')
  await rejects(db.getMany([1, [undefined, Symbol.iterator]]), 'BadValue')
})

test('a declared index answers filters with values too long for its keys', async () => {
  await db.createIndex({ a: 1 })
  await db.createIndex({ a: -1, b: 1 }, { sparse: true, name: 'sparse' })
  await rejects(db.insertOne({ a: long }), 'BadValue')
  for (const hint of [undefined, 'a_1', 'sparse']) {
    const options = hint === undefined ? {} : { hint }
    assert.equal(await db.find({ a: long }, options).toArray(), [], hint)
    assert.equal(await db.find({ a: { $in: [long, 'y'] } }, options).toArray(), [{ _id: 2, a: 'y' }], hint)
  }
  for (const hint of ['scan', 'a_1']) {
    assert.is(await db.countDocuments({ a: { $gt: long } }, { hint }), 1, hint)
    assert.is(await db.countDocuments({ a: { $gte: 'x', $lt: long } }, { hint }), 1, hint)
  }
  await db.dropIndex('a_1')
  await db.dropIndex('sparse')
})

test('stages group and join by objects and arrays that contain long texts', async () => {
  await db.insertMany([
    { _id: 3, k: { t: long, n: 1 } },
    { _id: 4, k: { t: long, n: 1n } },
    { _id: 5, k: [`${long}y`] },
    { _id: 6, k: { t: long, n: 2 } }
  ])
  const results = (stages: readonly Document[]) => db.aggregate([{ $match: { _id: { $gt: 2 } } }, ...stages]).toArray()
  const groups = await results([{ $group: { _id: '$k', ids: { $push: '$_id' } } }, { $project: { _id: 0 } }])
  assert.equal(groups, [{ ids: [3, 4] }, { ids: [5] }, { ids: [6] }])
  const [most] = await results([{ $sortByCount: '$k' }, { $project: { _id: 0 } }])
  assert.equal(most, { count: 2 })
  const [added] = await results([
    { $group: { _id: null, set: { $addToSet: '$k' } } },
    { $project: { _id: 0, n: { $size: '$set' } } }
  ])
  assert.equal(added, { n: 3 })
  const [united] = await results([
    { $limit: 1 },
    { $project: { _id: 0, n: { $size: { $setUnion: [['$k'], ['$k']] } } } }
  ])
  assert.equal(united, { n: 1 })
  const joined = await results([
    { $lookup: { from: 'default', localField: 'k', foreignField: 'k', as: 'same' } },
    { $project: { n: { $size: '$same' } } }
  ])
  assert.equal(
    joined.map(({ n }) => n),
    [2, 2, 1, 1]
  )
})

test.run()
