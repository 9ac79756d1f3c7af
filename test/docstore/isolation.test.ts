/** A cursor sees the state at its first pull, and no other write comes between a write's read and its commit. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Database, open, type PetalError } from '../../src/index.ts'
import { testSeed } from '../support/arbitraries.ts'
import { randomFrom } from '../support/random.ts'
import { AskingLevel, SlowLevel } from './odd-stores.ts'
import { rejects, scratchPath } from './scratch.ts'

const stores = {
  lsm: () => open(scratchPath(), { store: 'lsm' }),
  level: () => open(scratchPath(), { store: 'level' }),
  memory: () => open('unused', { store: 'memory' }),
  slow: () => open(new SlowLevel())
}

for (const [name, openEmpty] of Object.entries(stores)) {
  const claim = (title: string, run: (db: Database) => Promise<void>): void =>
    test(`${name}: ${title}`, async () => {
      const db = await openEmpty()
      try {
        await run(db)
      } finally {
        await db.close()
      }
    })

  claim('32 concurrent inserts of one _id store one document', async (db) => {
    const outcomes = await Promise.allSettled(Array.from({ length: 32 }, (_, i) => db.insertOne({ _id: 'one', i })))
    const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as PetalError] : []))
    assert.is(refused.length, 31)
    for (const error of refused) {
      assert.is(error.codeName, 'DuplicateKey')
      assert.equal(error.details, { keyPattern: { _id: 1 }, keyValue: { _id: 'one' } })
    }
    assert.is(await db.countDocuments(), 1)
  })

  claim('concurrent insertMany() calls with overlapping ids store each id once', async (db) => {
    const runs = [0, 50, 100, 150].map((from) =>
      db.insertMany(
        Array.from({ length: 150 }, (_, i) => ({ _id: ((from + i) * 7919) % 1000, from })),
        { ordered: false }
      )
    )
    const outcomes = await Promise.allSettled(runs)
    let inserted = 0
    for (const outcome of outcomes) {
      inserted += outcome.status === 'fulfilled' ? outcome.value.insertedCount : outcome.reason.insertedCount
    }
    const ids = (await db.find().toArray()).map(({ _id }) => _id)
    assert.is(new Set(ids).size, ids.length)
    assert.is(ids.length, inserted)
    assert.is(ids.length, 300)
  })

  claim('updateMany() that changes the field it filters on touches each document once', async (db) => {
    await db.insertMany(Array.from({ length: 2500 }, (_, i) => ({ _id: i, n: 0 })))
    const { matchedCount, modifiedCount } = await db.updateMany({ n: { $gte: 0 } }, { $inc: { n: 1 } })
    assert.equal([matchedCount, modifiedCount], [2500, 2500])
    assert.is(await db.countDocuments({ n: 1 }), 2500)
  })

  claim('no concurrent increment is lost', async (db) => {
    await db.insertOne({ _id: 1, n: 0 })
    await Promise.all(Array.from({ length: 40 }, () => db.updateOne({ _id: 1 }, { $inc: { n: 1 } })))
    assert.equal(await db.get(1), { _id: 1, n: 40 })
  })

  claim('only one of many concurrent upserts inserts', async (db) => {
    const results = await Promise.all(
      Array.from({ length: 10 }, () => db.updateOne({ key: 'k' }, { $inc: { n: 1 } }, { upsert: true }))
    )
    assert.is(results.filter(({ upsertedCount }) => upsertedCount === 1).length, 1)
    assert.is((await db.findOne({ key: 'k' }))?.n, 10)
  })

  claim('a cursor sees exactly its snapshot despite concurrent changes', async (db) => {
    const initial = Array.from({ length: 3000 }, (_, i) => ({ _id: i, kind: i % 3, text: `document ${i}` }))
    await db.insertMany(initial)
    const wanted = initial.filter(({ kind }) => kind === 1)
    const cursors = [
      db.find({ kind: 1 }),
      db.find({ kind: 1 }, { hint: 'scan' }),
      db.find({ kind: 1 }).sort({ $natural: -1 })
    ]
    const firsts = await Promise.all(cursors.map((cursor) => cursor.next()))
    await Promise.all([
      db.deleteMany({ _id: { $lt: 1000 } }),
      db.updateMany({ kind: 1 }, { $set: { kind: 2 } }),
      db.insertMany(Array.from({ length: 500 }, (_, i) => ({ _id: 10_000 + i, kind: 1 })))
    ])
    const found = await Promise.all(cursors.map(async (cursor, i) => [firsts[i], ...(await cursor.toArray())]))
    assert.equal(found[0], wanted)
    assert.equal(found[1], wanted)
    assert.equal(found[2], [...wanted].reverse())
    assert.is(await db.countDocuments({ kind: 1 }), 500)
  })

  claim('every read during updates sees each document exactly once', async (db) => {
    const seed = testSeed()
    const random = randomFrom(seed)
    const count = 60
    await db.insertMany(Array.from({ length: count }, (_, i) => ({ _id: i, n: 0, all: true })))
    let isWriting = true
    const write = async (): Promise<void> => {
      for (let round = 0; round < 30; round++) {
        await db.updateMany({ _id: { $lt: Math.ceil(random() * count) } }, { $inc: { n: 1 } })
      }
      isWriting = false
    }
    const read = async (): Promise<void> => {
      while (isWriting) {
        const ids = (await db.find({ all: true }).toArray()).map(({ _id }) => Number(_id))
        assert.is(ids.length, count, 'find')
        assert.is(new Set(ids).size, count)
        assert.is(await db.countDocuments({ all: true }), count, 'count')
        const id = Math.floor(random() * count)
        assert.is((await db.get(id))?._id, id, 'get')
        assert.is((await db.findOne({ _id: id }))?._id, id, 'findOne')
        // Gives the writer its turn.
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
    await Promise.all([write(), read(), read()])
  })
}

test('writes of all kinds take effect in the order of the calls', async () => {
  const db = await open(new SlowLevel())
  await db.insertOne({ _id: 0 })
  const outcomes = await Promise.allSettled([
    db.insertOne({ _id: 1, n: 0 }),
    db.updateOne({ _id: 1 }, { $inc: { n: 1 } }),
    db.deleteOne({ _id: 1 }),
    db.insertOne({ _id: 1, n: 10 }),
    db.insertOne({ _id: 1, n: 20 }),
    db.updateOne({ _id: 1 }, { $inc: { n: 1 } })
  ])
  assert.equal(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'fulfilled', 'fulfilled', 'rejected', 'fulfilled']
  )
  assert.equal(await db.find().toArray(), [{ _id: 0 }, { _id: 1, n: 11 }])
  await db.close()
})

test('a short insertMany() takes effect before all calls after it', async () => {
  await using db = await open('unused', { store: 'memory' })
  await db.insertOne({ _id: 'first' })
  for (const count of [1, 2, 99, 100, 101]) {
    const documents = Array.from({ length: count }, (_, n) => ({ of: count, n }))
    for (const source of [documents, new Set(documents.map(({ of, n }) => ({ of, n })))]) {
      const inserting = db.insertMany(source)
      const updating = db.updateMany({ of: count }, { $set: { seen: true } })
      const deleting = db.deleteMany({ of: count })
      await inserting
      // Of a longer list, at least its first documents.
      const least = Math.min(count, 100)
      assert.ok((await updating).matchedCount >= least, `${count}`)
      assert.ok((await deleting).deletedCount >= least, `${count}`)
      await db.deleteMany({ of: count })
    }
  }
})

test('a document whose _id changes during the lookup in the store is refused', async () => {
  const level = new AskingLevel()
  const db = await open(level)
  // The store is only asked for ids that are not the greatest yet.
  await db.insertOne({ _id: { a: 9 } })
  const plain: { _id: unknown } = { _id: 1 }
  const nested = { _id: { a: 1 } }
  for (const [document, change] of [
    [plain, () => Object.assign(plain, { _id: 2 })],
    [nested, () => Object.assign(nested._id, { a: 2 })]
  ] as const) {
    let isAsked = false
    level.whenAsked = () => {
      isAsked = true
      change()
    }
    await rejects(db.insertOne(document), 'BadValue')
    assert.ok(isAsked)
    level.whenAsked = undefined
  }
  assert.equal(await db.find().toArray(), [{ _id: { a: 9 } }])
  await db.close()
})

test('an async source that reads and writes the collection it fills does not block', async () => {
  const db = await open('unused', { store: 'memory' })
  async function* source() {
    for (let i = 0; i < 250; i++) {
      if (i % 100 === 0) await db.insertOne({ _id: `side ${i}` })
      yield { _id: i }
    }
  }
  await db.insertMany(source())
  assert.is(await db.countDocuments(), 253)
  await db.close()
})

test.run()
