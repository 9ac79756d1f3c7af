/** Building a declared index during writes, over existing documents, with interruptions; reopening and dropping it. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Database, type IndexToCreate, open } from '../../src/index.ts'
import { FailingLevel } from './odd-stores.ts'
import { rejects, scratchPath } from './scratch.ts'

const documents = (count: number, from = 0) => Array.from({ length: count }, (_, i) => ({ _id: from + i, n: i % 50 }))

async function assertComplete(db: Database): Promise<void> {
  const all = await db.find({}, { hint: 'scan' }).toArray()
  assert.equal(await db.find({}, { hint: 'n_1' }).toArray(), all)
  for (const n of [0, 7, 49, 1000]) {
    assert.equal(await db.find({ n }).toArray(), await db.find({ n }, { hint: 'scan' }).toArray())
    assert.is(await db.countDocuments({ n }), await db.countDocuments({ n }, { hint: 'scan' }))
  }
}

/** Counts the entries of all declared indexes in the store. */
async function entriesIn(store: FailingLevel): Promise<number> {
  const keys = await store.keys({ keyEncoding: 'utf8' }).all()
  return keys.filter((key) => /^!1\.x\d+!/.test(String(key))).length
}

test('an index built during writes misses no document and keeps no stale entry', async () => {
  const db = await open(scratchPath())
  await db.insertMany(documents(6000))
  let isBuilt = false
  const building = db.createIndex({ n: 1 }).then(() => {
    isBuilt = true
  })
  let rounds = 0
  for (; !isBuilt; rounds++) {
    await db.insertOne({ _id: 10_000 + rounds, n: rounds % 50 })
    await db.updateOne({ _id: (rounds * 131) % 6000 }, { $set: { n: 1000 } })
    await db.deleteOne({ _id: (rounds * 97) % 6000 })
  }
  await building
  assert.ok(rounds > 2, `${rounds} rounds`)
  await assertComplete(db)
  await db.close()
})

test('progress is reported; an abort or a duplicate key leaves nothing of the index', async () => {
  const store = new FailingLevel()
  const db = await open(store)
  await db.insertMany(documents(2000))
  const done: number[] = []
  const controller = new AbortController()
  const aborted = db.createIndex(
    { n: 1 },
    {
      signal: controller.signal,
      onProgress: (progress) => {
        done.push(progress.done / progress.total)
        if (done.length === 2) controller.abort()
      }
    }
  )
  await rejects(aborted, 'Aborted')
  assert.is(done.length, 2)
  const error = await rejects(db.createIndex({ n: 1 }, { unique: true }), 'DuplicateKey')
  assert.equal(error.details.keyPattern, { n: 1 })
  assert.equal([...db.listIndexes()], [])
  assert.is(await entriesIn(store), 0)
  await db.createIndex({ n: 1 })
  await assertComplete(db)
  await db.close()
})

test('a key freed while a unique index is built, and taken again by a later document, stays taken', async () => {
  const db = await open(scratchPath())
  const [first, second] = [10, 1500]
  await db.insertMany(Array.from({ length: 2000 }, (_, i) => ({ _id: i, u: i === second ? first : i })))
  let freed: Promise<unknown> | undefined
  await db.createIndex(
    { u: 1 },
    {
      unique: true,
      onProgress: ({ done }) => {
        if (done > first) freed ??= db.deleteOne({ _id: first })
      }
    }
  )
  await freed
  await rejects(db.insertOne({ _id: 5000, u: first }), 'DuplicateKey')
  assert.equal(await db.find({ u: first }, { hint: 'u_1' }).toArray(), [{ _id: second, u: first }])
  await db.close()
})

