/** However a long insertMany() ends, what its source yielded is stored, and nothing is left over. */

import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { ObjectId } from 'bson'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { UnitCollector } from '../../src/docstore/bulk/unit-collector.ts'
import type { ThreadMessage } from '../../src/docstore/threads/thread-work.ts'
import { AbortedError, BulkWriteError, type Document } from '../../src/index.ts'
import { testSeed } from '../support/arbitraries.ts'
import { randomFrom } from '../support/random.ts'
import { assertHasFirst, assertNoTableIsLeft, assertSound, openCounted, tweet, unitLines } from './load-cases.ts'
import { rejects } from './scratch.ts'

const random = randomFrom(testSeed())
const below = (limit: number): number => Math.floor(random() * limit)
const units = (count: number): number => count * unitLines
const tweets = (count: number): Document[] => Array.from({ length: count }, (_, i) => tweet(i, i))

for (const threads of [0, 2]) {
  test(`an aborted insertMany() says how many documents are stored, with ${threads} threads`, async () => {
    await using opened = await openCounted()
    const controller = new AbortController()
    const count = units(3) + below(units(2))
    function* some(): Generator<Document> {
      for (const [i, document] of tweets(count + 10).entries()) {
        if (i === count) controller.abort()
        yield document
      }
    }
    const failed = await opened.db.insertMany(some(), { threads, signal: controller.signal }).catch((error) => error)
    assert.instance(failed, AbortedError)
    await assertHasFirst(opened.db, count)
    assert.equal((failed as AbortedError).details, { insertedCount: count })
  })
}

for (const kind of ['iterable', 'async iterable'] as const) {
  test(`documents that an ${kind} yields before it fails are stored, and its error is passed on`, async () => {
    const opened = await openCounted()
    const count = units(5) + below(units(3))
    function* some(): Generator<Document> {
      yield* tweets(count)
      throw new TypeError('gone')
    }
    async function* later(): AsyncGenerator<Document> {
      yield* some()
    }
    const source = kind === 'iterable' ? some() : later()
    const failed = await opened.db.insertMany(source, { threads: 2 }).catch((error: unknown) => error)
    assert.instance(failed, TypeError)
    await assertHasFirst(opened.db, count)
    assert.ok(opened.ingestedTables > 0)
    await opened[Symbol.asyncDispose]()
    await assertNoTableIsLeft(opened.location)
  })
}

test('returned ids are those of the documents, not copies, even if a unit could not be used', async () => {
  const opened = await openCounted()
  const list = tweets(units(6)).map((document) => ({ ...document, _id: new ObjectId() }))
  const again = units(2) + 5
  list[again]!._id = new ObjectId(list[again - 3]!._id.toHexString())
  const failed = await opened.db.insertMany(list, { threads: 2, ordered: false }).catch((error: unknown) => error)
  assert.instance(failed, BulkWriteError)
  const { insertedCount, insertedIds } = failed as BulkWriteError
  assert.is(insertedCount, list.length - 1)
  assert.is(Object.keys(insertedIds).length, list.length - 1)
  for (const [i, id] of Object.entries(insertedIds)) assert.is(id, list[Number(i)]!._id)
  assert.ok(opened.ingestedTables > 0)
  await opened[Symbol.asyncDispose]()
})

test('a non-document in the middle of a unit ends insertMany() there', async () => {
  const opened = await openCounted()
  const at = units(3) + 77
  const list: unknown[] = tweets(units(6))
  list[at] = 'no document'
  await rejects(opened.db.insertMany(list as Document[], { threads: 2 }), 'BadValue')
  await assertHasFirst(opened.db, at)
  assert.ok(opened.ingestedTables > 0)
  await opened[Symbol.asyncDispose]()
  await assertNoTableIsLeft(opened.location)
})

test('ordered: nothing after a refused document is inserted, in whatever unit it is', async () => {
  for (const bad of [{ _id: 3 }, { _id: units(4) - 1 }, { _id: [1] }, { _id: 'f', f: () => 1 }]) {
    const opened = await openCounted()
    const at = units(4) + below(unitLines)
    const list: Document[] = [...tweets(at), bad, ...tweets(units(9)).slice(at)]
    const failed = await opened.db.insertMany(list, { threads: 3 }).catch((error: unknown) => error)
    assert.instance(failed, BulkWriteError)
    const { insertedCount, writeErrors, insertedIds } = failed as BulkWriteError
    assert.equal([insertedCount, writeErrors.map(({ index }) => index)], [at, [at]])
    assert.equal(
      Object.values(insertedIds),
      Array.from({ length: at }, (_, i) => i)
    )
    await assertHasFirst(opened.db, at)
    assert.ok(opened.ingestedTables > 0)
    await opened[Symbol.asyncDispose]()
    await assertNoTableIsLeft(opened.location)
  }
})

