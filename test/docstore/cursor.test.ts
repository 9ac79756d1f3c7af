import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  type Collection,
  type Database,
  type Document,
  type FindCursor,
  type FindOptions,
  open
} from '../../src/index.ts'
import { CountingLevel } from './odd-stores.ts'
import { rejects, scratchPath } from './scratch.ts'

let db: Database

test.before(async () => {
  db = await open('unused', { store: 'memory' })
  await db.insertMany(Array.from({ length: 1000 }, (_, i) => ({ _id: i, n: i % 10 })))
})

test.after(() => db.close())

test('a cursor is lazy: it sees writes before its first pull', async () => {
  const fresh = await open('unused', { store: 'memory' })
  const cursor = fresh.find({ a: 1 })
  await fresh.insertOne({ _id: 1, a: 1 })
  assert.equal(await cursor.toArray(), [{ _id: 1, a: 1 }])
  await fresh.close()
})

test('the first pull captures the view before it is awaited', async () => {
  const fresh = await open('unused', { store: 'memory' })
  await fresh.insertOne({ _id: 1 })
  const first = fresh.find().toArray()
  await fresh.insertOne({ _id: 2 })
  assert.is((await first).length, 1)
  await fresh.close()
})

test('changing a cursor after its first pull throws', async () => {
  const cursor = db.find()
  await cursor.next()
  for (const change of [
    () => cursor.sort({ n: 1 }),
    () => cursor.skip(1),
    () => cursor.limit(1),
    () => cursor.project({ n: 1 }),
    () => cursor.map(String)
  ]) {
    assert.throws(change, /cannot be changed once iteration has started; use clone\(\)/)
  }
  await cursor.close()
})

test('a cursor runs once, and its clone runs again', async () => {
  const cursor = db.find({ n: 3 }).limit(5)
  assert.is((await cursor.toArray()).length, 5)
  await rejects(cursor.toArray(), 'CursorNotFound')
  assert.throws(() => cursor[Symbol.asyncIterator](), /clone\(\)/)
  assert.is(await cursor.next(), null)
  assert.is(await cursor.hasNext(), false)
  assert.is((await cursor.clone().toArray()).length, 5)
})

test('what is left after next() may be nothing: draining the rest of a cursor gives nothing, once', async () => {
  const ends: ((cursor: FindCursor<Document>) => Promise<unknown>)[] = [
    (cursor) => cursor.toArray(),
    (cursor) =>
      cursor.forEach(() => {
        assert.unreachable()
      }),
    async (cursor) => {
      for await (const _ of cursor) assert.unreachable()
    }
  ]
  for (const cursor of [db.find({ n: -1 }), db.find({ n: 3 }).limit(1), db.find({ n: 3 }).sort({ n: 1 }).limit(1)]) {
    for (const drain of ends) {
      const fresh = cursor.clone()
      await fresh.next()
      await drain(fresh)
      await rejects(fresh.toArray(), 'CursorNotFound')
    }
  }
  const failed = db.find({ $where: () => true }, { maxTimeMS: -1 })
  await rejects(failed.next(), 'BadValue')
  await rejects(failed.toArray(), 'CursorNotFound')
  const unknown = db.collection('unknown').find()
  assert.is(await unknown.hasNext(), false)
  assert.equal(await unknown.toArray(), [])
})

test('next(), hasNext() and tryNext() return every document once, then null', async () => {
  const cursor = db.find({ n: 3 })
  const seen: unknown[] = []
  while (await cursor.hasNext()) seen.push((await cursor.next())?._id)
  assert.is(seen.length, 100)
  assert.is(new Set(seen).size, 100)
  assert.is(await cursor.tryNext(), null)
})

test('toArray() and iteration return what next() has not taken', async () => {
  const cursor = db.find().sort({ _id: 1 })
  const first = await cursor.next()
  const rest = await cursor.toArray()
  assert.equal([first?._id, rest[0]?._id, rest.length], [0, 1, 999])
  const other = db.find()
  await other.next()
  let count = 0
  for await (const _ of other) count++
  assert.is(count, 999)
})

