/** A change stream and its one consumer: waiting, falling behind, ending, and its options. */
import { getEventListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { MemoryLevel } from 'memory-level'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { AbortedError, type ChangeEvent, type Database, type Document, open, type PetalError } from '../../src/index.ts'
import { FailingLevel, SlowLevel } from './odd-stores.ts'
import { rejects, scratchPath } from './scratch.ts'
import { eventsOf, lines } from './watch-cases.ts'

const unhandled: unknown[] = []
process.on('unhandledRejection', (reason) => unhandled.push(reason))

const memory = (): Promise<Database> => open('unused', { store: 'memory' })
const keyOf = (event: ChangeEvent | null): unknown =>
  event !== null && 'documentKey' in event ? event.documentKey._id : undefined

test('next() waits for a change, tryNext() does not, hasNext() does not take it', async () => {
  await using db = await memory()
  const stream = db.watch()
  assert.is(await stream.tryNext(), null)
  const first = stream.next()
  const second = stream.next()
  await sleep(5)
  await db.insertMany([{ _id: 1 }, { _id: 2 }, { _id: 3 }])
  assert.equal([keyOf(await first), keyOf(await second)], [1, 2])
  assert.equal(await Promise.all([stream.hasNext(), stream.hasNext()]), [true, true])
  assert.is(keyOf(await stream.next()), 3)
  const asked = Promise.all([stream.hasNext(), stream.hasNext()])
  await db.insertMany([{ _id: 4 }, { _id: 5 }])
  assert.equal(await asked, [true, true])
  assert.equal((await eventsOf(stream)).map(keyOf), [4, 5])
  await stream.close()
})

test('however a stream ends, next() rejects, hasNext() returns false, and a loop ends', async () => {
  const ways: readonly (readonly [string, (db: Database, stop: AbortController) => Promise<unknown>])[] = [
    ['CursorNotFound', (db) => db.close()],
    ['Aborted', async (_, stop) => stop.abort(new Error('enough'))],
    ['CursorNotFound', async () => streams.map((stream) => stream.close())]
  ]
  let streams: ReturnType<Database['watch']>[] = []
  for (const [codeName, end] of ways) {
    const db = await memory()
    const stop = new AbortController()
    streams = Array.from({ length: 4 }, () => db.watch([], { signal: stop.signal }))
    const [a, b, c, d] = streams
    const pending = Promise.allSettled([a!.next(), b!.hasNext()])
    const looping = (async () => {
      for await (const event of c!) assert.unreachable(JSON.stringify(event))
      return 'ended'
    })()
    await sleep(1)
    await end(db, stop)
    const [next, has] = await pending
    assert.is((next as PromiseRejectedResult).reason.codeName, codeName)
    if (codeName === 'Aborted') assert.instance((next as PromiseRejectedResult).reason, AbortedError)
    assert.equal(has, { status: 'fulfilled', value: false })
    assert.is(await looping, 'ended')
    assert.is(d!.closed, true)
    await rejects(d!.next(), codeName as 'Aborted')
    assert.is(await d!.tryNext(), null)
    for await (const event of d!) assert.unreachable(JSON.stringify(event))
    for (const stream of streams) await stream.close()
    await db.close()
  }
})

test('a closed stream drops its events, but those of a closed database can still be read', async () => {
  const db = await memory()
  const [closed, left] = [db.watch(), db.watch()]
  await db.insertMany([{ _id: 1 }, { _id: 2 }])
  await closed.close()
  assert.is(await closed.tryNext(), null)
  await db.insertOne({ _id: 3 })
  await db.close()
  assert.not.ok(left.closed)
  const seen: unknown[] = []
  for await (const event of left) seen.push(keyOf(event))
  assert.equal([seen, left.closed], [[1, 2, 3], true])
  assert.throws(
    () => db.watch(),
    (error: PetalError) => error.codeName === 'DatabaseNotOpen'
  )
})

test('leaving a loop by break or by an error closes the stream', async () => {
  await using db = await memory()
  const streams = [db.watch(), db.watch()]
  await db.insertMany([{ _id: 1 }, { _id: 2 }])
  for await (const event of streams[0]!) if (keyOf(event) === 1) break
  await assertThrows(async () => {
    for await (const event of streams[1]!) throw new Error(`cannot take ${keyOf(event)}`)
  }, /cannot take 1/)
  for (const stream of streams) assert.ok(stream.closed)
  await db.insertOne({ _id: 3 })
  assert.is(await db.countDocuments(), 3)
})

test('a stream that falls behind by more than its budget fails, and no other', async () => {
  await using db = await memory()
  const text = 'x'.repeat(1000)
  const small = db.watch([], { maxBufferedBytes: 20_000 })
  const large = db.watch()
  await db.insertMany(Array.from({ length: 15 }, (_, i) => ({ _id: i, text })))
  assert.is((await eventsOf(small)).length, 15)
  await db.insertMany(Array.from({ length: 20 }, (_, i) => ({ _id: 100 + i, text })))
  await db.insertOne({ _id: 200 })
  for (let i = 0; i < 2; i++) {
    const error = await rejects(small.next(), 'ChangeStreamHistoryLost')
    assert.equal([error.code, error.details.maxBufferedBytes], [286, 20_000])
  }
  await rejects(small.hasNext(), 'ChangeStreamHistoryLost')
  await assertThrows(async () => {
    for await (const event of small) assert.unreachable(JSON.stringify(event))
  }, /behind by more than 20000 bytes/)
  assert.ok(small.closed)
  assert.is((await eventsOf(large)).length, 36)
  await Promise.all([small.close(), large.close()])
})

test('a consumer that keeps up can take any amount, even documents beyond the budget', async () => {
  await using db = await memory()
  const stream = db.watch([], { maxBufferedBytes: 700_000, fullDocumentBeforeChange: 'required' })
  let seen = 0
  const consuming = (async () => {
    for await (const event of stream) {
      assert.ok(event.operationType !== 'delete' || event.fullDocumentBeforeChange?.text)
      if (++seen === 82) return
    }
  })()
  const keptUp = async (events: number): Promise<void> => {
    while (seen < events) await Promise.race([consuming, new Promise((resolve) => setImmediate(resolve))])
  }
  await db.insertMany([{ _id: 'huge', text: 'x'.repeat(2_000_000) }])
  await keptUp(1)
  for (let i = 0; i < 40; i++) {
    await db.insertOne({ _id: i, text: 'x'.repeat(100_000) })
    await keptUp(i + 2)
  }
  // One batch of several megabytes.
  await db.deleteMany({})
  await consuming
  assert.is(seen, 82)
})

test('a consumer that takes one event in each turn keeps up with a batch of several megabytes', async () => {
  await using db = await memory()
  await db.insertMany(Array.from({ length: 60 }, (_, i) => ({ _id: i, text: 'x'.repeat(100_000) })))
  const stream = db.watch([], { maxBufferedBytes: 700_000, fullDocumentBeforeChange: 'required' })
  const consumed = (async () => {
    let seen = 0
    for await (const _ of stream) {
      if (++seen === 60) return seen
      await new Promise((resolve) => setImmediate(resolve))
    }
    return seen
  })()
  await Promise.all([db.deleteMany({}), consumed])
  assert.is(await consumed, 60)
})

test('a small budget holds many deletions, because only their keys are kept', async () => {
  await using db = await memory()
  await db.insertMany(Array.from({ length: 500 }, (_, i) => ({ _id: i, text: 'x'.repeat(2000) })))
  await using stream = db.watch([], { maxBufferedBytes: 200_000 })
  await db.deleteMany({})
  assert.is((await eventsOf(stream)).length, 500)
})

test('a pipeline filters and shapes events, and filtered ones take no room', async () => {
  await using db = await memory()
  const english = db.watch([{ $match: { 'fullDocument.lang': 'en' } }, { $project: { 'fullDocument.n': 1 } }], {
    maxBufferedBytes: 5000,
    fullDocument: 'updateLookup'
  })
  const later = db.watch([{ $project: { documentKey: 1, _id: 0 } }, { $match: { 'documentKey._id': { $gte: 5 } } }])
  const coded = db.watch([
    {
      $match: {
        $where(event: Document) {
          event.operationType = 'changed'
          return (event.documentKey as Document)._id === 7
        }
      }
    }
  ])
  await db.importLines(
    lines(...Array.from({ length: 300 }, (_, i) => ({ _id: i, lang: 'de', n: i, text: 'x'.repeat(500) })))
  )
  await db.updateOne({ _id: 7 }, { $set: { lang: 'en' } })
  await db.deleteMany({ _id: { $gte: 10 } })
  const [event, ...others] = await eventsOf(english)
  assert.equal([Object.keys(event ?? {}), others], [['_id', 'fullDocument'], []])
  assert.equal((event as { fullDocument?: unknown }).fullDocument, { n: 7 })
  const shaped = (await eventsOf(later)) as unknown[]
  assert.is(shaped.length, 295 + 1 + 290)
  assert.equal(shaped[0], { documentKey: { _id: 5 } })
  assert.equal(
    (await eventsOf(coded)).map(({ operationType }) => operationType),
    ['insert', 'update']
  )
  for (const stream of [english, later, coded]) await stream.close()
})

test('a function that throws fails its stream, but no write', async () => {
  await using db = await memory()
  const failing = {
    $where() {
      throw new Error('my mistake')
    }
  }
  const [first, second, good] = [
    db.watch([{ $match: failing }]),
    db.watch([{ $project: { documentKey: 1 } }, { $match: failing }]),
    db.watch()
  ]
  await db.insertOne({ _id: 1 })
  await db.insertOne({ _id: 2 })
  for (const stream of [first, second]) await assertThrows(() => stream.next(), /my mistake/)
  assert.ok(first.closed && second.closed)
  assert.is((await eventsOf(good)).length, 2)
})

test('events are copies: changing them does not affect others', async () => {
  await using db = await memory()
  await db.insertOne({ _id: { part: 1 }, list: [{ n: 1 }] })
  const options = { fullDocument: 'required', fullDocumentBeforeChange: 'required' } as const
  const streams = [db.watch([], options), db.watch([], options), db.watch([{ $project: { ns: 0 } }], options)]
  await db.updateOne({}, { $push: { list: { n: 2 } } })
  await db.deleteOne({})
  const seen: unknown[] = []
  for (const stream of streams) {
    const events = (await eventsOf(stream)) as unknown as Document[]
    seen.push(events.map(({ ns: _, ...rest }) => JSON.stringify(rest)))
    for (const event of events) {
      ;((event.documentKey as Document)._id as Document).part = 9
      const before = event.fullDocumentBeforeChange as { list: Document[] }
      before.list.push({ n: 99 })
      if (event.updateDescription !== undefined) (event.updateDescription as Document).removedFields = ['list']
      event.operationType = 'mine'
    }
    await stream.close()
  }
  assert.equal(seen[1], seen[0])
  assert.equal(seen[2], seen[0])
  assert.match(String(seen[0]), /"part":1.*"part":1/)
})

test('neither a commit that the store refuses nor writes that fail with it are reported', async () => {
  const store = new FailingLevel()
  await using db = await open(store)
  await db.insertMany([{ _id: 1 }, { _id: 2 }])
  const stream = db.watch()
  store.successes = 0
  store.failures = 1
  const failing = Promise.allSettled([
    db.insertMany([{ _id: 'a' }]),
    db.insertMany([{ _id: 'b' }]),
    db.updateMany({}, { $set: { n: 1 } })
  ])
  await failing
  await db.deleteOne({ _id: 2 })
  const events = await eventsOf(stream)
  const stored = (await db.find().toArray()).map(({ _id }) => _id)
  const told = new Set<unknown>([1, 2])
  for (const event of events) {
    if (event.operationType === 'insert') told.add(keyOf(event))
    if (event.operationType === 'delete') told.delete(keyOf(event))
  }
  assert.equal([...told], stored)
  assert.is(keyOf(events.at(-1) ?? null), 2)
})

test('a write is reported when it is acknowledged, and not before it is visible', async () => {
  await using db = await open(new SlowLevel())
  const stream = db.watch()
  const seen: unknown[] = []
  const consuming = (async () => {
    for await (const event of stream) {
      const found = await db.get(keyOf(event))
      seen.push(event.operationType === 'delete' ? found === undefined : found !== undefined)
      if (seen.length === 40) return
    }
  })()
  for (let i = 0; i < 20; i++) {
    await db.insertOne({ _id: i })
    await sleep(2)
  }
  for (let i = 0; i < 20; i++) {
    await db.deleteOne({ _id: i })
    await sleep(2)
  }
  await consuming
  assert.equal(seen, Array(40).fill(true))
})

test("a record that cannot be read ends the stream with the store's error, but fails no write", async () => {
  const store = new MemoryLevel()
  await using db = await open(store)
  await db.insertOne({ _id: 1 })
  const stream = db.watch()
  Object.assign(store, {
    _getSync() {
      throw Object.assign(new Error('the disk is gone'), { code: 'LEVEL_IO_ERROR' })
    }
  })
  await db.insertOne({ _id: 2 })
  Reflect.deleteProperty(store, '_getSync')
  const { message } = await rejects(stream.next(), 'StoreFailure')
  assert.match(message, /the disk is gone/)
  assert.is(await db.countDocuments(), 2)
  assert.ok(stream.closed)
})

test('unsupported and invalid options are refused by name', async () => {
  await using db = await memory()
  const refused = (call: () => unknown, codeName: string): PetalError => {
    try {
      call()
    } catch (error) {
      assert.is((error as PetalError).codeName, codeName, String(error))
      return error as PetalError
    }
    assert.unreachable(`expected ${codeName}`)
    throw new Error('unreachable')
  }
  for (const option of ['resumeAfter', 'startAfter', 'startAtOperationTime']) {
    const error = refused(() => db.watch([], { [option]: { _data: '00' } }), 'CommandNotSupported')
    assert.match(error.message, new RegExp(option))
    assert.is(error.details.option, option)
  }
  assert.is(
    refused(() => db.watch([{ $match: {} }, { $group: { _id: 1 } }]), 'CommandNotSupported').details.stage,
    '$group'
  )
  refused(() => db.watch('all' as never), 'BadValue')
  refused(() => db.watch([5 as never]), 'BadValue')
  refused(() => db.watch([{}]), 'BadValue')
  refused(() => db.watch([{ $match: {}, $project: {} }]), 'BadValue')
  refused(() => db.watch([{ $match: { a: { $unknown: 1 } } }]), 'BadValue')
  refused(() => db.watch([{ $match: 5 }]), 'TypeMismatch')
  refused(() => db.watch([{ $project: { a: 1, b: 0 } }]), 'BadValue')
  refused(() => db.watch([], { fullDocument: 'always' as never }), 'BadValue')
  refused(() => db.watch([], { fullDocumentBeforeChange: 'default' as never }), 'BadValue')
  refused(() => db.watch([], { maxBufferedBytes: -1 }), 'BadValue')
  refused(() => db.watch([], { signal: AbortSignal.abort() }), 'Aborted')
})

test('a read-only database can be watched, but no event comes', async () => {
  const location = scratchPath()
  await (await open(location)).close()
  const db = await open(location, { readOnly: true })
  const stream = db.watch()
  await rejects(db.insertOne({}), 'IllegalOperation')
  await db.close()
  for await (const event of stream) assert.unreachable(JSON.stringify(event))
})

test('there were no unhandled rejections', async () => {
  await sleep(1)
  assert.equal(unhandled, [])
})

async function assertThrows(call: () => Promise<unknown>, message: RegExp): Promise<void> {
  let caught: unknown
  try {
    await call()
  } catch (error) {
    caught = error
  }
  assert.match(caught instanceof Error ? caught.message : String(caught), message)
}

test('a stream that has failed no longer listens to its signal', async () => {
  await using db = await memory()
  const { signal } = new AbortController()
  const failing = db.watch([], { signal, maxBufferedBytes: 1 })
  await db.insertMany([{ _id: 1 }, { _id: 2 }])
  assert.is(getEventListeners(signal, 'abort').length, 1)
  await rejects(failing.next(), 'ChangeStreamHistoryLost')
  assert.is(getEventListeners(signal, 'abort').length, 0)
})

test.run()
