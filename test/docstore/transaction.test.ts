/** Transactions: committed as a whole or not at all, serial, bounded, and over when they are over. */
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { BulkWriteError, type Database, open, type Transaction, type TransactionCollection } from '../../src/index.ts'
import { FailingLevel } from './odd-stores.ts'
import { rejects, scratchPath } from './scratch.ts'

interface Account {
  _id: string
  balance: number
}

async function withAccounts(): Promise<Database> {
  const db = await open('unused', { store: 'memory' })
  await db.collection<Account>('accounts').insertMany([
    { _id: 'a', balance: 100 },
    { _id: 'b', balance: 0 }
  ])
  return db
}

async function balances(side: Database | Transaction): Promise<number[]> {
  const accounts = side.collection('accounts') as TransactionCollection<Account>
  const all = await accounts.find().sort({ _id: 1 }).toArray()
  return all.map(({ balance }) => balance)
}

async function transfer(tx: Transaction, amount: number): Promise<void> {
  const accounts = tx.collection<Account>('accounts')
  const enough = { _id: 'a', balance: { $gte: amount } }
  const { modifiedCount } = await accounts.updateOne(enough, { $inc: { balance: -amount } })
  if (modifiedCount === 0) throw new Error('Too little money')
  await accounts.updateOne({ _id: 'b' }, { $inc: { balance: amount } })
  await tx.collection('log').insertOne({ amount })
}

/** A promise, and what settles it. */
function gate(): { readonly passed: Promise<void>; open(): void } {
  let open = (): void => {}
  const passed = new Promise<void>((resolve) => {
    open = resolve
  })
  return { passed, open }
}

test('what a transaction writes to several collections is kept', async () => {
  const location = scratchPath()
  const db = await open(location)
  await db.collection<Account>('accounts').insertMany([
    { _id: 'a', balance: 100 },
    { _id: 'b', balance: 0 }
  ])
  assert.is(await db.withTransaction((tx) => transfer(tx, 30).then(() => 'done')), 'done')
  await db.close()
  const again = await open(location)
  assert.equal(await balances(again), [70, 30])
  assert.is(await again.collection('log').countDocuments({ amount: 30 }), 1)
  assert.equal((await again.verify()).problems, [])
  await again.close()
})

test('of a transaction whose body throws nothing is written, and the error is the body’s own', async () => {
  const db = await withAccounts()
  try {
    await db.withTransaction((tx) => transfer(tx, 101))
    assert.unreachable()
  } catch (error) {
    assert.is((error as Error).message, 'Too little money')
  }
  const late = db.withTransaction(async (tx) => {
    await transfer(tx, 10)
    throw new Error('too late')
  })
  await late.then(assert.unreachable, (error: Error) => assert.is(error.message, 'too late'))
  assert.equal(await balances(db), [100, 0])
  assert.is(await db.collection('log').countDocuments(), 0)
  await db.close()
})

test('others see the state before until the commit, and then all of it', async () => {
  const db = await withAccounts()
  const isInside = gate()
  const mayEnd = gate()
  const running = db.withTransaction(async (tx) => {
    await transfer(tx, 30)
    assert.equal(await balances(tx), [70, 30])
    isInside.open()
    await mayEnd.passed
  })
  await isInside.passed
  assert.equal(await balances(db), [100, 0])
  const cursor = db.collection<Account>('accounts').find()
  assert.ok(await cursor.next())
  mayEnd.open()
  await running
  assert.equal(await balances(db), [70, 30])
  assert.is((await cursor.next())?.balance, 0, 'a cursor that was opened before keeps its view')
  await db.close()
})

