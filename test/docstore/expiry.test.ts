/** Documents expire by an index with expireAfterSeconds: exactly the right ones, by ordinary deletions. */
import { setTimeout as sleep } from 'node:timers/promises'
import { ObjectId, Timestamp } from 'bson'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Collections } from '../../src/docstore/collections.ts'
import { Database } from '../../src/docstore/database.ts'
import { sweepExpired } from '../../src/docstore/indexes/expired.ts'
import type { OpenCollection } from '../../src/docstore/open-collection.ts'
import type { OpenOptions, Store } from '../../src/docstore/options.ts'
import { type Document, open } from '../../src/index.ts'
import { testSeed } from '../support/arbitraries.ts'
import { randomFrom } from '../support/random.ts'
import { AsyncLevel, FailingLevel } from './odd-stores.ts'
import { rejects, scratchPath } from './scratch.ts'
import { eventsOf, toldBy } from './watch-cases.ts'

const random = randomFrom(testSeed())
/** In the far future: nothing expires by the machine's clock. */
const noon = Date.UTC(2200, 0, 1, 12)
const at = (seconds: number, milliseconds = 0): Date => new Date(noon + seconds * 1000 + milliseconds)

/** A database, and a function that sweeps it as of a given time. */
async function withClock(location: string | Store, options: OpenOptions = {}) {
  const collections = await Collections.open(location, { ttlIntervalSeconds: 2_000_000, ...options })
  const db = new Database(collections)
  const sweep = async (now: Date, isOver: () => boolean = () => false, onBatch = (): void => {}): Promise<number> => {
    const collection = (await collections.openForRead('default')) as OpenCollection
    let deleted = 0
    const onDeleted = (count: number): void => {
      deleted += count
      onBatch()
    }
    for (const index of collection.declared.expiring) {
      await sweepExpired({ collection, index, now: now.getTime(), isOver, onDeleted })
    }
    return deleted
  }
  const ids = async (): Promise<unknown[]> => (await db.find({}, { sort: { _id: 1 } }).toArray()).map(({ _id }) => _id)
  return { db, collections, sweep, ids, [Symbol.asyncDispose]: () => db.close() }
}

const stores: readonly (readonly [string, () => string | Store, OpenOptions])[] = [
  ['lsm', scratchPath, {}],
  ['level', scratchPath, { store: 'level' }],
  ['memory', () => 'unused', { store: 'memory' }],
  ['no synchronous reads', () => new AsyncLevel() as unknown as Store, {}],
  ['computed ids', scratchPath, { ids: 'reversible' }],
  ['no index', scratchPath, { index: 'none' }]
]

for (const [name, location, options] of stores) {
  for (const direction of [1, -1] as const) {
    test(`${name}, direction ${direction}: documents expire to the millisecond`, async () => {
      await using clock = await withClock(location(), options)
      const { db, sweep, ids } = clock
      await db.insertMany([
        { _id: 1, at: at(0) },
        { _id: 2, at: at(0, 1) },
        { _id: 3, at: at(-1000) },
        { _id: 4, at: at(1000) },
        { _id: 5, at: [at(5000), at(0), at(7000)] },
        { _id: 6, at: [at(5000), at(0, 1)] },
        { _id: 7 },
        { _id: 8, at: null },
        { _id: 9, at: noon - 10_000 },
        { _id: 10, at: at(-1000).toISOString() },
        { _id: 11, at: [] },
        { _id: 12, at: { at: at(-1000) } },
        { _id: 13, at: new Timestamp({ t: 1, i: 1 }) },
        { _id: 14, at: ['x', 5, at(-1000)] },
        { _id: 15, at: new ObjectId('000000010000000000000000') }
      ])
      await db.createIndex({ at: direction }, { expireAfterSeconds: 60 })
      assert.is(await sweep(at(59, 999)), 2)
      assert.equal(await ids(), [1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15])
      assert.is(await sweep(at(60)), 2)
      assert.equal(await ids(), [2, 4, 6, 7, 8, 9, 10, 11, 12, 13, 15])
      assert.is(await sweep(at(60, 1)), 2)
      assert.is(await sweep(at(100_000)), 1)
      assert.equal(await ids(), [7, 8, 9, 10, 11, 12, 13, 15])
      assert.is(await db.estimatedDocumentCount(), 8)
      assert.is(await db.countDocuments({}), 8)
      assert.equal((await db.verify()).problems, [])
    })
  }

  test(`${name}: expired documents free their unique keys and are reported to streams`, async () => {
    await using clock = await withClock(location(), options)
    const { db, sweep } = clock
    await db.createIndex({ 'session.seen': 1 }, { expireAfterSeconds: 0, sparse: true })
    await db.createIndex({ token: 1 }, { unique: true })
    await db.insertMany([
      { _id: 1, token: 'a', session: { seen: at(0) } },
      { _id: 2, token: 'b', session: [{ seen: at(10) }, { seen: at(-10) }] },
      { _id: 3, token: 'c' }
    ])
    const stream = db.watch([], { fullDocumentBeforeChange: 'required' })
    assert.is(await sweep(at(0)), 2)
    const told = (await eventsOf(stream)).map((event) => {
      const { operationType, fullDocumentBeforeChange } = toldBy(event) as Document
      return `${operationType} ${(fullDocumentBeforeChange as Document).token}`
    })
    assert.equal(told.sort(), ['delete a', 'delete b'])
    await db.insertMany([
      { _id: 4, token: 'a' },
      { _id: 5, token: 'b' }
    ])
    await rejects(db.insertOne({ _id: 6, token: 'c' }), 'DuplicateKey')
    await stream.close()
  })
}

