/** Pipelines and distinct values that threads help with are what this thread alone would return. */
import { inspect, isDeepStrictEqual } from 'node:util'
import { BSONRegExp, Decimal128, Double, Long, ObjectId } from 'bson'
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  type AggregateOptions,
  type AggregationPipeline,
  type Database,
  type Document,
  open,
  type ReadOptions
} from '../../src/index.ts'
import { adversarial, documents, testSeed } from '../support/arbitraries.ts'
import { decidedParts, helps } from './scan-threads.ts'
import { scratchPath } from './scratch.ts'
import { askableFilters } from './value-cases.ts'

const seed = testSeed()
/** Enough for threads to be worth it. */
const count = 130_000
const many = fc.sample(documents(adversarial), { numRuns: 97, seed })
const numbers = [
  0.1,
  1e-9,
  3,
  -7.25,
  2 ** 53,
  Long.fromString('9007199254740993'),
  Decimal128.fromString('0.1'),
  Number.NaN
]
const ids = Array.from({ length: 20 }, (_, i) => new ObjectId(i.toString(16).padStart(24, '0')))

function documentAt(i: number): Document {
  const tags = Array.from({ length: i % 4 }, (_, k) => ({ text: `tag ${(i * 7 + k) % 31}` }))
  const at = new Date(1_700_000_000_000 + i * 60_000)
  return {
    _id: i,
    n: i % 1000,
    kind: many[i % many.length],
    number: numbers[i % 8],
    owner: ids[i % 20],
    tags,
    at,
    half: i / 2
  }
}

async function filled(scanThreads: number): Promise<Database> {
  const db = await open(scratchPath(), { scanThreads, autoRebuild: false })
  await db.insertMany(Array.from({ length: count }, (_, i) => documentAt(i)))
  await db.deleteMany({ n: 17 })
  await db.updateMany({ n: 18 }, { $set: { tags: [{ text: 'changed' }] } })
  return db
}

const alone = await filled(0)
const helped = await filled(2)

async function answerOf(db: Database, pipeline: AggregationPipeline, options: AggregateOptions): Promise<unknown> {
  try {
    return await db.aggregate(pipeline, options).toArray()
  } catch (error) {
    return (error as Error).message
  }
}

async function check(pipeline: AggregationPipeline, options: AggregateOptions = {}): Promise<void> {
  const found = await answerOf(helped, pipeline, options)
  const expected = await answerOf(alone, pipeline, options)
  // A difference may be long: the first results show it.
  const shown = inspect({ pipeline, found, expected }, { depth: 6, maxArrayLength: 4 })
  assert.ok(isDeepStrictEqual(found, expected), shown)
}

const everything = {
  n: { $sum: '$n' },
  exactly: { $sum: '$number' },
  average: { $avg: '$half' },
  count: { $count: {} },
  least: { $min: '$kind' },
  most: { $max: '$owner' },
  first: { $first: '$number' },
  last: { $last: '$at' },
  owners: { $addToSet: '$owner' },
  merged: { $mergeObjects: { $arrayToObject: [[['k', '$n']]] } }
}