test('concurrent pulls get different documents', async () => {
  const cursor = db.find()
  const pulled = await Promise.all(Array.from({ length: 300 }, () => cursor.next()))
  assert.is(new Set(pulled.map((document) => document?._id)).size, 300)
  await cursor.close()
})

test('concurrent pulls get documents in the order of the calls', async () => {
  const ids = Array.from({ length: 1000 }, (_, i) => i)
  const cursor = db.find()
  const pulled = await Promise.all(ids.map(() => cursor.next()))
  assert.equal(
    pulled.map((document) => document?._id),
    ids
  )
  const iterator = db.find()[Symbol.asyncIterator]()
  const results = await Promise.all([...ids, 'end', 'end'].map(() => iterator.next()))
  assert.equal(
    results.map(({ value }) => value?._id),
    [...ids, undefined, undefined]
  )
  const aggregated = db.aggregate([{ $match: { n: 3 } }, { $limit: 3 }])
  const three = [aggregated.next(), aggregated.next(), aggregated.next(), aggregated.next()]
  assert.equal(
    (await Promise.all(three)).map((document) => document?._id),
    [3, 13, 23, undefined]
  )
})

test('a failing pull does not affect later ones', async () => {
  const cursor = db.find().map(({ _id }) => {
    if (_id === 0) throw new Error('not this one')
    return _id
  })
  const [first, second] = await Promise.allSettled([cursor.next(), cursor.next()])
  assert.is(first?.status, 'rejected')
  assert.equal(second, { status: 'fulfilled', value: 1 })
  await cursor.close()
})

test('leaving a loop closes the cursor', async () => {
  const cursor = db.find()
  for await (const document of cursor) if (document._id === 3) break
  assert.is(cursor.closed, true)
  assert.is(await cursor.next(), null)
})

test('a closed cursor returns nothing more, and closing it again is harmless', async () => {
  const cursor = db.find()
  await cursor.next()
  await cursor.close()
  await cursor.close()
  assert.is(await cursor.next(), null)
  await rejects(cursor.toArray(), 'CursorNotFound')
})

test('await using closes the cursor', async () => {
  let outer: { readonly closed: boolean }
  {
    await using cursor = db.find()
    outer = cursor
    await cursor.next()
  }
  assert.is(outer.closed, true)
})

test('map() chains, after the projection', async () => {
  const cursor = db
    .find({ n: 1 })
    .project<{ n: number }>({ n: 1, _id: 0 })
    .map(({ n }) => n + 1)
    .map((n) => `${n}`)
  assert.equal(new Set(await cursor.toArray()), new Set(['2']))
})

test('forEach() visits documents until its callback returns false', async () => {
  const seen: unknown[] = []
  // biome-ignore lint/suspicious/useIterableCallbackReturn: a cursor's forEach does look at what is returned
  await db.find().forEach(({ _id }) => {
    seen.push(_id)
    return seen.length < 7
  })
  assert.is(seen.length, 7)
})

test('results are copies: changing one has no effect on others', async () => {
  const first = await db.findOne({ _id: 5 })
  Object.assign(first ?? {}, { n: 'changed' })
  assert.equal(await db.findOne({ _id: 5 }), { _id: 5, n: 5 })
})

test('count() honours skip and limit and leaves the cursor unused', async () => {
  const cursor = db.find({ n: 2 }).skip(90).limit(50)
  assert.is(await cursor.count(), 10)
  assert.is((await cursor.toArray()).length, 10)
})