for (const store of ['lsm', 'memory'] as const) {
  test(`reads of two collections that begin together see the same transactions: ${store}`, async () => {
    const db = await open(store === 'memory' ? 'unused' : scratchPath(), { store })
    const [left, right] = [db.collection('left'), db.collection('right')]
    await Promise.all([left.insertOne({ _id: 0, sum: 0 }), right.insertOne({ _id: 0, sum: 0 })])
    await using changes = right.watch()
    let isDone = false
    const transferring = (async () => {
      for (let i = 0; i < 200; i++) {
        await db.withTransaction(async (tx) => {
          // Now in this order, now in the other.
          const names = i % 2 === 0 ? (['left', 'right'] as const) : (['right', 'left'] as const)
          for (const name of names) {
            await tx.collection(name).updateOne({ _id: 0 }, { $inc: { sum: name === 'left' ? 1 : -1 } })
          }
        })
        if (i % 20 === 0) await sleep(0)
      }
      isDone = true
    })()
    const seen = new Set<unknown>()
    for (let reads = 0; !isDone; reads++) {
      const [one, other] = await Promise.all([left.findOne({ _id: 0 }), right.findOne({ _id: 0 })])
      assert.is(Number(one?.sum) + Number(other?.sum), 0)
      seen.add(one?.sum)
      if (reads % 5 === 0) await sleep(0)
    }
    await transferring
    assert.ok(seen.size > 3, `${seen.size} states were seen`)
    for (let sum = 1; sum <= 200; sum++) {
      const change = await changes.next()
      assert.equal(change?.operationType === 'update' && change.updateDescription.updatedFields, { sum: -sum })
    }
    await db.close()
  })
}

test('writes of others to the same collections wait for the end, to other collections they do not', async () => {
  const db = await withAccounts()
  const isInside = gate()
  const mayEnd = gate()
  const running = db.withTransaction(async (tx) => {
    assert.equal(await balances(tx), [100, 0])
    isInside.open()
    await mayEnd.passed
    await transfer(tx, 30)
  })
  await isInside.passed
  let isWritten = false
  const waiting = db
    .collection<Account>('accounts')
    .updateOne({ _id: 'a', balance: 70 }, { $inc: { balance: 5 } })
    .then(({ modifiedCount }) => {
      isWritten = true
      return modifiedCount
    })
  await db.collection('others').insertOne({})
  assert.not(isWritten)
  mayEnd.open()
  await running
  assert.is(await waiting, 1, 'the update finds what the transaction has written')
  assert.equal(await balances(db), [75, 30])
  await db.close()
})

test('transactions run one after the other, so that none is lost', async () => {
  const db = await withAccounts()
  const increments = Array.from({ length: 50 }, () =>
    db.withTransaction(async (tx) => {
      const accounts = tx.collection<Account>('accounts')
      const account = await accounts.get('a')
      await sleep(0)
      await accounts.replaceOne({ _id: 'a' }, { balance: (account?.balance ?? 0) + 1 })
    })
  )
  await Promise.all(increments)
  assert.equal(await balances(db), [150, 0])
  await db.close()
})

test('a call that fails has changed nothing, and the transaction can go on', async () => {
  const db = await withAccounts()
  await db.withTransaction(async (tx) => {
    const accounts = tx.collection<{ _id: string; balance: number | string }>('accounts')
    await accounts.updateOne({ _id: 'b' }, { $set: { balance: 'none' } })
    await rejects(accounts.updateMany({}, { $inc: { balance: 1 } }), 'TypeMismatch')
    await rejects(
      accounts.insertMany([
        { _id: 'c', balance: 1 },
        { _id: 'a', balance: 1 }
      ]),
      'DuplicateKey'
    )
    await rejects(accounts.insertOne({ _id: 'b', balance: 1 }), 'DuplicateKey')
    await rejects(accounts.updateOne({ _id: 'a' }, { $set: { _id: 'd' } } as never), 'ImmutableField')
    await rejects(accounts.insertOne([] as never), 'BadValue')
    await rejects(accounts.find({ balance: { $gtt: 1 } } as never).toArray(), 'BadValue')
    await rejects(accounts.findOne({}, { sorted: 1 } as never), 'BadValue')
    await rejects(accounts.get(undefined as never), 'BadValue')
    assert.equal(await accounts.find().sort('_id').toArray(), [
      { _id: 'a', balance: 100 },
      { _id: 'b', balance: 'none' }
    ])
  })
  assert.equal(await balances(db), [100, 'none'])
  await db.close()
})

