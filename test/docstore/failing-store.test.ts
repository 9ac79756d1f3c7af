/** A commit that the store refuses changes nothing, and later calls work. */
import { setTimeout as sleep } from 'node:timers/promises'
import { MemoryLevel } from 'memory-level'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Database, type Document, open, type PetalError } from '../../src/index.ts'
import { FailingLevel } from './odd-stores.ts'
import { rejects } from './scratch.ts'

async function withStore(run: (db: Database, store: FailingLevel) => Promise<void>): Promise<void> {
  const store = new FailingLevel()
  const db = await open(store)
  await db.insertMany(Array.from({ length: 10 }, (_, i) => ({ _id: i, kept: true })))
  try {
    await run(db, store)
    const found = await db.find({ kept: true }).toArray()
    assert.equal(found, await db.find({ kept: true }, { hint: 'scan' }).toArray())
    assert.is(await db.estimatedDocumentCount(), await db.countDocuments({}, { hint: 'scan' }))
  } finally {
    store.successes = Number.POSITIVE_INFINITY
    await db.close()
  }
  const again = await open(store)
  assert.is(await again.estimatedDocumentCount(), (await again.find({}, { hint: 'scan' }).toArray()).length)
  assert.equal(await again.find({ kept: true }).toArray(), await again.find({ kept: true }, { hint: 'scan' }).toArray())
  await again.close()
}

/** Fails the next `failures` batches. */
function failNext(store: FailingLevel, failures = 1): void {
  store.successes = 0
  store.failures = failures
}

test('a failed insert stores nothing, and its _id can be inserted', () =>
  withStore(async (db, store) => {
    failNext(store)
    const error = await rejects(db.insertOne({ _id: 'x', kept: true }), 'StoreFailure')
    assert.match(String(error.cause), /no space/)
    assert.is(await db.get('x'), undefined)
    assert.is(await db.countDocuments({ kept: true }), 10)
    await db.insertOne({ _id: 'x', kept: true })
    assert.is(await db.countDocuments({ kept: true }), 11)
  }))

test('a failed update or delete changes nothing', () =>
  withStore(async (db, store) => {
    failNext(store, 2)
    await rejects(db.updateMany({}, { $set: { kept: false } }), 'StoreFailure')
    await rejects(db.deleteMany({}), 'StoreFailure')
    assert.is(await db.countDocuments({ kept: true }), 10)
    assert.is((await db.updateMany({}, { $set: { more: 1 } })).modifiedCount, 10)
    assert.is(await db.countDocuments({ more: 1, kept: true }), 10)
  }))

test('a failed insertMany() stores a prefix of the documents', async () => {
  for (const isAsync of [false, true]) {
    for (let successes = 0; successes < 8; successes++) {
      await withStore(async (db, store) => {
        const list = Array.from({ length: 4000 }, (_, i) => ({ _id: `n${i}`, n: i }))
        store.successes = successes
        store.failures = 1
        async function* later(): AsyncGenerator<Document> {
          for (const document of list) {
            // Gives the previous batch time to fail.
            if (document.n % 50 === 0) await sleep(1)
            yield document
          }
        }
        const failed = await db.insertMany(isAsync ? later() : list).catch((error: unknown) => error)
        const found = (await db.find({ n: { $gte: 0 } }).toArray()).map(({ n }) => n)
        assert.equal(
          found,
          Array.from({ length: found.length }, (_, i) => i)
        )
        if (found.length < list.length) assert.is((failed as PetalError).codeName, 'StoreFailure')
      })
    }
  }
})

test('documents that wait for their turn while those before them fail are not inserted', () =>
  withStore(async (db, store) => {
    await db.insertMany(Array.from({ length: 5000 }, (_, i) => ({ _id: `k${i}`, kept: true })))
    const list = Array.from({ length: 4000 }, (_, i) => ({ _id: `n${i}`, n: i }))
    let update: Promise<unknown> | undefined
    function* source(): Generator<Document> {
      for (const document of list) {
        // The first are being written, and fail while the next wait for this.
        if (document.n === 200) update = db.updateMany({ kept: true }, { $set: { more: 1 } }).catch(() => undefined)
        yield document
      }
    }
    store.delay = 50
    failNext(store)
    await rejects(db.insertMany(source()), 'StoreFailure')
    assert.ok(update !== undefined)
    await update
    const found = (await db.find({ n: { $gte: 0 } }).toArray()).map(({ n }) => n)
    assert.equal(
      found,
      Array.from({ length: found.length }, (_, i) => i)
    )
  }))

test('a batch prepared while another one fails, fails too, and the ids of both are free', () =>
  withStore(async (db, store) => {
    failNext(store)
    const first = db.insertMany([{ _id: 'a' }, { _id: 'b' }])
    const second = db.insertMany([{ _id: 'b' }, { _id: 'c' }], { ordered: false })
    const outcomes = await Promise.allSettled([first, second])
    assert.is(outcomes[0].status, 'rejected')
    assert.is(outcomes[1].status, 'rejected')
    await db.insertMany([{ _id: 'a' }, { _id: 'b' }, { _id: 'c' }])
    assert.is(await db.countDocuments(), 13)
  }))

