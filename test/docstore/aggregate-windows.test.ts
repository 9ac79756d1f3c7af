/** $setWindowFields: partitions, orders, ranks, and memory. */
import { Decimal128 } from 'bson'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Document, open } from '../../src/index.ts'
import { over, same } from './aggregate-over.ts'
import { column, five } from './aggregate-windows-fixture.ts'
import { rejects } from './scratch.ts'

test('partitions contain equal values, and come in order', async () => {
  const keys = [
    'b',
    1n,
    null,
    'a',
    undefined,
    1,
    Decimal128.fromString('1.0'),
    { x: 1, y: 2 },
    { y: 2, x: 1 },
    '\uffff',
    '\u{1f600}'
  ]
  const documents = keys.map((p, i) => (p === undefined ? { _id: i } : { _id: i, p }))
  const spec = { partitionBy: '$p', output: { ids: { $push: '$_id' } } }
  const found = await over(documents, { $setWindowFields: spec })
  same(
    found.map(({ _id, ids }) => [_id, ids]),
    [
      [2, [2, 4]],
      [4, [2, 4]],
      [1, [1, 5, 6]],
      [5, [1, 5, 6]],
      [6, [1, 5, 6]],
      [3, [3]],
      [0, [0]],
      [9, [9]],
      [10, [10]],
      [7, [7]],
      [8, [8]]
    ]
  )
  // As in $group, a missing field of an object is not null.
  const parts = [{ a: null }, {}, { a: 1, b: null }, { a: 1 }]
  const counted = await over(parts, {
    $setWindowFields: { partitionBy: { a: '$a', b: '$b' }, output: { n: { $count: {} } } }
  })
  same(
    counted.map(({ n }) => n),
    [1, 1, 1, 1]
  )
  for (const partitionBy of [null, 'constant', { $add: [1, 2] }, '$$NOW']) {
    const all = await over(five, { $setWindowFields: { partitionBy, output: { n: { $count: {} } } } })
    same(
      all.map(({ _id, n }) => [_id, n]),
      [1, 2, 3, 4, 5].map((_id) => [_id, 5])
    )
  }
})

test('documents are returned in the order of each partition, equal ones in input order', async () => {
  const documents = [
    { _id: 1, p: 'b', at: 2 },
    { _id: 2, p: 'a', at: 1 },
    { _id: 3, p: 'b', at: 1 },
    { _id: 4, p: 'a', at: 1 },
    { _id: 5, p: 'a' }
  ]
  const ids = async (spec: Document): Promise<unknown> =>
    (await over(documents, { $setWindowFields: { output: {}, ...spec } })).map(({ _id }) => _id)
  same(await ids({}), [1, 2, 3, 4, 5])
  same(await ids({ partitionBy: '$p' }), [2, 4, 5, 1, 3])
  same(await ids({ partitionBy: '$p', sortBy: { at: 1 } }), [5, 2, 4, 3, 1])
  same(await ids({ partitionBy: '$p', sortBy: { at: -1, _id: -1 } }), [4, 2, 5, 1, 3])
})

test('ranks: equal keys share one, and null equals missing', async () => {
  const documents = [5, 3, 5, null, 9, undefined, 5n].map((n, _id) => (n === undefined ? { _id } : { _id, n }))
  const rank = (name: string, n: 1 | -1): Promise<unknown> => column(documents, { n }, { [name]: {} })
  same(await rank('$rank', 1), [1, 1, 3, 4, 4, 4, 7])
  same(await rank('$denseRank', 1), [1, 1, 2, 3, 3, 3, 4])
  same(await rank('$documentNumber', 1), [1, 2, 3, 4, 5, 6, 7])
  same(await rank('$rank', -1), [1, 2, 2, 2, 5, 6, 6])
  same(await rank('$denseRank', -1), [1, 2, 2, 2, 3, 4, 4])
  const parted = { partitionBy: { $mod: ['$_id', 2] }, sortBy: { _id: 1 }, output: { n: { $rank: {} } } }
  same(
    (await over(five, { $setWindowFields: parted })).map(({ _id, n }) => [_id, n]),
    [
      [2, 1],
      [4, 2],
      [1, 1],
      [3, 2],
      [5, 3]
    ]
  )
})