test('documents that a thread has when it dies are inserted all the same', async () => {
  const opened = await openCounted()
  const { db } = opened
  const { postMessage } = Worker.prototype
  let killed = 0
  Worker.prototype.postMessage = function (this: Worker, message: ThreadMessage, ...rest: never[]) {
    postMessage.call(this, message, ...rest)
    if (message.kind !== 'unit' || below(3) > 0) return
    killed++
    setTimeout(() => this.terminate(), below(30)).unref()
  }
  const list = Array.from({ length: units(20) }, (_, i) => ({ ...tweet(i, i), at: i % 50 === 0 ? BigInt(i) : i }))
  try {
    const { insertedCount, insertedIds } = await db.insertMany(list, { threads: 2 })
    assert.is(insertedCount, units(20))
    assert.is(Object.keys(insertedIds).length, units(20))
  } finally {
    Worker.prototype.postMessage = postMessage
  }
  assert.ok(killed > 0)
  assert.equal(await db.find({}).toArray(), list)
  await assertSound(db)
  await opened[Symbol.asyncDispose]()
  await assertNoTableIsLeft(opened.location)
})

test('frozen documents without an _id get one where they are stored', async () => {
  await using opened = await openCounted()
  // Mixed with texts: the index gets ids of both types.
  const list = Array.from({ length: units(3) }, (_, i) => Object.freeze(i % 2 === 0 ? { _id: `text ${i}`, i } : { i }))
  const { insertedIds } = await opened.db.insertMany(list, { threads: 2 })
  const stored = await opened.db.find({}).toArray()
  assert.equal(
    stored.map(({ _id }) => String(_id)),
    Object.values(insertedIds).map(String)
  )
  assert.is(await opened.db.countDocuments({ _id: { $type: 'objectId' } }), units(3) / 2)
  assert.is(await opened.db.countDocuments({ _id: { $type: 'string' } }), units(3) / 2)
  assert.equal(await opened.db.getMany([insertedIds[7], insertedIds[units(2)]]), [stored[7], stored[units(2)]])
  await assertSound(opened.db)
  assert.ok(opened.ingestedTables > 0)
})

test('an invalid _id, and one whose getter returns changing values, are refused anywhere in a unit', async () => {
  const odd: readonly (() => Document)[] = [
    () => Object.freeze({ _id: undefined, odd: true }),
    () => {
      let n = 1e6
      return {
        get _id() {
          return n++
        }
      }
    },
    () => ({ _id: 1.5, big: 'é'.repeat(9 << 20) }),
    () => ({ _id: 'é', big: 'é'.repeat(9 << 20) })
  ]
  for (const make of odd) {
    for (const threads of [0, 2]) {
      await using opened = await openCounted()
      const { db } = opened
      const list = tweets(units(3))
      // Few lines with many bytes make no unit, so others have to come first.
      list[400] = make()
      const failed = await db.insertMany(list, { threads, ordered: false }).catch((error: unknown) => error)
      assert.instance(failed, BulkWriteError)
      assert.equal(
        (failed as BulkWriteError).writeErrors.map(({ index }) => index),
        [400]
      )
      assert.is(await db.countDocuments(), units(3) - 1)
      await assertSound(db)
    }
  }
})

test('null can be an _id only once, within a unit, too', async () => {
  await using opened = await openCounted()
  const { db } = opened
  const list = tweets(units(3))
  for (const i of [40, 700, 701]) list[i] = Object.freeze({ _id: null, i })
  const failed = await db.insertMany(list, { threads: 2, ordered: false }).catch((error: unknown) => error)
  assert.equal(
    (failed as BulkWriteError).writeErrors.map(({ index, codeName }) => [index, codeName]),
    [
      [700, 'DuplicateKey'],
      [701, 'DuplicateKey']
    ]
  )
  assert.equal(await db.getMany([null]), [{ _id: null, i: 40 }])
  await assertSound(db)
})

test('with bigints in many documents they are inserted the ordinary way; documents with dates are not', async () => {
  const long = (i: number): unknown => BigInt(i)
  const date = (i: number): unknown => [new Date(i), new ObjectId(i)]
  for (const [every, value, isLoaded] of [
    [1, long, false],
    [4, long, false],
    [100, long, true],
    [1, date, true]
  ] as const) {
    await using opened = await openCounted()
    const { db } = opened
    // The last documents are too few to be recognised as many, and fewer than half a unit.
    const list = tweets(units(5) + 50).map((document, i) =>
      i % every === 0 ? { ...document, value: value(i) } : document
    )
    await db.insertMany(list, { threads: 2 })
    assert.is(opened.ingestedTables > 0, isLoaded, `one in ${every}, ${typeof value(1)}`)
    assert.equal(await db.find({}).toArray(), list)
    await assertSound(db)
  }
})

