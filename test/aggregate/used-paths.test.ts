/** Which paths of its input a pipeline is known to look at; that it looks at no others is tested by running it. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { parsePipeline } from '../../src/aggregate/parse.ts'
import { pathsOfExpression, pathsUsedBy } from '../../src/aggregate/used-paths.ts'

const cases: readonly (readonly [pipeline: unknown[], used: string | undefined])[] = [
  [[], undefined],
  [[{ $limit: 5 }], undefined],
  [[{ $count: 'n' }], ''],
  [[{ $group: { _id: null, n: { $sum: 1 } } }], ''],
  [[{ $group: { _id: '$a.b', n: { $push: { x: '$c', y: ['$d', 5] } } } }], 'a.b c d'],
  [[{ $group: { _id: { $substr: ['$at', 0, 10] }, n: { $max: { $literal: 'text' } } } }], 'at'],
  [
    [{ $match: { a: { $gt: 1 }, $or: [{ 'b.c': 2 }, { $expr: { $eq: ['$d', '$$NOW'] } }] } }, { $count: 'n' }],
    'a b.c d'
  ],
  [[{ $sort: { 'a.b': 1 } }, { $skip: 1 }, { $limit: 2 }, { $project: { c: 1, _id: 0 } }], 'a.b c'],
  [[{ $project: { _id: 1 } }, { $unwind: '$a' }], '_id'],
  [[{ $unwind: { path: '$a.b', includeArrayIndex: 'i' } }, { $sortByCount: '$a.b.c' }], 'a.b a.b.c'],
  [[{ $set: { 'a.x': '$b' } }, { $group: { _id: '$c' } }], 'b a c'],
  [[{ $bucket: { groupBy: '$a', boundaries: [0, 5], output: { n: { $sum: '$b' } } } }], 'a b'],
  [[{ $bucketAuto: { groupBy: '$a', buckets: 2 } }], 'a'],
  [[{ $sample: { size: 3 } }, { $group: { _id: { $map: { input: '$a', in: '$$this.b' } } } }], 'a'],
  [[{ $group: { _id: '$$ROOT' } }], undefined],
  [[{ $group: { _id: '$$ROOT.a' } }], undefined],
  [[{ $group: { _id: { $getField: 'a' } } }], undefined],
  [[{ $group: { _id: '$a', m: { $topN: { n: 1, sortBy: { b: 1 }, output: '$c' } } } }], undefined],
  [[{ $match: { $where: () => true } }, { $count: 'n' }], undefined],
  [[{ $match: { $jsonSchema: {} } }, { $count: 'n' }], undefined],
  [[{ $project: { a: 0 } }, { $count: 'n' }], undefined],
  [[{ $project: { a: '$b', 'c.d': { $size: '$e' }, f: 1, _id: 0 } }], 'f c b e'],
  [[{ $project: { a: '$b' } }], '_id b'],
  [[{ $project: { a: '$b', _id: false } }], 'b'],
  [[{ $project: { a: { b: 1 } } }], undefined],
  [[{ $project: { _id: 0 } }], undefined],
  [[{ $redact: '$$KEEP' }, { $count: 'n' }], undefined],
  [[{ $lookup: { from: 'x', localField: 'a', foreignField: 'b', as: 'c' } }, { $count: 'n' }], undefined]
]

for (const [pipeline, used] of cases) {
  const shown = JSON.stringify(pipeline)
  test(`${shown} looks at ${used === undefined ? 'everything' : used === '' ? 'nothing' : used}`, () => {
    const paths = pathsUsedBy(parsePipeline(pipeline))
    assert.is(paths && [...paths].join(' '), used)
  })
}

test('an expression whose operands are Maps may look at anything', () => {
  assert.is(pathsOfExpression(new Map([['$gt', ['$a', 1]]])), undefined)
  assert.equal(pathsOfExpression({ $gt: ['$a.b', { $size: '$c' }] }), new Set(['a.b', 'c']))
})

test.run()
