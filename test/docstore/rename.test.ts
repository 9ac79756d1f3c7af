/** A renamed collection keeps everything but its name, and takes it in one step. */
import { MemoryLevel } from 'memory-level'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { deferred } from '../../src/docstore/deferred.ts'
import { type Database, type Document, open } from '../../src/index.ts'
import { FailingLevel, GatedReads } from './odd-stores.ts'
import { rejects, scratchPath } from './scratch.ts'

const names = (db: Database): string[] =>
  db
    .listCollections()
    .map(({ name }) => name)
    .sort()

const ids = async (db: Database, name: string): Promise<unknown[]> =>
  await db
    .collection(name)
    .find({}, { sort: { _id: 1 } })
    .map((document) => document._id)
    .toArray()

for (const store of ['lsm', 'level', 'memory'] as const) {
  test(`documents, indexes and ids go with the collection, and stay (${store})`, async () => {
    const path = scratchPath()
    let db = await open(path, { store })
    const old = db.collection('old', { ids: 'reversible' })
    await old.createIndex({ email: 1 }, { unique: true })
    await old.insertMany(Array.from({ length: 100 }, (_, i) => ({ _id: i, email: `${i}@x`, even: i % 2 === 0 })))
    const idsBefore = (await db.stats()).collections[0]?.ids
    const renamed = await old.rename('new')
    assert.is(renamed.collectionName, 'new')
    for (let round = 0; round < (store === 'memory' ? 1 : 2); round++) {
      assert.equal(names(db), ['new'])
      const collection = db.collection('new')
      assert.is(await collection.countDocuments({ even: true }), 50)
      assert.is(await collection.countDocuments({ email: '7@x' }, { hint: 'email_1' }), 1)
      await rejects(collection.insertOne({ _id: 1000, email: '7@x' }), 'DuplicateKey')
      assert.equal((await db.stats()).collections[0]?.ids, idsBefore)
      assert.equal((await db.verify()).problems, [])
      if (store === 'memory') break
      await db.close()
      db = await open(path, { store })
    }
    assert.is(await db.collection('old').countDocuments(), 0)
    await db.close()
  })
}

test('the old name is free: what is written to it afterwards is another collection', async () => {
  await using db = await open('rename', { store: 'memory' })
  await db.insertOne({ _id: 1 })
  const renamed = await db.rename('archive')
  await db.insertOne({ _id: 2 })
  assert.equal(await ids(db, 'archive'), [1])
  assert.equal(await db.find().toArray(), [{ _id: 2 }])
  await db.renameCollection('archive', 'older')
  await rejects(renamed.rename('oldest'), 'NamespaceNotFound')
  assert.equal(names(db), ['default', 'older'])
})

test('a collection that has the new name is only replaced if that is asked for, and then deleted', async () => {
  const store = new MemoryLevel<Uint8Array, Uint8Array>({ keyEncoding: 'view', valueEncoding: 'view' })
  const db = await open(store)
  await db.collection('a').insertOne({ _id: 'a' })
  await db.collection('b').insertMany([{ _id: 'b', n: 1 }, { _id: 'b2' }])
  await db.collection('b').createIndex({ n: 1 })
  await rejects(db.collection('a').rename('b'), 'NamespaceExists')
  assert.equal(await ids(db, 'b'), ['b', 'b2'])
  await db.collection('a').rename('b', { dropTarget: true })
  assert.equal(names(db), ['b'])
  assert.equal(await ids(db, 'b'), ['a'])
  assert.equal(db.collection('b').listIndexes().length, 0)
  await db.close()
  const areas = new Set<string>()
  for await (const key of store.keys()) areas.add(new TextDecoder().decode(key).split('!')[1] ?? '')
  assert.equal(
    [...areas].filter((area) => area.startsWith('2')),
    []
  )
})

test('what cannot be renamed is refused, and nothing has changed', async () => {
  const path = scratchPath()
  const db = await open(path)
  const collection = db.collection('a')
  await rejects(collection.rename('b'), 'NamespaceNotFound')
  await collection.insertOne({ _id: 1 })
  await rejects(collection.rename('a'), 'IllegalOperation')
  await rejects(collection.rename('a', { dropTarget: true }), 'IllegalOperation')
  await rejects(collection.rename('$b'), 'InvalidNamespace')
  await rejects(collection.rename(undefined as never), 'InvalidNamespace')
  await rejects(collection.rename('b', { dropTarget: 1 as never }), 'BadValue')
  await rejects(collection.rename('b', { overwrite: true } as never), 'BadValue')
  db.collection('reversible', { ids: 'reversible' })
  await rejects(collection.rename('reversible'), 'InvalidOptions')
  assert.equal(names(db), ['a'])
  assert.equal(await ids(db, 'a'), [1])
  await db.close()
  await rejects(collection.rename('b'), 'DatabaseNotOpen')
  await using readOnly = await open(path, { readOnly: true })
  await rejects(readOnly.collection('a').rename('b'), 'IllegalOperation')
})

test('options chosen for the old name also apply to the new one', async () => {
  await using db = await open('rename', { store: 'memory', index: 'sharded' })
  await db.collection('a', { index: 'none' }).insertOne({ _id: 1 })
  await db.collection('a').rename('b')
  assert.is((await db.stats()).collections[0]?.index.kind, 'none')
})

