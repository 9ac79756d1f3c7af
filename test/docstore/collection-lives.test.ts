/**
 * Random histories of collections that are written, read, renamed, dropped and replaced at the same time: every call ends
 * with a result or a typed error, what is left is sound, stays so when it is opened again, and is all that is left.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { MemoryLevel } from 'memory-level'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Database, type Document, open, PetalError } from '../../src/index.ts'
import { testSeed } from '../support/arbitraries.ts'
import { randomFrom } from '../support/random.ts'
import { AsyncLevel } from './odd-stores.ts'

const random = randomFrom(testSeed())
const below = (limit: number): number => Math.floor(random() * limit)
const draw = <T>(list: readonly T[]): T => list[below(list.length)]!
const names = ['a', 'b', 'c']
const rounds = 6
const callsOfRound = 40
/** No call takes nearly as long, however busy the machine is. */
const longestCall = 60_000
/** What only a failing store or a bug would cause. */
const unexpected = /^(StoreFailure|DataCorruption|InternalError)$/

let nextId = 0

function documents(count: number): Document[] {
  return Array.from({ length: count }, () => ({ _id: nextId++, n: below(20), tags: [below(3), `t${below(5)}`] }))
}

async function* lines(): AsyncGenerator<Uint8Array> {
  for (const document of documents(60)) {
    if (document.n === 7) await sleep(0)
    yield Buffer.from(`${JSON.stringify(document)}\n`)
  }
}

/** Calls by what they do; the first argument is the database, the second one of the names. */
const calls: Readonly<Record<string, (db: Database, name: string) => Promise<unknown>>> = {
  insertOne: (db, name) => db.collection(name).insertOne(documents(1)[0]!),
  insertMany: (db, name) => db.collection(name).insertMany(documents(draw([5, 50, 300, 700]))),
  updateMany: (db, name) => db.collection(name).updateMany({ n: below(20) }, { $inc: { n: 1 } }),
  deleteMany: (db, name) => db.collection(name).deleteMany({ n: below(20) }),
  importLines: (db, name) => db.collection(name).importLines(lines(), { batch: 20, threads: 0 }),
  rename: (db, name) => db.collection(name).rename(draw(names), { dropTarget: random() < 0.6 }),
  drop: (db, name) => db.collection(name).drop(),
  createIndex: (db, name) =>
    db.collection(name).createIndex(draw<Record<string, 1 | -1>>([{ n: 1 }, { tags: 1, n: -1 }])),
  dropIndexes: (db, name) => db.collection(name).dropIndexes(),
  rebuild: (db, name) => db.collection(name).index.rebuild(),
  replace: (db, name) =>
    db
      .collection(name)
      .aggregate([{ $match: { n: { $lt: 12 } } }, { $out: draw(names) }])
      .toArray(),
  count: (db, name) => db.collection(name).countDocuments({ n: below(20), tags: 't1' }),
  sort: (db, name) =>
    db
      .collection(name)
      .find({ n: { $lt: 9 } }, { sort: { n: 1 } })
      .toArray(),
  transaction: (db, name) =>
    db.withTransaction(async (tx) => {
      await tx.collection(name).insertOne(documents(1)[0]!)
      await tx.collection(draw(names)).updateMany({ n: 3 }, { $set: { n: 4 } })
      await tx.collection(name).countDocuments({ n: 1 })
    }),
  watch: async (db, name) => {
    const stream = db.collection(name).watch([], { fullDocument: 'updateLookup' })
    await sleep(below(5))
    while ((await stream.tryNext()) !== null);
    await stream.close()
  }
}

async function settled(call: string, running: Promise<unknown>): Promise<void> {
  const late = Symbol(call)
  try {
    const end = await Promise.race([running, sleep(longestCall, late, { ref: false })])
    assert.is.not(end, late, `${call} does not end`)
  } catch (error) {
    assert.instance(error, PetalError, `${call}: ${(error as Error).stack}`)
    assert.not.match((error as PetalError).codeName, unexpected, `${call}: ${(error as Error).stack}`)
  }
}

async function contentOf(db: Database): Promise<Map<string, unknown>> {
  assert.equal((await db.verify()).problems, [])
  const content = new Map<string, unknown>()
  for (const { name } of db.listCollections()) {
    const collection = db.collection(name)
    const all = await collection.find({}, { hint: 'scan' }).toArray()
    assert.is(await collection.estimatedDocumentCount(), all.length)
    for (let n = 0; n < 22; n += 3) {
      const matches = all.filter((document) => document.n === n)
      assert.equal(await collection.find({ n }).toArray(), matches)
      assert.is(await collection.countDocuments({ n }), matches.length)
    }
    content.set(name, { all, indexes: [...collection.listIndexes()] })
  }
  return content
}

/** Checks that each record belongs to a collection that there is. REQUIRES: the database is closed. */
async function assertNothingElse(store: MemoryLevel): Promise<void> {
  const known = new Set<string | undefined>()
  const areas = new Set<string>()
  for await (const [key, value] of store.iterator()) {
    const [, area = '', rest = ''] = key.split('!')
    if (area === 'meta' && rest.startsWith('name:')) known.add(String(JSON.parse(value).number))
    if (area !== 'meta') areas.add(area)
  }
  assert.equal(
    [...areas].filter((area) => !known.has(area.split('.')[0])),
    []
  )
}

for (const [kind, create] of [
  ['with synchronous reads', () => new MemoryLevel()],
  ['without', () => new AsyncLevel()]
] as const) {
  test(`collections that change their names under calls stay sound and leave nothing behind (a store ${kind})`, async () => {
    for (let round = 0; round < rounds; round++) {
      const store = create()
      const options = { index: { segmentBits: 512, tail: draw(['bloom', 'fingerprint'] as const) } }
      let db = await open(store, options)
      for (let session = 0; session < 2; session++) {
        const running: Promise<void>[] = []
        for (let i = 0; i < callsOfRound; i++) {
          const call = draw(Object.keys(calls))
          running.push(settled(call, calls[call]!(db, draw(names))))
          if (random() < 0.4) await sleep(below(4))
        }
        await Promise.all(running)
        const before = await contentOf(db)
        await db.close()
        await assertNothingElse(store)
        db = await open(store, options)
        assert.equal(await contentOf(db), before)
      }
      await db.close()
    }
  })
}

test.run()
