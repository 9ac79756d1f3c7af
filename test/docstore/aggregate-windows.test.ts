/** $setWindowFields: partitions, orders and windows, what is computed over them, and what is refused. */
import { Decimal128 } from 'bson'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Document, open } from '../../src/index.ts'
import { over, refusesStages, same } from './aggregate-over.ts'
import { rejects } from './scratch.ts'

const secondsOn = (n: number): Date => new Date(Date.UTC(2024, 0, 1) + n * 1000)

/** Values of one window field, in order. */
async function column(
  documents: readonly Document[],
  sortBy: Document | undefined,
  field: Document
): Promise<unknown[]> {
  const spec = { ...(sortBy && { sortBy }), output: { found: field } }
  return (await over(documents, { $setWindowFields: spec })).map(({ found }) => found)
}

const five: readonly Document[] = [1, 2, 3, 4, 5].map((_id) => ({ _id, n: _id * 10 }))

const documentWindows: readonly (readonly [bounds: readonly unknown[], pushed: readonly string[]])[] = [
  [
    ['unbounded', 'unbounded'],
    ['12345', '12345', '12345', '12345', '12345']
  ],
  [
    ['unbounded', 'current'],
    ['1', '12', '123', '1234', '12345']
  ],
  [
    ['current', 'unbounded'],
    ['12345', '2345', '345', '45', '5']
  ],
  [
    ['current', 'current'],
    ['1', '2', '3', '4', '5']
  ],
  [
    [-1, 1],
    ['12', '123', '234', '345', '45']
  ],
  [
    [-1, 0],
    ['1', '12', '23', '34', '45']
  ],
  [
    [-3, -2],
    ['', '', '1', '12', '23']
  ],
  [
    [2, 3],
    ['34', '45', '5', '', '']
  ],
  [
    [-1, 'unbounded'],
    ['12345', '12345', '2345', '345', '45']
  ],
  [
    ['unbounded', -1],
    ['', '1', '12', '123', '1234']
  ],
  [
    ['unbounded', 2n],
    ['123', '1234', '12345', '12345', '12345']
  ],
  [
    [7, 'unbounded'],
    ['', '', '', '', '']
  ],
  [
    [-100, 100],
    ['12345', '12345', '12345', '12345', '12345']
  ],
  [
    [{ $subtract: [1, 2] }, { $add: [0, 1] }],
    ['12', '123', '234', '345', '45']
  ]
]

test('windows of a number of documents contain the right ones', async () => {
  for (const [documents, pushed] of documentWindows) {
    const found = await column(five, { _id: 1 }, { $push: '$_id', window: { documents } })
    same(
      found.map((ids) => (ids as number[]).join('')),
      pushed,
      JSON.stringify(documents, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))
    )
  }
  const downwards = await column(five, { _id: -1 }, { $push: '$_id', window: { documents: [-1, 0] } })
  same(downwards, [[5], [5, 4], [4, 3], [3, 2], [2, 1]])
  same(await column(five, undefined, { $sum: '$n', window: {} }), [150, 150, 150, 150, 150])
})

const spaced: readonly Document[] = [0, 1, 1.5, 2, 3, 42, 42, 43].map((at, i) => ({ _id: i, at }))

/** Results are the positions of documents. */
const rangeWindows: readonly (readonly [bounds: readonly unknown[], pushed: readonly string[]])[] = [
  [
    [-1, 0],
    ['0', '01', '12', '123', '34', '56', '56', '567']
  ],
  [
    ['unbounded', 0],
    ['0', '01', '012', '0123', '01234', '0123456', '0123456', '01234567']
  ],
  [
    [0, 'unbounded'],
    ['01234567', '1234567', '234567', '34567', '4567', '567', '567', '7']
  ],
  [
    ['current', 'current'],
    ['0', '1', '2', '3', '4', '5', '6', '7']
  ],
  [
    ['current', 1],
    ['01', '123', '23', '34', '4', '567', '67', '7']
  ],
  [
    [-39, 'current'],
    ['0', '01', '012', '0123', '01234', '45', '456', '567']
  ],
  [
    [-1, -1],
    ['', '0', '', '1', '3', '', '', '56']
  ],
  [
    [1, 1],
    ['1', '3', '', '4', '', '7', '7', '']
  ],
  [
    ['unbounded', -41],
    ['', '', '', '', '', '01', '01', '0123']
  ],
  [
    [41, 'unbounded'],
    ['567', '567', '7', '7', '', '', '', '']
  ],
  [
    [999, 999],
    ['', '', '', '', '', '', '', '']
  ]
]

