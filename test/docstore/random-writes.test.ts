/**
 * Random writes against a Map as model: after every round and every reopen, the index, a scan and the model agree on
 * every filter.
 */
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Database, type Document, open } from '../../src/index.ts'
import { compileFilter } from '../../src/query/filter.ts'
import { adversarial, documents, plain, testSeed } from '../support/arbitraries.ts'
import { randomFrom } from '../support/random.ts'
import { scratchPath } from './scratch.ts'
import { askableFilters } from './value-cases.ts'

const seed = testSeed()
const random = randomFrom(seed)
const below = (limit: number): number => Math.floor(random() * limit)

function sample<T>(arbitrary: fc.Arbitrary<T>, count: number): T[] {
  return fc.sample(arbitrary, { numRuns: count, seed: below(2 ** 31) })
}

async function isStorable(db: Database, document: Document): Promise<boolean> {
  try {
    await db.insertOne(document)
    return true
  } catch {
    // Refused documents are tested elsewhere.
    return false
  }
}

async function assertAlike(db: Database, model: ReadonlyMap<number, number>, questions: readonly Document[]) {
  const scanned = await db.find({}, { hint: 'scan' }).toArray()
  assert.equal(new Map(scanned.map(({ _id, version }) => [_id, version])), model)
  for (const filter of questions) {
    const { matches } = compileFilter(filter)
    const expected = scanned.filter(matches).map(({ _id }) => _id)
    const shown = JSON.stringify(filter, (_, value) => (typeof value === 'bigint' ? `${value}n` : value))
    const ids = async (options: object) => (await db.find(filter, options).toArray()).map(({ _id }) => _id)
    assert.equal(await ids({}), expected, `index: ${shown}`)
    assert.equal(await ids({ hint: 'scan' }), expected, `scan: ${shown}`)
    assert.equal(await ids({ sort: { $natural: -1 } }), [...expected].reverse(), `reverse: ${shown}`)
    assert.equal(await ids({ skip: 1, limit: 2 }), expected.slice(1, 3), `limit: ${shown}`)
    assert.is(await db.countDocuments(filter), expected.length, `count: ${shown}`)
  }
}

for (const [name, profile, rounds] of [
  ['adversarial', adversarial, 8],
  ['plain', plain, 8]
] as const) {
  test(`${name} documents: index, scan and model agree through inserts, updates, deletes and reopens`, async () => {
    const location = scratchPath()
    const options = { index: { segmentBits: 512 } }
    let db = await open(location, options)
    /** Version by `_id`. */
    const model = new Map<number, number>()
    const questions = askableFilters(profile, 400, below(2 ** 31))
    let nextId = 0
    for (let round = 0; round < rounds; round++) {
      for (const document of sample(documents(profile), 150)) {
        const { _id: _, ...rest } = document
        const _id = nextId++
        if (await isStorable(db, { _id, ...rest, version: 0 })) model.set(_id, 0)
      }
      for (let i = 0; i < 20; i++) {
        const from = below(nextId)
        const filter = { _id: { $gte: from, $lt: from + below(6) } }
        if (i % 2 === 0) {
          await db.deleteMany(filter)
          for (const _id of model.keys()) if (_id >= from && _id < filter._id.$lt) model.delete(_id)
        } else {
          await db.updateMany(filter, { $inc: { version: 1 } })
          for (const [_id, version] of model) if (_id >= from && _id < filter._id.$lt) model.set(_id, version + 1)
        }
      }
      const scannedOrder = new Map(
        (await db.find().toArray()).map(({ _id }) => [Number(_id), model.get(Number(_id)) ?? -1])
      )
      const some = Array.from({ length: 25 }, () => questions[below(questions.length)] ?? {})
      assert.is(scannedOrder.size, model.size)
      await assertAlike(db, scannedOrder, some)
      if (round % 3 === 2) {
        await db.close()
        db = await open(location, options)
        assert.is((await db.index.stats()).recovered, 0)
        await assertAlike(db, scannedOrder, some)
      }
    }
    await db.close()
  })
}

test.run()