test('the hint $natural is a scan, in either direction', async () => {
  const filter = { _id: { $in: [7, 3, 5] } }
  const idsOf = async (options: FindOptions) => (await db.find(filter, options).toArray()).map(({ _id }) => _id)
  assert.equal(await idsOf({ hint: { $natural: 1 } }), [3, 5, 7])
  assert.equal(await idsOf({ hint: { $natural: -1 } }), [7, 5, 3])
  assert.equal(await idsOf({ hint: { $natural: -1 }, sort: { $natural: 1 } }), [3, 5, 7])
  assert.equal(await idsOf({ hint: { $natural: -1 }, sort: { n: 1 } }), [3, 5, 7])
  const { queryPlanner } = await db.find(filter, { hint: { $natural: -1 } }).explain()
  assert.equal(queryPlanner.winningPlan.inputStage, { stage: 'COLLSCAN', direction: 'backward' })
  assert.is(await db.countDocuments(filter, { hint: { $natural: -1 } }), 3)
  for (const hint of [{ $natural: 2 }, { $natural: 1, n: 1 }]) {
    const error = await rejects(db.find(filter, { hint: hint as { n: 1 } }).toArray(), 'BadValue')
    assert.match(error.message, "'scan'")
  }
})

test("malformed queries fail the first pull, with MongoDB's error codes", async () => {
  assert.is((await rejects(db.find({ a: { $nope: 1 } }).toArray(), 'BadValue')).code, 2)
  await rejects(db.find({ $nope: [] }).next(), 'BadValue')
  await rejects(db.find({ a: undefined }).toArray(), 'BadValue')
  await rejects(db.find({}, { limit: 1.5 }).toArray(), 'BadValue')
  await rejects(db.find({}, { skip: -1 }).toArray(), 'BadValue')
  await rejects(db.find({}, { hint: 'a_1' as 'scan' }).toArray(), 'BadValue')
  await rejects(
    db
      .find()
      .sort({ a: 2 as 1 })
      .toArray(),
    'BadValue'
  )
  await rejects(db.find().project({ a: 1, b: 0 }).toArray(), 'BadValue')
  await rejects(db.countDocuments({ a: { $in: 1 } }), 'BadValue')
})

test('an aborted signal ends a read, before or during it', async () => {
  const before = AbortSignal.abort(new Error('enough'))
  const error = await rejects(db.find({}, { signal: before }).toArray(), 'Aborted')
  assert.is(error.name, 'AbortError')
  const controller = new AbortController()
  const slow = db.find({ $where: () => wasteTime(1) }, { signal: controller.signal }).toArray()
  setTimeout(() => controller.abort(), 20)
  await rejects(slow, 'Aborted')
  await rejects(db.countDocuments({ $where: () => wasteTime(1) }, { signal: AbortSignal.timeout(20) }), 'Aborted')
})

test('a read that takes longer than maxTimeMS fails with MaxTimeMSExpired', async () => {
  const error = await rejects(db.find({ $where: () => wasteTime(1) }, { maxTimeMS: 20 }).toArray(), 'MaxTimeMSExpired')
  assert.is(error.code, 50)
})

test('hint and maxTimeMS are also methods of a cursor', async () => {
  const slow = db.find({ $where: () => wasteTime(1) }).maxTimeMS(20)
  await rejects(slow.toArray(), 'MaxTimeMSExpired')
  const scan = db.find({ _id: 1 }).hint('scan')
  assert.is((await scan.explain()).queryPlanner.winningPlan.inputStage?.stage ?? 'none', 'COLLSCAN')
  assert.equal(await scan.clone().toArray(), await db.find({ _id: 1 }).toArray())
  await rejects(db.find().hint('nope_1').toArray(), 'BadValue')
  await rejects(
    db
      .find()
      .maxTimeMS('5' as never)
      .toArray(),
    'BadValue'
  )
})

test('a long read lets timers run', async () => {
  let ticks = 0
  const timer = setInterval(() => ticks++, 1)
  await db.find({ $where: () => wasteTime(0.2) }).toArray()
  clearInterval(timer)
  assert.ok(ticks > 10, `${ticks} ticks`)
})

