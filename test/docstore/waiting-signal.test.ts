/** A write that waits for its turn ends when its signal fires, and then changes nothing; calls share the listener of a signal. */
import { getEventListeners } from 'node:events'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Database, open } from '../../src/index.ts'
import { GatedLevel, SlowLevel } from './odd-stores.ts'

interface Signalled {
  readonly signal: AbortSignal
}

const calls: readonly (readonly [name: string, call: (db: Database, options: Signalled) => Promise<unknown>])[] = [
  ['updateOne by _id', (db, options) => db.updateOne({ _id: 1 }, { $set: { changed: 1 } }, options)],
  ['an upsert', (db, options) => db.updateOne({ _id: 3 }, { $set: { changed: 1 } }, { ...options, upsert: true })],
  ['updateMany', (db, options) => db.updateMany({ n: 0 }, { $set: { changed: 1 } }, options)],
  ['deleteOne by _id', (db, options) => db.deleteOne({ _id: 1 }, options)],
  ['findOneAndDelete', (db, options) => db.findOneAndDelete({ n: 0 }, options)],
  [
    'an unordered bulkWrite',
    (db, options) =>
      db.bulkWrite([{ deleteOne: { filter: { _id: 1 } } }, { deleteMany: { filter: { n: 0 } } }], {
        ...options,
        ordered: false
      })
  ]
]

for (const [name, call] of calls) {
  test(`a call that waits ends with its signal: ${name}`, async () => {
    const store = new GatedLevel()
    await using db = await open(store)
    await db.insertMany([
      { _id: 1, n: 0 },
      { _id: 2, n: 0 }
    ])
    const settled: string[] = []
    const note = (what: string) => () => settled.push(what)
    let commit = (): void => {}
    store.gate = new Promise((resolve) => {
      commit = resolve
    })
    // A failed assertion must not leave the database waiting.
    using _ = { [Symbol.dispose]: commit }
    const before = db.updateOne({ _id: 2 }, { $set: { before: 1 } }).then(note('before'))
    // Its commit takes until the others are refused.
    await nextTurn()
    const caller = new AbortController()
    const waiting = Array.from({ length: 20 }, () => call(db, { signal: caller.signal }))
    const refusals = waiting.map((each) =>
      each.then(
        () => assert.unreachable('not aborted'),
        ({ codeName }: { codeName: string }) => settled.push(codeName)
      )
    )
    // A bulkWrite() begins in another turn when this one has been long.
    while (getEventListeners(caller.signal, 'abort').length === 0) await nextTurn()
    assert.is(getEventListeners(caller.signal, 'abort').length, 1)
    caller.abort()
    await Promise.all(refusals)
    commit()
    await before
    assert.equal(settled, [...waiting.map(() => 'Aborted'), 'before'])
    await db.insertOne({ _id: 4 })
    assert.equal(await db.find().toArray(), [{ _id: 1, n: 0 }, { _id: 2, n: 0, before: 1 }, { _id: 4 }])
    assert.is(getEventListeners(caller.signal, 'abort').length, 0)
  })
}

test('a call that is done no longer listens to its signal', async () => {
  await using db = await open('unused', { store: 'memory' })
  const { signal } = new AbortController()
  await Promise.all(
    Array.from({ length: 20 }, (_, _id) => db.updateOne({ _id }, { $set: { n: 1 } }, { signal, upsert: true }))
  )
  assert.is(getEventListeners(signal, 'abort').length, 0)
  assert.is(await db.countDocuments(), 20)
})

/** A source that yields once `go` has resolved. */
async function* sourceAfter<T>(go: Promise<void>, item: T): AsyncGenerator<T> {
  await go
  yield item
}

const sharing: Readonly<Record<string, (db: Database, signal: AbortSignal, go: Promise<void>) => Promise<unknown>>> = {
  insertMany: (db, signal, go) => db.insertMany(sourceAfter(go, {}), { signal }),
  importLines: (db, signal, go) => db.importLines(sourceAfter(go, Buffer.from('{}')), { signal }),
  createIndex: (db, signal) => db.createIndex({ n: 1 }, { signal })
}

for (const [name, call] of Object.entries(sharing)) {
  test(`twenty calls share one listener of their signal: ${name}`, async () => {
    await using db = await open(new SlowLevel())
    await db.insertOne({ n: 1 })
    const { signal } = new AbortController()
    let most = 0
    const watch = setInterval(() => {
      most = Math.max(most, getEventListeners(signal, 'abort').length)
    }, 1)
    let go = (): void => {}
    const gone = new Promise<void>((resolve) => {
      go = resolve
    })
    const done = Promise.all(Array.from({ length: 20 }, () => call(db, signal, gone)))
    setTimeout(go, 20)
    await done
    clearInterval(watch)
    assert.is(most, 1)
    assert.is(getEventListeners(signal, 'abort').length, 0)
  })
}

test.run()
