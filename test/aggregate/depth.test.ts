/** Values that a pipeline computes are nested as deeply as results may be; deeper ones end with an error that says so. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type AggregationPipeline, open, PetalError } from '../../src/index.ts'
import { maxDepth } from '../../src/model/depth.ts'

/** Nested as often as there are elements in `n`. */
const nest = (depth: number, body: unknown = { a: '$$value' }) => ({
  $reduce: { input: { $range: [0, depth] }, initialValue: { a: 1 }, in: body }
})

async function run(pipeline: AggregationPipeline): Promise<unknown> {
  await using db = await open('unused', { store: 'memory' })
  await db.insertOne({ _id: 1, n: 1 })
  return await db.aggregate(pipeline).toArray()
}

/** Stages that look at all of a value. */
const after: Readonly<Record<string, AggregationPipeline>> = {
  nothing: [],
  $sort: [{ $sort: { 'x.a': 1 } }],
  $group: [{ $group: { _id: null, x: { $push: '$x' } } }],
  '$group by it': [{ $group: { _id: '$x' } }],
  $redact: [{ $redact: '$$DESCEND' }],
  $facet: [{ $facet: { all: [] } }],
  $project: [{ $project: { x: 1 } }],
  $match: [{ $match: { x: { $type: 'object' } } }],
  $fill: [{ $fill: { sortBy: { n: 1 }, output: { n: { method: 'locf' } } } }],
  $bucketAuto: [{ $bucketAuto: { groupBy: '$x', buckets: 1 } }]
}

for (const [name, stages] of Object.entries(after)) {
  test(`a value nested 20,000 levels deep by $reduce is refused before ${name}`, async () => {
    const error = await run([{ $set: { x: nest(20_000) } }, ...stages]).catch((reason: unknown) => reason)
    assert.instance(error, PetalError)
    assert.is((error as PetalError).codeName, 'BadValue')
    assert.match((error as PetalError).message, /^\$set \(stage 0\): .*\$reduce.*1000 levels/)
  })
}

test('a value that is compared while it is too deep is refused, too', async () => {
  const compared = { $cond: [{ $eq: ['$$value', { $literal: nest(1) }] }, 1, { a: '$$value' }] }
  const deep = { $reduce: { input: { $range: [0, 20_000] }, initialValue: {}, in: { a: '$$value', b: 1 } } }
  for (const value of [
    nest(20_000, compared),
    { $eq: [deep, deep] },
    { $setUnion: [[deep]] },
    { $max: [deep, deep] }
  ]) {
    const error = await run([{ $set: { x: value } }]).catch((reason: unknown) => reason)
    assert.instance(error, PetalError)
    assert.match((error as PetalError).message, /^\$set \(stage 0\): .*1000 levels/)
  }
})

test('values that grow deeper from stage to stage are refused by the stage that looks at all of one', async () => {
  const stages = Array.from({ length: 15 }, (_, i) => ({ $set: { [`x${i + 1}`]: level(80, `$x${i}`) } }))
  const start = { $set: { x0: { a: 1 } } }
  const looks: Readonly<Record<string, AggregationPipeline>> = {
    $sort: [{ $sort: { n: 1 } }],
    $redact: [{ $redact: '$$DESCEND' }],
    $group: [{ $group: { _id: null, x: { $push: '$$ROOT' } } }],
    $facet: [{ $facet: { all: [] } }],
    $bucketAuto: [{ $bucketAuto: { groupBy: '$n', buckets: 1 } }]
  }
  for (const [name, look] of Object.entries(looks)) {
    const error = await run([start, ...stages, ...look]).catch((reason: unknown) => reason)
    assert.instance(error, PetalError, name)
    assert.match((error as PetalError).message, /1000 levels/, name)
    assert.ok((error as PetalError).message.startsWith(`${name} (stage 16)`), (error as PetalError).message)
  }
})

test('a value as deep as a result may be is returned', async () => {
  const found = (await run([
    { $replaceWith: nest(maxDepth - 1) },
    { $redact: '$$DESCEND' },
    { $sort: { a: 1 } }
  ])) as object[]
  let depth = 0
  for (let value: unknown = found[0]; typeof value === 'object'; value = (value as { a: unknown }).a) depth++
  assert.is(depth, maxDepth)
})

function level(depth: number, inner: unknown): unknown {
  return depth === 0 ? inner : { a: level(depth - 1, inner) }
}

test.run()