test('bulkWrite() does what its operations do alone, and after an error tells which of them are done', async () => {
  await using db = await open('unused', { store: 'memory' })
  await db.insertMany([1, 2, 3].map((_id) => ({ _id, n: 0 })))
  await db.withTransaction(async (tx) => {
    const result = await tx.bulkWrite([
      { insertOne: { document: { _id: 4, n: 1 } } },
      { updateMany: { filter: { n: { $lte: 1 } }, update: { $inc: { n: 10 } } } },
      { replaceOne: { filter: { _id: 9 }, replacement: { n: 9 }, upsert: true } },
      { deleteOne: { filter: { n: 11 } } }
    ])
    assert.equal(result, {
      acknowledged: true,
      insertedCount: 1,
      matchedCount: 4,
      modifiedCount: 4,
      deletedCount: 1,
      upsertedCount: 1,
      insertedIds: { 0: 4 },
      upsertedIds: { 2: 9 }
    })
    assert.is(await db.countDocuments({ n: 0 }), 3, 'nothing is seen by others')
    const duplicates = [5, 1, 6].map((_id) => ({ insertOne: { document: { _id } } }))
    const failed = await rejects(tx.bulkWrite(duplicates), 'DuplicateKey')
    assert.is((failed as BulkWriteError).result.insertedCount, 1)
    const others = [6, 2, 7].map((_id) => ({ insertOne: { document: { _id } } }))
    const unordered = await rejects(tx.bulkWrite(others, { ordered: false }), 'DuplicateKey')
    assert.is((unordered as BulkWriteError).result.insertedCount, 2)
    await rejects(tx.bulkWrite([{ insertOne: { document: { _id: 8 } } }, { drop: {} } as never]), 'BadValue')
  })
  const ids = (await db.find({}, { sort: { _id: 1 } }).toArray()).map(({ _id }) => _id)
  assert.equal(ids, [1, 2, 3, 5, 6, 7, 9])
})

test('a call that reads many documents ends when its transaction does', async () => {
  await using db = await open('unused', { store: 'memory' })
  await db.insertMany(Array.from({ length: 20_000 }, (_, n) => ({ _id: n })))
  for (const call of ['find', 'count', 'update'] as const) {
    const controller = new AbortController()
    let tested = 0
    const filter = {
      $where: () => {
        if (++tested === 100) controller.abort()
        return false
      }
    }
    const running = db.withTransaction(
      async (tx) => {
        if (call === 'find') await tx.find(filter).toArray()
        else if (call === 'count') await tx.countDocuments(filter)
        else await tx.updateMany(filter, { $set: { n: 1 } })
      },
      { signal: controller.signal }
    )
    await rejects(running, 'Aborted')
    // The collection is free once nothing is read any more.
    await db.updateOne({ _id: 0 }, { $inc: { n: 1 } })
    assert.ok(tested < 10_000, `${call}: ${tested} documents were read`)
  }
})

test('bulkWrite() ends at its first operation after the transaction, or for want of room', async () => {
  await using db = await open('unused', { store: 'memory' })
  const operations = Array.from({ length: 3000 }, (_, n) => ({ insertOne: { document: { _id: n } } }))
  await db.withTransaction(async (tx) => {
    const error = await rejects(tx.bulkWrite(operations, { ordered: false }), 'TransactionTooLarge')
    assert.not(error instanceof BulkWriteError, 'the operations after it are not tried')
    assert.is(await tx.countDocuments(), 1000)
  })
  const updates = Array.from({ length: 100_000 }, (_, n) => ({
    updateOne: { filter: { _id: n }, update: { $inc: { n: 1 } } }
  }))
  let bulk: Promise<unknown> | undefined
  const from = performance.now()
  const running = db.withTransaction(
    async (tx) => {
      bulk = tx.bulkWrite(updates, { ordered: false })
      await bulk
    },
    { maxTimeMS: 50 }
  )
  await rejects(running, 'MaxTimeMSExpired')
  await rejects(bulk!, 'MaxTimeMSExpired')
  await db.updateOne({ _id: 1 }, { $set: { n: 5 } })
  assert.ok(performance.now() - from < 1000, 'the collection is not held until all operations have been tried')
  assert.equal(await db.get(1), { _id: 1, n: 5 })
})

