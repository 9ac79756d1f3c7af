/** $documents: a pipeline over its own documents, by itself and inside $lookup and $unionWith. */
import { inspect } from 'node:util'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type AggregationPipeline, type Document, open } from '../../src/index.ts'
import { rejects } from './scratch.ts'

const stored: readonly Document[] = [
  { _id: 1, lang: 'en' },
  { _id: 2, lang: 'de' }
]

/** Runs over a collection that has documents of its own. */
async function given(pipeline: AggregationPipeline, options = {}): Promise<Document[]> {
  await using db = await open('unused', { store: 'memory' })
  await db.insertMany(structuredClone(stored) as Document[])
  return await db.aggregate(pipeline, options).toArray()
}

const names = {
  $documents: [
    { code: 'en', name: 'English' },
    { code: 'de', name: 'German' }
  ]
}

const cases: readonly (readonly [pipeline: AggregationPipeline, gives: readonly unknown[]])[] = [
  [[names], names.$documents],
  [[{ $documents: [] }], []],
  [[{ $documents: [{ a: 1 }, { a: 5, b: '$lang' }] }, { $match: { a: { $gt: 2 } } }], [{ a: 5 }]],
  [[{ $documents: { $map: { input: { $range: [0, 3] }, as: 'i', in: { n: '$$i' } } } }, { $count: 'n' }], [{ n: 3 }]],
  [[{ $documents: { $literal: [{ price: '$1' }] } }], [{ price: '$1' }]],
  [[{ $documents: '$$given' }, { $sort: { n: 1 } }, { $limit: 1 }], [{ n: 1 }]],
  [
    [{ $lookup: { pipeline: [names, { $match: { code: 'de' } }], as: 'names' } }],
    stored.map((document) => ({ ...document, names: [{ code: 'de', name: 'German' }] }))
  ],
  [
    [{ $lookup: { let: { l: '$lang' }, pipeline: [{ $documents: [{ is: '$$l' }] }], as: 'x' } }],
    stored.map((document) => ({ ...document, x: [{ is: document.lang }] }))
  ],
  [[{ $unionWith: { pipeline: [names] } }], [...stored, ...names.$documents]],
  [
    [names, { $lookup: { from: 'default', localField: 'code', foreignField: 'lang', as: 'x' } }, { $unset: 'name' }],
    [
      { code: 'en', x: [stored[0]] },
      { code: 'de', x: [stored[1]] }
    ]
  ],
  [[{ $documents: [{ a: 1 }] }, { $facet: { n: [{ $count: 'n' }] } }], [{ n: [{ n: 1 }] }]]
]

for (const [pipeline, gives] of cases) {
  test(inspect(pipeline, { depth: 9, breakLength: 120 }), async () => {
    assert.equal(await given(pipeline, { let: { given: [{ n: 2 }, { n: 1 }] } }), gives)
  })
}

test('it reads nothing, and the collection need not exist', async () => {
  await using db = await open('unused', { store: 'memory' })
  const cursor = db.collection('nowhere').aggregate([names, { $match: { code: 'en' } }])
  assert.equal((await cursor.toArray()).length, 1)
  const { read, pushedDown, stages, nReturned } = await cursor.clone().explain()
  assert.equal([read, pushedDown, nReturned], [undefined, [], 1])
  assert.equal(
    stages.map(({ stage, nReturned }) => [stage, nReturned]),
    [
      ['$documents', 2],
      ['$match', 1]
    ]
  )
  assert.equal(db.listCollections().length, 0)
})

test('results are copies of the documents in the pipeline', async () => {
  const pipeline = [{ $documents: [{ a: { b: 1 } }] }]
  await using db = await open('unused', { store: 'memory' })
  const first = (await db.aggregate(pipeline).toArray())[0] as { a: { b: number } }
  first.a.b = 2
  assert.equal(pipeline, [{ $documents: [{ a: { b: 1 } }] }])
})

test('anything but an array of objects is refused, and so is any position but the first', async () => {
  const refused: readonly (readonly [AggregationPipeline, Parameters<typeof rejects>[1], RegExp])[] = [
    [
      [{ $documents: { a: 1 } }],
      'BadValue',
      /^\$documents \(stage 0\): the argument must be an array of objects, not object/
    ],
    [[{ $documents: '$missing' }], 'BadValue', /not undefined/],
    [[{ $documents: [{}, 3] }], 'BadValue', /element 1 is of type number/],
    [[{ $documents: [{ a: { $nope: 1 } }] }], 'InvalidPipelineOperator', /^\$documents/],
    [[{ $match: {} }, names], 'FailedToParse', /^\$documents \(stage 1\): it must be the first stage/],
    [
      [{ $facet: { a: [names] } }],
      'FailedToParse',
      /\(stage 0 of \$facet\.a\): it cannot be used in a pipeline that has input/
    ],
    [
      [{ $lookup: { from: 'x', localField: 'a', foreignField: 'b', pipeline: [names], as: 'y' } }],
      'FailedToParse',
      /\(stage 0 of \$lookup\): it cannot be used in a pipeline that has input/
    ],
    [
      [{ $lookup: { pipeline: [{ $match: {} }], as: 'x' } }],
      'BadValue',
      /^\$lookup.*a collection name must be a string, not undefined/
    ],
    [[{ $unionWith: { pipeline: [] } }], 'BadValue', /^\$unionWith.*a collection name must be a string/]
  ]
  for (const [pipeline, codeName, message] of refused) {
    assert.match((await rejects(given(pipeline), codeName)).message, message)
  }
})

test.run()
