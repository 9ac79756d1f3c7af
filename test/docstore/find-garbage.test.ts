/** What a find allocates is freed by the next collection of young objects, however the cursor ends. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import v8 from 'node:v8'
import { runInNewContext } from 'node:vm'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Database, open } from '../../src/index.ts'
import { CountingLevel } from './odd-stores.ts'
import { rejects } from './scratch.ts'

v8.setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as (options?: { type: 'minor' }) => void

const filter = { $and: [{ n: 3 }, { a: { $in: [1, 2, 3] } }, { text: { $ne: 'x' } }] }
const finds = 1000
/** For each find: views and prepared bounds are 4,900 bytes. Sets that grow and shrink leave some, and so does V8. */
const mostBytes = 2000

const ways: Record<string, (db: Database) => Promise<unknown>> = {
  toArray: (db) => db.find(filter).toArray(),
  'a loop': async (db) => {
    for await (const document of db.find(filter)) void document
  },
  'a loop that is left': async (db) => {
    for await (const document of db.find(filter)) if (document !== null) break
  },
  'next and close': async (db) => {
    const cursor = db.find(filter)
    await cursor.next()
    await cursor.close()
  },
  countDocuments: (db) => db.countDocuments(filter)
}

for (const [name, ask] of Object.entries(ways)) {
  test(`a find leaves no long-lived objects: ${name}`, async () => {
    await using db = await open('garbage', { store: 'memory' })
    await db.insertMany(Array.from({ length: 1000 }, (_, i) => ({ _id: i, n: i % 10, a: i % 7, text: `t${i}` })))
    let least = Number.POSITIVE_INFINITY
    for (let round = 0; round < 4; round++) {
      collect()
      await nextTurn()
      collect()
      const before = process.memoryUsage().heapUsed
      for (let i = 0; i < finds; i++) await ask(db)
      await nextTurn()
      for (let time = 0; time < 3; time++) collect({ type: 'minor' })
      least = Math.min(least, (process.memoryUsage().heapUsed - before) / finds)
    }
    assert.ok(least < mostBytes, `${Math.round(least)} bytes of each`)
  })
}

test('a cursor that is garbage-collected without being closed frees its resources', async () => {
  const store = new CountingLevel()
  const db = await open(store)
  await db.insertMany(Array.from({ length: 5000 }, (_, i) => ({ _id: i })))
  const drop = async (): Promise<void> => {
    const cursor = db.find()
    await cursor.next()
  }
  await drop()
  assert.ok(store.openIterators > 0)
  for (const end = Date.now() + 60_000; store.openIterators > 0 && Date.now() < end; ) {
    await nextTurn()
    collect()
  }
  assert.is(store.openIterators, 0)
  await db.close()
})

test('a map() function that throws ends toArray() and closes the cursor', async () => {
  const store = new CountingLevel()
  const db = await open(store)
  await db.insertMany(Array.from({ length: 5000 }, (_, i) => ({ _id: i })))
  const cursor = db.find().map((document) => {
    if (document._id === 10) throw new RangeError('mine')
    return document
  })
  const failure: unknown = await cursor.toArray().catch((error: unknown) => error)
  assert.instance(failure, RangeError)
  assert.is(cursor.closed, true)
  for (const end = Date.now() + 60_000; store.openIterators > 0 && Date.now() < end; ) await nextTurn()
  assert.is(store.openIterators, 0)
  await rejects(cursor.toArray(), 'CursorNotFound')
  await db.close()
})

test.run()
