/**
 * $lookup: values are compared literally, results replace what is in their way, and random pipelines run for each
 * document.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type AggregationPipeline, type Document, open } from '../../src/index.ts'
import { over } from './aggregate-over.ts'
import { rejects, scratchPath } from './scratch.ts'

const odd: readonly Document[] = [
  { _id: 1, k: { $gt: 5 } },
  { _id: 2, k: [{ $in: [1] }, 3] },
  { _id: 3, k: /^x/ },
  { _id: 4, k: 7 },
  { _id: 5, k: 'xyz' },
  { _id: 6, k: { $gt: 5, $lt: 9 } },
  { _id: 7, k: null },
  { _id: 8 },
  { _id: 9, k: [/^x/, { $ref: 'a' }] }
]

for (const [store, index] of [
  ['memory', 'none'],
  ['memory', 'linear'],
  ['lsm', 'linear']
] as const) {
  test(`operators and regular expressions as values equal only themselves: ${store}, index ${index}`, async () => {
    await using db = await open(scratchPath(), { store, index: index === 'none' ? 'none' : { segmentBits: 512 } })
    await db.collection('other').insertMany([...odd])
    await db.insertMany([...odd])
    const found = await db
      .aggregate([
        { $sort: { _id: 1 } },
        { $lookup: { from: 'other', localField: 'k', foreignField: 'k', as: 'same' } },
        { $project: { same: { $sortArray: { input: '$same._id', sortBy: 1 } } } }
      ])
      .toArray()
    assert.equal(
      found.map(({ same }) => same),
      [[1], [2], [3, 9], [4], [5], [6], [7, 8], [7, 8], [3, 9]]
    )
  })
}

test('anything but an object on the way to the result is replaced by an object', async () => {
  const cases: readonly (readonly [a: unknown, as: string, gives: unknown])[] = [
    [[1, { z: 1 }], 'a.b', { b: [{ n: 1 }] }],
    [[], 'a.b', { b: [{ n: 1 }] }],
    ['text', 'a.b', { b: [{ n: 1 }] }],
    [null, 'a.b.c', { b: { c: [{ n: 1 }] } }],
    [{ z: 1, b: [{ c: 2 }] }, 'a.b.c', { z: 1, b: { c: [{ n: 1 }] } }],
    [{ b: 0, z: 1 }, 'a.b', { b: [{ n: 1 }], z: 1 }],
    [[1, 2], 'a', [{ n: 1 }]]
  ]
  for (const [a, as, gives] of cases) {
    const byPipeline = { from: 'none', pipeline: [{ $documents: [{ n: 1 }] }], as }
    assert.equal(await over([{ a, last: 1 }], { $lookup: byPipeline }), [{ a: gives, last: 1 }])
  }
  const byValues = { from: 'none', localField: 'a', foreignField: '_id', as: 'a.b' }
  assert.equal(await over([{ a: [{ b: 1 }, 2] }, {}], { $lookup: byValues }), [{ a: { b: [] } }, { a: { b: [] } }])
})

test('a pipeline whose results may vary runs for each document, any other one once', async () => {
  await using db = await open('unused', { store: 'memory' })
  await db.insertMany(Array.from({ length: 40 }, (_, i) => ({ _id: i })))
  const different = async (...pipeline: AggregationPipeline): Promise<number> => {
    const found = await db.aggregate([{ $lookup: { from: 'default', pipeline: [...pipeline], as: 'found' } }]).toArray()
    return new Set(found.map((document) => JSON.stringify(document.found))).size
  }
  let calls = 0
  const count = { $function: { body: () => calls++, args: [], lang: 'js' } }
  // The chance that all of them are equal is less than 1 in 10^60.
  assert.ok((await different({ $sample: { size: 1 } })) > 1)
  assert.ok((await different({ $facet: { one: [{ $sample: { size: 1 } }] } })) > 1)
  assert.ok((await different({ $limit: 1 }, { $project: { at: { $add: [1, { $rand: {} }] } } })) > 1)
  assert.ok((await different({ $limit: 20 }, { $match: { $expr: { $gt: [{ $rand: {} }, 0.5] } } })) > 1)
  assert.ok((await different({ $unionWith: { coll: 'default', pipeline: [{ $sample: { size: 1 } }] } })) > 1)
  assert.is(await different({ $limit: 1 }, { $project: { n: count } }), 40)
  assert.ok((await different({ $match: { $where: () => calls++ % 7 === 0 } })) > 1)
  let reads = 0
  const looking = function (this: unknown): boolean {
    reads++
    return true
  }
  assert.is(await different({ $match: { _id: { $lt: 3 } } }, { $set: { sample: '$rand' } }), 1)
  await different({ $match: { $where: looking } })
  assert.is(reads, 40 * 40)
})

test('documents joined to many others are passed on before the whole batch is joined', async () => {
  await using db = await open('unused', { store: 'memory' })
  await db.insertMany(Array.from({ length: 100 }, (_, i) => ({ _id: i, k: 1 })))
  await db.collection('others').insertMany(Array.from({ length: 3000 }, (_, i) => ({ _id: i, k: 1 })))
  const byValues = { from: 'others', localField: 'k', foreignField: 'k' }
  for (const lookup of [byValues, { ...byValues, pipeline: [{ $set: { x: 1 } }] }, { from: 'others', pipeline: [] }]) {
    let passed = 0
    const body = (): number => ++passed
    const pipeline = [
      { $lookup: { ...lookup, as: 'found' } },
      { $set: { passed: { $function: { body, args: [], lang: 'js' } } } },
      { $limit: 1 }
    ]
    const [document] = await db.aggregate(pipeline).toArray()
    assert.is((document as { readonly found: readonly unknown[] }).found.length, 3000)
    // Two, or one if a turn of the event loop ended in between.
    assert.ok(passed === 1 || passed === 2, `${passed} documents`)
  }
})

test('an error about a value names the stage', async () => {
  await using db = await open('unused', { store: 'memory' })
  await db.insertOne({ _id: 1 })
  const body = (): unknown => Array.from({ length: 120 }).reduce((inside) => [inside], 1)
  const deep = { $set: { deep: { $function: { body, args: [], lang: 'js' } } } }
  const lookup = { from: 'default', localField: 'deep', foreignField: 'k', as: 'x' }
  const search = { from: 'default', startWith: '$deep', connectFromField: 'k', connectToField: 'k', as: 'x' }
  for (const stage of [{ $lookup: lookup }, { $graphLookup: search }]) {
    const { message } = await rejects(db.aggregate([deep, stage]).toArray(), 'BadValue')
    assert.match(message, /^\$(graphL|l)ookup \(stage 1\): A key may be nested/)
  }
})

test.run()