const divided: Readonly<Record<string, readonly [AggregationPipeline, AggregateOptions?]>> = {
  'all accumulators': [[{ $group: { _id: '$owner', ...everything } }]],
  'keys of all kinds': [[{ $group: { _id: '$kind', n: { $sum: 1 }, first: { $first: '$_id' } } }]],
  'numbers that are equal': [[{ $group: { _id: '$number', n: { $sum: '$half' } } }, { $sort: { n: 1 } }]],
  'several keys': [[{ $group: { _id: { o: '$owner', h: { $hour: '$at' } }, n: { $sum: '$n' } } }]],
  'a total': [[{ $group: { _id: null, n: { $sum: '$n' }, all: { $avg: '$number' } } }]],
  lists: [[{ $match: { n: { $lt: 30 } } }, { $group: { _id: '$n', all: { $push: '$kind' } } }], { hint: 'scan' }],
  'elements of arrays': [[{ $unwind: '$tags' }, { $sortByCount: '$tags.text' }]],
  buckets: [[{ $bucket: { groupBy: '$n', boundaries: [0, 10, 500], default: 'more', output: everything } }]],
  'the first of an order by what is computed': [
    [
      { $set: { key: { $mod: [{ $multiply: ['$_id', 7919] }, 1009] } } },
      { $sort: { key: -1, owner: 1 } },
      { $skip: 3 },
      { $limit: 40 },
      { $project: { kind: 0 } }
    ]
  ],
  'an order with many ties': [[{ $set: { key: { $mod: ['$_id', 3] } } }, { $sort: { key: 1 } }, { $limit: 100 }]],
  'a count of elements': [[{ $unwind: '$tags' }, { $match: { 'tags.text': 'tag 3' } }, { $count: 'n' }]],
  'computed fields': [[{ $set: { half: { $divide: ['$n', 2] } } }, { $group: { _id: '$half', n: { $sum: '$half' } } }]],
  'a projection': [[{ $project: { n: 1 } }, { $group: { _id: '$owner', n: { $sum: '$n' }, k: { $min: '$kind' } } }]],
  'a variable': [[{ $group: { _id: { $eq: ['$owner', '$$who'] }, n: { $sum: '$n' } } }], { let: { who: ids[3] } }],
  'the type of a variable': [
    [{ $group: { _id: '$owner', n: { $sum: '$n' }, last: { $last: { $type: '$$what' } } } }],
    { let: { what: new Double(2) } }
  ],
  'the present': [
    [{ $group: { _id: { $gt: ['$$NOW', '$at'] }, now: { $first: { $eq: ['$$NOW', '$$NOW'] } }, n: { $sum: '$n' } } }]
  ],
  'stages after it': [
    [
      { $group: { _id: '$owner', n: { $sum: '$half' } } },
      { $lookup: { from: 'default', localField: 'n', foreignField: 'half', as: 'same' } },
      { $sort: { n: -1 } },
      { $limit: 3 }
    ]
  ]
}

for (const [name, [pipeline, options = {}]] of Object.entries(divided)) {
  test(`threads group parts: ${name}`, async () => {
    await helps(() => check(pipeline, options))
  })
}

test('threads group the matches of random filters', async () => {
  for (const filter of askableFilters(adversarial, 6, seed)) {
    await check([{ $match: filter }, { $group: { _id: '$owner', ...everything } }], { hint: 'scan' })
  }
})

const undivided: Readonly<Record<string, AggregationPipeline>> = {
  'many groups': [{ $group: { _id: '$half', n: { $sum: 1 } } }, { $sort: { _id: 1 } }, { $limit: 9 }],
  deviations: [{ $group: { _id: '$owner', d: { $stdDevPop: '$n' } } }],
  'all documents of a group at once': [
    { $group: { _id: '$owner', m: { $median: { input: '$n', method: 'approximate' } } } }
  ],
  'functions of the caller': [
    { $set: { n: { $function: { body: (n: number) => n + 1, args: ['$n'], lang: 'js' } } } },
    { $group: { _id: '$owner', n: { $sum: '$n' } } }
  ],
  'some documents': [{ $limit: 120_000 }, { $group: { _id: '$owner', n: { $sum: '$n' } } }],
  'many of an order': [{ $set: { key: { $mod: ['$_id', 3] } } }, { $sort: { key: 1 } }, { $limit: 900 }],
  'values that lose their class': [
    { $group: { _id: '$owner', n: { $sum: '$n' }, last: { $last: { $literal: new BSONRegExp('x', 'i') } } } }
  ],
  'an order': [{ $sort: { half: -1 } }, { $group: { _id: '$owner', n: { $first: '$n' } } }]
}

for (const [name, pipeline] of Object.entries(undivided)) {
  test(`threads do not group parts: ${name}`, async () => {
    const before = decidedParts()
    await check(pipeline)
    assert.is(decidedParts(), before)
  })
}

test('an error in a stage is reported as ever', async () => {
  await check([{ $group: { _id: { $divide: [1, { $subtract: ['$_id', 125_000] }] }, n: { $sum: 1 } } }])
  await check([
    { $set: { x: { $divide: [1, { $subtract: ['$_id', 125_000] }] } } },
    { $group: { _id: '$owner', x: { $max: '$x' } } }
  ])
  const text = { $concat: [{ $toString: '$_id' }, 'x'.repeat(2000)] }
  await check([{ $group: { _id: '$owner', all: { $push: text } } }])
  // Parts do not need less memory than the whole.
  await check([{ $group: { _id: '$owner', merged: { $mergeObjects: { text } } } }])
  // Whether two fields hold the same array does not matter.
  await check([{ $set: { key: '$tags' } }, { $sort: { key: 1, tags: 1 } }, { $limit: 5 }])
})