test('writes that were called before go with the collection, and those called after wait for the rename', async () => {
  await using db = await open('rename', { store: 'memory' })
  const calls: Promise<unknown>[] = []
  for (let i = 0; i < 20; i++) calls.push(db.collection('a').insertOne({ _id: i }))
  await calls[0]
  calls.push(db.collection('a').rename('b'))
  for (let i = 20; i < 30; i++) calls.push(db.collection('b').insertOne({ _id: i }))
  calls.push(db.collection('a').insertOne({ _id: 'another' }))
  await Promise.all(calls)
  assert.equal(
    await ids(db, 'b'),
    Array.from({ length: 30 }, (_, i) => i)
  )
  assert.equal(await ids(db, 'a'), ['another'])
})

test('open cursors fail, as they do when a collection is dropped', async () => {
  await using db = await open('rename', { store: 'memory' })
  await db.collection('a').insertMany(Array.from({ length: 5000 }, (_, i) => ({ _id: i })))
  const cursor = db.collection('a').find()
  await cursor.next()
  const dropped = db.collection('c')
  await dropped.insertMany(Array.from({ length: 5000 }, (_, i) => ({ _id: i })))
  const other = dropped.find()
  await other.next()
  await db.collection('a').rename('b')
  await dropped.drop()
  const codeOf = (reading: Promise<Document[]>): Promise<unknown> =>
    reading.then(
      () => 'none',
      (error) => error.codeName
    )
  assert.is(await codeOf(cursor.toArray()), await codeOf(other.toArray()))
})

test('a read of the index that is under way when its collection is dropped writes nothing afterwards', async () => {
  const store = new GatedReads()
  let db = await open(store, { index: { segmentBits: 512 } })
  await db.insertMany(Array.from({ length: 300 }, (_, i) => ({ _id: i, n: i % 7 })))
  await db.close()
  db = await open(store)
  assert.is(await db.estimatedDocumentCount(), 300)
  const opened = deferred()
  store.gate = opened.promise
  const counting = db.countDocuments({ n: 3 })
  const refused = rejects(counting, 'DatabaseNotOpen')
  while (store.waiting === 0) await new Promise((resolve) => setImmediate(resolve))
  // Every record of the index is gone before the read looks for the next one.
  const dropping = db.drop()
  while (await hasDocuments(store)) await new Promise((resolve) => setImmediate(resolve))
  opened.resolve()
  assert.is(await dropping, true)
  await refused
  await db.close()
  const keys: string[] = []
  for await (const key of store.keys()) keys.push(String(key))
  assert.equal(keys, ['!meta!format'])
})

async function hasDocuments(store: GatedReads): Promise<boolean> {
  for await (const key of store.keys()) {
    if (String(key).startsWith('!1.')) return true
  }
  return false
}

test('renames that contradict each other end, each with its result', async () => {
  for (let round = 0; round < 20; round++) {
    await using db = await open('rename', { store: 'memory' })
    for (const name of ['a', 'b', 'c']) await db.collection(name).insertOne({ _id: name })
    const results = await Promise.allSettled([
      db.renameCollection('a', 'b', { dropTarget: true }),
      db.renameCollection('b', 'a', { dropTarget: true }),
      db.renameCollection('c', 'a'),
      db.dropCollection('b')
    ])
    for (const result of results) {
      if (result.status === 'rejected') assert.match(result.reason.codeName, /^Namespace(Exists|NotFound)$/)
    }
    assert.ok(names(db).every((name) => ['a', 'b', 'c'].includes(name)))
    assert.equal((await db.verify()).problems, [])
  }
})

test('a rename that the store refuses changes nothing', async () => {
  const store = new FailingLevel()
  let db = await open(store)
  for (const name of ['a', 'b']) await db.collection(name).insertOne({ _id: name })
  store.successes = 0
  store.failures = Number.POSITIVE_INFINITY
  await rejects(db.collection('a').rename('b', { dropTarget: true }), 'StoreFailure')
  store.successes = Number.POSITIVE_INFINITY
  assert.equal([await ids(db, 'a'), await ids(db, 'b')], [['a'], ['b']])
  await db.close()
  db = await open(store)
  assert.equal([await ids(db, 'a'), await ids(db, 'b')], [['a'], ['b']])
  await db.close()
})

test('streams of the old name hear of it and end, those of the replaced collection hear that it is dropped', async () => {
  await using db = await open('rename', { store: 'memory' })
  for (const name of ['a', 'b']) await db.collection(name).insertOne({ _id: name })
  const [renamed, replaced, later] = ['a', 'b', 'c'].map((name) => db.collection(name).watch())
  const told = async (stream = renamed): Promise<unknown[]> => {
    const events: unknown[] = []
    for await (const { _id, clusterTime, wallTime, ...event } of stream!) events.push(event)
    return events
  }
  await db.renameCollection('a', 'b', { dropTarget: true })
  const end = { operationType: 'invalidate' }
  assert.equal(await told(renamed), [{ operationType: 'rename', ns: { coll: 'a' }, to: { coll: 'b' } }, end])
  assert.equal(await told(replaced), [{ operationType: 'drop', ns: { coll: 'b' } }, end])
  await db.renameCollection('b', 'c')
  await db.collection('c').insertOne({ _id: 1 })
  assert.is((await later?.next())?.operationType, 'insert')
  await later?.close()
})

test.run()
