/** findOne() with an `_id` in its filter takes another way than find(), which is the oracle here. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { inspect } from 'node:util'
import { Level } from 'level'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Decimal128, type Document, Double, type FindOptions, Int32, Long, ObjectId, open } from '../../src/index.ts'
import { numbersBelow, randomFrom } from '../support/random.ts'
import { seedOfRun } from '../support/values.ts'
import { rejects, scratchPath } from './scratch.ts'

const seed = seedOfRun()

const ids: readonly unknown[] = [
  ...[0, 1, -1, 2.5, 2 ** 53, 'a', '', 'ä', true, null, new Date(7), new ObjectId('0123456789abcdef01234567')],
  ...[{ a: 1, b: 'x' }, { a: { $b: 1 } }, 2n ** 62n, Number.NaN, Decimal128.fromString('1.5')]
]
/** Other ways to write some of them, and values that no document has as its `_id`. */
const asked: readonly unknown[] = [
  ...ids,
  ...[new Int32(1), new Double(1), Long.fromNumber(-1), 1n, -0, 'A', { b: 'x', a: 1 }, 1.5, [1], /^a/, undefined],
  ...[{ $eq: 1 }, { $in: [1] }, { $in: [1, 'a'] }, { $gt: 1 }, { $ne: 1 }, { $in: [] }, new Date(8), new ObjectId()]
]
const conditions: readonly object[] = [
  ...[
    {},
    {},
    { n: { $lt: 3 } },
    { n: { $exists: false } },
    { tags: 'x' },
    { 'sub.a': { $gt: 1 } },
    { $nor: [{ n: 1 }] }
  ],
  ...[{ $where: (document: Document) => document.n === 2 }, { $expr: { $gt: ['$n', 1] } }, { $comment: 'why' }]
]
const options: readonly FindOptions[] = [
  ...[{}, {}, { projection: { n: 1 } }, { projection: { _id: 0, sub: 1 } }, { projection: { tags: { $slice: 1 } } }],
  ...[{ skip: 1 }, { sort: { n: 1 } }, { hint: 'scan' }, { collation: { locale: 'en', strength: 2 } }, { limit: 5 }],
  ...[{ projection: { twice: { $multiply: ['$n', 2] } } }, { maxTimeMS: 10_000 }, { sort: { $natural: -1 } }],
  ...[{ hint: 'n_1' }, { hint: { s: 1 } }, { hint: 'none' }]
] as FindOptions[]

for (const store of ['lsm', 'level', 'memory'] as const) {
  test(`findOne() returns what find() does first, whatever the _id, other conditions and options, on ${store}`, async () => {
    const below = numbersBelow(seed)
    const oneOf = <T>(items: readonly T[]): T => items[below(items.length)]!
    await using db = await open(scratchPath(), { store })
    await db.insertMany(
      ids.map((_id, i) => ({ _id, ...(i % 5 > 0 && { n: i % 5 }), tags: ['x', 'y'].slice(i % 3), sub: { a: i } }))
    )
    await db.createIndex({ n: 1 })
    await db.createIndex({ s: 1 }, { sparse: true })
    for (let round = 0; round < 400; round++) {
      const filter = { _id: oneOf(asked), ...oneOf(conditions) } as Document
      const option = oneOf(options)
      const outcome = async (run: () => Promise<Document | null | undefined>) => {
        try {
          return (await run()) ?? null
        } catch (error) {
          return (error as Error).message
        }
      }
      const expected = await outcome(async () => (await db.find(filter, { ...option, limit: 1 }).toArray())[0])
      assert.equal(await outcome(() => db.findOne(filter, option)), expected, inspect([filter, option]))
    }
  })
}

test('calls by _id refuse hints that find() refuses', async () => {
  await using db = await open(scratchPath())
  await db.createIndex({ s: 1 }, { sparse: true })
  await db.insertOne({ _id: 1 })
  const one = { _id: 1 }
  for (const hint of ['none', { s: 1 }] as const) {
    await rejects(db.find(one, { hint }).toArray(), 'BadValue')
    await rejects(db.findOne(one, { hint }), 'BadValue')
    await rejects(db.updateOne(one, { $set: { n: 1 } }, { hint }), 'BadValue')
    await rejects(db.replaceOne(one, { n: 1 }, { hint }), 'BadValue')
    await rejects(db.deleteOne(one, { hint }), 'BadValue')
    await rejects(db.findOneAndDelete(one, { hint }), 'BadValue')
  }
  assert.equal(await db.find().toArray(), [one])
})

test('a document that was found belongs to the caller, also once it is cached', async () => {
  await using db = await open(scratchPath())
  await db.insertOne({ _id: 1, list: [{ n: 1 }] })
  for (let round = 0; round < 4; round++) {
    const found = (await db.findOne({ _id: 1 })) as unknown as { list: { n: number }[] }
    assert.equal(found, { _id: 1, list: [{ n: 1 }] })
    found.list[0]!.n = 2
    found.list.push({ n: 3 })
  }
})

test('until a deletion or an update is complete, the document before it is found, and then the one after it', async () => {
  // LevelDB applies a batch on a thread of its own, so that turns pass between the two.
  const level = new Level<unknown, unknown>(scratchPath())
  for (const store of [undefined, level]) {
    await using db = await (store === undefined ? open(scratchPath()) : open(store))
    const random = randomFrom(seed + 1)
    for (let round = 0; round < 60; round++) {
      await db.insertOne({ _id: 1, n: 0 })
      const wrong: string[] = []
      let done = 0
      const changes = (async () => {
        for (let n = 1; n <= 3; n++) {
          await db.updateOne({ _id: 1 }, { $set: { n } })
          done = n
        }
        await db.deleteOne({ _id: 1 })
        done = 4
      })()
      while (done < 4) {
        const before = done
        const found = await db.findOne({ _id: 1 })
        const n = found === null ? 4 : Number(found.n)
        if (n < before || n > done + 1) wrong.push(`found ${n}, of ${before} to ${done} complete`)
        if (random() < 0.5) await nextTurn()
      }
      await changes
      assert.equal(wrong, [])
      assert.is(await db.findOne({ _id: 1 }), null)
    }
  }
  await level.close()
})

test('signal and time limit are obeyed, and a closed database refuses', async () => {
  const db = await open(scratchPath())
  await db.insertOne({ _id: 1 })
  const aborted = AbortSignal.abort(new Error('enough'))
  const refused = await db.findOne({ _id: 1 }, { signal: aborted }).catch((error: unknown) => error)
  assert.is((refused as Error).name, 'AbortError')
  await rejects(db.findOne({ _id: 1 }, { maxTimeMS: -1 }), 'BadValue')
  await db.close()
  await rejects(db.findOne({ _id: 1 }), 'DatabaseNotOpen')
})

test.run()
