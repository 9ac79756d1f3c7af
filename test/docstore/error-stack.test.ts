/** The stack of an error leads to the caller's line, however deep the library found the mistake. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Database, open, type UpdateSpec } from '../../src/index.ts'

const wrong = { $and: [{ $or: [{ a: { $not: { $elemMatch: { $wrong: 1 } } } }] }] }
const stored = { _id: 1 }
const calls: Readonly<Record<string, (db: Database) => Promise<unknown>>> = {
  toArray: (db) => db.find(wrong).toArray(),
  next: (db) => db.find(wrong).next(),
  'for await': async (db) => {
    for await (const document of db.find(wrong)) assert.unreachable(String(document))
  },
  findOne: (db) => db.findOne(wrong),
  countDocuments: (db) => db.countDocuments(wrong),
  distinct: (db) => db.distinct('a', wrong),
  updateOne: (db) => db.updateOne({}, { $wrong: { a: 1 } } as UpdateSpec),
  deleteMany: (db) => db.deleteMany(wrong),
  findOneAndUpdate: (db) => db.findOneAndUpdate(wrong, { $set: { a: 1 } }),
  aggregate: (db) => db.aggregate([{ $match: wrong }]).toArray(),
  'an unknown stage': (db) => db.aggregate([{ $wrong: 1 }]).toArray(),
  insertOne: (db) => db.insertOne(stored),
  insertMany: (db) => db.insertMany([stored]),
  'importLines of a file that is missing': (db) => db.importLines('missing.ndjson'),
  'importLines of a line that is none': (db) => db.importLines([Buffer.from('no line\n')], { strict: true }),
  'an insert of bulkWrite': (db) => db.bulkWrite([{ insertOne: { document: stored } }]),
  replaceOne: (db) => db.replaceOne(stored, { _id: 2 }),
  'an update that does not fit the document': (db) => db.updateOne(stored, { $push: { _id: 1 } } as UpdateSpec),
  'findOneAndUpdate of such a document': (db) => db.findOneAndUpdate(stored, { $inc: { _id: 1 } } as UpdateSpec),
  $jsonSchema: (db) => db.find({ $jsonSchema: { properties: { a: { wrong: 1 } } } }).toArray()
}

async function stackOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise
  } catch (error) {
    return (error as Error).stack ?? ''
  }
  throw new Error('nothing was refused')
}

for (const [name, call] of Object.entries(calls)) {
  test(`a mistake found by ${name} is traced to the caller`, async () => {
    await using db = await open('unused', { store: 'memory' })
    await db.insertOne(stored)
    assert.match(await stackOf(call(db)), /error-stack\.test/)
  })
}

test('one of many calls that wait for the same commit is traced to its own caller', async () => {
  await using db = await open('unused', { store: 'memory' })
  await db.insertOne(stored)
  const first = async (): Promise<unknown> => await db.insertOne(stored)
  const second = async (): Promise<unknown> => await db.insertOne(stored)
  const [ofFirst, ofSecond] = await Promise.all([stackOf(first()), stackOf(second())])
  assert.match(ofFirst, /\bfirst\b/)
  assert.not.match(ofFirst, /\bsecond\b/)
  assert.match(ofSecond, /\bsecond\b/)
})

test('a chosen length of stacks is respected, and nobody else meets ours', async () => {
  await using db = await open('unused', { store: 'memory' })
  const before = Error.stackTraceLimit
  await stackOf(db.findOne(wrong))
  assert.is(Error.stackTraceLimit, before)
  Error.stackTraceLimit = 2
  try {
    assert.is((await stackOf(db.findOne(wrong))).split('\n    at ').length, 3)
  } finally {
    Error.stackTraceLimit = before
  }
})

test.run()