test('whichever batch of a build fails, no partial index remains, and the next open removes leftovers', async () => {
  for (let successes = 0; successes < 6; successes++) {
    const store = new FailingLevel()
    const db = await open(store)
    await db.insertMany(documents(1500))
    store.successes = successes
    const outcome = await Promise.allSettled([db.createIndex({ n: 1 })])
    // As if the process ended here: nothing is closed, nothing more is written.
    store.successes = Number.POSITIVE_INFINITY
    const bytes = await store.iterator({ keyEncoding: 'view', valueEncoding: 'view' }).all()
    const copy = new FailingLevel()
    await copy.batch(
      bytes.map(([key, value]) => ({ type: 'put', key, value, keyEncoding: 'view', valueEncoding: 'view' })) as never
    )
    const again = await open(copy)
    if (outcome[0].status === 'rejected') {
      assert.equal([...again.listIndexes()], [], `after ${successes} batches`)
      assert.is(await entriesIn(copy), 0, `after ${successes} batches`)
      await again.createIndex({ n: 1 })
    }
    await assertComplete(again)
    await again.close()
    await db.close()
  }
})

test('an index survives a reopen and follows writes; a dropped one is gone for good', async () => {
  const location = scratchPath()
  let db = await open(location)
  await db.insertMany(documents(500))
  assert.is(await db.createIndex({ n: 1 }), 'n_1')
  assert.is(await db.createIndex({ n: 1 }), 'n_1')
  await rejects(db.createIndex({ n: 1 }, { unique: true }), 'IndexOptionsConflict')
  await rejects(db.createIndex({ m: 1 }, { name: 'n_1' }), 'IndexKeySpecsConflict')
  await db.close()
  db = await open(location)
  assert.equal([...db.listIndexes()], [{ name: 'n_1', key: { n: 1 }, unique: false, sparse: false }])
  await db.insertMany(documents(100, 5000))
  await assertComplete(db)
  const cursor = db.find({ n: { $lt: 40 } }, { hint: 'n_1', sort: { n: 1 } })
  const first = await cursor.next()
  await db.deleteMany({ n: { $lt: 40 } })
  await db.dropIndex('n_1')
  assert.is((await cursor.toArray()).length, 479, 'a cursor keeps its snapshot')
  assert.is(first?.n, 0)
  await rejects(db.dropIndex('n_1'), 'IndexNotFound')
  await rejects(db.find({}, { hint: 'n_1' }).toArray(), 'BadValue')
  await db.close()
  db = await open(location)
  assert.equal([...db.listIndexes()], [])
  await db.close()
})

test('createIndexes() creates several indexes, dropIndexes() drops all, indexes() returns a promise', async () => {
  const location = scratchPath()
  const db = await open(location)
  await db.insertMany(documents(100))
  const names = await db.createIndexes([
    { key: { n: 1 } },
    { key: { email: 1, m: -1 }, unique: true, sparse: true },
    { key: 'at', name: 'end', expireAfterSeconds: 60 }
  ])
  assert.equal(names, ['n_1', 'email_1_m_-1', 'end'])
  const listed = [...db.listIndexes()]
  assert.equal(await db.indexes(), listed)
  assert.equal(
    listed.map(({ unique, sparse, expireAfterSeconds }) => [unique, sparse, expireAfterSeconds]),
    [
      [false, false, undefined],
      [true, true, undefined],
      [false, false, 60]
    ]
  )
  await assertComplete(db)
  const other = db.collection('other')
  assert.equal(await other.createIndexes(await db.indexes()), names)
  assert.equal(await other.indexes(), listed)
  await db.dropIndexes()
  assert.equal(await db.indexes(), [])
  await db.dropIndexes()
  await db.collection('nowhere').dropIndexes()
  assert.equal(
    db.listCollections().map(({ name }) => name),
    ['default', 'other']
  )
  await rejects(db.find({}, { hint: 'n_1' }).toArray(), 'BadValue')
  await db.close()
  await using again = await open(location, { readOnly: true })
  assert.equal(await again.indexes(), [])
  assert.equal(await again.collection('other').indexes(), listed)
  await rejects(again.dropIndexes(), 'IllegalOperation')
  await rejects(again.drop(), 'IllegalOperation')
})