test('windows of a range contain the right documents: numbers, and dates with a unit', async () => {
  for (const [range, pushed] of rangeWindows) {
    const shown = (found: readonly unknown[]): readonly string[] => found.map((ids) => (ids as number[]).join(''))
    same(shown(await column(spaced, { at: 1 }, { $push: '$_id', window: { range } })), pushed, JSON.stringify(range))
    const dated = spaced.map(({ _id, at }) => ({ _id, at: secondsOn(at as number) }))
    const field = { $push: '$_id', window: { range, unit: 'second' } }
    same(shown(await column(dated, { at: 1 }, field)), pushed, `${JSON.stringify(range)} seconds`)
  }
})

test('ranges are computed exactly with decimals, and months by the calendar', async () => {
  const tenths = [0.1, 0.2, 0.3, Decimal128.fromString('0.4'), 1n].map((at, i) => ({ _id: i, at }))
  same(await column(tenths, { at: 1 }, { $push: '$_id', window: { range: [0, 0.1] } }), [
    [0, 1],
    [1, 2],
    [2, 3],
    [3],
    [4]
  ])
  const large = [2n ** 53n, 2n ** 53n + 1n, 2n ** 53n + 2n].map((at, i) => ({ _id: i, at }))
  same(await column(large, { at: 1 }, { $push: '$_id', window: { range: [-1, 0] } }), [[0], [0, 1], [1, 2]])
  const day = (month: number, n: number, hour = 0): Date => new Date(Date.UTC(2024, month - 1, n, hour))
  const days = [day(1, 30, 12), day(1, 31), day(2, 29), day(2, 29, 6), day(2, 29, 12), day(3, 29)]
  const dated = days.map((at, i) => ({ _id: i, at }))
  // A month after the 30th at noon is later than a month after the 31st.
  same(await column(dated, { at: 1 }, { $push: '$_id', window: { range: ['unbounded', 1], unit: 'month' } }), [
    [0, 1, 2, 3, 4],
    [0, 1, 2],
    [0, 1, 2, 3, 4, 5],
    [0, 1, 2, 3, 4, 5],
    [0, 1, 2, 3, 4, 5],
    [0, 1, 2, 3, 4, 5]
  ])
  same(await column(dated, { at: 1 }, { $count: {}, window: { range: [-1, 0], unit: 'month' } }), [1, 2, 3, 4, 5, 4])
})

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

