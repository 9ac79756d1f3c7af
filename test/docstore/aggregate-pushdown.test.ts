/**
 * A pipeline returns the same whether its leading stages are pushed down to the index or not, whether documents are
 * parsed as a whole or only the fields that it looks at, and whether it runs by itself or within another one.
 */
import { inspect } from 'node:util'
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { FieldPicker } from '../../src/docstore/documents/field-picker/field-picker.ts'
import { type AggregationPipeline, type Document, open, PetalError } from '../../src/index.ts'
import { stringifyCanonical } from '../../src/model/extended-json.ts'
import { adversarial, documents, filters, type Profile, plain, testSeed } from '../support/arbitraries.ts'
import { scratchPath } from './scratch.ts'

type Stage = AggregationPipeline[number]

/** Changes nothing, but keeps the following stages out of the read. */
const barrier: Stage = { $replaceRoot: { newRoot: '$$ROOT' } }

const paths = fc.constantFrom('a', 'b', 'c', 'a.b', 'b.a')
const flags = fc.constantFrom<unknown>(0, 1, true, false)
const direction = fc.constantFrom(1, -1)
const operands = fc.oneof(
  paths.map((path) => `$${path}`),
  fc.constantFrom<unknown>(
    '$$ROOT.b',
    '$$CURRENT.a',
    { $getField: 'c' },
    { $ifNull: ['$a', { $literal: '$b' }] },
    { $let: { vars: { x: '$b' }, in: { $type: '$$x.a' } } },
    { x: '$c.d', y: ['$a'] }
  )
)
const accumulators = fc.oneof(
  operands.map((operand) => ({ $push: operand })),
  operands.map((operand) => ({ $max: operand })),
  fc.constantFrom<unknown>(
    { $sum: 1 },
    { $first: '$$ROOT' },
    { $top: { sortBy: { a: 1, _id: 1 }, output: '$b' } },
    { $bottomN: { n: 2, sortBy: { 'c.d': -1, _id: -1 }, output: ['$a'] } }
  )
)

/** Stages that can become part of the read, mixed with others. */
function stages(profile: Profile): fc.Arbitrary<Stage> {
  return fc.oneof(
    { weight: 5, arbitrary: filters(profile, 1).map((filter) => ({ $match: filter })) },
    // By `_id` last: the two ways of sorting need not agree on the order of ties.
    { weight: 2, arbitrary: fc.tuple(paths, direction).map(([path, by]) => ({ $sort: { [path]: by, _id: 1 } })) },
    { weight: 2, arbitrary: fc.nat(5).map((n) => ({ $skip: n })) },
    { weight: 2, arbitrary: fc.integer({ min: 1, max: 12 }).map((n) => ({ $limit: n })) },
    {
      weight: 2,
      arbitrary: fc
        .tuple(fc.constantFrom('a', 'b', 'c.d'), fc.constantFrom('c.a', 'd'), fc.constantFrom(0, 1))
        .map(([one, other, flag]) => ({ $project: { [one]: flag, [other]: flag } }))
    },
    { weight: 1, arbitrary: fc.constantFrom('a', 'b.a').map((path) => ({ $unset: path })) },
    { weight: 1, arbitrary: fc.constant({ $group: { _id: null, n: { $sum: 1 } } }) },
    { weight: 1, arbitrary: paths.map((path) => ({ $set: { copy: `$${path}`, 'x.y': 1 } })) },
    { weight: 1, arbitrary: paths.map((path) => ({ $unwind: `$${path}` })) },
    { weight: 1, arbitrary: flags.map((flag) => ({ $project: { _id: flag } })) },
    { weight: 1, arbitrary: fc.constant({ $count: 'n' }) },
    {
      weight: 3,
      arbitrary: fc.tuple(operands, accumulators, accumulators).map(([_id, m, n]) => ({ $group: { _id, m, n } }))
    },
    { weight: 1, arbitrary: operands.map((operand) => ({ $sortByCount: operand })) },
    {
      weight: 2,
      arbitrary: fc
        .tuple(paths, operands, fc.constantFrom(0, 1))
        .map(([path, x, flag]) => ({ $project: { _id: flag, [path]: 1, x } }))
    },
    {
      weight: 1,
      arbitrary: fc.tuple(paths, operands).map(([path, operand]) => ({ $set: { [`${path}.z`]: operand } }))
    },
    { weight: 1, arbitrary: operands.map((operand) => ({ $match: { $expr: { $eq: [operand, 1] } } })) }
  )
}

