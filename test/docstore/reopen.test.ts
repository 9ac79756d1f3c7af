import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Database, open } from '../../src/index.ts'
import { ReorderingLevel, SlowLevel, SyncCountingLevel } from './odd-stores.ts'
import { rejects, scratchPath } from './scratch.ts'

const documents = Array.from({ length: 3000 }, (_, i) => ({ _id: i, n: i % 50, text: `number ${i}` }))

test('documents, ids, counters and index survive a reopen, and nothing is indexed again', async () => {
  const location = scratchPath()
  const db = await open(location)
  await db.insertMany(documents)
  await db.deleteMany({ n: 7 })
  await db.collection('other').insertOne({ _id: 'o' })
  await db.close()
  const again = await open(location)
  assert.is(await again.estimatedDocumentCount(), 2940)
  assert.is((await again.index.stats()).recovered, 0)
  assert.equal(
    await again.find({ n: 3, text: 'number 103' }).toArray(),
    documents.filter(({ _id }) => _id === 103)
  )
  assert.is(await again.countDocuments({ n: 7 }), 0)
  await rejects(again.insertOne({ _id: 103 }), 'DuplicateKey')
  await again.insertOne({ _id: 7, n: 7 })
  assert.is(await again.countDocuments({ n: 7 }), 1)
  assert.equal(await again.collection('other').get('o'), { _id: 'o' })
  await again.close()
})

test('records are intact in a store that applies batches late', async () => {
  const store = new SlowLevel()
  const options = { index: { segmentBits: 512 } }
  const db = await open(store, options)
  const names = ['a', 'b', 'c']
  const some = Array.from({ length: 2600 }, (_, i) => ({ _id: i, n: i % 50, text: `number ${i}` }))
  await Promise.all(names.map((name) => db.collection(name).insertMany(some)))
  await db.close()
  await store.open()
  const again = await open(store, options)
  for (const name of names) {
    const collection = again.collection(name)
    assert.is((await collection.index.stats()).recovered, 0)
    assert.is(await collection.countDocuments({ n: 3 }), 52)
  }
  await again.close()
})

test('ordinals are not reused after the newest documents were deleted', async () => {
  const location = scratchPath()
  let db = await open(location)
  await db.insertMany([
    { _id: 1, a: 'old' },
    { _id: 2, a: 'old' }
  ])
  await db.deleteMany({})
  await db.close()
  db = await open(location)
  await db.insertOne({ _id: 3, a: 'new' })
  assert.is(await db.countDocuments({ a: 'old' }), 0)
  assert.equal(await db.find({ a: 'new' }).toArray(), [{ _id: 3, a: 'new' }])
  await db.close()
})

test('another kind of index takes over an existing database, in both directions', async () => {
  const location = scratchPath()
  for (const index of ['sharded', 'none', 'sharded', 'none', undefined] as const) {
    const db = await open(location, index === undefined ? {} : { index })
    const count = await db.estimatedDocumentCount()
    await db.insertMany(Array.from({ length: 700 }, (_, i) => ({ _id: count * 10 + i, index, n: i })))
    await db.deleteMany({ n: { $lt: 50 } })
    const filter = { n: { $in: [50, 51, 699] } }
    assert.equal(await db.find(filter).toArray(), await db.find(filter, { hint: 'scan' }).toArray())
    assert.is(await db.countDocuments({ n: 1 }), 0)
    assert.is(await db.countDocuments(), await db.estimatedDocumentCount())
    await db.close()
  }
  const db = await open(location)
  assert.is((await db.index.stats()).kind, 'none')
  await db.close()
})

test('close() waits for earlier writes', async () => {
  const location = scratchPath()
  const db = await open(location)
  const writes = [
    db.insertMany(documents),
    db.insertOne({ _id: 'last' }),
    db.updateOne({ _id: 'last' }, { $set: { n: -1 } })
  ]
  await db.close()
  await db.close()
  await Promise.all(writes)
  const again = await open(location)
  assert.is(await again.countDocuments(), 3001)
  assert.is(await again.countDocuments({ n: -1 }), 1)
  await again.close()
})

test('close() waits for an importLines() that was called before it', async () => {
  const path = scratchPath()
  for (const _id of [1, 2]) {
    const db = await open(path)
    const importing = db.collection('lines').importLines([Buffer.from(JSON.stringify({ _id }))])
    await db.close()
    assert.is((await importing).insertedCount, 1)
  }
  await using again = await open(path)
  assert.equal(await again.collection('lines').find().toArray(), [{ _id: 1 }, { _id: 2 }])
  for (const source of [5, null]) await rejects(again.collection('none').importLines(source as never), 'BadValue')
  assert.is(again.listCollections().length, 1)
})

