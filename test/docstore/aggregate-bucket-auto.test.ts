/** $bucketAuto: where the bounds lie, what each bucket returns, and what is refused. */
import { Decimal128 } from 'bson'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Document, open } from '../../src/index.ts'
import { over, refusesStages, same } from './aggregate-over.ts'
import { rejects } from './scratch.ts'

const below = (count: number): readonly number[] => Array.from({ length: count }, (_, i) => i)
const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, i) => i + 1)

/** Values, the requested number of buckets, and the minimum, maximum and count of each resulting bucket. */
const cases: readonly (readonly [
  values: readonly unknown[],
  buckets: number,
  gives: readonly (readonly [min: unknown, max: unknown, count: number])[]
])[] = [
  [[], 3, []],
  [[5], 3, [[5, 5, 1]]],
  [[3, 1, 2, 4], 1, [[1, 4, 4]]],
  [
    [3, 1, 2, 4],
    2,
    [
      [1, 3, 2],
      [3, 4, 2]
    ]
  ],
  // 7/3 rounds to two documents per bucket, 10/4 to three; the last bucket takes the rest.
  [
    upTo(7),
    3,
    [
      [1, 3, 2],
      [3, 5, 2],
      [5, 7, 3]
    ]
  ],
  [
    upTo(10),
    4,
    [
      [1, 4, 3],
      [4, 7, 3],
      [7, 10, 3],
      [10, 10, 1]
    ]
  ],
  [
    [1, 2],
    9,
    [
      [1, 2, 1],
      [2, 2, 1]
    ]
  ],
  // Equal values stay together, which leaves fewer buckets.
  [
    [1, 1, 1, 1, 2, 3],
    3,
    [
      [1, 2, 4],
      [2, 3, 2]
    ]
  ],
  [[7, 7, 7], 3, [[7, 7, 3]]],
  [
    [1, 1n, Decimal128.fromString('1.0'), 2],
    4,
    [
      [1, 2, 3],
      [2, 2, 1]
    ]
  ],
  // Null and missing are the same value and sort before everything else.
  [
    ['a', undefined, 5, null],
    2,
    [
      [null, 5, 2],
      [5, 'a', 2]
    ]
  ],
  [
    [
      { a: 1, b: 2 },
      { b: 2, a: 1 },
      { a: 1, b: 2 }
    ],
    2,
    [
      [{ a: 1, b: 2 }, { b: 2, a: 1 }, 2],
      [{ b: 2, a: 1 }, { b: 2, a: 1 }, 1]
    ]
  ],
  // By code point: an emoji sorts after U+FF5E.
  [
    ['\u{1f600}', '\uff5e'],
    2,
    [
      ['\uff5e', '\u{1f600}', 1],
      ['\u{1f600}', '\u{1f600}', 1]
    ]
  ]
]

test('buckets have the expected bounds and counts', async () => {
  for (const [values, buckets, gives] of cases) {
    const documents = values.map((v) => (v === undefined ? {} : { v }))
    const found = await over(documents, { $bucketAuto: { groupBy: '$v', buckets } })
    same(
      found,
      gives.map(([min, max, count]) => ({ _id: { min, max }, count })),
      `${buckets} of ${values.join()}`
    )
  }
})

test('accumulators see the documents of a bucket in sort order, equal ones in input order', async () => {
  const documents: readonly Document[] = [
    { _id: 1, name: 'Eve' },
    { _id: 2, name: 'Al' },
    { _id: 3, name: 'Bo' },
    { _id: 4, name: 'Fritz' },
    { _id: 5, name: 'Zoe' }
  ]
  const output = {
    ids: { $push: '$_id' },
    n: { $sum: 1 },
    top: { $top: { sortBy: { _id: -1 }, output: '$name' } },
    none: { $first: '$none' }
  }
  same(await over(documents, { $bucketAuto: { groupBy: { $strLenCP: '$name' }, buckets: 2, output } }), [
    { _id: { min: 2, max: 5 }, ids: [2, 3, 1, 5], n: 4, top: 'Zoe', none: null },
    { _id: { min: 5, max: 5 }, ids: [4], n: 1, top: 'Fritz', none: null }
  ])
})

test('the groupBy path leads through arrays as in expressions, and digits are keys', async () => {
  const documents = [{ a: [{ b: 2 }, { b: 1 }] }, { a: { b: [2, 0] } }]
  same(await over(documents, { $bucketAuto: { groupBy: '$a.b', buckets: 2 } }), [
    { _id: { min: [2, 0], max: [2, 1] }, count: 1 },
    { _id: { min: [2, 1], max: [2, 1] }, count: 1 }
  ])
  same(await over([{ a: [5] }], { $bucketAuto: { groupBy: '$a.0', buckets: 2 } }), [
    { _id: { min: [], max: [] }, count: 1 }
  ])
})