test('a malformed $setWindowFields is refused before anything is read', () => {
  const sum = { $sum: '$n' }
  const by = (field: unknown, sortBy: Document | undefined = { at: 1 }): Document => ({
    $setWindowFields: { ...(sortBy && { sortBy }), output: { x: field } }
  })
  const unordered = (field: unknown): Document => ({ $setWindowFields: { output: { x: field } } })
  const within = (window: unknown, sortBy?: Document): Document => by({ ...sum, window }, sortBy)
  return refusesStages(
    [],
    [
      [{ $setWindowFields: 'x' }, 'BadValue', /must be an object, not string/],
      [{ $setWindowFields: {} }, 'BadValue', /an empty one/],
      [{ $setWindowFields: { sortBy: { a: 1 } } }, 'BadValue', /output must be an object, not undefined/],
      [{ $setWindowFields: { output: 'x' } }, 'BadValue', /output must be an object, not string/],
      [{ $setWindowFields: { output: {}, what: 1 } }, 'FailedToParse', /no option 'what'/],
      [{ $setWindowFields: { output: {}, sortBy: 'a' } }, 'BadValue', /an object, not string/],
      [{ $setWindowFields: { output: {}, sortBy: { a: 'up' } } }, 'BadValue', /'a'/],
      [{ $setWindowFields: { output: {}, sortBy: { $natural: 1 } } }, 'BadValue', /\$natural/],
      [
        { $setWindowFields: { output: {}, partitionBy: { $nope: 1 } } },
        'InvalidPipelineOperator',
        /no operator \$nope/
      ],
      [{ $setWindowFields: { output: {}, partitionBy: [] } }, 'BadValue', /must not evaluate to an array/],
      [
        { $setWindowFields: { output: {}, partitionBy: { $literal: [1] } } },
        'BadValue',
        /must not evaluate to an array/
      ],
      [{ $setWindowFields: { output: { $x: sum } } }, 'BadValue', /has the invalid component '\$x'/],
      [{ $setWindowFields: { output: { 'a..b': sum } } }, 'BadValue', /has the invalid component ''/],
      [{ $setWindowFields: { output: { a: sum, 'a.b': sum } } }, 'BadValue', /'a' and 'a\.b'/],
      [{ $setWindowFields: { output: { 'a.b.c': sum, 'a.b': sum } } }, 'BadValue', /'a\.b' and 'a\.b\.c'/],
      [
        by({ sum: '$n', window: {} }),
        'FailedToParse',
        /'x' must be a window function .* not an object without an operator/
      ],
      [by({}), 'FailedToParse', /a window function/],
      [by('$n'), 'FailedToParse', /a window function .* not string/],
      [by({ b: { $sum: '$n' } }), 'FailedToParse', /a window function/],
      [by({ $summ: '$n' }), 'FailedToParse', /'x': there is no window function \$summ/],
      [by({ $mergeObjects: '$n' }), 'FailedToParse', /no window function \$mergeObjects/],
      [by({ $accumulator: {} }), 'FailedToParse', /no window function \$accumulator/],
      [by({ ...sum, $avg: '$n' }), 'FailedToParse', /'x' has '\$avg' in addition to \$sum/],
      [by({ ...sum, windoww: {} }), 'FailedToParse', /'x' has 'windoww' in addition to \$sum/],
      [by({ $sum: '$$nothing' }), 'FailedToParse', /no variable \$\$nothing/],
      [within([-1, 1]), 'FailedToParse', /the window of \$sum: it must be an object, not array/],
      [within({ document: [-1, 1] }), 'FailedToParse', /the window of \$sum: there is no option 'document'/],
      [within({ documents: [-1, 1], range: [-1, 1] }), 'FailedToParse', /documents and range cannot be combined/],
      [within({ documents: [-1, 1], unit: 'day' }), 'FailedToParse', /unit can only be used with range/],
      [within({ unit: 'day' }), 'FailedToParse', /unit can only be used with range/],
      [within({ documents: [1] }), 'FailedToParse', /an array of two bounds/],
      [within({ documents: 1 }), 'FailedToParse', /an array of two bounds, not number/],
      [within({ documents: [1, -1] }), 'FailedToParse', /must not exceed the upper one: 1, -1/],
      [within({ documents: ['current', -1] }), 'FailedToParse', /must not exceed/],
      [within({ range: [1, 'current'] }), 'FailedToParse', /must not exceed/],
      [within({ range: [1, -1], unit: 'day' }), 'FailedToParse', /must not exceed/],
      [within({ documents: [-1.5, 1] }), 'FailedToParse', /'current' or a whole number, not '-1\.5'/],
      [within({ documents: ['now', 1] }), 'FailedToParse', /a whole number, not 'now'/],
      [within({ documents: [{ $literal: 'current' }, 1] }), 'FailedToParse', /a whole number, not 'current'/],
      [within({ documents: ['$n', 1] }), 'FailedToParse', /a whole number, not '\$n'/],
      [
        within({ documents: [{ $add: ['$n', 1] }, 1] }),
        'FailedToParse',
        /a bound of \$sum's window must be a constant/
      ],
      [within({ documents: [{ $rand: {} }, 1] }), 'FailedToParse', /must be a constant/],
      [within({ documents: [null, 1] }), 'FailedToParse', /a whole number, not null/],
      [within({ range: [new Date(0), 1] }), 'FailedToParse', /a number, not (d|D)ate/],
      [within({ range: [0.5, 1], unit: 'day' }), 'FailedToParse', /a whole number, not '0\.5'/],
      [within({ range: [0, 1], unit: 'days' }), 'FailedToParse', /unit must be one of .* not 'days'/],
      [within({ range: [0, 1], unit: 1 }), 'FailedToParse', /unit/],
      [
        unordered({ ...sum, window: { documents: ['unbounded', 'current'] } }),
        'FailedToParse',
        /documents needs a sortBy/
      ],
      [unordered({ ...sum, window: { range: ['unbounded', 'unbounded'] } }), 'FailedToParse', /one ascending field/],
      [within({ range: [0, 1] }, { a: 1, b: 1 }), 'FailedToParse', /one ascending field/],
      [within({ range: [0, 1] }, { a: -1 }), 'FailedToParse', /one ascending field/],
      [by({ $count: 1 }), 'FailedToParse', /\$count takes \{\}, not number/],
      [by({ $rank: '$at' }), 'FailedToParse', /\$rank takes \{\}, not string/],
      [by({ $rank: {}, window: { documents: [-1, 1] } }), 'FailedToParse', /\$rank takes no window/],
      [unordered({ $rank: {} }), 'FailedToParse', /\$rank needs a sortBy/],
      [by({ $denseRank: {} }, { a: 1, b: 1 }), 'FailedToParse', /\$denseRank needs a sortBy of one field, not 2/],
      [by({ $documentNumber: {} }, { a: 1, b: 1 }), 'FailedToParse', /\$documentNumber needs a sortBy of one field/],
      [by({ $minN: { input: '$n', n: 0 } }), 'BadValue', /\$minN: n takes a whole number ≥ 1, got 0/],
      [by({ $minN: { input: '$n', n: '$n' } }), 'BadValue', /\$minN: n takes a whole number ≥ 1, got nothing/],
      [by({ $minN: '$n' }), 'BadValue', /\$minN takes \{ input, n \}/],
      [by({ $topN: { output: '$n', n: 1 } }), 'BadValue', /\$topN needs 'sortBy'/],
      [by({ $percentile: { input: '$n', p: [2] } }), 'BadValue', /p takes numbers from 0 to 1/]
    ]
  )
})

