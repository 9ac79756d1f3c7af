/** A unique index holds at every moment, on every kind of store, and a refused write leaves nothing behind. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type BulkWriteError, type Database, ObjectId, open, type PetalError } from '../../src/index.ts'
import { AsyncLevel, FailingLevel, SlowLevel } from './odd-stores.ts'
import { rejects, scratchPath } from './scratch.ts'

const stores = {
  lsm: () => open(scratchPath(), { store: 'lsm' }),
  level: () => open(scratchPath(), { store: 'level' }),
  slow: () => open(new SlowLevel()),
  async: () => open(new AsyncLevel())
}

/** Checks that the index holds all documents, each key once. */
async function assertSound(db: Database): Promise<void> {
  const all = await db.find({}, { hint: 'scan' }).toArray()
  assert.equal(await db.find({}, { hint: 'u_1' }).toArray(), all)
  assert.is(await db.estimatedDocumentCount(), all.length)
  for (const { u } of all) if (!Array.isArray(u)) assert.is(await db.countDocuments({ u }), 1)
}

for (const [name, openEmpty] of Object.entries(stores)) {
  const claim = (title: string, run: (db: Database) => Promise<void>): void =>
    test(`${name}: ${title}`, async () => {
      const db = await openEmpty()
      try {
        await db.createIndex({ u: 1 }, { unique: true })
        await run(db)
        await assertSound(db)
      } finally {
        await db.close()
      }
    })

  claim('of 32 concurrent inserts of one key one succeeds, and the other errors name the key', async (db) => {
    const inserts = Array.from({ length: 32 }, (_, i) => db.insertOne({ _id: i, u: 'one' }))
    const refused = (await Promise.allSettled(inserts)).flatMap((outcome) =>
      outcome.status === 'rejected' ? [outcome.reason as PetalError] : []
    )
    assert.is(refused.length, 31)
    for (const { codeName, details } of refused) {
      assert.is(codeName, 'DuplicateKey')
      assert.equal(details, { index: 'u_1', keyPattern: { u: 1 }, keyValue: { u: 'one' } })
    }
    assert.is(await db.countDocuments({ u: 'one' }), 1)
  })

  claim('concurrent insertMany() calls with overlapping keys store each once', async (db) => {
    const runs = [0, 300, 600].map((from) =>
      db.insertMany(
        Array.from({ length: 600 }, (_, i) => ({ u: from + i, run: from })),
        { ordered: false }
      )
    )
    await Promise.allSettled(runs)
    assert.is(await db.countDocuments({}), 1200)
  })

  claim('within a batch the first of equal keys is stored; numbers equal by value, missing equals null', async (db) => {
    const documents = [{ u: 1 }, { u: 1n }, { u: null }, { a: 1 }, { u: [5, 5, 6] }, { u: 6 }, { u: '1' }]
    try {
      await db.insertMany(documents, { ordered: false })
      assert.unreachable()
    } catch (error) {
      assert.equal(
        (error as BulkWriteError).writeErrors.map(({ index, code }) => [index, code]),
        [
          [1, 11000],
          [3, 11000],
          [5, 11000]
        ]
      )
    }
    assert.is(await db.countDocuments({}), 4)
  })

  claim('an update to a taken key changes nothing; keys freed by updates and deletions can be taken', async (db) => {
    await db.insertMany([
      { _id: 1, u: 'a' },
      { _id: 2, u: 'b' },
      { _id: 3, u: 'c' }
    ])
    await rejects(db.updateOne({ _id: 1 }, { $set: { u: 'b' } }), 'DuplicateKey')
    assert.equal(await db.get(1), { _id: 1, u: 'a' })
    await db.updateOne({ _id: 2 }, { $set: { u: 'd', more: 1 } })
    await db.updateOne({ _id: 2 }, { $set: { more: 2 } })
    await db.updateOne({ _id: 1 }, { $set: { u: 'b' } })
    await db.deleteOne({ _id: 3 })
    await db.insertOne({ _id: 4, u: 'c' })
    assert.equal(await db.find({ u: { $in: ['a', 'b', 'c', 'd'] } }).toArray(), await db.find().toArray())
    await rejects(db.updateOne({ _id: 9 }, { $set: { u: 'c' } }, { upsert: true }), 'DuplicateKey')
  })

  claim('updateMany() stops at a taken key, and keeps its earlier changes', async (db) => {
    await db.insertMany([3, 2, 1, 10, 20, 21].map((u, _id) => ({ _id, u })))
    await rejects(db.updateMany({}, { $inc: { u: 1 } }), 'DuplicateKey')
    assert.equal(
      (await db.find().toArray()).map(({ _id, u }) => [_id, u]).sort(([a], [b]) => Number(a) - Number(b)),
      [4, 3, 2, 11, 20, 21].map((u, _id) => [_id, u])
    )
  })

  claim('an import skips bad lines, whatever is wrong with them', async (db) => {
    const nested = `${'['.repeat(150)}${']'.repeat(150)}`
    const bad = ['"__proto__":1', `"a":${nested}`, '"a":{"$date":"x"}', '"a":', '"u":0', '"_id":0']
    const lines = [
      '{"_id":0,"u":0}',
      ...bad.map((rest, i) => `{"_id":${i + 1},"u":${i + 1},${rest}}`),
      '{"_id":9,"u":9}'
    ]
    const skipped: number[] = []
    await db.importLines([new TextEncoder().encode(lines.join('\n'))], { onSkipped: ({ line }) => skipped.push(line) })
    assert.equal(
      skipped.sort((a, b) => a - b),
      bad.map((_, i) => i + 2)
    )
    assert.equal(
      (await db.find().toArray()).map(({ _id }) => _id),
      [0, 9]
    )
  })
}