test('a scan of a store without pauses still lets timers run', async () => {
  const fresh = await open('unused', { store: 'memory' })
  await fresh.insertMany(Array.from({ length: 30_000 }, (_, i) => ({ _id: i, text: 'some text '.repeat(10) })))
  let ticks = 0
  const timer = setInterval(() => ticks++, 1)
  assert.is((await fresh.find().toArray()).length, 30_000)
  clearInterval(timer)
  assert.ok(ticks >= 3, `${ticks} ticks`)
  await fresh.close()
})

test('a cursor that is closed in the middle of a range frees its resources', async () => {
  const fresh = await open(scratchPath())
  await fresh.insertMany(Array.from({ length: 5000 }, (_, i) => ({ _id: i })))
  const cursors = Array.from({ length: 50 }, () => fresh.find())
  await Promise.all(cursors.map((cursor) => cursor.next()))
  // One is closed during a pull, one from within its own filter, the others at rest.
  const waiting = cursors[0]?.toArray()
  await Promise.all(cursors.map((cursor) => cursor.close()))
  assert.ok(Array.isArray(await waiting))
  const self = fresh.find({ $where: () => void self.close() })
  assert.equal(await self.toArray(), [])
  await fresh.close()
})

test('a view that ends in the middle of a range closes its iterators, even if its cursor is abandoned', async () => {
  const store = new CountingLevel()
  const fresh = await open(store)
  const collection = fresh.collection('c')
  await collection.insertMany(Array.from({ length: 5000 }, (_, i) => ({ _id: i })))
  const left = collection.find()
  await left.next()
  // Up to three blocks are read in parallel.
  assert.ok(store.openIterators >= 1 && store.openIterators <= 3, `${store.openIterators} iterators are open`)
  await fresh.dropCollection('c')
  // Closing them cannot be awaited; a minute is long enough.
  for (const end = Date.now() + 60_000; store.openIterators > 0 && Date.now() < end; ) {
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  assert.is(store.openIterators, 0)
  await fresh.close()
})

test('a cursor fails and does not hang after its database is closed', async () => {
  const fresh = await open('unused', { store: 'memory' })
  await fresh.insertMany(Array.from({ length: 500 }, (_, i) => ({ _id: i })))
  const cursor = fresh.find()
  await cursor.next()
  await fresh.close()
  await rejects(cursor.toArray(), 'DatabaseNotOpen')
  await rejects(fresh.find().toArray(), 'DatabaseNotOpen')
  await rejects(fresh.insertOne({}), 'DatabaseNotOpen')
})

test('reads fail and do not crash when the database is closed or their collection dropped', async () => {
  const fresh = await open(scratchPath())
  const many = Array.from({ length: 20_000 }, (_, i) => ({ _id: i, n: i % 3 }))
  await fresh.insertMany(many)
  await fresh.collection('c').insertMany(many)
  const filter = { $where: () => wasteTime(0.01) }
  const failingReads = (from: Collection) => [
    rejects(from.find(filter).toArray(), 'DatabaseNotOpen'),
    rejects(from.find(filter).sort({ n: 1 }).toArray(), 'DatabaseNotOpen'),
    rejects(from.countDocuments(filter), 'DatabaseNotOpen')
  ]
  const overCollection = failingReads(fresh.collection('c'))
  await new Promise((resolve) => setTimeout(resolve, 5))
  await fresh.dropCollection('c')
  await Promise.all(overCollection)
  const overDatabase = failingReads(fresh)
  await new Promise((resolve) => setTimeout(resolve, 5))
  await fresh.close()
  await Promise.all(overDatabase)
})

test("an error thrown by the caller's function ends the read, unchanged", async () => {
  const mine = new RangeError('mine')
  const cursor = db.find({
    $where: () => {
      throw mine
    }
  })
  try {
    await cursor.toArray()
    assert.unreachable()
  } catch (error) {
    assert.is(error, mine)
  }
  assert.is(cursor.closed, true)
})

function wasteTime(milliseconds: number): boolean {
  const end = performance.now() + milliseconds
  while (performance.now() < end);
  return true
}

test.run()
