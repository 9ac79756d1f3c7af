/**
 * Records of the catalog that are lost, older than the documents or malformed, as a repaired store may have them,
 * neither hide documents nor have others written in their place.
 */
import { MemoryLevel } from 'memory-level'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Document, open } from '../../src/index.ts'
import { LsmLevel } from '../../src/lsm/index.ts'
import { rejects, scratchPath } from './scratch.ts'

const stateKey = '!meta!state:1'
const count = 300
const documents = (): Document[] => Array.from({ length: count }, (_, _id) => ({ _id, n: _id % 7, text: `ü ${_id}` }))

const states: readonly (readonly [name: string, state: object | string | undefined])[] = [
  ['lost', undefined],
  ['no JSON', '{"nextOrdinal":'],
  ['no object', 'null'],
  ['that of the beginning', { nextOrdinal: 0, documents: 0, documentBytes: 0 }],
  ['without nextOrdinal', { documents: count, documentBytes: 1 }],
  ['of texts', { nextOrdinal: '300', documents: '300', documentBytes: '1', nextId: '300' }],
  ['negative', { nextOrdinal: -1, documents: -1, documentBytes: -1 }]
]
const older = ['older', { nextOrdinal: 100, documents: 100, documentBytes: 2000 }] as const

for (const options of [{ index: 'sharded' }, { index: 'none' }, { ids: 'reversible' }] as const) {
  for (const [name, state] of 'ids' in options ? states : [...states, older]) {
    test(`${JSON.stringify(options)}: a state that is ${name} hides nothing`, async () => {
      const store = new MemoryLevel<string, string>()
      let db = await open(store, options)
      await db.insertMany(documents())
      const { documentBytes } = await db.stats()
      await db.close()

      await store.open()
      if (state === undefined) await store.del(stateKey)
      else await store.put(stateKey, typeof state === 'string' ? state : JSON.stringify(state))
      db = await open(store, options)
      assert.is(await db.countDocuments(), count)
      assert.is((await db.find({ n: 3 }).toArray()).length, 43)
      assert.is((await db.stats()).documentBytes, documentBytes)
      assert.equal((await db.verify()).problems, [])
      await db.insertOne({ n: 100 })
      await db.updateOne({ _id: 200 }, { $set: { n: 100 } })
      await db.close()

      await store.open()
      db = await open(store, options)
      const changed = (document: Document): Document => (document._id === 200 ? { ...document, n: 100 } : document)
      const found = await db
        .find({ _id: { $type: 'number', $lt: count } })
        .sort({ _id: 1 })
        .toArray()
      assert.equal(found, documents().map(changed))
      assert.is(await db.countDocuments({ n: 100 }), 2)
      assert.equal((await db.verify()).problems, [])
      await db.close()
    })
  }
}

test('billions of ordinals without a document cost a collection without an index neither time nor memory', async () => {
  const store = new MemoryLevel<string, string>()
  let db = await open(store, { index: 'none' })
  await db.insertMany(documents())
  await db.close()
  await store.open()
  await store.put(stateKey, JSON.stringify({ nextOrdinal: 2 ** 32, documents: count, documentBytes: 1 }))
  for (const more of [1, 2]) {
    db = await open(store, { index: 'none' })
    const started = performance.now()
    assert.equal((await db.verify()).problems, [])
    await db.insertOne({ _id: `more ${more}`, n: 3 })
    assert.equal((await db.verify()).problems, [])
    assert.is(await db.countDocuments({ n: 3 }), 43 + more)
    const milliseconds = performance.now() - started
    assert.ok(milliseconds < 10_000, `${milliseconds} ms`)
    const { index } = (await db.stats()).collections[0]!
    assert.is(index.cache.usedBytes, 2 * 8192)
    await db.deleteOne({ _id: `more ${more - 1}` })
    await db.close()
    await store.open()
  }
})

test('deleted documents take no memory of an index that knows only which there are', async () => {
  await using db = await open(new MemoryLevel<string, string>(), { index: 'none' })
  const first = db.find({ _id: 0 })
  await db.insertMany(Array.from({ length: 140_000 }, (_, _id) => ({ _id })))
  assert.equal(await first.next(), { _id: 0 })
  const before = db.find({ _id: { $gte: 65_530, $lt: 65_540 } })
  assert.equal(await before.next(), { _id: 65_530 })
  await db.deleteMany({ _id: { $lt: 131_000 } })
  assert.is((await before.toArray()).length, 9)
  assert.is((await db.stats()).collections[0]!.index.cache.usedBytes, 2 * 8192)
  assert.is(await db.countDocuments(), 9000)
  assert.is(await db.countDocuments({ _id: { $exists: true } }), 9000)
})

test('the record of a bulk load that is malformed hides nothing', async () => {
  for (const load of ['{"nextOrdinal":', 'null', '{}', '{"nextOrdinal":"x","documents":1,"documentBytes":[]}']) {
    const store = new MemoryLevel<string, string>()
    let db = await open(store)
    await db.insertMany(documents())
    const { documentBytes } = await db.stats()
    await db.close()
    await store.open()
    await store.put(`!1.index!a${'\0'.repeat(8)}`, load)
    for (let n = 0; n < 2; n++) {
      db = await open(store)
      assert.is(await db.countDocuments(), count, load)
      assert.is((await db.stats()).documentBytes, documentBytes)
      assert.equal((await db.verify()).problems, [])
      await db.close()
      await store.open()
    }
  }
})

test('a directory without the state is read as it is', async () => {
  const location = scratchPath()
  let db = await open(location)
  await db.insertMany(documents())
  await db.close()
  const store = new LsmLevel<string, string>(location)
  await store.del(stateKey)
  await store.close()
  db = await open(location, { readOnly: true })
  assert.is(await db.countDocuments({}, { hint: 'scan' }), count)
  assert.is((await db.find({ n: 3 }).toArray()).length, 43)
  assert.equal((await db.verify()).problems, [])
  await db.close()
})

test('a new collection never has the number of another one, whatever is left of the record of the next number', async () => {
  for (const format of [
    undefined,
    { format: 1, nextCollection: 1 },
    { format: 1 },
    { format: 1, nextCollection: 'x' }
  ]) {
    const store = new MemoryLevel<string, string>()
    let db = await open(store)
    await db.insertMany(documents())
    await db.collection('second').insertOne({ _id: 'second' })
    await db.close()

    await store.open()
    if (format === undefined) await store.del('!meta!format')
    else await store.put('!meta!format', JSON.stringify(format))
    db = await open(store)
    const third = db.collection('third')
    await third.insertOne({ _id: 'third' })
    assert.equal(await third.find().toArray(), [{ _id: 'third' }], JSON.stringify(format))
    await third.drop()
    assert.is(await db.countDocuments(), count)
    assert.equal(await db.collection('second').find().toArray(), [{ _id: 'second' }])
    assert.equal((await db.verify()).problems, [])
    await db.close()
  }
})

test('a malformed record of a collection is refused, and named', async () => {
  const malformed = [
    {},
    { number: 'x', index: 'sharded' },
    { number: 1 },
    { number: 1, index: 'none', declared: 1 },
    []
  ]
  for (const entry of malformed) {
    const store = new MemoryLevel<string, string>()
    const db = await open(store)
    await db.insertOne({ _id: 1 })
    await db.close()
    await store.open()
    await store.put('!meta!name:default', JSON.stringify(entry))
    const error = await rejects(open(store), 'DataCorruption')
    assert.match(error.message, "'name:default'")
  }
})

test.run()