/** Yields values for some `_id`s, and another one for the rest. */
function valueAt(values: Readonly<Record<number, number>>, other: number): unknown {
  return Object.entries(values).reduce<unknown>(
    (rest, [id, value]) => ({ $cond: [{ $eq: ['$_id', Number(id)] }, value, rest] }),
    other
  )
}

test('sums that overflow within a part do', async () => {
  const value = valueAt({ 0: 1e308, 125001: 1e308, 125002: -1e308 }, 0)
  await check([{ $group: { _id: null, n: { $sum: value } } }])
})

test('sums of doubles do not depend on how documents were divided', async () => {
  const value = valueAt({ 0: 1e17, [count - 1]: -1e17 }, 0.1)
  await check([{ $group: { _id: null, n: { $sum: value } } }])
})

test('changing a pipeline after the call changes nothing', async () => {
  const pipelineOf = (n: number, half: number): { $match: Document }[] => [
    { $match: { n: { $gt: n } } },
    { $match: { $expr: { $gt: ['$half', half] } } }
  ]
  const rest = [{ $group: { _id: '$owner', n: { $sum: '$half' } } }]
  const expected = await alone.aggregate([...pipelineOf(5, 9), ...rest]).toArray()
  await helps(async () => {
    const pipeline = pipelineOf(5, 9)
    const grouping = helped.aggregate([...pipeline, ...rest], { hint: 'scan' }).toArray()
    const other = pipelineOf(900, 9000)
    for (let i = 0; i < 2; i++) Object.assign(pipeline[i]!.$match, other[i]!.$match)
    assert.equal(await grouping, expected)
  })
})

test('sums that overflow in a part alone do not', async () => {
  const value = valueAt({ 0: -1.7e308, 125001: 1.7e308, 125002: 1.7e308 }, 0)
  await check([{ $group: { _id: null, n: { $sum: value } } }])
})

test('explain() counts what every stage yields', async () => {
  const [a, b] = await Promise.all(
    [helped, alone].map((db) => db.aggregate([{ $unwind: '$tags' }, { $group: { _id: '$n' } }]).explain())
  )
  assert.equal(a!.stages, b!.stages)
})

const english = { collation: { locale: 'en', strength: 2 } } as const

const distinct: Readonly<Record<string, readonly [path: string, filter?: Document, options?: ReadOptions]>> = {
  'elements of arrays': ['tags.text'],
  'elements of arrays of some': ['tags.text', { n: { $gt: 100 }, half: { $mod: [3, 0] } }],
  'positions in arrays': ['tags.1.text'],
  'numbers that are equal': ['number', {}, { hint: 'scan' }],
  'strings with a collation': ['tags.text', { owner: { $ne: ids[3] } }, english],
  'objects and all that documents may hold': ['kind', {}, { hint: 'scan' }],
  'instances of classes': ['owner', { $expr: { $gt: ['$n', '$$least'] } }, { let: { least: 5 } }]
}

for (const [name, [path, filter = {}, options = {}]] of Object.entries(distinct)) {
  test(`threads find distinct ${name}`, async () => {
    const expected = await alone.distinct(path, filter, options)
    await helps(async () => {
      const found = await helped.distinct(path, filter, options)
      assert.ok(isDeepStrictEqual(found, expected), inspect({ found, expected }, { maxArrayLength: 9 }))
    })
    assert.ok(expected.length > 7)
  })
}

test('a pipeline sees the state at its beginning', async () => {
  const pipeline = [{ $group: { _id: '$owner', n: { $sum: '$half' } } }]
  const expected = await alone.aggregate(pipeline).toArray()
  const grouping = helped.aggregate(pipeline).toArray()
  await Promise.all([helped.updateMany({ n: 3 }, { $inc: { half: 1 } }), helped.deleteMany({ n: 4 })])
  assert.equal(await grouping, expected)
  await helped.close()
  await alone.close()
})

test.run()