test('a batch that fails because of an earlier one reports the cause of the first failure', () =>
  withStore(async (db, store) => {
    failNext(store)
    const first = db.insertMany([{ _id: 'a', kept: true }])
    const second = db.insertMany([{ _id: 'b', kept: true }])
    for (const refused of await Promise.allSettled([first, second])) {
      assert.is(refused.status, 'rejected')
      const { reason } = refused as PromiseRejectedResult
      assert.is(reason.codeName, 'StoreFailure')
      assert.match(reason.message, 'no space left on device')
    }
  }))

test('an insertMany() that fails midway keeps what was committed before', () =>
  withStore(async (db, store) => {
    store.successes = 2
    store.failures = Number.POSITIVE_INFINITY
    await rejects(db.insertMany(Array.from({ length: 5000 }, (_, i) => ({ _id: `n${i}`, kept: true }))), 'StoreFailure')
    store.successes = Number.POSITIVE_INFINITY
    const count = await db.countDocuments({ kept: true })
    assert.ok(count > 10 && count < 5010, `${count}`)
    const ids = (await db.find({}).toArray()).map(({ _id }) => _id)
    assert.equal(
      ids.slice(10),
      ids.slice(10).map((_, i) => `n${i}`)
    )
  }))

test('a failed creation or drop leaves the collection as it was, and the error is a PetalError', () =>
  withStore(async (db, store) => {
    failNext(store)
    await rejects(db.collection('c').insertOne({ _id: 1 }), 'StoreFailure')
    // The catalog's batch succeeds, the index's first one fails.
    store.successes = 1
    store.failures = 1
    await rejects(db.collection('d').insertOne({ _id: 1 }), 'StoreFailure')
    assert.is(await db.dropCollection('d'), true)
    assert.equal(
      db.listCollections().map(({ name }) => name),
      ['default']
    )
    await db.collection('c').insertOne({ _id: 2 })
    failNext(store)
    await rejects(db.dropCollection('c'), 'StoreFailure')
    assert.equal(await db.collection('c').find().toArray(), [{ _id: 2 }])
    assert.is(await db.dropCollection('c'), true)
  }))

test('grouped inserts fail together, and each caller gets an error', () =>
  withStore(async (db, store) => {
    failNext(store)
    const outcomes = await Promise.allSettled(Array.from({ length: 5 }, (_, i) => db.insertOne({ _id: `g${i}` })))
    assert.ok(outcomes.every(({ status }) => status === 'rejected'))
    assert.is(await db.countDocuments(), 10)
  }))

test('inserts refused because maintenance failed do not block later inserts', () =>
  withStore(async (db, store) => {
    await db.insertMany(Array.from({ length: 1000 }, (_, i) => ({ _id: `m${i}`, kept: true })))
    // The documents that make maintenance due are committed, but not what maintenance writes.
    store.successes = 1
    await db.insertMany(Array.from({ length: 100 }, (_, i) => ({ _id: `n${i}`, kept: true })))
    await rejects(db.insertOne({ _id: 'x', kept: true }), 'StoreFailure')
    store.successes = Number.POSITIVE_INFINITY
    const settled = new AbortController()
    const { signal } = settled
    const outcome = await Promise.race([
      db.insertOne({ _id: 'y', kept: true }).finally(() => settled.abort()),
      sleep(30_000, 'never settled', { signal })
    ])
    assert.equal(outcome, { acknowledged: true, insertedId: 'y' })
  }))

test('every operation fails if the store is closed under the database', async () => {
  const store = new MemoryLevel<string, string>()
  const db = await open(store)
  await db.insertMany(Array.from({ length: 100 }, (_, i) => ({ _id: i, a: i % 3 })))
  const cursor = db.find()
  await cursor.next()
  await store.close()
  for (const operation of [
    () => db.get(1),
    () => db.getMany(Array.from({ length: 50 }, (_, i) => i)),
    () => db.find({ a: 1 }).toArray(),
    () => db.find({ a: 1 }).explain(),
    () => db.findOne({ _id: 5 }),
    () => db.countDocuments({ a: 1 }),
    () => db.insertOne({ _id: 1000 }),
    () => db.insertOne({ _id: 5 }),
    () => db.insertMany(Array.from({ length: 50 }, (_, i) => ({ _id: i }))),
    () => db.updateOne({ _id: 1 }, { $set: { b: 1 } }),
    () => db.deleteMany({}),
    () => db.collection('new').insertOne({}),
    () => db.dropCollection('default')
  ]) {
    await rejects(operation(), 'DatabaseNotOpen')
  }
  await db.close()
})

test.run()
