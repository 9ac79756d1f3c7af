/** Pipelines with their results, worked out by hand: one shared specification that runs on every store. */
import { Decimal128, Long, ObjectId } from 'bson'
import type { Test } from 'uvu'
import * as assert from 'uvu/assert'
import type { AggregationPipeline, Database, Document } from '../../src/index.ts'

const first = new ObjectId('65a1b2c3d4e5f60718293a41')
const second = new ObjectId('65a1b2c3d4e5f60718293a42')

const orders: readonly Document[] = [
  { _id: 1, user: first, city: 'Oslo', total: 10, items: ['pen', 'ink'], at: new Date('2024-01-01T00:00:00Z') },
  { _id: 2, user: second, city: 'Rome', total: 7.5, items: ['pen'], at: new Date('2024-01-02T00:00:00Z') },
  { _id: 3, user: first, city: 'Rome', total: 2, items: [], at: new Date('2024-02-01T00:00:00Z') },
  { _id: 4, user: first, total: null, items: null },
  {
    _id: 5,
    user: second,
    city: 'Oslo',
    total: 20,
    items: ['cap', 'pen', 'cap'],
    ship: { to: { city: 'Bonn' }, days: 3 }
  }
]
const users: readonly Document[] = [
  { _id: first, name: 'Ada', cities: ['Oslo', 'Bonn'] },
  { _id: second, name: 'Bob', cities: ['Rome'] },
  { _id: 'nobody', cities: null }
]

interface Case {
  readonly title: string
  readonly pipeline: AggregationPipeline
  readonly gives: readonly Document[]
}