test('a document that is deleted can be inserted again, and one that was inserted deleted', async () => {
  const db = await withAccounts()
  await db.withTransaction(async (tx) => {
    const accounts = tx.collection<Account>('accounts')
    await accounts.deleteOne({ _id: 'a' })
    assert.is(await accounts.get('a'), undefined)
    await accounts.insertOne({ _id: 'a', balance: 1 })
    await accounts.insertOne({ _id: 'c', balance: 2 })
    assert.is((await accounts.deleteMany({ balance: 2 })).deletedCount, 1)
    await accounts.insertOne({ _id: 'd', balance: 3 })
    await accounts.deleteOne({ _id: 'd' })
    await accounts.insertOne({ _id: 'd', balance: 4 })
    assert.is(await accounts.countDocuments(), 3)
  })
  assert.equal(await balances(db), [1, 0, 4])
  assert.is(await db.collection('accounts').estimatedDocumentCount(), 3)
  await rejects(db.collection<Account>('accounts').insertOne({ _id: 'd', balance: 5 }), 'DuplicateKey')
  await db.collection<Account>('accounts').insertOne({ _id: 'c', balance: 5 })
  await db.close()
})

test('no expression is evaluated for what a document was before the transaction changed it', async () => {
  for (const index of ['sharded', 'none'] as const) {
    const db = await open('unused', { store: 'memory', index })
    await db.insertMany(Array.from({ length: 20 }, (_, _id) => ({ _id, list: 'no list' })))
    const sized = { $expr: { $gt: [{ $size: '$list' }, 0] } }
    await db.withTransaction(async (tx) => {
      await rejects(tx.countDocuments(sized), 'BadValue')
      await tx.updateMany({}, { $set: { list: [1] } })
      assert.is(await tx.countDocuments(sized), 20)
      assert.is((await tx.updateMany({ ...sized, _id: { $lt: 5 } }, { $push: { list: 2 } })).matchedCount, 5)
      assert.is((await tx.find(sized).sort({ list: -1 }).limit(5).toArray()).length, 5)
    })
    await db.close()
  }
})

test('a limit counts the documents that a transaction sees', async () => {
  for (const index of ['sharded', 'none'] as const) {
    const db = await open('unused', { store: 'memory', index })
    // So frequent that the index proves it.
    await db.insertMany(Array.from({ length: 2000 }, (_, _id) => ({ _id, lang: _id % 2 === 0 ? 'en' : 'de', n: _id })))
    await db.withTransaction(async (tx) => {
      await tx.updateMany({ _id: { $lt: 40 } }, { $inc: { n: 5000 } })
      const ids = async (sort: Record<string, 1 | -1>) =>
        (await tx.find({ lang: 'en' }).sort(sort).limit(3).toArray()).map(({ _id }) => _id)
      assert.equal(await ids({}), [40, 42, 44])
      assert.equal(await ids({ n: 1 }), [40, 42, 44])
      assert.equal(await ids({ n: -1 }), [38, 36, 34])
      assert.equal(await ids({ $natural: -1 }), [38, 36, 34])
      assert.is((await tx.findOneAndDelete({ lang: 'en' }))?._id, 40)
    })
    await db.close()
  }
})

test('a document that comes after the limit is not looked at, as outside a transaction', async () => {
  for (const index of ['sharded', 'none'] as const) {
    await using db = await open('unused', { store: 'memory', index })
    await db.insertMany([1, 2, 3].map((_id) => ({ _id, n: 5 })))
    // Fails for a text.
    const filter = { $expr: { $gt: [{ $add: ['$n', 1] }, 5] } }
    await db.withTransaction(async (tx) => {
      await tx.insertOne({ _id: 4, n: 'text' })
      assert.is(await tx.countDocuments(filter, { skip: 1, limit: 2 }), 2)
      assert.is((await tx.findOne(filter))?._id, 1)
      await tx.deleteOne(filter)
      const { modifiedCount } = await tx.bulkWrite([{ updateOne: { filter, update: { $inc: { n: 1 } } } }])
      assert.is(modifiedCount, 1)
      assert.equal(await tx.find({}, { projection: { _id: 1 } }).toArray(), [{ _id: 3 }, { _id: 4 }, { _id: 2 }])
      await rejects(tx.countDocuments(filter), 'BadValue')
      await rejects(tx.findOne(filter, { sort: { n: 1 } }), 'BadValue')
      await tx.updateOne({ _id: 4 }, { $set: { n: 1 } })
    })
    await db.insertOne({ _id: 5, n: 5 })
    await db.updateOne({ _id: 4 }, { $set: { n: 'text' } })
    await db.insertOne({ _id: 6, n: 5 })
    await db.withTransaction(async (tx) => {
      await tx.updateMany({ _id: { $in: [2, 6] } }, { $set: { n: 7 } })
      assert.is((await tx.findOne(filter))?._id, 3)
      assert.is(await tx.countDocuments(filter, { limit: 2 }), 2)
      assert.is((await tx.findOneAndDelete(filter))?._id, 3)
    })
  }
})

