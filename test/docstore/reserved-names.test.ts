/** Names that begin with `system.` are reserved, as in MongoDB: no collection gets one, by whatever call. */
import { existsSync } from 'node:fs'
import { MemoryLevel } from 'memory-level'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Store } from '../../src/docstore/options.ts'
import { Catalog } from '../../src/docstore/store/catalog.ts'
import { copyDatabase, open } from '../../src/index.ts'
import { rejects, scratchPath } from './scratch.ts'

const name = 'system.users'

test('no call makes a collection with a reserved name', async () => {
  await using db = await open(scratchPath())
  await db.insertMany([{ _id: 1 }, { _id: 2 }])
  await db.collection('other').insertOne({ _id: 1 })
  const reserved = db.collection(name)
  const calls: (() => Promise<unknown>)[] = [
    () => reserved.insertOne({}),
    () => reserved.insertMany([{}]),
    () => reserved.updateOne({ _id: 1 }, { $set: { a: 1 } }, { upsert: true }),
    () => reserved.bulkWrite([{ insertOne: { document: {} } }]),
    () => reserved.importLines([Buffer.from('{}')]),
    () => reserved.createIndex({ a: 1 }),
    () => db.aggregate([{ $out: name }]).toArray(),
    () => db.aggregate([{ $merge: name }]).toArray(),
    () => db.aggregate([{ $merge: { into: name } }]).toArray(),
    () => db.collection('other').rename(name),
    () => db.renameCollection('other', name, { dropTarget: true })
  ]
  for (const call of calls) {
    const { message } = await rejects((async () => call())(), 'InvalidNamespace')
    assert.match(message, name)
  }
  assert.equal(
    db.listCollections().map((each) => each.name),
    ['default', 'other']
  )
  assert.is(await db.countDocuments(), 2)
})

test('a name that only resembles a reserved one is as good as any', async () => {
  await using db = await open(scratchPath())
  for (const good of ['system', 'systems.a', 'System.a', 'a.system.b']) await db.collection(good).insertOne({ _id: 1 })
  assert.is(db.listCollections().length, 4)
})

test('a collection that had a reserved name before can be read, changed, renamed and dropped', async () => {
  const store = new MemoryLevel<unknown, unknown>() as unknown as Store
  const before = await open(store as never)
  for (const old of ['a', 'b']) await before.collection(old).insertMany([{ _id: 1, n: 1 }, { _id: 2 }])
  await before.close()
  const catalog = await Catalog.open(store, false)
  await catalog.rename('a', 'system.a')
  await catalog.rename('b', 'system.b')
  await using db = await open(store as never)
  const old = db.collection('system.a')
  assert.equal(await old.find({ n: 1 }).toArray(), [{ _id: 1, n: 1 }])
  assert.equal(await db.aggregate([{ $unionWith: 'system.a' }, { $count: 'n' }]).toArray(), [{ n: 2 }])
  await old.updateOne({ _id: 2 }, { $set: { n: 2 } })
  const renamed = await old.rename('a')
  assert.equal(await renamed.get(2), { _id: 2, n: 2 })
  assert.is(await db.dropCollection('system.b'), true)
  assert.is(await db.dropCollection('system.b'), false)
})

test('copyDatabase() refuses a collection with a reserved name before anything is written', async () => {
  const store = new MemoryLevel<unknown, unknown>() as unknown as Store
  const before = await open(store as never)
  for (const old of ['a', 'b']) await before.collection(old).insertOne({ _id: 1 })
  await before.close()
  const catalog = await Catalog.open(store, false)
  await catalog.rename('b', name)
  await using db = await open(store as never)
  const path = scratchPath()
  await using target = await open(scratchPath())
  for (const to of [path, target]) {
    const { message, details } = await rejects(copyDatabase(db, to), 'InvalidNamespace')
    assert.match(message, `The collection '${name}' cannot be copied; rename it first`)
    assert.is(details.collection, name)
  }
  assert.not(existsSync(path))
  assert.equal(target.listCollections(), [])
  await db.renameCollection(name, 'users')
  assert.equal(await copyDatabase(db, path), { collections: 2, documents: 2 })
})

test.run()