const cases: readonly Case[] = [
  {
    title: 'the leading stages become one read: a filter, an order, a range, a projection',
    pipeline: [
      { $match: { city: { $in: ['Oslo', 'Rome'] } } },
      { $sort: { total: -1 } },
      { $match: { total: { $lt: 20 } } },
      { $skip: 1 },
      { $limit: 5 },
      { $limit: 1 },
      { $project: { city: 1 } }
    ],
    gives: [{ _id: 2, city: 'Rome' }]
  },
  { title: '$count after matches', pipeline: [{ $match: { city: 'Oslo' } }, { $count: 'n' }], gives: [{ n: 2 }] },
  { title: '$count of nothing returns nothing', pipeline: [{ $match: { city: 'Paris' } }, { $count: 'n' }], gives: [] },
  {
    title: '$count honours skip and limit',
    pipeline: [{ $skip: 1 }, { $limit: 10 }, { $limit: 3 }, { $count: 'n' }],
    gives: [{ n: 3 }]
  },
  { title: '$limit smaller than $skip leaves nothing', pipeline: [{ $limit: 2 }, { $skip: 2 }], gives: [] },
  {
    title: '$group of all documents into a count',
    pipeline: [{ $match: { city: 'Rome' } }, { $group: { _id: null, n: { $sum: 1 } } }],
    gives: [{ _id: null, n: 2 }]
  },
  {
    title: '$group: missing and null are one group, and null and text add nothing',
    pipeline: [
      { $group: { _id: '$city', sum: { $sum: '$total' }, avg: { $avg: '$total' }, n: { $count: {} } } },
      { $sort: { _id: 1 } }
    ],
    gives: [
      { _id: null, sum: 0, avg: null, n: 1 },
      { _id: 'Oslo', sum: 30, avg: 15, n: 2 },
      { _id: 'Rome', sum: 9.5, avg: 4.75, n: 2 }
    ]
  },
  {
    title: '$group by an ObjectId with $min, $max, $first, $last and lists',
    pipeline: [
      {
        $group: {
          _id: '$user',
          min: { $min: '$total' },
          max: { $max: '$total' },
          first: { $first: '$city' },
          last: { $last: '$city' },
          all: { $push: '$city' },
          set: { $addToSet: '$city' }
        }
      },
      { $sort: { max: 1 } }
    ],
    gives: [
      { _id: first, min: 2, max: 10, first: 'Oslo', last: null, all: ['Oslo', 'Rome'], set: ['Oslo', 'Rome'] },
      { _id: second, min: 7.5, max: 20, first: 'Rome', last: 'Oslo', all: ['Rome', 'Oslo'], set: ['Rome', 'Oslo'] }
    ]
  },
  {
    title: '$group by several values, with an expression, and with an accumulator that needs the complete group',
    pipeline: [
      { $match: { at: { $exists: true } } },
      {
        $group: { _id: { year: { $year: '$at' }, month: { $month: '$at' } }, top: { $maxN: { n: 1, input: '$total' } } }
      },
      { $sort: { '_id.month': -1 } }
    ],
    gives: [
      { _id: { year: 2024, month: 2 }, top: [2] },
      { _id: { year: 2024, month: 1 }, top: [10] }
    ]
  },
  {
    title: '$unwind drops documents whose array is empty, null or missing',
    pipeline: [{ $unwind: '$items' }, { $sortByCount: '$items' }, { $match: { count: { $gt: 1 } } }],
    gives: [
      { _id: 'pen', count: 3 },
      { _id: 'cap', count: 2 }
    ]
  },
  {
    title: '$unwind keeps such documents on request, and returns positions',
    pipeline: [
      { $match: { _id: { $gt: 1, $lt: 5 } } },
      { $project: { items: 1 } },
      { $unwind: { path: '$items', includeArrayIndex: 'i', preserveNullAndEmptyArrays: true } }
    ],
    gives: [
      { _id: 2, items: 'pen', i: 0 },
      { _id: 3, i: null },
      { _id: 4, items: null, i: null }
    ]
  },
  {
    title: '$unwind puts positions below an object, replacing whatever is there',
    pipeline: [
      { $match: { _id: 2 } },
      { $project: { items: 1, at: [{ x: 1 }] } },
      { $unwind: { path: '$items', includeArrayIndex: 'at.i' } }
    ],
    gives: [{ _id: 2, items: 'pen', at: { i: 0 } }]
  },
  {
    title: '$project computes, keeps and renames',
    pipeline: [
      { $match: { _id: 5 } },
      { $project: { _id: 0, city: 1, to: '$ship.to.city', double: { $multiply: ['$total', 2] }, 'ship.days': 1 } }
    ],
    gives: [{ city: 'Oslo', ship: { days: 3 }, to: 'Bonn', double: 40 }]
  },
  {
    title: '$addFields sets fields inside objects, removes with $$REMOVE and sees the incoming document',
    pipeline: [
      { $match: { _id: 5 } },
      {
        $set: {
          'ship.to.land': 'DE',
          total: { $add: ['$total', 1] },
          before: '$total',
          items: '$$REMOVE',
          at: '$$REMOVE'
        }
      },
      { $unset: ['user', 'ship.days'] }
    ],
    gives: [{ _id: 5, city: 'Oslo', total: 21, ship: { to: { city: 'Bonn', land: 'DE' } }, before: 20 }]
  },
  {
    title: 'a field set inside a copy leaves the original unchanged',
    pipeline: [
      { $match: { _id: 5 } },
      { $set: { copy: '$ship' } },
      { $set: { 'copy.days': 9 } },
      { $project: { ship: 1, copy: 1 } }
    ],
    gives: [{ _id: 5, ship: { to: { city: 'Bonn' }, days: 3 }, copy: { to: { city: 'Bonn' }, days: 9 } }]
  },
  {
    title: '$replaceRoot and $replaceWith',
    pipeline: [
      { $match: { ship: { $exists: true } } },
      { $replaceRoot: { newRoot: '$ship' } },
      { $replaceWith: '$to' }
    ],
    gives: [{ city: 'Bonn' }]
  },
  {
    title: 'a later $match uses the same matcher: null matches missing, and arrays are searched',
    pipeline: [{ $set: { x: 1 } }, { $match: { city: null, items: null } }, { $project: { x: 1 } }],
    gives: [{ _id: 4, x: 1 }]
  },
  {
    title: '$match with $expr, as the first and as a later stage',
    pipeline: [
      { $match: { $expr: { $gt: [{ $size: { $ifNull: ['$items', []] } }, 1] } } },
      { $set: { n: { $size: '$items' } } },
      { $match: { $expr: { $eq: ['$n', 3] } } },
      { $project: { n: 1 } }
    ],
    gives: [{ _id: 5, n: 3 }]
  },
  {
    title: '$bucket includes the lower bound, excludes the upper one, and omits empty buckets',
    pipeline: [
      {
        $bucket: {
          groupBy: '$total',
          boundaries: [0, 7.5, 10, 20, 30],
          default: 'other',
          output: { ids: { $push: '$_id' } }
        }
      }
    ],
    gives: [
      { _id: 0, ids: [3] },
      { _id: 7.5, ids: [2] },
      { _id: 10, ids: [1] },
      { _id: 20, ids: [5] },
      { _id: 'other', ids: [4] }
    ]
  },
  {
    title: '$facet runs each of its pipelines over the same documents',
    pipeline: [
      { $match: { city: { $exists: true } } },
      {
        $facet: {
          n: [{ $count: 'n' }],
          cities: [{ $sortByCount: '$city' }, { $project: { count: 1 } }, { $match: { _id: 'Rome' } }],
          top: [{ $sort: { total: -1 } }, { $limit: 1 }, { $project: { total: 1 } }],
          none: [{ $match: { city: 'Paris' } }]
        }
      }
    ],
    gives: [{ n: [{ n: 4 }], cities: [{ _id: 'Rome', count: 2 }], top: [{ _id: 5, total: 20 }], none: [] }]
  },
  {
    title: '$lookup by equality on ObjectIds',
    pipeline: [
      { $match: { _id: { $lte: 2 } } },
      { $lookup: { from: 'users', localField: 'user', foreignField: '_id', as: 'who' } },
      { $project: { name: '$who.name' } }
    ],
    gives: [
      { _id: 1, name: ['Ada'] },
      { _id: 2, name: ['Bob'] }
    ]
  },
  {
    title: '$lookup into arrays; a missing field matches null',
    pipeline: [
      { $match: { _id: { $in: [4, 5] } } },
      { $lookup: { from: 'users', localField: 'city', foreignField: 'cities', as: 'there' } },
      { $project: { there: '$there._id' } }
    ],
    gives: [
      { _id: 4, there: ['nobody'] },
      { _id: 5, there: [first] }
    ]
  },
  {
    title: '$lookup with variables and a pipeline, also combined with an equality',
    pipeline: [
      { $match: { _id: { $in: [2, 5] } } },
      {
        $lookup: {
          from: 'orders',
          let: { total: '$total' },
          pipeline: [
            { $match: { $expr: { $lt: ['$total', '$$total'] } } },
            { $match: { total: { $ne: null } } },
            { $count: 'n' }
          ],
          as: 'less'
        }
      },
      {
        $lookup: {
          from: 'orders',
          localField: 'user',
          foreignField: 'user',
          let: { id: '$_id' },
          pipeline: [{ $match: { $expr: { $ne: ['$_id', '$$id'] } } }, { $project: { total: 1 } }],
          as: 'others'
        }
      },
      { $project: { less: 1, others: 1 } }
    ],
    gives: [
      { _id: 2, less: [{ n: 1 }], others: [{ _id: 5, total: 20 }] },
      { _id: 5, less: [{ n: 3 }], others: [{ _id: 2, total: 7.5 }] }
    ]
  },
  {
    title: '$lookup with a variable as the entire $expr',
    pipeline: [
      { $match: { _id: { $lte: 2 } } },
      { $project: { isFirst: { $eq: ['$_id', 1] } } },
      {
        $lookup: {
          from: 'users',
          let: { wanted: '$isFirst' },
          pipeline: [{ $match: { $expr: '$$wanted' } }, { $count: 'n' }],
          as: 'all'
        }
      }
    ],
    gives: [
      { _id: 1, isFirst: true, all: [{ n: 3 }] },
      { _id: 2, isFirst: false, all: [] }
    ]
  },
  {
    title: '$unionWith appends another collection, or the results of a pipeline over it',
    pipeline: [
      { $match: { _id: 1 } },
      { $project: { _id: 1 } },
      { $unionWith: { coll: 'users', pipeline: [{ $match: { name: 'Bob' } }, { $project: { name: 1, _id: 0 } }] } },
      { $unionWith: 'missing' }
    ],
    gives: [{ _id: 1 }, { name: 'Bob' }]
  },
  {
    title: '$redact prunes as its expression says',
    pipeline: [
      { $match: { _id: 5 } },
      { $project: { ship: 1 } },
      { $redact: { $cond: [{ $eq: ['$city', 'Bonn'] }, '$$PRUNE', '$$DESCEND'] } }
    ],
    gives: [{ _id: 5, ship: { days: 3 } }]
  },
  {
    title: '$bucketAuto and $setWindowFields run over all documents',
    pipeline: [
      { $match: { total: { $type: 'number' } } },
      {
        $setWindowFields: {
          sortBy: { total: 1 },
          output: { sum: { $sum: '$total', window: { documents: ['unbounded', 'current'] } } }
        }
      },
      { $bucketAuto: { groupBy: '$sum', buckets: 2, output: { ids: { $push: '$_id' } } } }
    ],
    gives: [
      { _id: { min: 2, max: 19.5 }, ids: [3, 2] },
      { _id: { min: 19.5, max: 39.5 }, ids: [1, 5] }
    ]
  }
]