test('values that a range cannot handle are errors, whatever its bounds', async () => {
  const ranges = [
    [999, 999],
    [-999, 999],
    ['unbounded', 'unbounded'],
    ['current', 'current'],
    [3, 'unbounded']
  ]
  for (const range of ranges) {
    const numbers = { $setWindowFields: { sortBy: { at: 1 }, output: { x: { $max: 5, window: { range } } } } }
    const window = { range, unit: 'hour' }
    const dates = { $setWindowFields: { sortBy: { at: 1 }, output: { x: { $max: 5, window } } } }
    for (const [at, found] of [
      [undefined, 'missing'],
      [null, 'null'],
      ['x', 'string'],
      [[1], 'array']
    ] as const) {
      const documents = [{ at: 2 }, at === undefined ? {} : { at }]
      await refusesStages(documents, [
        [numbers, 'BadValue', new RegExp(`without a unit, range needs numbers to sort by, but 'at' is ${found}`)]
      ])
    }
    await refusesStages(
      [{ at: secondsOn(1) }],
      [[numbers, 'BadValue', /range needs numbers to sort by, but 'at' is (d|D)ate/]]
    )
    await refusesStages(
      [{ at: 1 }],
      [[dates, 'BadValue', /with a unit, range needs dates to sort by, but 'at' is number/]]
    )
  }
  const parted = { $setWindowFields: { partitionBy: '$p', output: {} } }
  await refusesStages([{ p: [] }], [[parted, 'BadValue', /partitionBy must not evaluate to an array/]])
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
