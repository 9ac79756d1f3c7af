/**
 * What a transaction reads after it has changed something: what a collection with the same documents returns, without
 * reading again what it has changed.
 */
import { MemoryLevel } from 'memory-level'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Document, type OpenOptions, open, type TransactionCollection } from '../../src/index.ts'

/** Counts reads by key. */
class ReadCountingLevel extends MemoryLevel {
  reads = 0

  constructor() {
    super()
    const getSync = this.getSync.bind(this) as (...args: unknown[]) => unknown
    Object.assign(this, {
      getSync: (...args: unknown[]) => {
        this.reads++
        return getSync(...args)
      }
    })
  }
}

const documentAt = (_id: number): Document => ({ _id, kind: _id % 3, n: _id, at: new Date(_id * 1000) })

type Change = (collection: TransactionCollection) => Promise<unknown>

const toSeven = { $set: { kind: 7 } }

const changes: Readonly<Record<string, readonly [change: Change, options?: OpenOptions]>> = {
  'an update by a pair': [(tx) => tx.updateOne({ kind: 1 }, toSeven)],
  'an update by a range': [(tx) => tx.updateOne({ n: { $lt: 1000 } }, { $inc: { n: 1000 } })],
  'a deletion': [(tx) => tx.deleteOne({})],
  'a scan': [(tx) => tx.updateOne({ kind: 1 }, toSeven, { hint: 'scan' })],
  'a declared index': [(tx) => tx.updateOne({ kind: 1 }, toSeven, { hint: { kind: 1 } })],
  'a walk along a declared index': [(tx) => tx.findOneAndDelete({ kind: 1 }, { sort: { n: 1 }, hint: { n: 1 } })],
  'the order of a column': [(tx) => tx.findOneAndDelete({ kind: { $ne: 2 } }, { sort: { at: 1 } })],
  'the reverse order': [(tx) => tx.findOneAndDelete({ kind: 1 }, { sort: { $natural: -1 } })],
  'a store without an index': [(tx) => tx.updateOne({ kind: 1 }, toSeven), { index: 'none' }],
  'computed ids': [(tx) => tx.deleteOne({ kind: 1 }), { ids: { codec: 'reversible', from: 0, to: 10_000 } }]
}

/** Counts the reads of the last 50 of 200 calls. */
async function readsOf(change: Change, options: OpenOptions, isInside: boolean): Promise<number> {
  const level = new ReadCountingLevel()
  await using db = await open(level, options)
  await db.createIndex({ kind: 1 })
  await db.createIndex({ n: 1 })
  await db.insertMany(Array.from({ length: 3000 }, (_, i) => documentAt(i)))
  let before = 0
  const changeAll = async (side: unknown): Promise<void> => {
    for (let i = 0; i < 200; i++) {
      if (i === 150) before = level.reads
      await change(side as TransactionCollection)
    }
    before = level.reads - before
  }
  await (isInside ? db.withTransaction(changeAll) : changeAll(db))
  return before
}

for (const [name, [change, options = {}]] of Object.entries(changes)) {
  test(`documents that a transaction has changed are not read again by ${name}`, async () => {
    const inside = await readsOf(change, options, true)
    const alone = await readsOf(change, options, false)
    assert.ok(inside <= 1.2 * alone + 50, `${inside} reads, ${alone} without a transaction`)
  })
}

test('a transaction that has changed something counts by the index as a collection does', async () => {
  const level = new ReadCountingLevel()
  await using db = await open(level)
  await db.insertMany(Array.from({ length: 3000 }, (_, i) => documentAt(i)))
  await db.withTransaction(async (tx) => {
    for (let i = 0; i < 300; i++) await tx.updateOne({ _id: i }, toSeven)
    const counted: number[] = []
    const before = level.reads
    for (const filter of [{}, { kind: 1 }, { kind: { $ne: 1 } }]) counted.push(await tx.countDocuments(filter))
    assert.equal(counted, [3000, 900, 2100])
    assert.is(level.reads, before)
  })
})

test.run()
