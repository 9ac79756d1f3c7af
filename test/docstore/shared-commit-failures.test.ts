/** Calls that share commits fail only for what concerns them, and when others can see why. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Database, type Document, open, type PetalError } from '../../src/index.ts'
import { FailingLevel, SlowLevel } from './odd-stores.ts'

type Call = (db: Database) => Promise<unknown>

/** Two calls, the second of which is refused because of the first, and what then finds the document of the first. */
const duplicates: readonly (readonly [name: string, first: Call, second: Call, other: Document])[] = [
  ['inserts with one _id', (db) => db.insertOne({ _id: 3 }), (db) => db.insertOne({ _id: 3 }), { _id: 3 }],
  [
    'inserts with one unique key',
    (db) => db.insertOne({ _id: 3, k: 'a' }),
    (db) => db.insertOne({ _id: 4, k: 'a' }),
    { k: 'a' }
  ],
  [
    'updates with one unique key',
    (db) => db.updateOne({ _id: 1 }, { $set: { k: 'a' } }),
    (db) => db.updateOne({ _id: 2 }, { $set: { k: 'a' } }),
    { k: 'a' }
  ]
]

async function fill(db: Database): Promise<void> {
  await db.insertMany([{ _id: 1 }, { _id: 2 }])
  await db.createIndex({ k: 1 }, { unique: true, sparse: true })
}

function refusalOf(call: Promise<unknown>): Promise<PetalError> {
  return call.then(
    () => assert.unreachable('not refused'),
    (error: PetalError) => error
  ) as Promise<PetalError>
}

for (const [name, first, second, other] of duplicates) {
  test(`who is refused as a duplicate finds the other document: ${name}`, async () => {
    await using db = await open(new SlowLevel())
    await fill(db)
    const storing = first(db)
    const { codeName } = await refusalOf(second(db))
    assert.is(codeName, 'DuplicateKey')
    assert.ok(await db.findOne(other))
    await storing
  })

  test(`nobody is a duplicate of what could not be stored: ${name}`, async () => {
    for (const isLater of [false, true]) {
      const level = new FailingLevel()
      await using db = await open(level)
      await fill(db)
      level.successes = 0
      level.failures = 1
      const calls = [first(db)]
      // Otherwise the second call shares the batch; now it may be looked at while the batch is being stored.
      if (isLater) await nextTurn()
      calls.push(second(db))
      const [failed, outcome] = await Promise.allSettled(calls)
      assert.is((failed as PromiseRejectedResult).reason.codeName, 'StoreFailure')
      if (outcome!.status === 'rejected') assert.is(outcome!.reason.codeName, 'StoreFailure')
      assert.is((await db.findOne(other)) !== null, outcome!.status === 'fulfilled')
    }
  })
}

test('of single inserts in several batches, exactly those of a failed one and of later ones fail', async () => {
  const text = 'x'.repeat(60_000)
  for (let successes = 0; successes < 4; successes++) {
    const level = new FailingLevel()
    await using db = await open(level)
    await fill(db)
    level.successes = successes
    const ids = Array.from({ length: 300 }, (_, i) => i)
    const outcomes = await Promise.allSettled(ids.map((_id) => db.insertOne({ _id, text })))
    level.successes = Number.POSITIVE_INFINITY
    const stored = new Set((await db.find({ text }).toArray()).map(({ _id }) => _id))
    assert.ok(stored.size < ids.length)
    assert.is(stored.size > 0, successes > 0)
    for (const _id of ids) {
      const outcome = outcomes[_id]!
      if (_id !== 1 && _id !== 2) assert.is(outcome.status === 'fulfilled', stored.has(_id), `${_id}`)
      else if (stored.size > 0) assert.is((outcome as PromiseRejectedResult).reason.codeName, 'DuplicateKey')
    }
  }
})

test.run()
