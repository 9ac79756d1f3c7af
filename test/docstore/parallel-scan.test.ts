/** Reads that threads help with return what this thread alone would return, however they end. */
import { inspect, isDeepStrictEqual } from 'node:util'
import { ObjectId } from 'bson'
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Database, type Document, type FindOptions, open } from '../../src/index.ts'
import { AbortedError } from '../../src/model/errors.ts'
import { adversarial, documents, testSeed } from '../support/arbitraries.ts'
import { numbersBelow } from '../support/random.ts'
import { helps, scanning, soonerOrLater } from './scan-threads.ts'
import { rejects, scratchPath } from './scratch.ts'
import { askableFilters } from './value-cases.ts'

const seed = testSeed()
/** Enough for threads to be worth it. */
const count = 130_000
const many = fc.sample(documents(adversarial), { numRuns: 499, seed })
const owners = Array.from({ length: 50 }, (_, i) => new ObjectId(i.toString(16).padStart(24, '0')))

function documentAt(i: number): Document {
  const text = `${(i * 7919) % 100_003} words`
  return { ...many[i % many.length]!, _id: i, n: i % 1000, text, owner: owners[i % 50], at: new Date(i * 1000) }
}

/** A database with updated, deleted and very recent documents. */
async function filled(scanThreads: number): Promise<Database> {
  const db = await open(scratchPath(), { scanThreads, autoRebuild: false })
  await db.insertMany(Array.from({ length: count }, (_, i) => documentAt(i)))
  await db.deleteMany({ n: 17 })
  await db.updateMany({ n: 18 }, { $set: { text: 'changed' } })
  await db.insertMany(Array.from({ length: 700 }, (_, i) => documentAt(count + i)))
  return db
}

const alone = await filled(0)
const helped = await filled(2)

const rarely = { $expr: { $eq: [{ $add: ['$n', 1] }, 501] } }

async function threadsOf(db: Database, filter: Document, options: FindOptions): Promise<unknown> {
  let stage: Document | undefined = (await db.find(filter, options).explain()).queryPlanner.winningPlan
  while (stage !== undefined && stage.stage !== 'FETCH') stage = stage.inputStage as Document | undefined
  return stage?.threads
}

function idsOf(found: unknown): unknown {
  return Array.isArray(found) ? found.map(({ _id }) => _id).join(' ') : found
}

/** Documents, or the message of an error. */
type Answer = readonly Document[] | string

async function answerOf(db: Database, filter: Document, options: FindOptions): Promise<Answer> {
  try {
    return await db.find(filter, options).toArray()
  } catch (error) {
    return (error as Error).message
  }
}

/** Answers of the database without threads since its last write. */
const known = new Map<string, Answer>()

/** Checks that both databases give the same answer, and returns it. */
async function check(filter: Document, options: FindOptions = {}): Promise<Answer> {
  const shown = inspect({ filter, ...options }, { depth: 9 })
  const expected = known.get(shown) ?? (await answerOf(alone, filter, options))
  known.set(shown, expected)
  const found = await answerOf(helped, filter, options)
  assert.equal(idsOf(found), idsOf(expected), shown)
  // A difference would be long to show.
  assert.ok(isDeepStrictEqual(found, expected), shown)
  return expected
}

const reads: Readonly<Record<string, readonly [filter: Document, options?: FindOptions]>> = {
  'a filter that no index helps with': [rarely],
  'newest first': [rarely, { sort: { $natural: -1 } }],
  'a page behind others': [rarely, { skip: 100, limit: 20 }],
  'some fields': [rarely, { projection: { text: 1, owner: 1 } }],
  'a regular expression': [{ text: /^9999\d W/i }],
  'values of all kinds': [
    { owner: { $in: [owners[7], 3, 10n, /x/] }, n: { $mod: [100, 7] }, at: { $ne: new Date(7000) } },
    { hint: 'scan' }
  ],
  'a variable': [{ $expr: { $eq: ['$n', '$$wanted'] } }, { let: { wanted: 3 }, hint: 'scan' }],
  'a variable of a class': [
    { $expr: { $and: [{ $eq: ['$owner', '$$who'] }, { $lt: ['$n', 60] }] } },
    { let: { who: owners[9] }, hint: 'scan' }
  ],
  'the present': [
    { $expr: { $gt: [{ $add: ['$at', 1000 * (Date.now() / 1000 - 125_000)] }, '$$NOW'] }, n: 4 },
    { hint: 'scan' }
  ],
  'a collation': [{ text: '9999 WORDS' }, { collation: { locale: 'en', strength: 2 } }],
  'the first of an order': [{}, { sort: { text: 1 }, limit: 20, hint: 'scan' }],
  'the first of an order with many ties': [{ n: { $gt: 10 } }, { sort: { owner: -1 }, limit: 300, hint: 'scan' }],
  'a page of an order by two fields': [{}, { sort: { n: 1, text: -1 }, skip: 40, limit: 10, hint: 'scan' }],
  'all of an order': [rarely, { sort: { text: 1 } }],
  'an order with a collation': [{}, { sort: { text: 1 }, limit: 9, collation: { locale: 'en', numericOrdering: true } }]
}