test('createIndexes() creates none if one is malformed, and keeps earlier ones if one cannot be built', async () => {
  await using db = await open('indexes', { store: 'memory' })
  await db.insertMany(documents(100))
  const malformed: readonly (readonly [unknown, RegExp])[] = [
    [undefined, /takes an array of indexes .*, got undefined/],
    [[], /got an empty array/],
    [{ key: { n: 1 } }, /takes an array of indexes .*, got object/],
    [[{ key: { n: 1 } }, { n: 1 }], /^index 1 of createIndexes has no option 'n'/],
    [[{ key: { n: 1 } }, {}], /^index 1 of createIndexes has no key/],
    [[{ key: { n: 1 } }, null], /^index 1 of createIndexes takes options as an object, got null/],
    [[{ key: { n: 1 } }, { key: { m: 1 }, uniqe: true }], /'uniqe'; did you mean 'unique'/]
  ]
  for (const [indexes, message] of malformed) {
    const call = db.createIndexes(indexes as readonly IndexToCreate[])
    assert.match((await rejects(call, 'BadValue')).message, message)
  }
  await rejects(db.createIndexes([{ key: { n: 1 } }, { key: { m: 'text' as unknown as 1 } }]), 'CommandNotSupported')
  assert.equal(await db.indexes(), [])
  await rejects(
    db.createIndexes([{ key: { m: 1 } }, { key: { n: 1 }, unique: true }, { key: { o: 1 } }]),
    'DuplicateKey'
  )
  assert.equal(
    db.listIndexes().map(({ name }) => name),
    ['m_1']
  )
  await rejects(db.createIndexes([{ key: { n: 1 } }], { signal: AbortSignal.abort() }), 'Aborted')
})

test('dropIndexes() leaves nothing in the store, whichever write fails', async () => {
  for (let failing = 0; ; failing++) {
    const store = new FailingLevel()
    const db = await open(store)
    await db.insertMany(documents(300))
    await db.createIndexes([{ key: { n: 1 } }, { key: { m: 1 } }])
    store.successes = failing
    const hasFailed = await db.dropIndexes().then(
      () => false,
      () => true
    )
    store.successes = Number.POSITIVE_INFINITY
    await db.close().catch(() => undefined)
    await using again = await open(store)
    const left = again.listIndexes().map(({ name }) => name)
    assert.ok(hasFailed || left.length === 0)
    if (left.includes('n_1')) await assertComplete(again)
    await again.dropIndexes()
    assert.is(await entriesIn(store), 0)
    if (!hasFailed) {
      assert.ok(failing > 1)
      return
    }
  }
})

test('createIndex() accepts the option background of MongoDB, which has no effect', async () => {
  await using db = await open('indexes', { store: 'memory' })
  assert.is(await db.createIndex({ n: 1 }, { background: true }), 'n_1')
  assert.equal(await db.createIndexes([{ key: { m: 1 }, background: false }]), ['m_1'])
  assert.equal(db.listIndexes()[0], { name: 'n_1', key: { n: 1 }, unique: false, sparse: false })
  await rejects(db.createIndex({ k: 1 }, { background: 'yes' as never }), 'BadValue')
})

test('drop() drops the collection', async () => {
  await using db = await open('indexes', { store: 'memory' })
  const other = db.collection('other')
  assert.is(await other.drop(), false)
  await other.insertOne({})
  await db.insertOne({})
  assert.is(await other.drop(), true)
  assert.is(await other.countDocuments(), 0)
  assert.equal(
    db.listCollections().map(({ name }) => name),
    ['default']
  )
  assert.is(await db.drop(), true)
  assert.is(await db.countDocuments(), 0)
})

test('documents with parallel arrays are refused, and prevent creating the index', async () => {
  const db = await open(scratchPath())
  await db.insertOne({ _id: 1, a: [1], b: [2] })
  await rejects(db.createIndex({ a: 1, b: 1 }), 'CannotIndexParallelArrays')
  await db.deleteOne({ _id: 1 })
  await db.createIndex({ a: 1, b: 1 })
  await rejects(db.insertOne({ a: [1], b: [2] }), 'CannotIndexParallelArrays')
  await db.insertOne({ a: [1, 2], b: 3 })
  assert.is(await db.countDocuments({ a: 2, b: 3 }, { hint: 'a_1_b_1' }), 1)
  await db.close()
})

