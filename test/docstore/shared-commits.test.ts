/** Calls that change single documents and wait at the same time share a commit, and nobody can tell but by the time. */
import { MemoryLevel } from 'memory-level'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  BulkWriteError,
  type BulkWriteOperation,
  type CollectionOptions,
  type Database,
  type Document,
  open,
  PetalError
} from '../../src/index.ts'
import { testSeed } from '../support/arbitraries.ts'
import { numbersBelow } from '../support/random.ts'
import { FailingLevel, SyncCountingLevel } from './odd-stores.ts'

const count = 100
const ids = Array.from({ length: count }, (_, i) => i)

async function filled(db: Database): Promise<Database> {
  await db.insertMany(ids.map((_id) => ({ _id, n: 0 })))
  return db
}

/** Runs a task with a clock that only `pass` advances, by milliseconds. */
async function withClock<T>(task: (pass: (milliseconds: number) => void) => Promise<T>): Promise<T> {
  const { now } = performance
  let time = now.call(performance)
  performance.now = () => time
  try {
    return await task((milliseconds) => {
      time += milliseconds
    })
  } finally {
    performance.now = now
  }
}

const calls: readonly (readonly [name: string, call: (db: Database, _id: number) => Promise<unknown>])[] = [
  ['updateOne', (db, _id) => db.updateOne({ _id }, { $inc: { n: 1 } })],
  ['updateMany', (db, _id) => db.updateMany({ _id, n: 0 }, { $inc: { n: 1 } })],
  ['updateOne with a pipeline', (db, _id) => db.updateOne({ _id }, [{ $set: { n: { $add: ['$n', 1] } } }])],
  ['replaceOne', (db, _id) => db.replaceOne({ _id }, { n: 1 })],
  ['findOneAndUpdate', (db, _id) => db.findOneAndUpdate({ _id }, { $set: { n: 1 } })],
  ['deleteOne', (db, _id) => db.deleteOne({ _id })],
  ['findOneAndDelete', (db, _id) => db.findOneAndDelete({ _id: { $in: [_id] } })]
]

for (const [name, call] of calls) {
  test(`a hundred calls of ${name} at once share a few commits`, async () => {
    const level = new SyncCountingLevel()
    await using db = await filled(await open(level, { sync: true }))
    const before = level.syncs
    await withClock(() => Promise.all(ids.map((_id) => call(db, _id))))
    assert.ok(level.syncs - before <= 2, `${level.syncs - before} commits`)
    assert.is(await db.countDocuments({ n: 0 }), 0)
    assert.equal((await db.verify()).problems, [])
  })
}

test('operations of an unordered bulkWrite() share a few commits, those of an ordered one do not', async () => {
  for (const ordered of [false, true]) {
    const level = new SyncCountingLevel()
    await using db = await filled(await open(level, { sync: true }))
    const before = level.syncs
    const operations = ids.map((_id) => ({ updateOne: { filter: { _id }, update: { $inc: { n: 1 } } } }))
    const { modifiedCount } = await withClock(() => db.bulkWrite(operations, { ordered }))
    assert.is(modifiedCount, count)
    const commits = level.syncs - before
    assert.ok(ordered ? commits === count : commits <= 2, `ordered: ${ordered}, ${commits} commits`)
  }
})

test('more documents than a batch holds are committed in several', async () => {
  await using db = await open('unused', { store: 'memory' })
  const many = Array.from({ length: 2500 }, (_, _id) => ({ _id, n: 0 }))
  await db.insertMany(structuredClone(many))
  await Promise.all(many.map(({ _id }) => db.updateOne({ _id }, { $inc: { n: 1 } })))
  assert.is(await db.countDocuments({ n: 1 }), 2500)
})

test('calls do not wait for all the slow ones after them', async () => {
  await using db = await filled(await open('unused', { store: 'memory' }))
  let called = 0
  const calledAtFirst = await withClock(async (pass) => {
    const body = (): number => {
      called++
      pass(15)
      return 1
    }
    const slow = [{ $set: { n: { $function: { body, args: [], lang: 'js' } } } }]
    const updates = ids.map((_id) => db.updateOne({ _id }, slow))
    const first = await updates[0]!.then(() => called)
    await Promise.all(updates)
    return first
  })
  assert.is(called, count)
  assert.is(calledAtFirst, 2)
})

