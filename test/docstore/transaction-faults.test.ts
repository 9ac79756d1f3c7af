/** Transactions that are interrupted, that meet other operations, or whose calls have wrong arguments. */
import { setTimeout as sleep } from 'node:timers/promises'
import { MemoryLevel } from 'memory-level'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  type Database,
  type Document,
  type FindOptions,
  open,
  type PetalError,
  type Transaction
} from '../../src/index.ts'
import { turnsDuring } from '../support/loop-turns.ts'
import { GatedLevel } from './odd-stores.ts'
import { rejects } from './scratch.ts'

/** A promise that can be resolved from outside. */
function gate(): { readonly passed: Promise<void>; open(): void } {
  let resolve = (): void => {}
  const passed = new Promise<void>((onOpen) => {
    resolve = onOpen
  })
  return { passed, open: () => resolve() }
}

async function withDocuments(count: number): Promise<Database> {
  const db = await open('unused', { store: 'memory' })
  await db.insertMany(Array.from({ length: count }, (_, _id) => ({ _id, n: _id })))
  return db
}

const idsOf = (documents: readonly Document[]): unknown[] => documents.map(({ _id }) => _id)

/** The next read of the greatest `_id` is answered when `late` has been. */
class LateKeysLevel extends MemoryLevel {
  late: Promise<void> | undefined

  // Private API of abstract-level, missing from its types.
  _keys(options: { readonly reverse?: boolean }): unknown {
    const iterator = (MemoryLevel.prototype as unknown as HasKeys)._keys.call(this, options)
    const { late } = this
    if (late === undefined || options.reverse !== true) return iterator
    this.late = undefined
    const all = iterator._all
    iterator._all = async (given: unknown) => {
      const keys = await all.call(iterator, given)
      await late
      return keys
    }
    return iterator
  }
}

interface HasKeys {
  _keys(options: unknown): { _all(options: unknown): Promise<unknown> }
}

test('a collection is held until the call that was running at the interruption has ended', async () => {
  const level = new LateKeysLevel()
  await using db = await open(level)
  await db.createIndex({ a: 1 })
  const late = gate()
  level.late = late.passed
  const controller = new AbortController()
  const running = db.withTransaction(
    async (tx) => {
      setTimeout(() => controller.abort(), 10)
      await tx.insertOne({ _id: 3 })
    },
    { signal: controller.signal }
  )
  await rejects(running, 'Aborted')
  const inserting = db.insertOne({ _id: 5 })
  await sleep(10)
  late.open()
  await inserting
  await sleep(10)
  await rejects(db.insertOne({ _id: 5 }), 'DuplicateKey')
  assert.equal(await db.find().toArray(), [{ _id: 5 }])
})

test('a call that waits for a collection ends with the transaction, and so does its hold on others', async () => {
  const level = new GatedLevel()
  await using db = await open(level)
  await db.insertMany([{ _id: 1 }])
  await db.collection('busy').insertOne({ _id: 1 })
  const batch = gate()
  level.gate = batch.passed
  const busy = db.collection('busy').insertOne({ _id: 2 })
  while (level.waiting === 0) await sleep(1)
  level.gate = undefined
  const errors: unknown[] = []
  const running = db.withTransaction(
    async (tx) => {
      await tx.updateOne({ _id: 1 }, { $set: { changed: true } })
      await tx
        .collection('busy')
        .insertOne({ _id: 3 })
        .catch((error: unknown) => errors.push((error as PetalError).codeName))
    },
    { maxTimeMS: 30 }
  )
  await rejects(running, 'MaxTimeMSExpired')
  await db.updateOne({ _id: 1 }, { $set: { free: true } })
  assert.equal(await db.get(1), { _id: 1, free: true })
  batch.open()
  await busy
  await db.collection('busy').insertOne({ _id: 3 })
  assert.equal(errors, ['MaxTimeMSExpired'])
})

test('an interruption ends the wait for the turn', async () => {
  await using db = await withDocuments(1)
  const first = gate()
  const running = db.withTransaction(() => first.passed)
  const controller = new AbortController()
  const waiting = db.withTransaction(() => assert.unreachable('it was aborted before its turn'), {
    signal: controller.signal
  })
  controller.abort(new Error('no longer wanted'))
  await rejects(Promise.race([waiting, sleep(1000)]), 'Aborted')
  first.open()
  await running
})