test('a count is that of the documents that the transaction sees, with skip and limit applied', async () => {
  const location = scratchPath()
  const db = await open(location, { index: { segmentBits: 512 } })
  await db.insertMany(Array.from({ length: 2000 }, (_, n) => ({ _id: n, kind: n % 4, text: 'x'.repeat(500) })))
  await db.close()
  await using again = await open(location)
  await again.withTransaction(async (tx) => {
    assert.is(await tx.countDocuments(), 2000)
    assert.is(await tx.countDocuments({ kind: 1 }, { skip: 10, limit: 100 }), 100)
    await tx.updateMany({ _id: { $lt: 8 } }, { $set: { kind: 1 } })
    await tx.deleteOne({ _id: 9 })
    await tx.insertOne({ _id: 'new', kind: 1 })
    assert.is(await tx.countDocuments({ kind: 1 }), 500 + 6 - 1 + 1)
    assert.is(await tx.countDocuments({ kind: 1 }, { skip: 500 }), 6)
    assert.is(await tx.countDocuments({ kind: 1 }, { skip: 500, limit: 4 }), 4)
    assert.is(await tx.countDocuments({ kind: 1 }, { skip: 600 }), 0)
    assert.is(await again.countDocuments({ kind: 1 }), 500)
  })
  assert.is(await again.countDocuments({ kind: 1 }), 506)
})

test('documents handed out and taken share nothing with those of the transaction', async () => {
  const db = await open('unused', { store: 'memory' })
  await db.withTransaction(async (tx) => {
    const given = { _id: 1, list: [1], sub: { x: 1 } }
    await tx.insertOne(given)
    given.list.push(2)
    const found = (await tx.findOne({ _id: 1 })) as typeof given
    found.sub.x = 9
    const got = (await tx.get(1)) as typeof given
    got.list.length = 0
    const projected = (await tx.findOne({}, { projection: { sub: 1 } })) as typeof given
    projected.sub.x = 7
    const updated = await tx.findOneAndUpdate({ _id: 1 }, { $set: { a: 1 } }, { returnDocument: 'after' })
    ;(updated as unknown as typeof given).sub.x = 8
  })
  assert.equal(await db.get(1), { _id: 1, list: [1], sub: { x: 1 }, a: 1 })
  await db.close()
})

test('unique keys may move between documents, and are checked at the commit', async () => {
  const db = await open('unused', { store: 'memory' })
  await db.createIndex({ place: 1 }, { unique: true })
  await db.insertMany([
    { _id: 1, place: 'first' },
    { _id: 2, place: 'second' }
  ])
  await db.withTransaction(async (tx) => {
    await tx.updateOne({ _id: 1 }, { $set: { place: 'second' } })
    await tx.updateOne({ _id: 2 }, { $set: { place: 'first' } })
  })
  assert.is((await db.findOne({ place: 'first' }))?._id, 2)
  const refused = db.withTransaction(async (tx) => {
    await tx.collection('others').insertOne({ _id: 1 })
    await tx.insertOne({ _id: 3, place: 'third' })
    await tx.updateOne({ _id: 1 }, { $set: { place: 'first' } })
  })
  const { details } = await rejects(refused, 'DuplicateKey')
  assert.equal(details.keyValue, { place: 'first' })
  assert.is(await db.countDocuments({ place: 'third' }), 0)
  assert.is(await db.collection('others').countDocuments(), 0)
  await db.insertOne({ _id: 3, place: 'third' })
  assert.equal((await db.verify()).problems, [])
  await db.close()
})