for (const [name, profile] of [
  ['plain', plain],
  ['adversarial', adversarial]
] as const) {
  for (const store of ['memory', 'lsm'] as const)
    test(`pipelines return the same with and without pushdown, ${name} documents, store ${store}`, async () => {
      const seed = testSeed()
      await using db = await open(scratchPath(), { store, index: { segmentBits: 512 }, documentCacheBytes: 0 })
      const picking = countPicks()
      const sample = fc
        .sample(documents(profile, 2), { numRuns: 200, seed })
        .map((document, i) => ({ ...storable(document), _id: i }))
      await db.insertMany(sample.slice(0, 100))
      // Written by others: with white space, and with escapes also in keys.
      const lines = sample.slice(100).map((document, i) => {
        const line = stringifyCanonical(document)
        // In strings, too: any text will do.
        const spaced = i % 3 === 0 ? line : line.replaceAll(/[:,]/g, ' $& ')
        return i % 5 === 0 ? spaced.replaceAll('"a" :', '"\\u0061" :') : spaced
      })
      const { insertedCount } = await db.importLines([Buffer.from(lines.join('\n'))])
      assert.is(insertedCount, 100)
      let runs = 0
      let given = 0
      await fc.assert(
        fc.asyncProperty(fc.array(stages(profile), { minLength: 1, maxLength: 6 }), async (pipeline) => {
          const led = await outcome(db.aggregate(pipeline).toArray())
          const over = await outcome(db.aggregate([barrier, ...pipeline]).toArray())
          assert.equal(led, over, inspect({ pipeline, led, over }, { depth: 9 }))
          runs++
          if (Array.isArray(led)) given += led.length
        }),
        { numRuns: 400, seed }
      )
      assert.ok(given > runs, 'too few documents were given to tell anything')
      assert.is(picking.stop() > runs, store === 'lsm', 'fields are picked where records can be scanned')
    })
}

/** Ways to run a pipeline over the collection 'default' within another one, whose results are those of the pipeline. */
const within: Readonly<Record<string, (pipeline: AggregationPipeline) => AggregationPipeline>> = {
  $unionWith: (pipeline) => [{ $match: { _id: 'none' } }, { $unionWith: { coll: 'default', pipeline } }],
  $lookup: (pipeline) => single({ $lookup: { from: 'default', pipeline, as: 'x' } }),
  'correlated $lookup': (pipeline) => single({ $lookup: { from: 'default', let: { v: '$_id' }, pipeline, as: 'x' } })
}

function single(stage: Stage): AggregationPipeline {
  return [{ $limit: 1 }, { $project: { _id: 1 } }, stage, { $unwind: '$x' }, { $replaceWith: '$x' }]
}

for (const [name, profile] of [
  ['plain', plain],
  ['adversarial', adversarial]
] as const) {
  test(`pipelines return the same within $facet, $lookup and $unionWith, ${name} documents`, async () => {
    const seed = testSeed()
    await using db = await open('unused', { store: 'memory', index: { segmentBits: 512 } })
    const sample = fc.sample(documents(profile, 2), { numRuns: 60, seed })
    await db.insertMany(sample.map((document, i) => ({ ...storable(document), _id: i })))
    await fc.assert(
      fc.asyncProperty(fc.array(stages(profile), { minLength: 1, maxLength: 5 }), async (pipeline) => {
        const alone = await outcome(db.aggregate(pipeline).toArray())
        for (const [place, around] of Object.entries(within)) {
          const found = await outcome(db.aggregate(around(pipeline)).toArray())
          assert.equal(found, alone, inspect({ place, pipeline }, { depth: 9 }))
        }
        const facets = { first: pipeline, other: [{ $set: { a: 'changed' } }], second: pipeline }
        const both = await db
          .aggregate([{ $facet: facets }])
          .toArray()
          .catch(() => [])
        for (const list of [both[0]?.first, both[0]?.second]) {
          if (list !== undefined || Array.isArray(alone)) {
            const found = await outcome(Promise.resolve(list as Document[]))
            assert.equal(found, alone, inspect({ place: '$facet', pipeline }, { depth: 9 }))
          }
        }
      }),
      { numRuns: 200, seed }
    )
  })
}

/** Counts the documents of which only some fields are decoded. */
function countPicks(): { stop(): number } {
  const { decode } = FieldPicker.prototype
  let count = 0
  FieldPicker.prototype.decode = function (...args) {
    const document = decode.apply(this, args)
    if (document !== undefined) count++
    return document
  }
  return {
    stop: () => {
      FieldPicker.prototype.decode = decode
      return count
    }
  }
}

/** Documents in every detail, or the error's code: its message names another position after the barrier. */
async function outcome(running: Promise<Document[]>): Promise<unknown> {
  try {
    return (await running).map((document) => stringifyCanonical(document))
  } catch (error) {
    if (error instanceof PetalError) return error.codeName
    throw error
  }
}

/** Without the top-level keys that documents may not have. */
function storable(document: Document): Document {
  return Object.fromEntries(Object.entries(document).filter(([key]) => !key.startsWith('$') && key !== ''))
}

test.run()
