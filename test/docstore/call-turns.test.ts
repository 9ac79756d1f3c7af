/** A loop of awaited calls lets timers and the database's own work run, however little each call has to do. */
import { MemoryLevel } from 'memory-level'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type ChangeStream, type Database, open } from '../../src/index.ts'
import { turnsDuring } from '../support/loop-turns.ts'
import { rejects, scratchPath } from './scratch.ts'

const calls: Readonly<Record<string, (db: Database) => Promise<unknown>>> = {
  get: (db) => db.get(1),
  'get of none': (db) => db.get('none'),
  getMany: (db) => db.getMany([1, 2, 'none']),
  findOne: (db) => db.findOne({ _id: 1 }),
  'findOne of none': (db) => db.findOne({ n: 'none' }),
  find: (db) => db.find({ _id: 1 }).toArray(),
  'find of none': (db) => db.find({ n: 'none' }).toArray(),
  'next of none': (db) => db.find({ n: 'none' }).next(),
  'a missing collection': (db) => db.collection('missing').find().toArray(),
  'one of a missing collection': (db) => db.collection('missing').findOne(),
  countDocuments: (db) => db.countDocuments({ n: 'none' }),
  estimatedDocumentCount: (db) => db.estimatedDocumentCount(),
  distinct: (db) => db.distinct('n', { n: 'none' }),
  paths: (db) => db.paths({ n: 'none' }),
  aggregate: (db) => db.aggregate([{ $match: { n: 'none' } }]).toArray(),
  'updateOne of none': (db) => db.updateOne({ n: 'none' }, { $set: { a: 1 } }),
  'updateOne that changes nothing': (db) => db.updateOne({ _id: 1 }, { $set: { n: 1 } }),
  'deleteOne of none': (db) => db.deleteOne({ n: 'none' }),
  insertOne: (db) => db.collection('others').insertOne({})
}

const wrong = { n: { $wrong: 1 } }

/** Each is refused without a step of work, or finds that there is nothing to do. */
const idle: Readonly<Record<string, (db: Database) => Promise<unknown>>> = {
  get: (db) => db.get(undefined),
  getMany: (db) => db.getMany([undefined]),
  findOne: (db) => db.findOne(wrong),
  toArray: (db) => db.find(wrong).toArray(),
  next: (db) => db.find(wrong).next(),
  hasNext: (db) => db.find(wrong).hasNext(),
  explain: (db) => db.find(wrong).explain(),
  count: (db) => db.find(wrong).count(),
  'explain of a pipeline': (db) => db.aggregate([{ $wrong: 1 }]).explain(),
  countDocuments: (db) => db.countDocuments(wrong),
  distinct: (db) => db.distinct('n', wrong),
  paths: (db) => db.paths(wrong),
  aggregate: (db) => db.aggregate([{ $wrong: 1 }]).toArray(),
  insertOne: (db) => db.insertOne(5 as never),
  updateOne: (db) => db.updateOne({ _id: 1 }, { $wrong: { n: 1 } } as never),
  deleteOne: (db) => db.deleteOne(wrong),
  findOneAndUpdate: (db) => db.findOneAndUpdate(wrong, { $set: { n: 1 } }),
  findOneAndDelete: (db) => db.findOneAndDelete(wrong),
  'createIndex of one that exists': (db) => db.createIndex('n'),
  'dropIndex of none': (db) => db.dropIndex('none'),
  'dropIndexes of none': (db) => db.collection('missing').dropIndexes(),
  'drop of none': (db) => db.collection('missing').drop(),
  'rename of none': (db) => db.collection('missing').rename('other'),
  stats: (db) => db.stats(),
  'index.stats': (db) => db.collection('missing').index.stats(),
  'index.rebuild of none': (db) => db.collection('missing').index.rebuild(),
  'index.tune of none': (db) => db.collection('missing').index.tune(),
  'index.rebuildReason of none': (db) => db.collection('missing').index.rebuildReason(),
  verify: (db) => db.verify({ wrong: 1 } as never),
  backup: (db) => db.backup('', { wrong: 1 } as never),
  compact: (db) => db.compact({ wrong: 1 } as never),
  withTransaction: (db) => db.withTransaction(undefined as never)
}

function ignore(): void {}

async function assertTurns(name: string, call: () => Promise<unknown>): Promise<void> {
  let hasFired = false
  setTimeout(() => {
    hasFired = true
  }, 1)
  const begin = performance.now()
  while (!hasFired) {
    await call()
    // On slow machines calls are slow, not endless.
    assert.ok(performance.now() - begin < 3000, `${name} keeps the event loop`)
  }
}

test('timers fire during a loop that goes on after errors', async () => {
  await using db = await open('unused', { store: 'memory' })
  await db.insertOne({ _id: 1, n: 1 })
  await db.createIndex('n')
  for (const [name, call] of Object.entries(idle)) await assertTurns(name, () => call(db).catch(ignore))
})

