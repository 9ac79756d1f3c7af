/**
 * Random pipelines as updates: each document becomes what `aggregate()` makes of it with the same stages, except for
 * its `_id`, or the same error ends the update; index and scan agree afterwards, also after reopening.
 */
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Database, type Document, open, PetalError } from '../../src/index.ts'
import { equalValues } from '../../src/model/compare.ts'
import { compileFilter } from '../../src/query/filter.ts'
import { adversarial, documents, type Profile, plain, testSeed } from '../support/arbitraries.ts'
import { describe } from '../support/describe.ts'
import { randomFrom } from '../support/random.ts'
import { scratchPath } from './scratch.ts'
import { askableFilters } from './value-cases.ts'

const seed = testSeed()
const random = randomFrom(seed)
const below = (limit: number): number => Math.floor(random() * limit)

function sample<T>(arbitrary: fc.Arbitrary<T>, count: number): T[] {
  return fc.sample(arbitrary, { numRuns: count, seed: below(2 ** 31) })
}

const path = fc.constantFrom('a', 'b', 'c', 'a.b', 'b.a', 'a.b.c', 'new', 'new.x')
const reference = path.map((each) => `$${each}`)

function expressions(profile: Profile): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 3, arbitrary: profile.scalars.map(($literal) => ({ $literal })) },
    { weight: 4, arbitrary: reference },
    { weight: 1, arbitrary: fc.constantFrom<unknown>('$$REMOVE', '$_id', 1, 'text', null, [], {}) },
    fc.tuple(reference, reference).map(([a, b]) => [a, { k: b }]),
    reference.map((each) => ({ $ifNull: [each, 'none'] })),
    reference.map((each) => ({ $type: each })),
    fc.tuple(reference, reference).map(([a, b]) => ({ $cond: [{ $lt: [a, b] }, a, b] })),
    // An error for some documents.
    fc.tuple(reference, fc.constantFrom<unknown>(1, 2.5)).map(([each, n]) => ({ $add: [each, n] })),
    reference.map((each) => ({ $size: each })),
    fc.tuple(reference, reference).map((both) => ({ $mergeObjects: both }))
  )
}

function stages(profile: Profile): fc.Arbitrary<Document> {
  const expression = expressions(profile)
  const fields = fc.dictionary(path, expression, { minKeys: 1, maxKeys: 2, noNullPrototype: true })
  return fc.oneof(
    { weight: 4, arbitrary: fields.map(($set) => ({ $set })) },
    fields.map(($addFields) => ({ $addFields })),
    path.map(($unset) => ({ $unset })),
    fc.constant({ $unset: ['a', 'b.c', '_id'] }),
    path.map((each) => ({ $project: { [each]: 1 } })),
    path.map((each) => ({ $project: { [each]: 0, _id: 0 } })),
    fc
      .tuple(path, expression)
      .map(([each, value]) => ({ $project: { c: 1, new: value, ...(each === 'a' && { _id: 0 }) } })),
    fc.constantFrom<Document>(
      { $replaceWith: '$a' },
      { $replaceWith: { $mergeObjects: ['$$ROOT', '$a'] } },
      { $replaceRoot: { newRoot: { whole: '$$ROOT', b: '$b' } } },
      { $set: { _id: '$a' } },
      { $set: { _id: { $add: ['$_id', 0] } } }
    )
  )
}

/** What an update by the stages should leave of each document, in order, and the error that ends it. */
async function expectedOf(db: Database, found: readonly Document[], pipeline: readonly Document[]) {
  const after: Document[] = []
  for (const document of found) {
    try {
      const [made = {}] = await db.aggregate([{ $match: { _id: document._id } }, ...pipeline]).toArray()
      const { _id = document._id, ...rest } = made
      if (!equalValues(_id, document._id)) return { after, codeName: 'ImmutableField' }
      after.push({ _id: document._id, ...rest })
    } catch (error) {
      assert.instance(error, PetalError)
      return { after, codeName: (error as PetalError).codeName }
    }
  }
  return { after, codeName: undefined }
}

async function assertAlike(db: Database, questions: readonly Document[]): Promise<void> {
  const scanned = await db.find({}, { hint: 'scan' }).toArray()
  for (const filter of questions) {
    const { matches } = compileFilter(filter)
    const expected = scanned.filter(matches).map(({ _id }) => _id)
    const ids = (await db.find(filter).toArray()).map(({ _id }) => _id)
    assert.equal(ids, expected, describe(filter))
    assert.is(await db.countDocuments(filter), expected.length, describe(filter))
  }
}

for (const [store, profile] of [
  ['lsm', adversarial],
  ['lsm', plain],
  ['memory', adversarial]
] as const) {
  const kind = profile === plain ? 'plain' : 'adversarial'
  test(`${store}, ${kind} documents: an update leaves what the pipeline gives, and the index agrees`, async () => {
    const location = store === 'lsm' ? scratchPath() : 'unused'
    const options = { store, index: { segmentBits: 512 } }
    let db = await open(location, options)
    const questions = askableFilters(profile, 300, below(2 ** 31))
    const seen = { modified: 0, failed: 0 }
    for (let round = 0; round < 30; round++) {
      const first = round * 20
      for (const [i, { _id, ...document }] of sample(documents(profile), 20).entries()) {
        await db.insertOne({ _id: first + i, ...document })
      }
      for (const pipeline of sample(fc.array(stages(profile), { minLength: 1, maxLength: 3 }), 4)) {
        const from = first + below(20)
        const filter = { _id: { $gte: from, $lt: from + 1 + below(6) } }
        const before = await db.find(filter).toArray()
        const { after, codeName } = await expectedOf(db, before, pipeline)
        const shown = `${describe(pipeline)} of ${describe(before)}`
        const modified = after.filter((document, i) => describe(document) !== describe(before[i])).length
        try {
          const result = await db.updateMany(filter, pipeline)
          assert.is(codeName, undefined, shown)
          assert.equal([result.matchedCount, result.modifiedCount], [before.length, modified], shown)
        } catch (error) {
          assert.is(error instanceof PetalError ? error.codeName : error, codeName, shown)
          seen.failed++
        }
        seen.modified += modified
        // Updated documents come after the others.
        const stored = await db.find(filter, { sort: { _id: 1 } }).toArray()
        const expected = [...after, ...before.slice(after.length)].sort((a, b) => Number(a._id) - Number(b._id))
        assert.is(describe(stored), describe(expected), shown)
      }
      const some = Array.from({ length: 20 }, () => questions[below(questions.length)] ?? {})
      if (round % 3 === 0) await assertAlike(db, some)
      if (store !== 'lsm' || round % 10 !== 9) continue
      const stored = describe(await db.find().toArray())
      await db.close()
      db = await open(location, options)
      assert.is(describe(await db.find().toArray()), stored)
      await assertAlike(db, some)
    }
    await db.close()
    assert.ok(seen.modified > 100 && seen.failed > 10, JSON.stringify(seen))
  })
}

test.run()