test('a malformed $bucketAuto is refused before anything is read', () =>
  refusesStages(
    [],
    [
      [{ $bucketAuto: 2 }, 'BadValue', /must be an object, not number/],
      [{ $bucketAuto: { buckets: 2 } }, 'BadValue', /groupBy takes a path that begins with \$/],
      [{ $bucketAuto: { groupBy: 'v', buckets: 2 } }, 'BadValue', /groupBy takes a path that begins with \$/],
      [{ $bucketAuto: { groupBy: 1, buckets: 2 } }, 'BadValue', /groupBy takes a path that begins with \$/],
      [{ $bucketAuto: { groupBy: { $nope: 1 }, buckets: 2 } }, 'InvalidPipelineOperator', /no operator \$nope/],
      [{ $bucketAuto: { groupBy: '$v' } }, 'BadValue', /buckets must be a whole number ≥ 1, not undefined/],
      [{ $bucketAuto: { groupBy: '$v', buckets: 0 } }, 'BadValue', /buckets must be a whole number ≥ 1, not 0/],
      [{ $bucketAuto: { groupBy: '$v', buckets: 1.5 } }, 'BadValue', /not 1.5/],
      [{ $bucketAuto: { groupBy: '$v', buckets: '2' } }, 'BadValue', /not string/],
      [{ $bucketAuto: { groupBy: '$v', buckets: 2, size: 1 } }, 'FailedToParse', /no option 'size'/],
      [
        { $bucketAuto: { groupBy: '$v', buckets: 2, granularity: 'R7' } },
        'BadValue',
        /one of R5, .* POWERSOF2, not 'R7'/
      ],
      [
        { $bucketAuto: { groupBy: '$v', buckets: 2, granularity: 5 } },
        'BadValue',
        /granularity must be one of .*, not number/
      ],
      [{ $bucketAuto: { groupBy: '$v', buckets: 2, granularity: 'toString' } }, 'BadValue', /not 'toString'/],
      [{ $bucketAuto: { groupBy: '$v', buckets: 2, output: 1 } }, 'BadValue', /an object, not number/],
      [{ $bucketAuto: { groupBy: '$v', buckets: 2, output: { n: 1 } } }, 'FailedToParse', /'n' must be an accumulator/],
      [
        { $bucketAuto: { groupBy: '$v', buckets: 2, output: { n: { $nope: 1 } } } },
        'InvalidPipelineOperator',
        /no accumulator \$nope/
      ]
    ]
  ))

// The first five are from MongoDB's documentation.
const granular: readonly (readonly [
  granularity: string,
  values: readonly unknown[],
  buckets: number,
  gives: readonly (readonly [min: number, max: number, count: number])[]
])[] = [
  [
    'R20',
    below(100),
    5,
    [
      [0, 20, 20],
      [20, 40, 20],
      [40, 63, 23],
      [63, 90, 27],
      [90, 100, 10]
    ]
  ],
  [
    'E24',
    below(100),
    5,
    [
      [0, 20, 20],
      [20, 43, 23],
      [43, 68, 25],
      [68, 91, 23],
      [91, 100, 9]
    ]
  ],
  [
    '1-2-5',
    below(100),
    5,
    [
      [0, 20, 20],
      [20, 50, 30],
      [50, 100, 50]
    ]
  ],
  [
    'POWERSOF2',
    below(100),
    5,
    [
      [0, 32, 32],
      [32, 64, 32],
      [64, 128, 36]
    ]
  ],
  ['R5', [], 5, []],
  // A value on a bound belongs to the bucket above it.
  [
    'POWERSOF2',
    [8, 8, 16],
    2,
    [
      [4, 16, 2],
      [16, 32, 1]
    ]
  ],
  [
    'E6',
    [0.0015, 0.0016, 3300],
    2,
    [
      [0.001, 0.0022, 2],
      [0.0022, 4700, 1]
    ]
  ],
  // Zero belongs to no series, and stays a bound.
  [
    'R10',
    [0, 0, 0, 3, 5],
    5,
    [
      [0, 2.5, 3],
      [2.5, 3.15, 1],
      [3.15, 6.3, 1]
    ]
  ],
  ['R10', [0, 0], 1, [[0, 0, 2]]],
  [
    '1-2-5',
    [Decimal128.fromString('3'), 4n, Number.POSITIVE_INFINITY],
    2,
    [
      [2, 5, 2],
      [5, Number.POSITIVE_INFINITY, 1]
    ]
  ]
]

test('bounds of a granularity are numbers of its series', async () => {
  for (const [granularity, values, buckets, gives] of granular) {
    const documents = values.map((v) => ({ v }))
    const found = await over(documents, { $bucketAuto: { groupBy: '$v', buckets, granularity } })
    same(
      found,
      gives.map(([min, max, count]) => ({ _id: { min, max }, count })),
      `${granularity}: ${buckets} of ${values.join()}`
    )
  }
})

test('with a granularity, values other than numbers ≥ 0 are refused', async () => {
  for (const [v, message] of [
    ['5', /groupBy must produce numbers, not string/],
    [null, /groupBy must produce numbers, not null/],
    [undefined, /groupBy must produce numbers, not null/],
    [-1, /groupBy must produce numbers ≥ 0, not -1/],
    [Number.NaN, /groupBy must produce numbers ≥ 0, not NaN/]
  ] as const) {
    const stage = { $bucketAuto: { groupBy: '$v', buckets: 2, granularity: 'E12' } }
    const error = await rejects(over([{ v: 1 }, v === undefined ? {} : { v }], stage), 'BadValue')
    assert.match(error.message, message)
    assert.match(error.message, '$bucketAuto (stage 0)')
  }
})

test('memory is counted once for the documents and once for what accumulators keep of them', async () => {
  await using db = await open('unused', { store: 'memory' })
  await db.insertMany(Array.from({ length: 60 }, (_, _id) => ({ _id, text: 'x'.repeat(2 ** 20) })))
  const run = (output: Document): Promise<unknown> =>
    db.aggregate([{ $bucketAuto: { groupBy: '$_id', buckets: 2, output } }]).toArray()
  assert.equal(await run({ last: { $lastN: { input: '$_id', n: 1 } } }), [
    { _id: { min: 0, max: 30 }, last: [29] },
    { _id: { min: 30, max: 59 }, last: [59] }
  ])
  const error = await rejects(run({ all: { $push: '$text' } }), 'QueryExceededMemoryLimit')
  assert.match(error.message, '$bucketAuto (stage 0)')
})

test.run()