test('a loop that goes on after errors does not keep the database from closing', async () => {
  for (const [name, call] of Object.entries({ ...calls, ...idle })) {
    const db = await open('unused', { store: 'memory' })
    await db.insertOne({ _id: 1, n: 1 })
    const closing = db.close()
    await assertTurns(`${name} of a closed database`, () => call(db).catch(ignore))
    await closing
  }
})

for (const store of ['lsm', 'memory'] as const) {
  test(`timers fire during a loop of awaited calls: ${store}`, async () => {
    await using db = await open(store === 'memory' ? 'unused' : scratchPath(), { store })
    await db.insertMany([1, 2, 3].map((n) => ({ _id: n, n })))
    const stream = db.watch()
    for (const [name, call] of [...Object.entries(calls), ['tryNext', () => stream.tryNext()] as const]) {
      await assertTurns(name, () => call(db))
    }
  })
}

test('getMany() allows a turn after each document', async () => {
  await using db = await open('unused', { store: 'memory' })
  const ids = Array.from({ length: 500 }, (_, _id) => _id)
  await db.insertMany(ids.map((_id) => ({ _id })))
  const turns = await turnsDuring(() => db.getMany(ids))
  assert.ok(turns >= 500, `${turns} turns`)
})

test('getMany() of many ids asks the store for a few hundred at once', async () => {
  let most = 0
  const store = new MemoryLevel<unknown, unknown>()
  const getMany = store.getMany.bind(store)
  store.getMany = (keys: unknown[], options: unknown = {}) => {
    most = Math.max(most, keys.length)
    return getMany<never, never>(keys as never[], options as object)
  }
  await using db = await open(store)
  const ids = Array.from({ length: 3000 }, (_, _id) => _id)
  await db.insertMany(ids.map((_id) => ({ _id })))
  most = 0
  const found = await db.getMany([-1, ...ids.toReversed()])
  assert.equal(found, [undefined, ...ids.toReversed().map((_id) => ({ _id }))])
  assert.ok(most > 0 && most <= 500, `${most} keys`)
})

test('looking up many ids allows a turn after every few hundred', async () => {
  for (const store of ['lsm', 'memory'] as const) {
    await using db = await open(store === 'memory' ? 'unused' : scratchPath(), { store })
    await db.insertMany([{ _id: 1 }, { _id: 2 }])
    const filter = { _id: { $in: Array.from({ length: 20_000 }, (_, i) => i) } }
    const turns = await turnsDuring(() => db.find(filter).toArray())
    assert.ok(turns >= 20, `${turns} turns`)
    assert.equal(await db.find({ _id: { $in: Array.from({ length: 5000 }, (_, i) => 5000 - i) } }).toArray(), [
      { _id: 1 },
      { _id: 2 }
    ])
  }
})

test('checking many operations of bulkWrite() allows a turn after every few hundred, before any operation runs', async () => {
  await using db = await open('unused', { store: 'memory' })
  await db.insertOne({ _id: 1 })
  const count = 20_000
  const deletions = Array.from({ length: count }, () => ({ deleteOne: { filter: {} } }))
  const malformed = { deleteOne: { filtre: {} } } as never
  const turns = await turnsDuring(() => rejects(db.bulkWrite([...deletions, malformed]), 'BadValue'))
  assert.ok(turns >= 20, `${turns} turns`)
  assert.is(await db.countDocuments(), 1)
  const refused = await rejects(db.bulkWrite([...deletions, malformed], { ordered: false }), 'BadValue')
  assert.match(refused.message, new RegExp(`deleteOne of bulkWrite, at ${count}, has no option 'filtre'`))
  assert.is(await db.countDocuments(), 1)
})

test('a bulkWrite() of many operations that is called before close() is done by then', async () => {
  const location = scratchPath()
  const db = await open(location)
  const count = 20_000
  const inserts = Array.from({ length: count }, (_, _id) => ({ insertOne: { document: { _id } } }))
  const writing = db.bulkWrite(inserts, { ordered: false })
  await db.close()
  assert.is((await writing).insertedCount, count)
  await using reopened = await open(location)
  assert.is(await reopened.countDocuments(), count)
})

test('a bulkWrite() whose operations are not all well-formed makes no collection', async () => {
  await using db = await open('unused', { store: 'memory' })
  const inserts = Array.from({ length: 20_000 }, (_, _id) => ({ insertOne: { document: { _id } } }))
  const refused = db.collection('refused')
  for (const count of [10, 4096, 20_000]) {
    await rejects(refused.bulkWrite([...inserts.slice(0, count), { insert: {} } as never]), 'BadValue')
    assert.equal(db.listCollections(), [], `${count}`)
  }
  // One that another call makes meanwhile is not made again.
  const done = db.collection('done')
  const results = await Promise.all([done.bulkWrite(inserts), done.insertOne({ _id: 'other' }), done.bulkWrite([])])
  assert.is(results[0].insertedCount, inserts.length)
  assert.is(await done.countDocuments(), inserts.length + 1)
  assert.equal(db.listCollections(), [{ name: 'done', type: 'collection' }])
})