test('renaming a held collection to the name of one that the transaction takes next waits for its end', async () => {
  await using db = await withDocuments(1)
  await db.collection('a').insertOne({ _id: 1 })
  await db.collection('b').insertOne({ _id: 1 })
  let renaming: Promise<unknown> = Promise.resolve()
  await db.withTransaction(
    async (tx) => {
      await tx.collection('a').updateOne({ _id: 1 }, { $set: { x: 1 } })
      renaming = db.collection('a').rename('b', { dropTarget: true })
      await sleep(5)
      await tx.collection('b').updateOne({ _id: 1 }, { $set: { x: 2 } })
    },
    { maxTimeMS: 5000 }
  )
  await renaming
  assert.equal(await db.collection('b').find().toArray(), [{ _id: 1, x: 1 }])
  // Without a transaction, in the order of the calls.
  const back = db.collection('b').rename('a')
  const inserted = db.collection('b').insertOne({ _id: 9 })
  await Promise.all([back, inserted])
  assert.equal(await db.collection('a').find().toArray(), [{ _id: 1, x: 1 }])
})

test('a find returns changed documents where it will return them after the commit', async () => {
  const finds: [filter: Document, options: FindOptions][] = [
    [{ _id: { $in: [3, 1, 2] } }, {}],
    [{ _id: { $in: [3, 1, 2] } }, { limit: 2 }],
    [{ $or: [{ _id: 4 }, { _id: 0 }, { _id: 2 }] }, { sort: { $natural: -1 } }],
    [{}, { hint: { $natural: -1 } }],
    [{}, { hint: { $natural: -1 }, limit: 1 }],
    [{}, { sort: { $natural: -1 }, skip: 1, limit: 3 }],
    [{ n: { $gte: 1 } }, { sort: { n: -1 }, skip: 1 }],
    [{}, { sort: { same: 1 } }],
    [{ _id: 'x'.repeat(5000) }, {}]
  ]
  for (const ids of ['table', { codec: 'reversible', from: 0, to: 100 }] as const) {
    await using db = await open('unused', { store: 'memory', ids })
    await db.insertMany([0, 1, 2, 3, 4].map((_id) => ({ _id, n: _id })))
    const change = async (tx: Transaction): Promise<unknown[][]> => {
      await tx.updateOne({ _id: 2 }, { $inc: { n: 10 } })
      await tx.updateOne({ _id: 0 }, { $set: { same: null } })
      await tx.insertOne({ _id: 7, n: 2.5 })
      await tx.updateOne({ _id: 3 }, { $set: { x: 1 } })
      await tx.deleteOne({ _id: 4 })
      return Promise.all(finds.map(async ([filter, options]) => idsOf(await tx.find(filter, options).toArray())))
    }
    const seen = await db.withTransaction(change)
    for (const [i, [filter, options]] of finds.entries()) {
      assert.equal(idsOf(await db.find(filter, options).toArray()), seen[i], `find ${i}`)
    }
  }
})

test('a find lets the event loop turn while it looks at changed documents, and shapes and merges what it found', async () => {
  await using db = await withDocuments(2000)
  const body = async (tx: Transaction): Promise<void> => {
    await tx.updateMany({ _id: { $lt: 400 } }, { $inc: { n: 1 } })
    const none = { filter: { n: { $lt: 0 } }, options: {} }
    const projected = { filter: { _id: { $gte: 1000 } }, options: { projection: { n: 1 } } }
    const reads = [none, projected, { filter: {}, options: { sort: { n: -1 } } }] as const
    for (const { filter, options } of reads) {
      const alone = await turnsDuring(() => db.find(filter, options).toArray())
      const inside = await turnsDuring(() => tx.find(filter, options).toArray())
      assert.ok(inside >= alone + 400, `${inside} turns instead of ${alone}: ${JSON.stringify(filter)}`)
    }
  }
  // By the clock of turnsDuring() it takes more than a minute.
  await db.withTransaction(body, { maxTimeMS: 0 })
})

test('the event loop turns while a commit looks for changes', async () => {
  await using db = await withDocuments(400)
  const turnsOf = (end: () => void): Promise<number> =>
    turnsDuring(() =>
      db
        .withTransaction(async (tx) => {
          await tx.updateMany({}, { $set: { x: 1 } })
          await tx.updateMany({}, { $unset: { x: true } })
          end()
        })
        .catch(() => {})
    )
  const rolledBack = await turnsOf(() => {
    throw new Error('enough')
  })
  const committed = await turnsOf(() => {})
  assert.ok(committed >= rolledBack + 400, `${committed} turns, and ${rolledBack} without the commit`)
})

