/** Sorts by `_id`, and ranges of `_id`s that columns cannot answer, use the table of `_id`s, whatever their type. */
import { ObjectId } from 'bson'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { IndexStore } from '../../src/docstore/indexes/index-store.ts'
import { type Database, type Document, type Explanation, open } from '../../src/index.ts'
import { testSeed } from '../support/arbitraries.ts'
import { randomFrom } from '../support/random.ts'
import { scratchPath } from './scratch.ts'

const random = randomFrom(testSeed())
const below = (limit: number): number => Math.floor(random() * limit)

const makers: readonly (() => unknown)[] = [
  () => below(10_000) - 5000,
  () => below(10_000) / 7,
  () => `id ${below(10_000)}`,
  () => new ObjectId(below(2 ** 31)),
  () => new Date(below(10_000)),
  () => ({ part: below(100), of: `x${below(100)}` }),
  () => below(2) === 0
]

const bottomOf = ({ queryPlanner: { winningPlan } }: Explanation) => {
  let stage = winningPlan
  while (stage.inputStage !== undefined) stage = stage.inputStage
  return stage
}

async function assertSame(db: Database, filter: Document, options: object): Promise<Explanation> {
  const shown = JSON.stringify([filter, options])
  const scanned = await db.find(filter, { ...options, hint: 'scan' }).toArray()
  assert.equal(await db.find(filter, options).toArray(), scanned, shown)
  assert.is(await db.countDocuments(filter), await db.countDocuments(filter, { hint: 'scan' }), shown)
  return db.find(filter, options).explain()
}

for (const store of ['lsm', 'level', 'memory'] as const) {
  test(`pages by _id of any type are right, on ${store}`, async () => {
    const db = await open(scratchPath(), { store, index: { segmentBits: 512 } })
    await db
      .insertMany(
        Array.from({ length: 3000 }, (_, i) => ({
          _id: makers[i % makers.length]!(),
          lang: i % 3 === 0 ? 'en' : 'de'
        })),
        { ordered: false }
      )
      .catch(() => undefined)
    await db.deleteMany({ lang: 'de', _id: { $type: 'number', $lt: -3000 } })
    await db.updateMany({ lang: 'de' }, { $set: { seen: true } })
    for (const direction of [1, -1] as const) {
      for (const filter of [
        {},
        { lang: 'en' },
        { _id: { $gt: 100, $lt: 3000 } },
        { _id: { $gte: 'id 5' }, lang: 'de' }
      ]) {
        const explanation = await assertSame(db, filter, { sort: { _id: direction }, limit: 20, skip: below(5) })
        // A few candidates are read and sorted instead.
        if (explanation.index.candidates >= 200) assert.is(bottomOf(explanation).indexName, '_id_')
        assert.ok(explanation.executionStats.totalDocsExamined < 200)
      }
      await assertSame(db, { lang: 'en' }, { sort: { _id: direction } })
      await assertSame(db, { lang: 'en' }, { sort: { lang: 1, _id: direction }, limit: 5 })
    }
    // As an application pages through a collection.
    let after: unknown = new ObjectId(0)
    let seen = 0
    for (;;) {
      const page = await db.find({ _id: { $gt: after, $type: 'objectId' } }, { sort: { _id: 1 }, limit: 50 }).toArray()
      if (page.length === 0) break
      seen += page.length
      after = page.at(-1)?._id
    }
    assert.is(seen, await db.countDocuments({ _id: { $type: 'objectId' } }))
    await db.close()
  })
}

test('a range of ObjectIds reads only documents in the range', async () => {
  const db = await open(scratchPath())
  await db.insertMany(Array.from({ length: 5000 }, (_, i) => ({ _id: new ObjectId(i), n: i })))
  const filter = { _id: { $gte: new ObjectId(100), $lt: new ObjectId(140) } }
  const explanation = await assertSame(db, filter, {})
  assert.is(bottomOf(explanation).indexName, '_id_')
  assert.ok(explanation.executionStats.totalDocsExamined <= 41)
  await db.close()
})

test('a range of numbers is answered by the columns of the index, which is cheaper', async () => {
  const db = await open(scratchPath(), { index: { segmentBits: 1024 } })
  await db.insertMany(Array.from({ length: 6000 }, (_, i) => ({ _id: i })))
  // The first segment has no parameters of its own yet.
  await db.index.rebuild()
  const explanation = await assertSame(db, { _id: { $gte: 5500, $lt: 5600 } }, {})
  assert.is(bottomOf(explanation).stage, 'BLOOM')
  await db.close()
})

test('ids that the columns are certain of are not read from the table, however many they are', async () => {
  const db = await open(scratchPath(), { index: { segmentBits: 1024 } })
  await db.insertMany(Array.from({ length: 6000 }, (_, i) => ({ _id: i })))
  await db.index.rebuild()
  const { entries } = IndexStore.prototype
  let reads = 0
  IndexStore.prototype.entries = function (...asked) {
    reads++
    return entries.apply(this, asked)
  }
  try {
    await assertSame(db, { _id: { $gte: 500 } }, {})
    assert.is(reads, 0)
  } finally {
    IndexStore.prototype.entries = entries
  }
  await db.close()
})

test('a walk in _id order with few matches is abandoned, and its matches are not returned twice', async () => {
  const db = await open(scratchPath())
  const count = 8000
  // Matches occur both before and after the walk is abandoned.
  const isRare = (i: number): boolean => i % 500 === 0
  const documents = Array.from({ length: count }, (_, i) => ({
    _id: new ObjectId(i),
    text: isRare(i) ? 'needle' : 'hay'
  }))
  await db.insertMany(documents.sort(() => random() - 0.5))
  for (const direction of [1, -1] as const) {
    for (const options of [{ limit: 12 }, { limit: 5, skip: 8 }, { limit: 100 }, { limit: 1 }]) {
      await assertSame(db, { text: { $regex: 'needle' } }, { sort: { _id: direction }, ...options })
    }
  }
  const rare = db.find({ text: { $regex: 'needle' } }, { sort: { _id: 1 }, limit: 14 })
  assert.is(bottomOf(await rare.explain()).stage, 'BLOOM')
  const often = db.find({ text: { $regex: 'hay' } }, { sort: { _id: 1 }, limit: 14 })
  assert.is(bottomOf(await often.explain()).indexName, '_id_')
  await db.close()
})

test('an abandoned walk is followed by all other matches, also those that the index could count', async () => {
  const db = await open(scratchPath(), { index: { segmentBits: 8192 } })
  const documents = Array.from({ length: 40_000 }, (_, _id) => ({
    _id,
    is: _id < 100 || _id >= 36_000 ? 'late' : 'early'
  }))
  await db.insertMany(documents)
  await db.index.rebuild()
  const options = { sort: { _id: 1 }, skip: 350, limit: 10 } as const
  const explanation = await assertSame(db, { is: 'late' }, options)
  assert.is(bottomOf(explanation).stage, 'BLOOM')
  assert.is((await db.find({ is: 'late' }, options).toArray())[0]?._id, 36_250)
  await db.close()
})

test('computed ids, which have no table, can be sorted, too', async () => {
  const db = await open(scratchPath(), { ids: { codec: 'reversible', from: 0, to: 5000 } })
  await db.insertMany(Array.from({ length: 1000 }, (_, i) => ({ _id: (i * 7) % 1000 })))
  await assertSame(db, {}, { sort: { _id: -1 }, limit: 5 })
  await assertSame(db, { _id: { $gt: 990 } }, { sort: { _id: 1 } })
  await db.close()
})

test.run()