test('a bulkWrite() whose time is over while its operations are checked runs none', async () => {
  await using db = await open('unused', { store: 'memory' })
  await db.insertOne({ _id: 1 })
  const deletions = Array.from({ length: 20_000 }, () => ({ deleteOne: { filter: {} } }))
  await turnsDuring(() => rejects(db.bulkWrite(deletions, { maxTimeMS: 30 }), 'MaxTimeMSExpired'))
  assert.is(await db.countDocuments(), 1)
})

test('taking changes that are already there lets timers fire', async () => {
  await using db = await open('unused', { store: 'memory' })
  const count = 500
  const takes: readonly ((stream: ChangeStream) => Promise<unknown>)[] = [
    async (stream) => {
      for (let i = 0; i < count; i++) await stream.next()
    },
    async (stream) => {
      for (let i = 0; i < count && (await stream.hasNext()); i++);
    },
    async (stream) => {
      let taken = 0
      for await (const _ of stream) if (++taken === count) break
    }
  ]
  for (const take of takes) {
    const stream = db.watch()
    await db.insertMany(Array.from({ length: count }, () => ({})))
    const turns = await turnsDuring(() => take(stream))
    await stream.close()
    assert.ok(turns >= count / 2, `${turns} turns`)
  }
})

test('an unordered bulkWrite() allows a turn after each operation that it begins', async () => {
  await using db = await open('unused', { store: 'memory' })
  await db.insertOne({})
  const operations = Array.from({ length: 500 }, (_, _id) => ({
    updateOne: { filter: { _id }, update: { $set: { n: 1 } } }
  }))
  const turns = await turnsDuring(() => db.bulkWrite(operations, { ordered: false }))
  assert.ok(turns >= 500, `${turns} turns`)
})

test("an error of a call in a long turn is its caller's, and never an unhandled rejection", async () => {
  await using db = await open('unused', { store: 'memory' })
  const missing = db.collection('missing')
  // The operators are loaded by the first one; the second one fails within the turn.
  for (let i = 0; i < 2; i++) {
    await missing.estimatedDocumentCount()
    const begin = performance.now()
    while (performance.now() - begin < 50);
    await rejects(missing.findOne({ $expr: { $there: 1 } }), 'InvalidPipelineOperator')
  }
})

test('updateMany() makes progress during a loop of countDocuments()', async () => {
  await using db = await open('unused', { store: 'memory' })
  await db.insertMany(Array.from({ length: 3000 }, (_, n) => ({ _id: n, v: 0 })))
  let isOver = false
  const update = db.updateMany({}, { $set: { v: 1 } }).finally(() => {
    isOver = true
  })
  for (const begin = performance.now(); !isOver; ) {
    await db.countDocuments({ v: 1 })
    assert.ok(performance.now() - begin < 30_000, 'the update does not end')
  }
  assert.is((await update).modifiedCount, 3000)
})

test('a sort of many documents lets the event loop turn, and ends by its time limit', async () => {
  await using db = await open('unused', { store: 'memory' })
  await db.insertMany(Array.from({ length: 60_000 }, (_, n) => ({ _id: n, s: `s${(n * 31) % 60_000}` })))
  const collation = { locale: 'en', numericOrdering: true }
  for (const limit of [0, 50_000]) {
    // Of the processor: a busy machine may halt the process within a turn.
    const begin = processorMilliseconds()
    let [last, longest] = [begin, 0]
    const turn = (): void => {
      const now = processorMilliseconds()
      longest = Math.max(longest, now - last)
      last = now
      turning = setImmediate(turn)
    }
    let turning = setImmediate(turn)
    const sorted = await db.find({}, { collation, sort: { s: 1 }, limit, projection: { s: 1 } }).toArray()
    clearImmediate(turning)
    assert.is(sorted.length, limit || 60_000)
    assert.ok(sorted.every(({ s }, i) => s === `s${i}`))
    // Comparing strings by a collation takes most of the time.
    const total = processorMilliseconds() - begin
    console.log(`${longest.toFixed(0)} of ${total.toFixed(0)} ms in the longest turn`)
    assert.ok(longest < total / 4, `${longest} of ${total} ms`)
  }
  await rejects(db.find({}, { collation, sort: { s: 1 }, maxTimeMS: 100 }).toArray(), 'MaxTimeMSExpired')
})

test('calls that end in the same turn all return in the next one', async () => {
  await using db = await open('unused', { store: 'memory' })
  await db.insertMany(Array.from({ length: 100 }, (_, n) => ({ _id: n })))
  let turns = 0
  const count = (): void => {
    turns++
    if (turns < 1000) setImmediate(count)
  }
  setImmediate(count)
  const found = await Promise.all(Array.from({ length: 5000 }, (_, n) => db.get(n % 200)))
  const taken = turns
  turns = 1000
  assert.is(found.filter((document) => document !== undefined).length, 2500)
  assert.ok(taken < 100, `${taken} turns`)
})

function processorMilliseconds(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

test.run()