for (const [name, [filter, options = {}]] of Object.entries(reads)) {
  test(`threads help with ${name}`, async () => {
    await helps(() => check(filter, options))
    const all = await check(filter, options)
    assert.equal(idsOf(await answerOf(helped, filter, { ...options, limit: 3 })), idsOf(all.slice(0, 3)))
    const { skip, limit, sort: _, projection: __, ...rest } = options
    if (skip === undefined && limit === undefined) {
      assert.is(await helped.countDocuments(filter, rest), all.length)
    }
  })
}

test('threads change no answer to a random filter', async () => {
  for (const filter of askableFilters(adversarial, 4, seed)) {
    const few = { $and: [filter, { n: { $lt: 30 } }] }
    const found = await check(few, { hint: 'scan' })
    assert.is(await helped.countDocuments(few, { hint: 'scan' }), found.length, inspect(filter, { depth: 9 }))
    await check(filter, { hint: 'scan', sort: { text: -1 }, limit: 25 })
  }
})

test('explain() counts each document once', async () => {
  for (const filter of [rarely, { text: /^9999\d W/i }]) {
    const [a, b] = await Promise.all([helped, alone].map((db) => db.find(filter).explain()))
    const { milliseconds: _, ...index } = a!.index
    const { milliseconds: __, ...expected } = b!.index
    assert.equal(index, expected)
  }
})

test('groups, distinct values and writes of matches that no index finds', async () => {
  const pipeline = [{ $match: rarely }, { $group: { _id: '$owner', n: { $sum: 1 } } }, { $sort: { _id: 1 } }]
  assert.equal(await helped.aggregate(pipeline).toArray(), await alone.aggregate(pipeline).toArray())
  assert.equal(await helped.distinct('owner', rarely), await alone.distinct('owner', rarely))
  for (const db of [helped, alone]) {
    const result = await db.updateMany({ $expr: { $eq: ['$n', { $add: [600, 5] }] } }, { $set: { text: 'five' } })
    assert.is(result.matchedCount, 131)
  }
  known.clear()
  await check({ text: 'five' })
})

test('explain() says whether threads helped', async () => {
  assert.ok(((await threadsOf(helped, rarely, {})) as number) > 0)
  assert.is(await threadsOf(alone, rarely, {}), undefined)
})

test('functions of the caller run in this thread alone', async () => {
  const filter = { $where: (document: Document) => document.n === 5 }
  assert.is(await threadsOf(helped, filter, {}), undefined)
  await check(filter)
})

test('a filter with a long list is not copied for threads', async () => {
  const filter = { n: { $in: Array.from({ length: 20_000 }, (_, i) => i - 19_990) } }
  assert.is(await threadsOf(helped, filter, { hint: 'scan' }), undefined)
  await check(filter, { hint: 'scan' })
})

test('reads that few documents are left to need no threads', async () => {
  assert.is(await threadsOf(helped, { $expr: { $eq: ['$n', 5] } }, { hint: 'scan', limit: 2 }), undefined)
})

test('a document for which the filter fails ends the read if it is reached, and not otherwise', async () => {
  const failing = {
    $expr: { $eq: [{ $divide: [500, { $subtract: ['$_id', 125_000] }] }, { $divide: [-500, 124_990] }] }
  }
  await check(failing)
  await check(failing, { limit: 1 })
  await check(
    { $expr: { $or: [{ $eq: ['$_id', 119_000] }, { $gt: [{ $divide: [1, { $subtract: ['$_id', 125_000] }] }, 2] }] } },
    { limit: 1 }
  )
})

test('a read sees the state at its beginning', async () => {
  const filter = { $expr: { $eq: ['$n', { $add: [700, 1] }] } }
  const cursor = helped.find(filter)
  const first = await cursor.next()
  await helped.deleteMany({ n: 701, _id: { $gt: 80_000 } })
  await helped.updateMany({ n: 701 }, { $set: { n: 1701 } })
  const others = await cursor.toArray()
  const expected = await alone.find(filter).toArray()
  assert.equal(idsOf([first, ...others]), idsOf(expected))
  assert.ok(isDeepStrictEqual([first, ...others], expected))
  assert.is(await helped.countDocuments(filter), 0)
  known.clear()
  await alone.deleteMany({ n: 701, _id: { $gt: 80_000 } })
  await alone.updateMany({ n: 701 }, { $set: { n: 1701 } })
})