test('a transaction that is refused for a unique key leaves nothing in the indexes of its collections', async () => {
  for (const ids of ['table', 'reversible'] as const) {
    await using db = await open('unused', { store: 'memory', ids })
    const others = db.collection('others')
    await db.createIndex({ place: 1 }, { unique: true })
    await db.insertMany([1, 2, 3].map((_id) => ({ _id, place: _id })))
    await others.insertOne({ _id: 1 })
    const sizes = async () =>
      Promise.all([db, others].map(({ index }) => index.stats().then(({ documents, dead }) => [documents, dead])))
    const before = await sizes()
    for (const place of [2, 30]) {
      const refused = db.withTransaction(async (tx) => {
        await tx.collection('others').insertMany([{ _id: 2 }, { _id: 3 }])
        await tx.insertMany([10, 20, 30].map((_id) => ({ _id, place: _id })))
        await tx.updateOne({ _id: 1 }, { $set: { place } })
      })
      const { details } = await rejects(refused, 'DuplicateKey')
      assert.equal(details.keyValue, { place })
      assert.equal(await sizes(), before)
    }
    await db.insertOne({ _id: 10, place: 30 })
    await others.insertOne({ _id: 2 })
    assert.equal(
      await sizes(),
      before.map(([documents]) => [documents! + 1, 0])
    )
    assert.equal((await db.verify()).problems, [])
  }
})

test('a transaction can change 1,000 documents, and is refused more before it reads them all', async () => {
  const db = await open('unused', { store: 'memory' })
  const documents = (from: number, count: number) => Array.from({ length: count }, (_, i) => ({ _id: from + i, n: 0 }))
  await db.insertMany(documents(0, 3000))
  await db.withTransaction(async (tx) => {
    await tx.insertMany(documents(3000, 500))
    await tx.updateMany({ _id: { $lt: 500 } }, { $inc: { n: 1 } })
    const { details, message } = await rejects(tx.insertOne({ _id: 9999 }), 'TransactionTooLarge')
    assert.is(details.maxDocuments, 1000)
    assert.match(message, '1000 documents')
    await rejects(tx.updateMany({}, { $inc: { n: 1 } }), 'TransactionTooLarge')
    await rejects(tx.deleteMany({}), 'TransactionTooLarge')
    // Even if it changes nothing: not all that match were looked at.
    await rejects(tx.updateMany({}, { $unset: { none: true } }), 'TransactionTooLarge')
    await tx.updateMany({ _id: { $lt: 500 } }, { $inc: { n: 1 } })
    assert.is(await tx.countDocuments(), 3500)
  })
  assert.is(await db.countDocuments(), 3500)
  assert.is(await db.countDocuments({ n: 2 }), 500)
  const large = db.withTransaction(async (tx) => {
    for (let i = 0; i < 3; i++) await tx.insertOne({ text: 'x'.repeat(6 << 20) })
  })
  await rejects(large, 'TransactionTooLarge')
  await db.close()
})

test('a transaction that takes too long is rolled back, and others go on', async () => {
  const db = await withAccounts()
  let late: Promise<unknown> = Promise.resolve()
  const isOver = gate()
  const slow = db.withTransaction(
    async (tx) => {
      await transfer(tx, 30)
      // Waits for the end of the transaction, which waits for it.
      await db.collection<Account>('accounts').updateOne({ _id: 'b' }, { $inc: { balance: 1 } })
      late = transfer(tx, 30)
      isOver.open()
      await late
    },
    { maxTimeMS: 50 }
  )
  const { details } = await rejects(slow, 'MaxTimeMSExpired')
  assert.is(details.maxTimeMS, 50)
  await isOver.passed
  await rejects(late, 'MaxTimeMSExpired')
  assert.equal(await balances(db), [100, 1])
  await db.withTransaction((tx) => transfer(tx, 10))
  assert.equal(await balances(db), [90, 11])
  await db.close()
})

test('an aborted transaction is rolled back, also while it waits for its turn', async () => {
  const db = await withAccounts()
  const [first, second] = [new AbortController(), new AbortController()]
  const running = db.withTransaction(
    async (tx) => {
      await transfer(tx, 30)
      await sleep(60_000, undefined, { ref: false })
    },
    { signal: first.signal }
  )
  const waiting = db.withTransaction(() => assert.unreachable(), { signal: second.signal })
  second.abort()
  await rejects(waiting, 'Aborted')
  first.abort()
  await rejects(running, 'Aborted')
  assert.equal(await balances(db), [100, 0])
  await rejects(
    db.withTransaction(() => assert.unreachable(), { signal: AbortSignal.abort() }),
    'Aborted'
  )
  await db.close()
})

