import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { splitLeading } from '../../src/aggregate/leading.ts'
import { parsePipeline } from '../../src/aggregate/parse.ts'
import type { LeadingRead } from '../../src/aggregate/stage.ts'
import type { AggregationPipeline } from '../../src/index.ts'

const everything: Partial<LeadingRead> = {
  filter: undefined,
  sort: undefined,
  skip: 0,
  limit: Infinity,
  projection: undefined
}
const a = { a: 1 }
const b = { b: 1 }

/** Pipelines, the read that their leading stages become, and the remaining stages. */
const cases: readonly (readonly [AggregationPipeline, Partial<LeadingRead>, readonly string[]])[] = [
  [[], {}, []],
  [[{ $match: a }], { filter: a }, []],
  [[{ $match: a }, { $match: b }], { filter: { $and: [a, b] } }, []],
  [[{ $match: a }, { $sort: b }, { $match: b }], { filter: { $and: [a, b] }, sort: b }, []],
  // A second sort is not stable in MongoDB; here it sorts the results of the first one.
  [[{ $sort: a }, { $sort: b }], { sort: a }, ['$sort']],
  [[{ $skip: 2 }, { $limit: 5 }], { skip: 2, limit: 5 }, []],
  [[{ $limit: 5 }, { $skip: 2 }], { skip: 2, limit: 3 }, []],
  [[{ $limit: 5 }, { $skip: 2 }, { $limit: 9 }, { $skip: 1 }], { skip: 3, limit: 2 }, []],
  [[{ $limit: 5 }, { $skip: 5 }], { limit: 5 }, ['$skip']],
  [[{ $limit: 5 }, { $match: a }], { limit: 5 }, ['$match']],
  [[{ $skip: 5 }, { $sort: a }], { skip: 5 }, ['$sort']],
  [[{ $project: a }, { $limit: 5 }], { projection: a, limit: 5 }, []],
  [[{ $project: { a: 0 } }, { $match: a }], { projection: { a: 0 } }, ['$match']],
  [[{ $project: { a: { b: true }, _id: 0 } }], { projection: { a: { b: true }, _id: 0 } }, []],
  [[{ $project: { a: 1, b: '$a' } }], {}, ['$project']],
  [[{ $project: { a: { $slice: ['$a', 1] } } }], {}, ['$project']],
  [[{ $unset: ['a', 'b.c'] }, { $project: a }], { projection: { a: 0, 'b.c': 0 } }, ['$project']],
  [[{ $sort: a }, { $set: { a: 2 } }, { $limit: 1 }], { sort: a }, ['$set', '$limit']],
  [[{ $match: a }, { $group: { _id: '$a', n: { $sum: 1 } } }, { $sort: b }], { filter: a }, ['$sort']],
  [[{ $match: a }, { $sortByCount: '$a.b' }, { $limit: 3 }], { filter: a }, ['$sort', '$limit']],
  [[{ $group: { _id: '$a', n: { $count: {} }, m: { $sum: 1 } } }], {}, []],
  [[{ $sort: a }, { $group: { _id: '$a', n: { $sum: 1 } } }], { sort: a }, ['$group']],
  [[{ $skip: 1 }, { $sortByCount: '$a' }], { skip: 1 }, ['$sortByCount']],
  [[{ $group: { _id: '$a', n: { $sum: 2 } } }], {}, ['$group']],
  [[{ $group: { _id: '$$ROOT', n: { $sum: 1 } } }], {}, ['$group']],
  [[{ $group: { _id: '$a..b', n: { $sum: 1 } } }], {}, ['$group']],
  [[{ $sortByCount: { $toLower: '$a' } }], {}, ['$sortByCount']],
  [[{ $group: { _id: null, n: { $sum: '$a' } } }], {}, ['$group']],
  [[{ $group: { _id: null, n: { $sum: 1 }, m: { $max: '$a' } } }], {}, ['$group']]
]

test('leading stages become one read as far as the meaning stays the same', () => {
  for (const [pipeline, read, rest] of cases) {
    const split = splitLeading(parsePipeline(pipeline))
    const { filter, sort, skip, limit, projection } = split.read
    assert.equal({ filter, sort, skip, limit, projection }, { ...everything, ...read }, JSON.stringify(pipeline))
    assert.equal(
      split.rest.map(({ place }) => place.stage),
      rest,
      JSON.stringify(pipeline)
    )
    // The sort of `$sortByCount` remains as a stage.
    const halves = split.read.places.filter(({ stage }) => stage === '$sortByCount').length
    assert.is(split.read.places.length, pipeline.length - rest.length + halves)
  }
})

test('a $count, or a $group that only counts, becomes part of the read', () => {
  const count = splitLeading(parsePipeline([{ $match: a }, { $count: 'n' }, { $limit: 1 }]))
  assert.equal(count.read.count?.(3), { n: 3 })
  assert.is(count.rest.length, 1)
  const group = splitLeading(parsePipeline([{ $limit: 9 }, { $group: { _id: null, all: { $sum: 1 } } }]))
  assert.equal(group.read.count?.(3), { _id: null, all: 3 })
  assert.is(group.read.limit, 9)
})

test('a $group or $sortByCount that counts by a path becomes part of the read', () => {
  const groups = splitLeading(parsePipeline([{ $group: { all: { $count: {} }, _id: '$a.b', n: { $sum: 1 } } }]))
  assert.equal(groups.read.tally?.path, ['a', 'b'])
  assert.equal(groups.read.tally?.document('x', 3), { _id: 'x', all: 3, n: 3 })
  const counts = splitLeading(parsePipeline([{ $sortByCount: '$a' }]))
  assert.equal(counts.read.tally?.document(null, 3), { _id: null, count: 3 })
  assert.equal(
    counts.rest.map(({ spec }) => spec),
    [{ count: -1 }]
  )
})

test.run()
