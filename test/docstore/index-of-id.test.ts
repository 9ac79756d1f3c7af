/** `_id` has a unique, ordered index already: nothing is built, or looked up, a second time. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { IndexStore } from '../../src/docstore/indexes/index-store.ts'
import { open } from '../../src/index.ts'
import { rejects, scratchPath } from './scratch.ts'

/** Counts lookups of unique keys while `run` runs. */
async function lookups(run: () => Promise<unknown>): Promise<number> {
  const { value } = IndexStore.prototype
  let count = 0
  IndexStore.prototype.value = function (...args) {
    count++
    return value.apply(this, args)
  }
  try {
    await run()
  } finally {
    IndexStore.prototype.value = value
  }
  return count
}

const documents = (from: number, count: number) => Array.from({ length: count }, (_, i) => ({ _id: from + i, n: i }))

test('createIndex({ _id: 1 }) answers with the index that there is, whatever its options, and builds none', async () => {
  await using db = await open(scratchPath())
  await db.insertMany(documents(0, 100))
  assert.is(await db.createIndex({ _id: 1 }), '_id_')
  assert.is(await db.createIndex('_id', { unique: true }), '_id_')
  assert.is(await db.createIndex({ _id: 1 }, { name: '_id_' }), '_id_')
  assert.is(await db.createIndex({ _id: 1 }, { name: 'mine', sparse: true }), '_id_')
  assert.equal(await db.createIndexes([{ key: { _id: 1 }, name: '_id_' }, { key: { n: 1 } }]), ['_id_', 'n_1'])
  assert.equal(
    db.listIndexes().map(({ name }) => name),
    ['n_1']
  )
  const found = await db
    .find({ _id: { $gt: 90 } })
    .sort({ _id: -1 })
    .hint('_id_')
    .toArray()
  assert.equal(
    found.map(({ _id }) => _id),
    [99, 98, 97, 96, 95, 94, 93, 92, 91]
  )
  await rejects(db.createIndex({ n: 1 }, { name: '_id_' }), 'BadValue')
  await rejects(db.createIndex({ _id: -1 }, { name: '_id_' }), 'BadValue')
  await rejects(db.createIndex({ _id: 1 }, { expireAfterSeconds: 1 }), 'InvalidIndexSpecificationOption')
})

test('with computed ids, which have no table, an index of _id is built like any other', async () => {
  await using db = await open(scratchPath(), { ids: 'reversible' })
  await db.insertMany(documents(0, 100))
  assert.is(await db.createIndex({ _id: 1 }, { unique: true, name: '_id_' }), '_id_1')
  assert.equal(
    (await db.find({}).sort({ _id: 1 }).hint('_id_1').toArray()).map(({ _id }) => _id),
    documents(0, 100).map(({ _id }) => _id)
  )
})

for (const ids of ['table', 'reversible'] as const) {
  test(`a unique index with _id among its fields looks no key up for an insert: ids ${ids}`, async () => {
    await using db = await open(scratchPath(), { ids })
    await db.createIndex({ n: 1, _id: 1 }, { unique: true })
    await db.createIndex({ _id: -1 }, { unique: true })
    assert.is(await lookups(() => db.insertMany(documents(0, 50))), 0)
    await rejects(db.insertOne({ _id: 3, n: 3 }), 'DuplicateKey')
    await db.updateMany({ n: { $lt: 10 } }, { $inc: { n: 100 } })
    await db.deleteMany({ _id: { $gte: 40 } })
    await db.insertMany(documents(40, 20))
    const all = (await db.find({}, { hint: 'scan' }).toArray()).map(({ _id }) => _id as number).sort((a, b) => a - b)
    for (const hint of ['n_1__id_1', '_id_-1']) {
      const found = (await db.find({}, { hint }).toArray()).map(({ _id }) => _id as number).sort((a, b) => a - b)
      assert.equal(found, all)
    }
    await db.createIndex({ u: 1 }, { unique: true, sparse: true })
    assert.is(await lookups(() => db.insertOne({ _id: 1000, u: 1 })), 1)
    assert.equal((await db.verify()).problems, [])
  })
}

test.run()