test('concurrent createIndex() calls for the same index build it once, and all return its name', async () => {
  const db = await open(scratchPath())
  await db.insertMany(documents(3000))
  const calls: number[] = []
  const onProgress = (call: number) => () => {
    if (calls.at(-1) !== call) calls.push(call)
  }
  const names = await Promise.all([0, 1, 2].map((call) => db.createIndex({ n: 1 }, { onProgress: onProgress(call) })))
  assert.equal(names, ['n_1', 'n_1', 'n_1'])
  assert.equal(calls, [0])
  await assertComplete(db)
  await db.close()
})

test('other options or another name conflict even while the index is being built', async () => {
  const db = await open(scratchPath())
  await db.insertMany(documents(1000))
  const building = db.createIndex({ n: 1 })
  await rejects(db.createIndex({ n: 1 }, { sparse: true }), 'IndexOptionsConflict')
  await rejects(db.createIndex({ n: 1 }, { name: 'other' }), 'IndexOptionsConflict')
  await rejects(db.createIndex({ m: 1 }, { name: 'n_1' }), 'IndexKeySpecsConflict')
  assert.is(await building, 'n_1')
  await db.close()
})

test('if the build it waits for fails, a createIndex() call builds the index itself, and fails by itself', async () => {
  const store = new FailingLevel()
  const db = await open(store)
  await db.insertMany(documents(2000))
  const unique = [1, 2].map(() => rejects(db.createIndex({ n: 1 }, { unique: true }), 'DuplicateKey'))
  await Promise.all(unique)
  const controller = new AbortController()
  const aborted = db.createIndex({ n: 1 }, { signal: controller.signal, onProgress: () => controller.abort() })
  const waiting = db.createIndex({ n: 1 })
  await rejects(aborted, 'Aborted')
  assert.is(await waiting, 'n_1')
  await assertComplete(db)
  await db.dropIndex('n_1')
  assert.is(await entriesIn(store), 0)
  await db.close()
})

test("a signal ends a createIndex() that waits for another call's build, but not the build", async () => {
  const db = await open(scratchPath())
  await db.insertMany(documents(3000))
  const controller = new AbortController()
  let isBuilt = false
  const building = db.createIndex({ n: 1 }, { onProgress: () => controller.abort() }).then(() => {
    isBuilt = true
  })
  // Aborts before the call knows that there is an index to wait for.
  const early = new AbortController()
  const earlier = rejects(db.createIndex({ n: 1 }, { signal: early.signal }), 'Aborted')
  early.abort()
  await earlier
  assert.is(isBuilt, false)
  await rejects(db.createIndex({ n: 1 }, { signal: controller.signal }), 'Aborted')
  assert.is(isBuilt, false)
  await building
  const later = new AbortController()
  assert.is(await db.createIndex({ n: 1 }, { signal: later.signal }), 'n_1')
  await assertComplete(db)
  await db.close()
})

test('dropping the index or its collection, or closing, leaves no createIndex() waiting for ever', async () => {
  for (const interrupt of ['dropIndex', 'drop', 'close'] as const) {
    const db = await open(scratchPath())
    await db.insertMany(documents(3000))
    let interrupted: Promise<unknown> | undefined
    const onProgress = () => {
      if (interrupt === 'dropIndex') interrupted ??= rejects(db.dropIndex('n_1'), 'IndexNotFound')
      else interrupted ??= interrupt === 'drop' ? db.dropCollection(db.collectionName) : db.close()
    }
    const calls = [db.createIndex({ n: 1 }, { onProgress }), db.createIndex({ n: 1 }), db.createIndex({ n: 1 })]
    const outcomes = await Promise.allSettled(calls)
    await interrupted
    const codes = outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.reason.codeName : outcome.value))
    const expected = interrupt === 'drop' ? 'DatabaseNotOpen' : 'n_1'
    assert.equal(codes, [expected, expected, expected], interrupt)
    await db.close()
  }
})

test.run()