test('a batch that the store refuses frees its keys', async () => {
  const store = new FailingLevel()
  const db = await open(store)
  await db.createIndex({ u: 1 }, { unique: true })
  store.successes = 0
  store.failures = 1
  const first = db.insertMany([{ _id: 1, u: 'x' }])
  const second = db.insertMany([{ _id: 2, u: 'x' }])
  assert.ok((await Promise.allSettled([first, second])).some(({ status }) => status === 'rejected'))
  store.successes = Number.POSITIVE_INFINITY
  const taken = await db.countDocuments({ u: 'x' })
  if (taken === 0) await db.insertOne({ _id: 3, u: 'x' })
  await rejects(db.insertOne({ _id: 4, u: 'x' }), 'DuplicateKey')
  await assertSound(db)
  await db.close()
})

test('a sparse unique index allows any number of documents without the path', async () => {
  const db = await open(scratchPath())
  await db.createIndex({ mail: 1 }, { unique: true, sparse: true })
  await db.insertMany([{ a: 1 }, { a: 2 }, { mail: null }, { mail: 'x' }])
  await rejects(db.insertOne({ mail: null }), 'DuplicateKey')
  assert.is(await db.countDocuments({ mail: null }), 3)
  await db.close()
})

test('the message of a duplicate tells values apart that JSON spells alike, and is short for long ones', async () => {
  await using db = await open('unused', { store: 'memory' })
  const hex = '65a000000000000000000001'
  for (const [key, shown] of [
    [hex, `"${hex}"`],
    [new ObjectId(hex), `{"$oid":"${hex}"}`],
    [9223372036854775807n, '9223372036854775807'],
    [{ a: 2n ** 60n }, '{"a":{"$numberLong":"1152921504606846976"}}'],
    [Number.NaN, '{"$numberDouble":"NaN"}'],
    [new Date(0), '{"$date":"1970-01-01T00:00:00Z"}'],
    ['x'.repeat(10_000), `"${'x'.repeat(199)}…`]
  ]) {
    await db.createIndex({ u: 1 }, { unique: true, sparse: true })
    await db.insertOne({ _id: key, u: key })
    const error = (field: string) => `E11000 duplicate key error collection: default ${field}: ${shown} }`
    const messages = [{ _id: key }, { u: key }].map(async (document) => {
      const refused: unknown = await db.insertOne(document).catch((problem: unknown) => problem)
      return (refused as PetalError).message
    })
    assert.is(await messages[0], error('index: _id_ dup key: { _id'))
    assert.is(await messages[1], error('index: u_1 dup key: { u'))
  }
})

test.run()
