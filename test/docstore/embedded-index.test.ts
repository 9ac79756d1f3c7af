/** The store's value filters exclude tables, but never a matching document. */
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Database, type Document, type OpenOptions, open } from '../../src/index.ts'
import { compileFilter } from '../../src/query/filter.ts'
import { generateTweets } from '../../src/workload/tweets.ts'
import { adversarial, documents, filters, plain, testSeed } from '../support/arbitraries.ts'
import { randomFrom } from '../support/random.ts'
import { rejects, scratchPath } from './scratch.ts'

const seed = testSeed()
const random = randomFrom(seed)
const below = (limit: number): number => Math.floor(random() * limit)

/** Many small tables. */
const lsm = {
  writeBufferSize: 24 * 1024,
  maxFileSize: 8 * 1024,
  level1Bytes: 64 * 1024,
  values: { filterBits: 2 ** 13 }
}
const choices: Readonly<Record<string, OpenOptions>> = {
  embedded: { index: 'embedded', lsm },
  'sharded with filters': { index: { kind: 'sharded', segmentBits: 512 }, lsm },
  'none with filters': { index: 'none', lsm: { ...lsm, values: { filterBits: 2 ** 13, index: 'tree' } } }
}

function isValid(filter: Document): boolean {
  try {
    compileFilter(filter)
    return true
  } catch {
    return false
  }
}

async function assertAlike(db: Database, questions: readonly Document[]): Promise<void> {
  for (const filter of questions) {
    const shown = JSON.stringify(filter, (_, value) => (typeof value === 'bigint' ? `${value}n` : value))
    const ids = async (options: object) => (await db.find(filter, options).toArray()).map(({ _id }) => _id)
    const expected = await ids({ hint: 'scan' })
    assert.equal(await ids({}), expected, shown)
    assert.equal(await ids({ sort: { $natural: -1 } }), [...expected].reverse(), `reverse: ${shown}`)
    assert.equal(await ids({ skip: 1, limit: 2 }), expected.slice(1, 3), `limit: ${shown}`)
    assert.is(await db.countDocuments(filter), expected.length, `count: ${shown}`)
  }
}

for (const [name, options] of Object.entries(choices)) {
  for (const profile of [adversarial, plain]) {
    const kind = profile === plain ? 'plain' : 'adversarial'
    test(`${name}: ${kind} documents are found as by a scan, whatever is written and flushed`, async () => {
      const location = scratchPath()
      let db = await open(location, options)
      const questions = fc.sample(filters(profile), { numRuns: 200, seed: below(2 ** 31) }).filter(isValid)
      let nextId = 0
      for (let round = 0; round < 4; round++) {
        for (const { _id: _, ...rest } of fc.sample(documents(profile), { numRuns: 80, seed: below(2 ** 31) })) {
          // Refused documents are tested elsewhere.
          await db.insertOne({ _id: nextId++, ...rest, version: 0 }).catch(() => undefined)
        }
        for (let i = 0; i < 8; i++) {
          const from = below(nextId)
          const filter = { _id: { $gte: from, $lt: from + below(12) } }
          if (i % 2 === 0) await db.deleteMany(filter)
          else await db.updateMany(filter, { $inc: { version: 1 } })
        }
        const some = Array.from({ length: 25 }, () => questions[below(questions.length)] ?? {})
        await assertAlike(db, [...some, { version: 1 }, { version: { $ne: 0 } }])
        if (round % 2 === 1) {
          await db.close()
          db = await open(location, options)
          await assertAlike(db, some)
        }
      }
      await db.close()
    })
  }
}

const tweets: readonly Document[] = [...generateTweets({ count: 3000, seed })]

async function inTables(location: string, options: OpenOptions): Promise<Database> {
  const db = await open(location, options)
  for (let i = 0; i < tweets.length; i += 500) await db.insertMany(tweets.slice(i, i + 500))
  await db.close()
  return open(location, options)
}

test('explain() reports the number of tables, most of which are not read for a rare value', async () => {
  const db = await inTables(scratchPath(), { index: 'embedded', lsm: { ...lsm, values: true } })
  const [first] = tweets
  const { index } = await db.find({ id_str: first?.id_str }).explain()
  assert.ok(index.tables.total > 10, `${index.tables.total} tables`)
  assert.ok(index.tables.pruned > index.tables.total * 0.8, JSON.stringify(index.tables))
  assert.ok(index.documentsFetched < tweets.length / 4, `${index.documentsFetched} documents fetched`)
  const absent = (await db.find({ 'user.screen_name': 'nobody of that name' }).explain()).index
  assert.is(absent.tables.pruned, absent.tables.total)
  assert.is(absent.documentsFetched, 0)
  const either = (await db.find({ $or: [{ id_str: 'x' }, { id_str: 'y' }] }).explain()).index
  assert.is(either.tables.pruned, either.tables.total)
  const scan = (await db.find({ id_str: 'x' }, { hint: 'scan' }).explain()).index
  assert.equal(scan.tables, { total: 0, pruned: 0 })
  assert.is((await db.index.stats()).kind, 'embedded')
  await db.close()
})

test('a collection indexed only by value filters uses them when opened without options', async () => {
  const location = scratchPath()
  await (await inTables(location, { index: 'embedded' })).close()
  const db = await open(location)
  const { index } = await db.find({ id_str: 'no such id' }).explain()
  assert.ok(index.tables.total > 0)
  assert.is(index.tables.pruned, index.tables.total)
  await db.close()
  const without = await open(location, { lsm: { values: false } })
  assert.is(
    await without.countDocuments({ lang: tweets[0]?.lang }),
    tweets.filter(({ lang }) => lang === tweets[0]?.lang).length
  )
  await without.close()
})

test('each collection of a database has its own kind of index', async () => {
  const db = await open(scratchPath(), { lsm })
  const embedded = db.collection('embedded', { index: 'embedded' })
  const plainOne = db.collection('none', { index: 'none' })
  for (const collection of [db, embedded, plainOne]) {
    await collection.insertMany(tweets.slice(0, 300).map((tweet) => ({ ...tweet })))
  }
  assert.is((await db.index.stats()).kind, 'sharded')
  assert.is((await embedded.index.stats()).kind, 'embedded')
  assert.is((await plainOne.index.stats()).kind, 'none')
  const filter = { lang: tweets[0]?.lang }
  assert.equal(await embedded.find(filter).toArray(), await db.find(filter).toArray())
  assert.throws(() => db.collection('embedded', { index: 'none' }), /is already open with a different index/)
  db.collection('embedded', { index: 'embedded' })
  await db.close()
})

test("index: 'embedded' is refused on a store without value filters", async () => {
  await rejects(open(scratchPath(), { store: 'level', index: 'embedded' }), 'CommandNotSupported')
  await rejects(open('unused', { store: 'memory', index: 'embedded' }), 'CommandNotSupported')
  const db = await open(scratchPath())
  assert.throws(() => db.collection('c', { index: 'embedded' }), /LSM store/)
  assert.equal([...db.listCollections()], [])
  await db.close()
})

test.run()
