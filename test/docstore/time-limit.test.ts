/** A call ends soon after its time limit or abort, however long each document takes, or the writes before it. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Database, type FindOptions, open } from '../../src/index.ts'
import { AsyncLevel } from './odd-stores.ts'
import { rejects, scratchPath } from './scratch.ts'

const count = 1000
const documents = Array.from({ length: count }, (_, i) => ({ _id: i, n: i % 10, text: `text ${i}` }))

const stores: readonly (readonly [string, () => Promise<Database>])[] = [
  ['lsm', () => open(scratchPath())],
  ['level', () => open(scratchPath(), { store: 'level' })],
  ['memory', () => open('unused', { store: 'memory' })],
  ['a store without synchronous reads', () => open(new AsyncLevel())],
  ['lsm, without an index', () => open(scratchPath(), { index: 'none' })]
]

type Read = (db: Database, filter: Record<string, unknown>, options: FindOptions) => Promise<unknown>

const reads: Readonly<Record<string, Read>> = {
  find: (db, filter, options) => db.find(filter, options).toArray(),
  'find, candidates by key': (db, filter, options) => db.find({ ...filter, n: 3 }, options).toArray(),
  'find, backwards': (db, filter, options) => db.find(filter, { ...options, sort: { $natural: -1 } }).toArray(),
  'find, sorted': (db, filter, options) => db.find(filter, { ...options, sort: { text: 1 } }).toArray(),
  'find, by ids': (db, filter, options) =>
    db.find({ ...filter, _id: { $in: documents.map(({ _id }) => _id) } }, options).toArray(),
  'find, by a declared index': (db, filter, options) =>
    db.find({ ...filter, n: { $gte: 3 } }, { ...options, hint: 'n_1', sort: { n: 1 } }).toArray(),
  explain: (db, filter, options) => db.find(filter, options).explain(),
  countDocuments: (db, filter, options) => db.countDocuments(filter, options),
  distinct: (db, filter, options) => db.distinct('n', filter, options)
}

/** A condition that takes the given time for each document, and counts its calls. */
class SlowCondition {
  calls = 0
  readonly filter: Record<string, unknown>

  constructor(milliseconds: number) {
    this.filter = {
      $where: () => {
        this.calls++
        for (const end = performance.now() + milliseconds; performance.now() < end; );
        return this.calls % 2 === 0
      }
    }
  }
}

for (const [name, opened] of stores) {
  test(`${name}: a read of slow documents ends after the document at which its time is over`, async () => {
    await using db = await opened()
    await db.insertMany(documents)
    await db.createIndex({ n: 1 })
    for (const [title, read] of Object.entries(reads)) {
      const slow = new SlowCondition(30)
      await rejects(read(db, slow.filter, { maxTimeMS: 50 }), 'MaxTimeMSExpired')
      assert.ok(slow.calls <= 2, `${title}: ${slow.calls} documents of 30 ms were tested in 50 ms`)
      const aborted = new SlowCondition(30)
      const signal = AbortSignal.timeout(10)
      await rejects(read(db, aborted.filter, { signal }), 'Aborted')
      assert.ok(aborted.calls <= 3, `${title}: ${aborted.calls} documents of 30 ms were tested after it was aborted`)
    }
  })
}

type Write = (db: Database, options: Pick<FindOptions, 'maxTimeMS'>) => Promise<unknown>

/** None of them changes what another one does. */
const writes: Readonly<Record<string, Write>> = {
  updateOne: (db, options) => db.updateOne({ text: 'text 1' }, { $set: { is: 'late' } }, options),
  'updateOne, by id': (db, options) => db.updateOne({ _id: 2 }, { $set: { is: 'late' } }, options),
  'updateOne, by a pipeline': (db, options) => db.updateOne({ _id: 3 }, [{ $set: { is: { $abs: 1 } } }], options),
  'updateOne, an upsert': (db, options) => db.updateOne({ _id: -1 }, { $set: { is: 1 } }, { upsert: true, ...options }),
  updateMany: (db, options) => db.updateMany({ n: 4 }, { $set: { is: 'late' } }, options),
  replaceOne: (db, options) => db.replaceOne({ _id: 5 }, { is: 'late' }, options),
  deleteOne: (db, options) => db.deleteOne({ _id: 6 }, options),
  deleteMany: (db, options) => db.deleteMany({ n: 7 }, options),
  findOneAndUpdate: (db, options) => db.findOneAndUpdate({ text: 'text 8' }, { $set: { is: 'late' } }, options),
  findOneAndReplace: (db, options) => db.findOneAndReplace({ _id: 9 }, { is: 'late' }, options),
  findOneAndDelete: (db, options) => db.findOneAndDelete({ _id: 11 }, options)
}