test('a find stops at its time limit while it looks at changed documents', async () => {
  await using db = await withDocuments(500)
  await db.withTransaction(async (tx) => {
    await tx.updateMany({}, { $set: { list: Array.from({ length: 100 }, (_, i) => i) } })
    const sum = { $reduce: { input: '$list', initialValue: 0, in: { $add: ['$$value', '$$this'] } } }
    const slow = { $expr: { $lt: [sum, { $size: { $filter: { input: '$list', cond: { $gt: [sum, 1e9] } } } }] } }
    await rejects(tx.find(slow, { maxTimeMS: 20 }).toArray(), 'MaxTimeMSExpired')
    assert.is(await tx.countDocuments({ list: 5 }), 500)
  })
})

test('wrong arguments are rejected as by the calls of a collection, and the transaction goes on', async () => {
  await using db = await withDocuments(2)
  // @ts-expect-error
  await rejects(db.withTransaction('no function'), 'BadValue')
  // @ts-expect-error
  await rejects(db.withTransaction(undefined), 'BadValue')
  await db.withTransaction(async (tx) => {
    for (const none of [undefined, null, 5, 'text', {}]) {
      const { message } = await rejects(tx.insertMany(none as never), 'BadValue')
      assert.match(message, 'takes an iterable of documents')
    }
    const { message } = await rejects(tx.insertMany([{ n: 1 }, 5 as never]), 'BadValue')
    assert.match(message, 'at 1')
    await rejects(tx.insertMany([{ n: 1 }], { ordered: false } as never), 'BadValue')
    await rejects(tx.insertOne({ n: 1 }, { unknown: 1 } as never), 'BadValue')
    await rejects(tx.insertOne({ n: 1 }, null as never), 'BadValue')
    await rejects(tx.findOne({}, null as never), 'BadValue')
    await rejects(tx.findOne({}, { unknown: 1 } as never), 'BadValue')
    await tx.insertOne({ _id: 'kept' }, {})
  })
  assert.equal(idsOf(await db.find().toArray()), [0, 1, 'kept'])
})

test('each call that is refused gets an error of its own, which leads to its caller', async () => {
  await using db = await withDocuments(1)
  let ended: Transaction | undefined
  await db.withTransaction((tx) => {
    ended = tx
  })
  const controller = new AbortController()
  let interrupted: Transaction | undefined
  const running = db.withTransaction(
    async (tx) => {
      interrupted = tx
      controller.abort(new Error('why'))
    },
    { signal: controller.signal }
  )
  const { cause } = await rejects(running, 'Aborted')
  assert.is((cause as Error).message, 'why')
  for (const [tx, codeName] of [
    [ended, 'NoSuchTransaction'],
    [interrupted, 'Aborted']
  ] as const) {
    const first = async (): Promise<Error> => rejects(tx!.get(0), codeName)
    const second = async (): Promise<Error> => rejects(tx!.insertOne({}), codeName)
    const errors = [await first(), await second()]
    assert.is.not(errors[0], errors[1])
    assert.not.match(errors[1]!.stack ?? '', 'Transaction.get')
  }
})

test('a cursor that is exhausted can be cloned, as its error says', async () => {
  await using db = await withDocuments(2)
  await db.withTransaction(async (tx) => {
    const cursor = tx.find().sort({ _id: -1 })
    assert.equal(idsOf(await cursor.toArray()), [1, 0])
    await rejects(cursor.toArray(), 'CursorNotFound')
    await tx.insertOne({ _id: 2 })
    assert.equal(idsOf(await cursor.clone().toArray()), [2, 1, 0])
  })
})

test('a source without an end is not read further than a transaction can take', async () => {
  await using db = await withDocuments(1)
  function* endless() {
    for (;;) yield { n: 1 }
  }
  await rejects(
    db.withTransaction((tx) => tx.insertMany(endless())),
    'TransactionTooLarge'
  )
})

test('what a transaction keeps of deleted and replaced documents is bounded as well', async () => {
  await using db = await open('unused', { store: 'memory' })
  const large = 'x'.repeat(1_000_000)
  for (let _id = 0; _id < 20; _id++) await db.insertOne({ _id, large })
  await db.withTransaction(async (tx) => {
    await rejects(tx.deleteMany({}), 'TransactionTooLarge')
    await rejects(tx.updateMany({}, { $unset: { large: true } }), 'TransactionTooLarge')
    assert.is(await tx.countDocuments({ large: { $exists: true } }), 20)
    for (let _id = 0; _id < 16; _id++) await tx.updateOne({ _id }, { $unset: { large: true } })
    await rejects(tx.deleteOne({ _id: 16 }), 'TransactionTooLarge')
    // They are counted already.
    await tx.deleteMany({ _id: { $lt: 16 } })
    await tx.insertOne({ _id: 0, again: large })
  })
  assert.equal(idsOf(await db.find({}, { projection: { _id: 1 } }).toArray()), [16, 17, 18, 19, 0])
})

test.run()