const numbers: readonly Document[] = [
  { _id: 1, n: 1, big: 2n ** 53n + 1n, price: Decimal128.fromString('0.1') },
  { _id: 2, n: 1n, big: 2n ** 53n + 2n, price: Decimal128.fromString('0.2') },
  { _id: 3, n: Decimal128.fromString('1.0'), big: 1, price: 3 },
  { _id: 4, n: Long.fromNumber(2), big: null },
  { _id: 5, n: -0 },
  { _id: 6, n: 0 },
  { _id: 7, n: Number.NaN },
  { _id: 8, n: Number.NaN }
]

export function aggregateCases(test: Test, openEmpty: () => Promise<Database>): void {
  let db: Database

  test.before(async () => {
    db = await openEmpty()
    await db.collection('orders').insertMany(orders)
    await db.collection('users').insertMany(users)
    await db.collection('numbers').insertMany(numbers)
  })

  test.after(() => db.close())

  for (const { title, pipeline, gives } of cases) {
    test(title, async () => {
      assert.equal(await db.collection('orders').aggregate(pipeline).toArray(), gives)
    })
  }

  test('numbers of all kinds are grouped, added and compared by value', async () => {
    const collection = db.collection('numbers')
    const groups = await collection
      .aggregate([{ $group: { _id: '$n', ids: { $push: '$_id' } } }, { $sort: { _id: 1 } }])
      .toArray()
    assert.equal(
      groups.map(({ ids }) => ids),
      [[7, 8], [5, 6], [1, 2, 3], [4]]
    )
    const [sums] = await collection
      .aggregate([{ $group: { _id: null, big: { $sum: '$big' }, price: { $sum: '$price' }, max: { $max: '$big' } } }])
      .toArray()
    assert.is(sums?.big, 2n ** 54n + 4n)
    assert.is(String(sums?.price), '3.3')
    assert.is(sums?.max, 2n ** 53n + 2n)
    const compared = await collection
      .aggregate([
        { $match: { big: { $exists: true } } },
        { $project: { _id: 0, is: { $gt: ['$big', 2 ** 53] }, plus: { $add: ['$big', 1] }, type: { $type: '$big' } } }
      ])
      .toArray()
    assert.equal(compared, [
      { is: true, plus: 2n ** 53n + 2n, type: 'long' },
      { is: true, plus: 2n ** 53n + 3n, type: 'long' },
      { is: false, plus: 2, type: 'int' },
      { is: false, plus: null, type: 'null' }
    ])
  })

  test('ObjectIds and dates pass through expressions unchanged', async () => {
    const [document] = await db
      .collection('orders')
      .aggregate([
        { $match: { _id: 1 } },
        {
          $project: {
            user: { $ifNull: ['$user', null] },
            hex: { $toString: '$user' },
            same: { $eq: ['$user', { $toObjectId: String(first) }] },
            next: { $add: ['$at', 1000] },
            none: { $eq: ['$missing', null] }
          }
        }
      ])
      .toArray()
    assert.equal(document, {
      _id: 1,
      user: first,
      hex: String(first),
      same: true,
      next: new Date('2024-01-01T00:00:01Z'),
      none: false
    })
  })
}