test('with random documents, changes and times, exactly those expire that a model says', async () => {
  await using clock = await withClock(scratchPath(), { index: { segmentBits: 512 } })
  const { db, sweep, ids } = clock
  await db.createIndex({ at: 1 }, { expireAfterSeconds: 10 })
  const model = new Map<number, number[]>()
  const below = (limit: number): number => Math.floor(random() * limit)
  const dates = (): number[] => Array.from({ length: below(4) }, () => below(100))
  const dated = (seconds: readonly number[]): unknown =>
    seconds.length === 1 ? at(seconds[0]!) : [...seconds.map((second) => at(second)), 'x'].slice(0, 3)
  const written = (seconds: readonly number[]): number[] => seconds.slice(0, seconds.length === 1 ? 1 : 3)
  let next = 0
  let expired = 0
  for (let now = 0; now < 130; now += 10) {
    const inserted = Array.from({ length: 100 }, () => ({ _id: next++, seconds: dates() }))
    await db.insertMany(inserted.map(({ _id, seconds }) => ({ _id, at: dated(seconds) })))
    for (const { _id, seconds } of inserted) model.set(_id, written(seconds))
    for (let i = 0; i < 20; i++) {
      const [id, seconds] = [below(next), dates()]
      if (!model.has(id)) continue
      await db.updateOne({ _id: id }, { $set: { at: dated(seconds) } })
      model.set(id, written(seconds))
    }
    const gone = [...model].filter(([, seconds]) => seconds.some((second) => second + 10 <= now)).map(([id]) => id)
    for (const id of gone) model.delete(id)
    assert.is(await sweep(at(now)), gone.length)
    assert.equal(
      await ids(),
      [...model.keys()].sort((a, b) => a - b)
    )
    expired += gone.length
  }
  assert.ok(expired > 500, `${expired}`)
})

for (const ids of ['table', 'reversible'] as const) {
  test(`documents saved by writes between two batches of a sweep stay, with ids: '${ids}'`, async () => {
    await using clock = await withClock('unused', { store: 'memory', ids })
    const { db, sweep } = clock
    await db.createIndex({ at: 1 }, { expireAfterSeconds: 0 })
    await db.insertMany(Array.from({ length: 1000 }, (_, i) => ({ _id: i, at: at(0) })))
    // The last ones in the order of the index.
    const saved = (await db.find().toArray()).slice(-10).map(({ _id }) => _id)
    let saving: Promise<unknown> | undefined
    const deleted = await sweep(at(0), undefined, () => {
      // Called between two batches, so that it is ordered before the next.
      saving ??= db.updateMany({ _id: { $in: saved } }, { $set: { at: at(1) } })
    })
    await saving
    assert.is(deleted, 990)
    assert.equal((await db.find().toArray()).map(({ _id }) => _id).sort(), saved.sort())
    assert.is(await sweep(at(1)), 10)
  })
}