test('a slow source does not delay a unit for long', async () => {
  await using opened = await openCounted()
  const { db } = opened
  let isEnough = false
  async function* source(): AsyncGenerator<Document> {
    yield* tweets(units(2) + 10)
    for (let i = 0; !isEnough; i++) {
      await sleep(300)
      yield { _id: `late ${i}` }
    }
  }
  const inserting = db.insertMany(source(), { threads: 2 })
  for (let i = 0; i < 60 && (await db.countDocuments()) < units(2) + 10; i++) await sleep(100)
  const count = await db.countDocuments()
  isEnough = true
  await inserting
  assert.ok(count >= units(2) + 10, `${count} documents`)
})

test('an async iterator that returns plain results instead of promises can be read', async () => {
  await using opened = await openCounted()
  let i = 0
  const iterator = {
    next: () => (i < units(4) ? { done: false, value: { _id: i++ } } : { done: true, value: undefined })
  }
  const source = { [Symbol.asyncIterator]: () => iterator } as unknown as AsyncIterable<Document>
  assert.is((await opened.db.insertMany(source, { threads: 2 })).insertedCount, units(4))
  assert.ok(opened.ingestedTables > 0)
})

test('documents are inserted although an async source stalls', async () => {
  await using opened = await openCounted()
  const { db } = opened
  const count = units(4) + 77
  let goOn = (): void => {}
  const waiting = new Promise<void>((resolve) => {
    goOn = resolve
  })
  async function* source(): AsyncGenerator<Document> {
    yield* tweets(count)
    await waiting
  }
  const inserting = db.insertMany(source(), { threads: 2 })
  for (let i = 0; i < 100 && (await db.countDocuments()) < count; i++) await sleep(100)
  assert.is(await db.countDocuments(), count)
  assert.ok(opened.ingestedTables > 0)
  goOn()
  assert.is((await inserting).insertedCount, count)
})

test('an async source may write to the collection that it fills', async () => {
  await using opened = await openCounted()
  const { db } = opened
  async function* source(): AsyncGenerator<Document> {
    for (let i = 0; i < units(6); i++) {
      if (i % 700 === 0) await db.insertOne({ _id: `side ${i}` })
      yield tweet(i, i)
    }
  }
  assert.is((await db.insertMany(source(), { threads: 2 })).insertedCount, units(6))
  assert.is(await db.countDocuments(), units(6) + Math.ceil(units(6) / 700))
  await assertSound(db)
})

test('short lists, and all lists with threads: 0, are inserted the ordinary way', async () => {
  await using opened = await openCounted()
  let collected = 0
  const { put } = UnitCollector.prototype
  UnitCollector.prototype.put = function (line) {
    collected++
    return put.call(this, line)
  }
  for (const [from, to] of [
    [0, unitLines - 1],
    [unitLines, unitLines + 300]
  ] as const) {
    await opened.db.insertMany(tweets(to).slice(from))
    await opened.db.insertMany(new Set(tweets(to + 10_000).slice(from + 10_000)))
  }
  await opened.db.collection('none').insertMany(tweets(units(5)), { threads: 0 })
  UnitCollector.prototype.put = put
  assert.is(opened.ingestedTables, 0)
  // The second iterable of unknown length begins where a segment ends.
  assert.is(collected, 0)
})

test('dropping the collection ends an insertMany(), and leaves no table', async () => {
  const opened = await openCounted()
  const { db } = opened
  const collection = db.collection('short')
  let dropping: Promise<boolean> | undefined
  function* source(): Generator<Document> {
    for (let i = 0; i < units(20); i++) {
      if (i === units(9)) dropping = db.dropCollection('short')
      yield tweet(i, i)
    }
  }
  const failed = await collection.insertMany(source(), { threads: 2 }).catch((error: unknown) => error)
  assert.is((failed as { codeName?: string }).codeName, 'DatabaseNotOpen')
  assert.is(await dropping, true)
  await opened[Symbol.asyncDispose]()
  await assertNoTableIsLeft(opened.location)
})

test('invalid numbers of threads are refused', async () => {
  await using opened = await openCounted()
  for (const threads of [-1, 1.5, 65, '2', null]) {
    await rejects(opened.db.insertMany([], { threads: threads as number }), 'BadValue')
  }
})

test.run()