test('a call that fails changes nothing and fails alone', async () => {
  await using db = await filled(await open('unused', { store: 'memory' }))
  await db.updateOne({ _id: 50 }, { $set: { n: 'text' } })
  await db.createIndex({ k: 1 }, { unique: true, sparse: true })
  const aborted = AbortSignal.abort()
  const results = await Promise.allSettled(
    ids.map((_id) => {
      if (_id === 60) return db.updateOne({ _id }, { $inc: { n: 1 } }, { signal: aborted })
      return db.updateOne({ _id }, { $inc: { n: 1 }, ...(_id % 40 === 0 && { $set: { k: 'same' } }) })
    })
  )
  const failed = new Map(results.map((result, _id) => [_id, result.status === 'rejected' && result.reason.codeName]))
  assert.is(failed.get(0), false)
  assert.equal(
    [...failed].filter(([, codeName]) => codeName !== false),
    [
      [40, 'DuplicateKey'],
      [50, 'TypeMismatch'],
      [60, 'Aborted'],
      [80, 'DuplicateKey']
    ]
  )
  assert.equal(
    (await db.find({ n: { $ne: 1 } }, { sort: { _id: 1 } }).toArray()).map(({ _id }) => _id),
    [40, 50, 60, 80]
  )
  assert.equal((await db.verify()).problems, [])
})

test('when a commit fails, so do all of its calls, and nothing is changed', async () => {
  const level = new FailingLevel()
  await using db = await filled(await open(level))
  level.successes = 0
  level.failures = 1
  const results = await Promise.allSettled(ids.map((_id) => db.updateOne({ _id }, { $inc: { n: 1 } })))
  const failed = results.filter(({ status }) => status === 'rejected')
  assert.ok(failed.length > 0)
  for (const { reason } of failed as PromiseRejectedResult[]) assert.instance(reason, PetalError)
  assert.is(await db.countDocuments({ n: 1 }), count - failed.length)
  await Promise.all(ids.map((_id) => db.updateOne({ _id, n: 0 }, { $inc: { n: 1 } })))
  assert.is(await db.countDocuments({ n: 1 }), count)
  assert.equal((await db.verify()).problems, [])
})

const seed = testSeed()
const below = numbersBelow(seed)
const oneOf = <T>(values: readonly T[]): T => values[below(values.length)] as T

type Call = (db: Database) => Promise<unknown>

/** @param isOrdered whether the order of documents is that of the calls, and not that of a random permutation */
function randomCall(isOrdered: boolean): Call {
  const _id = below(12)
  const k = below(12)
  const filter = oneOf<Document>([
    { _id },
    { _id },
    { _id: { $in: [_id] } },
    { _id, k: { $lt: 6 } },
    isOrdered ? { k } : { _id }
  ])
  const change = oneOf<Document>([
    { $inc: { n: 1 } },
    { $set: { k } },
    { $unset: { k: 1 } },
    { $push: { list: _id } },
    { $set: { _id: _id + 1 } }
  ])
  const options = { upsert: below(4) === 0 }
  const returning = { ...options, returnDocument: oneOf(['before', 'after'] as const) }
  const replacement = { k, r: true }
  return oneOf<Call>([
    (db) => db.updateOne(filter, change, options),
    (db) => db.updateOne(filter, change, options),
    (db) => db.updateMany(filter, change, options),
    (db) => db.replaceOne(filter, { ...replacement }, options),
    (db) => db.findOneAndUpdate(filter, change, returning),
    (db) => db.findOneAndReplace(filter, { ...replacement }, returning),
    (db) => db.deleteOne(filter),
    (db) => db.findOneAndDelete(filter),
    (db) => db.insertOne({ _id, k })
  ])
}

interface Outcome {
  readonly results: readonly unknown[]
  readonly documents: readonly Document[]
  readonly events: readonly unknown[]
}