test('close() waits for all operations of a bulkWrite() that was called before it', async () => {
  const location = scratchPath()
  const db = await open(location)
  const writing = db.bulkWrite([
    ...Array.from({ length: 300 }, (_, i) => ({ insertOne: { document: { _id: i, n: 0 } } })),
    { updateMany: { filter: {}, update: { $inc: { n: 1 } } } },
    { replaceOne: { filter: { _id: 'r' }, replacement: { n: 1 }, upsert: true } },
    { deleteOne: { filter: { _id: 7 } } },
    { deleteMany: { filter: { _id: { $gte: 250 } } } }
  ])
  await db.close()
  const { insertedCount, modifiedCount, upsertedCount, deletedCount } = await writing
  assert.equal([insertedCount, modifiedCount, upsertedCount, deletedCount], [300, 300, 1, 51])
  await using again = await open(location)
  assert.is(await again.countDocuments({ n: 1 }), 250)
})

test('await using closes the database', async () => {
  const location = scratchPath()
  {
    await using db = await open(location)
    await db.insertOne({ _id: 1 })
  }
  await using again = await open(location)
  assert.is(await again.countDocuments(), 1)
})

test('a dropped collection stays dropped, and a new one of its name is empty', async () => {
  const location = scratchPath()
  let db = await open(location)
  await db.collection('c').insertMany(documents)
  await db.dropCollection('c')
  await db.close()
  db = await open(location)
  assert.equal([...db.listCollections()], [])
  await db.collection('c').insertOne({ _id: 1 })
  assert.is(await db.collection('c').countDocuments(), 1)
  assert.is(await db.collection('c').countDocuments({ n: 1 }), 0)
  await db.close()
})

test('collections created concurrently stay separate from those created after a reopen', async () => {
  const store = new ReorderingLevel()
  const db = await open(store)
  store.nextDelay = 20
  await Promise.all(['a', 'b'].map((name) => db.collection(name).insertOne({ _id: name })))
  await db.close()
  const again = await open(store)
  await again.collection('c').insertOne({ _id: 'c' })
  for (const name of ['a', 'b', 'c']) {
    assert.equal(await again.collection(name).find().toArray(), [{ _id: name }])
  }
  await again.close()
})

test('only one of concurrent drops succeeds, and later inserts stay', async () => {
  const store = new SlowLevel()
  const db = await open(store)
  const collection = db.collection('c')
  await collection.insertOne({ _id: 'old' })
  const drops = Promise.all([db.dropCollection('c'), db.dropCollection('c')])
  const inserts: Promise<unknown>[] = []
  for (let i = 0; i < 40; i++) {
    inserts.push(collection.insertOne({ _id: i }))
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  assert.equal(await drops, [true, false])
  await Promise.all(inserts)
  const stored = async (from: Database): Promise<unknown[]> =>
    (await from.collection('c').find().sort({ _id: 1 }).toArray()).map(({ _id }) => _id)
  const expected = Array.from({ length: 40 }, (_, i) => i)
  assert.equal(await stored(db), expected)
  await db.close()
  const again = await open(store)
  assert.equal(await stored(again), expected)
  await again.close()
})

test('sync: true is accepted and keeps writes', async () => {
  const location = scratchPath()
  const db = await open(location, { sync: true })
  await db.insertMany(documents.slice(0, 10))
  await db.close()
  const again = await open(location)
  assert.is(await again.countDocuments(), 10)
  await again.close()
})

test('with sync: true every write waits for the disk, and so do changes of collections and indexes', async () => {
  const calls: readonly ((db: Database) => Promise<unknown>)[] = [
    (db) => db.collection('a').insertOne({ n: 1 }),
    (db) => db.collection('a').createIndex({ n: 1 }),
    (db) => db.collection('a').dropIndex('n_1'),
    (db) =>
      db
        .collection('a')
        .aggregate([{ $out: 'b' }])
        .toArray(),
    (db) => db.collection('b').rename('c'),
    (db) => db.collection('c').drop()
  ]
  for (const sync of [true, false]) {
    const store = new SyncCountingLevel()
    await using db = await open(store, { sync })
    for (const [i, call] of calls.entries()) {
      const before = store.syncs
      await call(db)
      assert.is(store.syncs > before, sync, `call ${i}`)
    }
  }
})

test.run()
