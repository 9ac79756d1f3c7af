/** `$jsonSchema` in queries, through the index and by a scan, in pipelines and in writes. */
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Database, type Document, open } from '../../src/index.ts'
import { adversarial, documents, type Profile, plain, schemasFor, testSeed } from '../support/arbitraries.ts'
import { isValid } from '../support/schemas.ts'
import { rejects, scratchPath } from './scratch.ts'

const seed = testSeed()

const people: readonly Document[] = [
  { _id: 1, name: 'Ann', age: 65 },
  { _id: 2, name: 'Bob', age: 105n },
  { _id: 3, name: 'Cid', age: 10 },
  { _id: 4, name: 'Dan', age: 'unknown' },
  { _id: 5, name: 'Eve' },
  { _id: 6, name: ['Flo'], age: [70] },
  { _id: 7 }
]

const seniors = {
  $jsonSchema: {
    required: ['name', 'age'],
    properties: { name: { type: 'string' }, age: { type: 'number', minimum: 65 } }
  }
}

async function opened(list: readonly Document[], options = {}): Promise<Database> {
  const db = await open(scratchPath(), { index: { segmentBits: 512 }, ...options })
  await db.insertMany(list.map((document, i) => ({ ...document, _id: document._id ?? i })))
  return db
}

async function idsOf(db: Database, filter: Document, options = {}): Promise<unknown[]> {
  return (await db.find(filter, options).toArray()).map(({ _id }) => _id)
}

test('reads, pipelines and writes take a schema', async () => {
  const db = await opened(people)
  assert.equal(await idsOf(db, seniors), [1, 2])
  assert.equal(await idsOf(db, seniors, { hint: 'scan' }), [1, 2])
  assert.is(await db.countDocuments({ $nor: [seniors] }), 5)
  assert.equal(await db.distinct('name', seniors), ['Ann', 'Bob'])
  assert.equal(await db.aggregate([{ $match: seniors }, { $count: 'n' }]).toArray(), [{ n: 2 }])
  const unwound = [
    { $unwind: '$age' },
    { $match: seniors },
    { $match: { $jsonSchema: { properties: { _id: { maximum: 1 } } } } }
  ]
  assert.equal(
    (await db.aggregate(unwound).toArray()).map(({ _id }) => _id),
    [1]
  )
  assert.is((await db.updateMany(seniors, { $set: { isSenior: true } })).modifiedCount, 2)
  assert.is((await db.deleteMany({ $jsonSchema: { properties: { isSenior: { not: {} } } } })).deletedCount, 5)
  assert.equal(await idsOf(db, {}), [1, 2])
  await rejects(db.find({ $jsonSchema: { required: [] } }).toArray(), 'FailedToParse')
  await db.close()
})

test('an upsert takes no fields from a schema', async () => {
  const db = await opened([])
  const filter = { $jsonSchema: { required: ['a'], properties: { a: { enum: [1] } } } }
  await db.updateOne(filter, { $set: { b: 2 } }, { upsert: true })
  const [document] = await db.find({}, { projection: { _id: 0 } }).toArray()
  assert.equal(document, { b: 2 })
  await db.close()
})

test('the index narrows down to documents that have what the schema requires', async () => {
  const db = await opened(
    Array.from({ length: 2000 }, (_, i) => (i % 100 === 0 ? { kind: 'rare', n: i } : { kind: 'usual' }))
  )
  const schema = {
    required: ['kind'],
    properties: { kind: { enum: ['rare', 'absent'] }, n: { type: 'number', maximum: 500 } }
  }
  const { index, executionStats } = await db.find({ $jsonSchema: schema }).explain()
  assert.is(executionStats.nReturned, 6)
  assert.is(index.candidates, 20)
  assert.equal(index.unbounded, ['$jsonSchema'])
  await db.close()
})

test('a declared index serves the bounds of a schema', async () => {
  const db = await opened(Array.from({ length: 500 }, (_, i) => ({ n: i })))
  await db.createIndex({ n: 1 })
  const filter = { $jsonSchema: { required: ['n'], properties: { n: { type: 'number', minimum: 100, maximum: 102 } } } }
  const { executionStats } = await db.find(filter, { sort: { n: -1 } }).explain()
  assert.is(executionStats.nReturned, 3)
  assert.ok(executionStats.totalDocsExamined <= 3)
  assert.equal(await idsOf(db, filter, { sort: { n: -1 } }), [102, 101, 100])
  await db.close()
})

async function checkRandom(profile: Profile, options: object): Promise<void> {
  const db = await opened([], options)
  for (const [i, { _id: _, ...document }] of fc.sample(documents(profile), { numRuns: 700, seed }).entries()) {
    // Documents with keys that begin with $ cannot be stored.
    await db.insertOne({ ...document, _id: i }).catch(() => undefined)
  }
  const stored = await db.find().toArray()
  let hits = 0
  for (const schema of fc.sample(schemasFor(profile, 2), { numRuns: 120, seed })) {
    const filter = { $jsonSchema: schema }
    const expected = stored.filter((document) => isValid(schema, document)).map(({ _id }) => _id)
    hits += expected.length
    const shown = JSON.stringify(schema, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value))
    assert.equal(await idsOf(db, filter), expected, shown)
    assert.equal(await idsOf(db, filter, { hint: 'scan' }), expected, `scan: ${shown}`)
    assert.is(await db.countDocuments({ $nor: [filter] }), stored.length - expected.length, `not: ${shown}`)
  }
  assert.ok(hits > 0)
  await db.close()
}

for (const [name, profile] of Object.entries({ adversarial, plain })) {
  test(`${name} documents: index and scan find what passes the schema`, () => checkRandom(profile, {}))
}

test('value filters find what passes the schema, too', () => checkRandom(adversarial, { index: 'embedded' }))

test.run()
