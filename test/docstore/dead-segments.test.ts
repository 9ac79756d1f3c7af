/** Queues, and documents replaced again and again, do not fill the index with the dead, although nothing is rebuilt. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type CollectionOptions, type Database, open } from '../../src/index.ts'
import { testSeed } from '../support/arbitraries.ts'
import { numbersBelow } from '../support/random.ts'
import { scratchPath } from './scratch.ts'

const segmentBits = 512
const variants: readonly CollectionOptions[] = [
  { index: { segmentBits } },
  { index: { segmentBits, tail: 'fingerprint' } },
  { index: { segmentBits }, ids: 'reversible' }
]

type Job = {
  readonly _id: number
  readonly n: number
  readonly kind: string
}

const job = (_id: number, n = _id): Job => ({ _id, n, kind: `kind${n % 7}` })

async function indexOf(db: Database) {
  return (await db.stats()).collections[0]!.index
}

async function assertHolds(db: Database, model: ReadonlyMap<number, Job>): Promise<void> {
  assert.is(await db.countDocuments({}), model.size)
  const wanted = [...model.values()].filter(({ kind }) => kind === 'kind3').sort((a, b) => a._id - b._id)
  assert.equal(await db.find({ kind: 'kind3' }).sort({ _id: 1 }).toArray(), wanted)
}

for (const variant of variants) {
  const name = JSON.stringify(variant)

  test(`a queue: ${name}`, async () => {
    const path = scratchPath()
    const options = { ...variant, autoRebuild: false } as const
    let db = await open(path, options)
    const model = new Map<number, Job>()
    const random = numbersBelow(testSeed())
    let next = 0
    let first = 0
    let old: AsyncIterator<unknown> | undefined
    let seen: Job[] = []
    for (let round = 0; round < 24; round++) {
      const added = Array.from({ length: 200 }, () => job(next++))
      await db.insertMany(added)
      for (const each of added) model.set(each._id, each)
      if (round < 2) continue
      if (round === 4) {
        seen = [...model.values()]
        old = db.find({}).sort({ n: 1 })[Symbol.asyncIterator]()
        assert.equal((await old.next()).value, seen.shift())
      }
      for (let i = 0; i < 200; i++) {
        const taken = await db.findOneAndDelete({}, { sort: { _id: 1 } })
        assert.equal(taken, model.get(first))
        model.delete(first++)
      }
      if (random(5) === 0) await assertHolds(db, model)
      if (round !== 20) continue
      for (const each of seen) assert.equal((await old!.next()).value, each)
      await db.close()
      db = await open(path, options)
    }
    await assertHolds(db, model)
    const { segments, dead } = await indexOf(db)
    assert.ok(segments <= 4 && dead <= 3 * segmentBits, `${segments} segments, ${dead} dead`)
    assert.equal((await db.verify()).problems, [])
    await db.close()
  })

  test(`documents replaced again and again: ${name}`, async () => {
    const path = scratchPath()
    const options = { ...variant, autoRebuild: false } as const
    let db = await open(path, options)
    const random = numbersBelow(testSeed())
    const model = new Map(Array.from({ length: 600 }, (_, i) => [i, job(i)] as const))
    await db.insertMany([...model.values()])
    for (let i = 0; i < 5000; i++) {
      // The rest of the first segment stays as it is.
      const replaced = job(500 + random(60), i)
      model.set(replaced._id, replaced)
      await db.replaceOne({ _id: replaced._id }, replaced)
      if (i === 3000) {
        await assertHolds(db, model)
        await db.close()
        db = await open(path, options)
      }
    }
    await assertHolds(db, model)
    const { segments, dead } = await indexOf(db)
    assert.ok(segments <= 5 && dead <= 4 * segmentBits, `${segments} segments, ${dead} dead`)
    assert.equal((await db.verify()).problems, [])
    await db.close()
  })
}

test.run()