test('close() rolls back a transaction whose body is not done, and keeps one that is being committed', async () => {
  const location = scratchPath()
  const db = await open(location)
  const isInside = gate()
  const running = db.withTransaction(async (tx) => {
    await tx.insertOne({ _id: 1 })
    isInside.open()
    await sleep(60_000, undefined, { ref: false })
  })
  const waiting = db.withTransaction(() => assert.unreachable())
  await isInside.passed
  await Promise.all([rejects(running, 'DatabaseNotOpen'), rejects(waiting, 'DatabaseNotOpen'), db.close()])
  const again = await open(location)
  assert.is(await again.countDocuments(), 0)
  const body = gate()
  const committing = again.withTransaction(async (tx) => {
    await tx.insertOne({ _id: 2 })
    body.open()
  })
  await body.passed
  const closing = again.close()
  const isCommitted = await committing.then(
    () => true,
    () => false
  )
  await closing
  const once = await open(location)
  assert.is(await once.countDocuments(), isCommitted ? 1 : 0)
  await rejects(
    again.withTransaction(() => assert.unreachable()),
    'DatabaseNotOpen'
  )
  await once.close()
})

test('calls that were not awaited belong to the transaction; calls after its end are refused', async () => {
  const db = await open('unused', { store: 'memory' })
  let outside: Transaction | undefined
  await db.withTransaction((tx) => {
    outside = tx
    for (let _id = 0; _id < 5; _id++) void tx.insertOne({ _id })
  })
  assert.is(await db.countDocuments(), 5)
  await rejects(outside!.insertOne({ _id: 6 }), 'NoSuchTransaction')
  await rejects(outside!.collection('x').find().toArray(), 'NoSuchTransaction')
  assert.is(await db.countDocuments(), 5)
  await db.close()
})

test('if the store fails, no collection has changed, and the next transaction is committed', async () => {
  const store = new FailingLevel()
  const db = await open(store)
  await db.insertOne({ _id: 1, n: 1 })
  await db.collection('others').insertOne({ _id: 1, n: 1 })
  const change = (tx: Transaction) =>
    Promise.all([tx.updateOne({ _id: 1 }, { $inc: { n: 1 } }), tx.collection('others').insertOne({ n: 2 })])
  Object.assign(store, { successes: 0, failures: 1 })
  await rejects(db.withTransaction(change), 'StoreFailure')
  assert.is((await db.get(1))?.n, 1)
  assert.is(await db.collection('others').countDocuments(), 1)
  await db.withTransaction(change)
  assert.is((await db.get(1))?.n, 2)
  assert.is(await db.collection('others').countDocuments(), 2)
  assert.equal((await db.verify()).problems, [])
  await db.close()
})

test('a read-only database has no transactions, and wrong arguments are refused', async () => {
  const location = scratchPath()
  await (await open(location)).close()
  const db = await open(location, { readOnly: true })
  await rejects(
    db.withTransaction(() => assert.unreachable()),
    'IllegalOperation'
  )
  await db.close()
  const writable = await open(location)
  await rejects(writable.withTransaction(undefined as never), 'BadValue')
  await rejects(
    writable.withTransaction(() => assert.unreachable(), { maxTimeMS: -1 }),
    'BadValue'
  )
  await rejects(
    writable.withTransaction(() => assert.unreachable(), { session: {} } as never),
    'BadValue'
  )
  const named = writable.withTransaction(async (tx) => void tx.collection(''))
  await rejects(named, 'InvalidNamespace')
  const { message } = await rejects(writable.updateOne({}, { $set: { a: 1 } }, { session: {} } as never), 'BadValue')
  assert.match(message, 'withTransaction')
  await writable.close()
})

test('a transaction that only reads writes nothing, and creates no collection', async () => {
  const db = await withAccounts()
  const read = await db.withTransaction(async (tx) => [
    await tx.collection('none').find({}).toArray(),
    await tx.collection('none').countDocuments({ a: 1 }),
    await tx.collection('none').get(1),
    await tx.collection('accounts').countDocuments()
  ])
  assert.equal(read, [[], 0, undefined, 2])
  assert.equal(
    db.listCollections().map(({ name }) => name),
    ['accounts']
  )
  await db.close()
})

test.run()