test('several reads share the threads', async () => {
  const answers = await Promise.all(
    [rarely, rarely, { text: /^9999\d W/i }, rarely].map((filter) => helped.countDocuments(filter))
  )
  assert.equal(answers, [131, 131, answers[2], 131])
})

test('a cursor that nobody reads on does not keep the threads', async () => {
  const filter = { $expr: { $lt: [{ $mod: ['$n', 100] }, 2] } }
  const cursor = helped.find(filter)
  const first: Document[] = []
  await helps(async () => {
    for (let i = 0; i < 60; i++) first.push((await cursor.next())!)
    // The threads may be starting.
    await new Promise((resolve) => setTimeout(resolve, 20))
    return true
  })
  let threads: unknown
  const ask = async (): Promise<void> => {
    threads = await threadsOf(helped, rarely, {})
  }
  await soonerOrLater(ask, () => threads !== undefined)
  const expected = await alone.find(filter).toArray()
  assert.is(idsOf([...first, ...(await cursor.toArray())]), idsOf(expected))
})

test('a read ends by its signal, its time limit, or its cursor', async () => {
  const controller = new AbortController()
  const reading = helped.find(rarely, { signal: controller.signal }).toArray()
  setTimeout(() => controller.abort(), 60)
  await reading.then(
    () => assert.unreachable('aborted'),
    (error: unknown) => assert.instance(error, AbortedError)
  )
  await rejects(helped.find({ text: /q.*x.*z/i }, { maxTimeMS: 60 }).toArray(), 'MaxTimeMSExpired')
  const cursor = helped.find(rarely)
  for (let i = 0; i < 40; i++) await cursor.next()
  await cursor.close()
  await check(rarely)
})

test('threads help a transaction, and decide about no document that it has changed', async () => {
  class Stop extends Error {}
  const running = helped.withTransaction(async (tx) => {
    await tx.deleteMany({ _id: { $in: [500, 100_500] } })
    await tx.updateOne({ _id: 90_500 }, { $set: { n: 5 } })
    await tx.updateOne({ _id: 110_500 }, { $set: { text: 'mine' } })
    await helps(async () => assert.is(await tx.countDocuments(rarely), 131 - 3))
    const found = await tx.find(rarely, { projection: { text: 1 } }).toArray()
    assert.is(found.length, 131 - 3)
    assert.equal(found.at(-1), { _id: 110_500, text: 'mine' })
    throw new Stop()
  })
  await running.then(
    () => assert.unreachable('rolled back'),
    (error: unknown) => {
      if (!(error instanceof Stop)) throw error
    }
  )
  await check(rarely)
})

test('threads end what they do with the time of a transaction, also within an expression', async () => {
  const numbers = { $range: [0, 100_000] }
  const endless = { $size: { $map: { input: numbers, in: { $size: { $map: { input: numbers, in: 1 } } } } } }
  // Rare enough that this thread does not always come to one first, and others in each attempt: where the same are always
  // at the beginning of a thread's part, it would never decide one.
  const filter = (start: number): Document => {
    const isEndless = { $and: [{ $gt: ['$_id', 10_000] }, { $eq: [{ $mod: ['$_id', 10_000] }, start] }] }
    return { $expr: { $cond: [isEndless, { $eq: [endless, 0] }, rarely.$expr] } }
  }
  const below = numbersBelow(seed)
  for (let attempt = 0; attempt < 2; attempt++) {
    await helps(async () => {
      const threads = [...scanning]
      const running = helped.withTransaction((tx) => tx.countDocuments(filter(below(10_000))), { maxTimeMS: 1000 })
      await rejects(running, 'MaxTimeMSExpired')
      // One that went on would be ended a second later.
      await new Promise((resolve) => setTimeout(resolve, 1500))
      assert.ok(threads.every((worker) => scanning.has(worker)))
    })
  }
})

test('a read goes on without a thread that dies', async () => {
  for (const milliseconds of [0, 40, 80, 120]) {
    const reading = check(rarely)
    await new Promise((resolve) => setTimeout(resolve, milliseconds))
    await Promise.all([...scanning].map((worker) => worker.terminate()))
    await reading
    await helps(() => check(rarely))
  }
})

test('a database is closed while threads read it', async () => {
  const reading = helped.find(rarely).toArray()
  const counting = helped.countDocuments({ text: /^9999\d W/i })
  await new Promise((resolve) => setTimeout(resolve, 60))
  await Promise.all([helped.close(), rejects(reading, 'DatabaseNotOpen'), rejects(counting, 'DatabaseNotOpen')])
  await alone.close()
})

test.run()