async function outcomeOf(
  options: Pick<CollectionOptions, 'ids'>,
  isUnique: boolean,
  act: (db: Database) => Promise<PromiseSettledResult<unknown>[]>
): Promise<Outcome> {
  await using db = await open(new MemoryLevel(), options)
  if (isUnique) await db.createIndex({ k: 1 }, { unique: true, sparse: true })
  await using changes = db.watch([], { fullDocument: 'updateLookup' })
  const settled = await act(db)
  const results = settled.map((result) => {
    if (result.status === 'fulfilled') return result.value
    assert.instance(result.reason, PetalError)
    return [result.reason.codeName, result.reason.message]
  })
  const events: unknown[] = []
  for (let change = await changes.tryNext(); change !== null; change = await changes.tryNext()) {
    events.push([change.operationType, 'documentKey' in change ? change.documentKey : undefined])
  }
  assert.equal((await db.verify()).problems, [])
  const sort = options.ids === 'table' ? undefined : { _id: 1 as const }
  return { results, documents: await db.find({}, { ...(sort && { sort }) }).toArray(), events }
}

for (const idsOption of ['table', 'reversible'] as const) {
  for (const isUnique of [false, true]) {
    const title = `ids: '${idsOption}'${isUnique ? ', a unique index' : ''}`
    test(`random calls at once have the results, documents, order and events of calls in turn: ${title}`, async () => {
      for (let round = 0; round < 60; round++) {
        const made = Array.from({ length: 40 }, () => randomCall(idsOption === 'table'))
        const inTurn = await outcomeOf({ ids: idsOption }, isUnique, async (db) => {
          const results: PromiseSettledResult<unknown>[] = []
          for (const call of made) results.push(...(await Promise.allSettled([call(db)])))
          return results
        })
        const atOnce = await outcomeOf({ ids: idsOption }, isUnique, (db) =>
          Promise.allSettled(made.map((call) => call(db)))
        )
        // Objects that an upsert by another field inserts have generated _ids.
        assert.equal(withoutGeneratedIds(atOnce), withoutGeneratedIds(inTurn), `seed ${seed}, round ${round}`)
      }
    })
  }
}

function randomOperation(): BulkWriteOperation {
  const [_id, k] = [below(12), below(12)]
  const filter = oneOf<Document>([{ _id }, { _id }, { k }])
  const update = oneOf<Document>([{ $inc: { n: 1 } }, { $set: { k } }, { $set: { _id: -1 } }])
  const upsert = below(4) === 0
  return oneOf<BulkWriteOperation>([
    { updateOne: { filter, update, upsert } },
    { updateOne: { filter, update, upsert } },
    { updateMany: { filter, update } },
    { replaceOne: { filter, replacement: { k }, upsert } },
    { deleteOne: { filter } },
    { insertOne: { document: { _id, k } } }
  ])
}

test('an unordered bulkWrite() has the counts, errors, documents and events of its operations in turn', async () => {
  for (let round = 0; round < 60; round++) {
    const operations = Array.from({ length: 40 }, randomOperation)
    const lists = (listsOf: readonly (readonly BulkWriteOperation[])[]): Promise<Outcome> =>
      outcomeOf({ ids: 'table' }, round % 2 === 0, async (db) => {
        const sum: Record<string, number> = {}
        const errors: string[] = []
        for (const list of listsOf) {
          const error = await db.bulkWrite(structuredClone(list), { ordered: false }).then(add, (reason: unknown) => {
            assert.instance(reason, BulkWriteError)
            add((reason as BulkWriteError).result)
            errors.push(...(reason as BulkWriteError).writeErrors.map(({ errmsg }) => errmsg))
          })
          assert.is(error, undefined)
        }
        function add(result: object): void {
          for (const [name, value] of Object.entries(result)) {
            if (typeof value === 'number') sum[name] = (sum[name] ?? 0) + value
          }
        }
        return [{ status: 'fulfilled', value: { sum, errors } }]
      })
    const inTurn = await lists(operations.map((operation) => [operation]))
    const atOnce = await lists([operations])
    assert.equal(withoutGeneratedIds(atOnce), withoutGeneratedIds(inTurn), `seed ${seed}, round ${round}`)
  }
})

function withoutGeneratedIds(outcome: Outcome): unknown {
  return JSON.parse(JSON.stringify(outcome).replace(/"[0-9a-f]{24}"/g, '"generated"'))
}

test.run()