test('a sweep ends when its index is dropped, and when it is told to', async () => {
  await using clock = await withClock('unused', { store: 'memory' })
  const { db, sweep } = clock
  await db.insertMany(Array.from({ length: 1000 }, (_, i) => ({ _id: i, at: at(0) })))
  await db.createIndex({ at: 1 }, { expireAfterSeconds: 0 })
  let isOver = false
  const first = await sweep(
    at(0),
    () => isOver,
    () => {
      isOver = true
    }
  )
  assert.ok(first > 0 && first < 500, `${first}`)
  let dropping: Promise<void> | undefined
  const second = await sweep(at(0), undefined, () => {
    dropping ??= db.dropIndex({ at: 1 })
  })
  await dropping
  assert.is(await db.countDocuments(), 1000 - first - second)
  assert.ok(await db.countDocuments())
  assert.equal((await db.verify()).problems, [])
})

test('expireAfterSeconds is listed, persisted, and cannot be changed', async () => {
  const location = scratchPath()
  {
    await using db = await open(location)
    assert.is(await db.createIndex({ at: 1 }, { expireAfterSeconds: 60 }), 'at_1')
    assert.is(await db.createIndex({ at: 1 }, { expireAfterSeconds: 60 }), 'at_1')
    await db.createIndex({ other: 1 })
    await rejects(db.createIndex({ at: 1 }, { expireAfterSeconds: 61 }), 'IndexOptionsConflict')
    await rejects(db.createIndex({ at: 1 }), 'IndexOptionsConflict')
    await rejects(db.createIndex({ other: 1 }, { expireAfterSeconds: 0 }), 'IndexOptionsConflict')
  }
  await using db = await open(location, { readOnly: true })
  const plain = { unique: false, sparse: false }
  assert.equal(
    [...db.listIndexes()],
    [
      { name: 'at_1', key: { at: 1 }, ...plain, expireAfterSeconds: 60 },
      { name: 'other_1', key: { other: 1 }, ...plain }
    ]
  )
  assert.is((await db.stats()).collections[0]?.expiry.isOn, false)
})

test('invalid expireAfterSeconds is refused as MongoDB does', async () => {
  await using db = await open('unused', { store: 'memory' })
  for (const seconds of [-1, 2_147_483_648, Number.NaN, Number.POSITIVE_INFINITY, '60', null, true, {}, 60n]) {
    const error = await rejects(
      db.createIndex({ at: 1 }, { expireAfterSeconds: seconds as never }),
      'CannotCreateIndex'
    )
    assert.is(error.code, 67)
    assert.is(error.details.option, 'expireAfterSeconds')
  }
  await rejects(db.createIndex({ at: 1, n: 1 }, { expireAfterSeconds: 1 }), 'CannotCreateIndex')
  await rejects(db.createIndex({ 'at.0': 1 }, { expireAfterSeconds: 1 }), 'CannotCreateIndex')
  await rejects(db.createIndex({ _id: 1 }, { expireAfterSeconds: 1 }), 'InvalidIndexSpecificationOption')
  assert.equal([...db.listIndexes()], [])
  for (const ttlIntervalSeconds of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, '5', null, true]) {
    await rejects(
      open('unused', { store: 'memory', ttlIntervalSeconds: ttlIntervalSeconds as never }),
      'InvalidOptions'
    )
  }
})

test('an error of the store is reported, and the sweep retried', async () => {
  const store = new FailingLevel()
  const clock = await withClock(store as unknown as Store, { ttlIntervalSeconds: 0.02 })
  const { db } = clock
  const expiry = async () => (await db.stats()).collections[0]!.expiry
  await db.insertMany([
    { _id: 1, at: new Date(0) },
    { _id: 2, at: at(0) }
  ])
  await db.createIndex({ at: 1 }, { expireAfterSeconds: 60 })
  store.successes = 0
  for (let waited = 0; (await expiry()).error === undefined; waited++) {
    assert.ok(waited < 1000, 'waited too long')
    await sleep(5)
  }
  assert.match((await expiry()).error ?? '', /no space/)
  assert.equal([(await expiry()).deleted, await db.countDocuments()], [0, 2])
  store.successes = Number.POSITIVE_INFINITY
  for (let waited = 0; (await expiry()).error !== undefined; waited++) {
    assert.ok(waited < 1000, 'waited too long')
    await sleep(5)
  }
  assert.equal([(await expiry()).deleted, await db.countDocuments()], [1, 1])
  await db.close()
})

test.run()