test('fields are set as by $set: paths, arrays, several at once, without seeing each other', async () => {
  const documents = [
    { _id: 1, a: { b: 1, c: 1 }, n: 1 },
    { _id: 2, a: [{ b: 5 }, 7], n: 2 },
    { _id: 3, a: 4, n: 3 }
  ]
  const output = { 'a.b': { $sum: '$n' }, n: { $documentNumber: {} }, last: { $last: '$a.b' }, 'x.y': { $max: '$n' } }
  same(await over(documents, { $setWindowFields: { sortBy: { _id: -1 }, output } }), [
    { _id: 3, a: { b: 6 }, n: 1, last: 1, x: { y: 3 } },
    { _id: 2, a: [{ b: 6 }, { b: 6 }], n: 2, last: 1, x: { y: 3 } },
    { _id: 1, a: { b: 6, c: 1 }, n: 3, last: 1, x: { y: 3 } }
  ])
  // A literal object replaces the field.
  same(await over([{ _id: 0, o: { k: 1 } }], { $setWindowFields: { output: { o: { $last: { x: 1 } } } } }), [
    { _id: 0, o: { x: 1 } }
  ])
})

test('stored documents are not changed', async () => {
  await using db = await open('unused', { store: 'memory' })
  await db.insertMany(five.map((document) => ({ ...document, a: { b: [1] } })))
  const before = await db.find().toArray()
  const pipeline = [
    { $setWindowFields: { sortBy: { _id: 1 }, output: { 'a.b.c': { $push: '$a' }, n: { $rank: {} } } } }
  ]
  const found = await db.aggregate(pipeline).toArray()
  const [first, second] = found.map(({ a }) => a as Document)
  first!.x = 1
  assert.equal(await db.find().toArray(), before)
  assert.is(second!.x, undefined)
})

test('windows can use variables of $lookup', async () => {
  await using db = await open('unused', { store: 'memory' })
  await db.insertMany([
    { _id: 1, by: 10 },
    { _id: 2, by: 20 }
  ])
  const inner = {
    $setWindowFields: {
      sortBy: { _id: 1 },
      output: {
        sum: { $sum: { $add: ['$$by', '$_id'] }, window: { documents: ['unbounded', 0] } },
        most: { $maxN: { input: '$by', n: { $divide: ['$$by', 10] } } }
      }
    }
  }
  const found = await db
    .aggregate([
      { $lookup: { from: 'default', let: { by: '$by' }, pipeline: [inner, { $unset: ['_id', 'by'] }], as: 'x' } },
      { $sort: { _id: 1 } }
    ])
    .toArray()
  same(
    found.map(({ x }) => x),
    [
      [
        { sum: 11, most: [20] },
        { sum: 23, most: [20] }
      ],
      [
        { sum: 21, most: [20, 10] },
        { sum: 43, most: [20, 10] }
      ]
    ]
  )
})

test('memory is counted for documents and for the contents of moving windows', async () => {
  await using db = await open('unused', { store: 'memory' })
  await db.insertMany(Array.from({ length: 110 }, (_, n) => ({ n, text: 'x'.repeat(2 ** 20) })))
  const held = [{ $setWindowFields: { output: { x: { $count: {} } } } }]
  assert.match(
    (await rejects(db.aggregate(held).toArray(), 'QueryExceededMemoryLimit')).message,
    '$setWindowFields (stage 0)'
  )
  const made = (documents: readonly unknown[]): Document[] => [
    { $project: { n: 1 } },
    {
      $setWindowFields: {
        sortBy: { n: 1 },
        output: { x: { $max: { $concat: [{ $toString: '$n' }, 'x'.repeat(2 ** 20)] }, window: { documents } } }
      }
    },
    { $project: { n: 1 } }
  ]
  assert.is((await db.aggregate(made([-9, 9])).toArray()).length, 110)
  await rejects(db.aggregate(made([-60, 60])).toArray(), 'QueryExceededMemoryLimit')
})

test.run()
