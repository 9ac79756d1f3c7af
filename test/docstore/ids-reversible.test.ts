/** Computed `_id`s: the shared cases, and what only they guarantee. */
import { Long, ObjectId } from 'bson'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { ReversibleIds } from '../../src/docstore/ids/reversible-ids.ts'
import { type BulkWriteError, type Database, open } from '../../src/index.ts'
import { encodeKey } from '../../src/model/key.ts'
import { testSeed } from '../support/arbitraries.ts'
import { randomFrom } from '../support/random.ts'
import { idsCases } from './ids-cases.ts'
import { rejects, scratchPath } from './scratch.ts'

idsCases(test, 'reversible')
// Sparse: some two thousand of four thousand million ids, a few below 0.
idsCases(test, { codec: 'reversible', from: -1000, to: 2 ** 32 - 1000 })

const below0 = { codec: 'reversible', from: -50, to: 50 } as const

test('ordinals are a permutation of the domain, and lead back to ids', () => {
  for (const [from, to] of [
    [0, 1],
    [-7, 13_000],
    [2 ** 53 - 5000, 2 ** 53],
    [-(2 ** 53) + 1, -(2 ** 53) + 4097]
  ] as const) {
    const ids = new ReversibleIds({ codec: 'reversible', from, to, key: [1, 2] })
    const ordinals = new Set<number>()
    for (let id = from; id < to; id++) {
      const ordinal = ids.ordinalOf(id)!
      assert.ok(ordinal >= 0 && ordinal < to - from)
      assert.is(ids.ordinalOfKey(encodeKey(id)), ordinal)
      assert.is(ids.ordinalOfKey(encodeKey(BigInt(id))), ordinal)
      ordinals.add(ordinal)
    }
    assert.is(ordinals.size, to - from)
    for (const other of [from - 1, to, 0.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      assert.is(ids.ordinalOf(other), undefined)
      assert.is(ids.ordinalOfKey(encodeKey(other)), undefined)
    }
  }
})

test('only keys of numbers in the domain have an ordinal', () => {
  const ids = new ReversibleIds({ codec: 'reversible', from: 0, to: 2 ** 32, key: [3, 4] })
  const others = [
    '',
    'a',
    '12345678',
    true,
    new Date(5),
    new ObjectId(),
    { a: 1 },
    2n ** 64n,
    Long.fromNumber(-1),
    -0.5
  ]
  for (const other of others) assert.is(ids.ordinalOfKey(encodeKey(other)), undefined, String(other))
  assert.is(ids.ordinalOfKey(encodeKey(-0)), ids.ordinalOf(0))
  const random = randomFrom(testSeed())
  const some = new Set(Array.from({ length: 10_000 }, () => Math.floor(random() * 2 ** 32)))
  assert.is(new Set(Array.from(some, (id) => ids.ordinalOf(id))).size, some.size)
})

test('an _id outside the domain is refused with an error that names both, and is never found', async () => {
  await using db = await open(scratchPath(), { ids: below0 })
  await db.insertMany([{ _id: -50 }, { _id: 49 }, { _id: 0n }, { _id: Long.fromNumber(7) }])
  for (const _id of [-51, 50, 0.5, Number.NaN, 'x', new ObjectId(), true, { a: 1 }, 2n ** 70n]) {
    const error = await rejects(db.insertOne({ _id }), 'BadValue')
    assert.match(error.message, /_id must be an integer in \[-50, 50\) .* got /)
    assert.equal([error.details.path, error.details.from, error.details.to], ['_id', -50, 50])
    assert.is(await db.get(_id), undefined)
    assert.is(await db.findOne({ _id }), null)
    assert.is((await db.deleteOne({ _id })).deletedCount, 0)
    await rejects(db.updateOne({ _id }, { $set: { a: 1 } }, { upsert: true }), 'BadValue')
  }
  const mixed = db.insertMany([{ _id: 1 }, { _id: 'no' }, { _id: 2 }], { ordered: false })
  const { insertedCount, writeErrors } = (await rejects(mixed, 'BadValue')) as BulkWriteError
  assert.equal([insertedCount, writeErrors.map(({ index }) => index)], [2, [1]])
  const skipped: string[] = []
  const lines = '{"_id":3}\n{"_id":50}\n{"_id":"x"}\n{"a":1}\n{"_id":{"$oid":"65a1b2c3d4e5f60718293a4b"}}'
  await db.importLines([Buffer.from(lines)], { onSkipped: ({ message }) => skipped.push(message) })
  assert.is(skipped.length, 4, 'the one without an _id comes after 49')
  assert.is(await db.countDocuments(), 7)
})

test('a missing _id becomes one more than the greatest ever', async () => {
  const path = scratchPath()
  const insertedInto = async (db: Database): Promise<unknown> => (await db.insertOne({ a: 1 })).insertedId
  {
    await using db = await open(path, { ids: below0 })
    assert.is(await insertedInto(db), -50)
    assert.equal((await db.insertMany([{ a: 1 }, { _id: 10 }, { a: 1 }])).insertedIds, { 0: -49, 1: 10, 2: 11 })
    const documents: { _id?: number; a: number }[] = [{ a: 2 }, { a: 2 }, { a: 2 }]
    await Promise.all(documents.map((document) => db.insertOne(document)))
    assert.equal(
      documents.map(({ _id }) => _id),
      [12, 13, 14]
    )
    const { upsertedId } = await db.updateOne({ b: 5 }, { $set: { c: 1 } }, { upsert: true })
    assert.is(upsertedId, 15)
    await rejects(db.insertOne(Object.freeze({ a: 1 })), 'BadValue')
    await db.importLines([Buffer.from('{"a":3}\n{"a":3}')])
    await db.deleteMany({ _id: { $gte: 14 } })
  }
  await using db = await open(path)
  assert.is(await insertedInto(db), 18, 'not one that was deleted')
  await db.insertOne({ _id: 49 })
  const error = await rejects(db.insertOne({ a: 1 }), 'BadValue')
  assert.match(error.message, /in \[-50, 50\).* got 50/)
  await db.insertOne({ _id: 20 })
})

test('the kind of ids is fixed when a collection is created', async () => {
  const path = scratchPath()
  for (const ids of ['hash', {}, { codec: 'reversible', from: 1.5 }, { codec: 'reversible', from: 5, to: 5 }]) {
    await rejects(open(scratchPath(), { ids: ids as never }), 'InvalidOptions')
  }
  await rejects(open(scratchPath(), { ids: { codec: 'reversible', from: 0, to: 2 ** 32 + 1 } }), 'InvalidOptions')
  for (const index of ['none', { kind: 'embedded' }] as const) {
    const error = await rejects(open(scratchPath(), { ids: 'reversible', index }), 'InvalidOptions')
    assert.match(error.message, /needs index: 'sharded'/)
  }
  {
    await using db = await open(path, { ids: below0 })
    await db.insertOne({ _id: -1 })
    await db.collection('other').insertOne({ _id: -2 })
    await db.collection('table', { ids: 'table' }).insertOne({ _id: 'a' })
    await rejects(db.collection('other').insertOne({ _id: 'a' }), 'BadValue')
    assert.throws(
      () => db.collection('none', { index: 'none' }),
      /ids: 'reversible' needs index: 'sharded', not 'none'/
    )
    await db.collection('none', { index: 'none', ids: 'table' }).insertOne({ _id: 'a' })
    assert.is(await db.collection('none', { index: 'none' }).countDocuments(), 1)
    await db.dropCollection('other')
    await db.collection('other', { ids: 'table' }).insertOne({ _id: 'b' })
  }
  for (const ids of ['table', { codec: 'reversible', from: -50, to: 51 }] as const) {
    const error = await rejects(open(path, { ids }), 'InvalidOptions')
    assert.match(error.message, /was created with ids: 'reversible' in \[-50, 50\)/)
    const { option, stored, asked } = error.details as {
      readonly option: unknown
      readonly stored: { readonly from: number; readonly to: number }
      readonly asked: unknown
    }
    assert.equal([option, stored.from, stored.to], ['ids', -50, 50])
    assert.equal(asked, ids === 'table' ? ids : { from: ids.from, to: ids.to })
  }
  for (const ids of [undefined, 'reversible', below0] as const) {
    await using db = await open(path, { ...(ids && { ids }) })
    assert.equal(await db.get(-1), { _id: -1 })
    assert.throws(
      () => db.collection('table', { ids: 'reversible' }),
      (error: Error) => /was created with ids: 'table'/.test(error.message)
    )
    assert.is(await db.collection('table').countDocuments({ _id: 'a' }), 1)
  }
})

test('neither a table of ids is kept, nor marks of documents that are indexed', async () => {
  await using db = await open(scratchPath(), { ids: 'reversible', index: { segmentBits: 512 } })
  await db.insertMany(Array.from({ length: 3000 }, (_, i) => ({ _id: i, n: i % 50 })))
  await db.updateMany({ n: 5 }, { $set: { n: 6 } })
  await db.index.rebuild()
  const { segments, dead, documents, bytes } = await db.index.stats()
  assert.equal([segments, dead, documents], [6, 0, 3000])
  assert.ok(bytes.total > 0)
  assert.is(await db.countDocuments({ n: 6 }), 120)
})

test('close() merges recent writes, unless that would rebuild much more', async () => {
  const path = scratchPath()
  const index = { segmentBits: 512 }
  const recoveredAfter = async (write: (db: Database) => Promise<unknown>): Promise<number> => {
    {
      await using db = await open(path, { ids: 'reversible', index, autoRebuild: false })
      await write(db)
    }
    await using db = await open(path, { index })
    assert.equal((await db.verify()).problems, [])
    return (await db.index.stats()).recovered
  }
  const documents = (count: number, from: number) => Array.from({ length: count }, (_, i) => ({ _id: from + i, n: i }))
  assert.is(await recoveredAfter((db) => db.insertMany(documents(5000, 0))), 0)
  assert.is(await recoveredAfter((db) => db.insertMany(documents(600, 5000))), 0)
  assert.is(await recoveredAfter((db) => db.insertMany(documents(400, 6000))), 400)
  assert.is(await recoveredAfter((db) => db.index.rebuild()), 0)
  // In all segments, but fewer than an eighth of the documents.
  const spread = { _id: { $mod: [10, 0] } }
  assert.is(await recoveredAfter((db) => db.updateMany(spread, { $set: { m: 1 } })), 600)
})

test('an index that lost a record is rebuilt, and misses no document', async () => {
  const path = scratchPath()
  const options = { ids: 'reversible', index: { segmentBits: 512 }, store: 'level' } as const
  {
    await using db = await open(path, options)
    await db.insertMany(Array.from({ length: 3000 }, (_, i) => ({ _id: i * 1000, n: i % 50 })))
  }
  const { ClassicLevel } = await import('classic-level')
  const level = new ClassicLevel<Uint8Array, Uint8Array>(path, { keyEncoding: 'view', valueEncoding: 'view' })
  const segments = level.sublevel<Uint8Array, Uint8Array>('1.index', { keyEncoding: 'view', valueEncoding: 'view' })
  for await (const key of segments.keys({ gte: Uint8Array.of(0x73), lt: Uint8Array.of(0x74), limit: 1 })) {
    await segments.del(key)
  }
  await level.close()
  await using db = await open(path, options)
  assert.is((await db.index.stats()).damage.length, 1)
  assert.is(await db.countDocuments({ n: 7 }), 60)
  assert.equal((await db.verify()).problems, [])
})

test.run()