/** Begins a write of `count / 10` documents of 5 ms each. */
function writeSlowly(db: Database): { readonly slow: SlowCondition; readonly done: Promise<unknown> } {
  const slow = new SlowCondition(5)
  return { slow, done: db.updateMany({ n: 0, ...slow.filter }, { $set: { is: 'slow' } }) }
}

for (const [name, opened] of stores) {
  test(`${name}: a write that waits for others ends when its time is over, and writes nothing`, async () => {
    await using db = await opened()
    await db.insertMany(documents)
    const { slow, done } = writeSlowly(db)
    const calls = Object.entries(writes)
    const late = calls.map(async ([title, write]) => {
      await rejects(write(db, { maxTimeMS: 50 }), 'MaxTimeMSExpired')
      assert.ok(slow.calls < count / 10, `${title} waited for all documents of the write before it`)
    })
    await Promise.all(late)
    await done
    assert.is(slow.calls, count / 10)
    // Behind all others in the queue.
    await db.updateOne({ _id: 0 }, { $set: { is: 'last' } })
    const others = await db.find({ n: { $ne: 0 } }).toArray()
    assert.equal(
      others,
      documents.filter(({ n }) => n !== 0)
    )
  })
}

for (const ordered of [true, false]) {
  test(`a bulkWrite() ends when its time is over, with ordered: ${ordered}; what is done by then stays`, async () => {
    await using db = await open('unused', { store: 'memory' })
    await db.insertMany(documents)
    const slow = new SlowCondition(5)
    const operations = Array.from({ length: count }, (_, i) => ({
      updateMany: { filter: { _id: i, ...slow.filter }, update: { $set: { is: 'new' } } }
    }))
    // On a busy machine the time may be over before anything was done.
    let maxTimeMS = 100
    for (; slow.calls < 10; maxTimeMS *= 2) {
      slow.calls = 0
      await rejects(db.bulkWrite(operations, { ordered, maxTimeMS }), 'MaxTimeMSExpired')
      assert.ok(slow.calls <= maxTimeMS / 5, `${slow.calls} documents of 5 ms were tested in ${maxTimeMS} ms`)
    }
    const changed = await db.countDocuments({ is: 'new' })
    assert.ok(changed > 0 && changed <= slow.calls / 2, `${changed} changed of ${slow.calls} tested`)
    await rejects(db.bulkWrite([], { maxTimeMS: '5' as never }), 'BadValue')
    assert.is(
      (await db.bulkWrite([{ deleteMany: { filter: { n: 1 } } }], { maxTimeMS: 100_000 })).deletedCount,
      count / 10
    )
  })
}

test('a bulkWrite() that waits for others ends when its time is over', async () => {
  await using db = await open('unused', { store: 'memory' })
  await db.insertMany(documents)
  const { slow, done } = writeSlowly(db)
  await rejects(db.bulkWrite([{ deleteMany: { filter: {} } }], { maxTimeMS: 50 }), 'MaxTimeMSExpired')
  assert.ok(slow.calls < count / 10)
  await done
  assert.is(await db.countDocuments(), count)
})

test('a write whose time suffices waits for its turn', async () => {
  await using db = await open('unused', { store: 'memory' })
  await db.insertMany(documents)
  const { done } = writeSlowly(db)
  await Promise.all(Object.values(writes).map((write) => write(db, { maxTimeMS: 100_000 })))
  await done
  assert.is(await db.countDocuments({ is: { $in: ['late', 1] } }), count / 10 + 7)
  assert.is(await db.countDocuments(), count - count / 10 - 2 + 1)
})

test.run()
