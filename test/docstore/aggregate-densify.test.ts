/** $densify: which documents it adds, with which values, and what is refused. */
import { Decimal128, Long } from 'bson'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Document, open } from '../../src/index.ts'
import { over, refusesStages, same } from './aggregate-over.ts'
import { rejects } from './scratch.ts'

const day = (text: string): Date => new Date(`${text}T00:00:00Z`)

/** Values of documents, a range, and the values of all results. */
const numbers: readonly (readonly [values: readonly unknown[], range: Document, gives: readonly unknown[]])[] = [
  [[1, 3, 5], { step: 1, bounds: 'full' }, [1, 2, 3, 4, 5]],
  [[], { step: 1, bounds: 'full' }, []],
  [[7], { step: 1, bounds: 'full' }, [7]],
  [[], { step: 1, bounds: [1, 4] }, [1, 2, 3]],
  [[1, 3], { step: 1, bounds: [1, 5] }, [1, 2, 3, 4]],
  [[1, 3, 9], { step: 1, bounds: [2, 6] }, [1, 2, 3, 4, 5, 9]],
  [[0, 10], { step: 2, bounds: [2, 5] }, [0, 2, 4, 10]],
  [[0, 10], { step: 2, bounds: [4, 4] }, [0, 10]],
  // A value that is not a whole number of steps above the lower bound stays, and does not shift the steps.
  [[0, 3, 8], { step: 2, bounds: 'full' }, [0, 2, 3, 4, 6, 8]],
  [[3, 4.5], { step: 2, bounds: [0, 9] }, [0, 2, 3, 4, 4.5, 6, 8]],
  [[600, 750, 950], { step: 200, bounds: 'full' }, [600, 750, 800, 950]],
  [[3, 1, 1, 3], { step: 1, bounds: 'full' }, [1, 1, 2, 3, 3]],
  [[-1, 1], { step: 0.5, bounds: 'full' }, [-1, -0.5, 0, 0.5, 1]],
  // Steps are counted, not added up: ten times 0.1 is 1.
  [[0, 1], { step: 0.1, bounds: 'full' }, [0, ...Array.from({ length: 9 }, (_, i) => (i + 1) * 0.1), 1]],
  [[undefined, null, 2, 4], { step: 1, bounds: 'full' }, [undefined, null, 2, 3, 4]],
  [[null], { step: 1, bounds: 'full' }, [null]],
  [[null], { step: 1, bounds: [1, 3] }, [null, 1, 2]],
  [[1n, 4], { step: 1, bounds: 'full' }, [1n, 2n, 3n, 4]],
  [[1, 3], { step: Long.fromNumber(1), bounds: 'full' }, [1, 2n, 3]],
  [
    [Decimal128.fromString('0.1'), 0.3],
    { step: Decimal128.fromString('0.1'), bounds: 'full' },
    [Decimal128.fromString('0.1'), Decimal128.fromString('0.2'), 0.3]
  ]
]

test('numbers are filled in between the bounds', async () => {
  for (const [values, range, gives] of numbers) {
    const documents = values.map((n) => (n === undefined ? {} : { n }))
    const found = await over(documents, { $densify: { field: 'n', range } })
    same(
      found.map(({ n }) => n),
      gives,
      `${values.join()} with ${JSON.stringify(range.bounds)}`
    )
  }
})

const dates: readonly (readonly [values: readonly string[], range: Document, gives: readonly string[]])[] = [
  [
    ['2024-02-27', '2024-03-01'],
    { step: 1, unit: 'day', bounds: 'full' },
    ['2024-02-27', '2024-02-28', '2024-02-29', '2024-03-01']
  ],
  [
    ['2024-01-03'],
    { step: 1, unit: 'week', bounds: [day('2024-01-01'), day('2024-01-22')] },
    ['2024-01-01', '2024-01-03', '2024-01-08', '2024-01-15']
  ],
  [
    [],
    { step: 1, unit: 'month', bounds: [day('2023-11-15'), day('2024-02-15')] },
    ['2023-11-15', '2023-12-15', '2024-01-15']
  ],
  // A shorter month shortens all that follow it.
  [
    ['2024-01-31', '2024-05-31'],
    { step: 1, unit: 'month', bounds: 'full' },
    ['2024-01-31', '2024-02-29', '2024-03-29', '2024-04-29', '2024-05-29', '2024-05-31']
  ],
  [
    ['2024-01-31', '2024-02-29', '2024-04-30'],
    { step: 2, unit: 'month', bounds: 'full' },
    ['2024-01-31', '2024-02-29', '2024-03-31', '2024-04-30']
  ],
  [
    ['2023-11-30', '2024-06-01'],
    { step: 1, unit: 'quarter', bounds: 'full' },
    ['2023-11-30', '2024-02-29', '2024-05-29', '2024-06-01']
  ],
  [
    ['2020-02-29', '2024-02-29'],
    { step: 2n, unit: 'year', bounds: 'full' },
    ['2020-02-29', '2022-02-28', '2024-02-28', '2024-02-29']
  ]
]

test('dates are filled in by calendar units', async () => {
  for (const [values, range, gives] of dates) {
    const found = await over(
      values.map((text) => ({ at: day(text) })),
      { $densify: { field: 'at', range } }
    )
    same(
      found.map(({ at }) => at),
      gives.map(day),
      `${values.join()} by ${range.step} ${range.unit}`
    )
  }
})

test('dates are filled in by hours, minutes, seconds and milliseconds', async () => {
  const from = day('2024-03-31')
  for (const [unit, milliseconds] of Object.entries({
    hour: 3_600_000,
    minute: 60_000,
    second: 1000,
    millisecond: 1
  })) {
    const end = new Date(from.getTime() + 5 * milliseconds)
    const found = await over([], { $densify: { field: 'at', range: { step: 2, unit, bounds: [from, end] } } })
    same(
      found,
      [0, 2, 4].map((n) => ({ at: new Date(from.getTime() + n * milliseconds) })),
      unit
    )
  }
})

test('it ends at the last date that there is, and at the greatest 64-bit integer', async () => {
  const last = 8.64e15
  const documents = [{ at: new Date(last - 5) }, { at: new Date(last - 1) }]
  for (const [unit, step, gives] of [
    ['millisecond', 2, [last - 5, last - 3, last - 1]],
    ['millisecond', 4, [last - 5, last - 1]],
    ['year', 1, [last - 5, last - 1]],
    ['week', Number.MAX_SAFE_INTEGER, [last - 5, last - 1]]
  ] as const) {
    const found = await over(documents, { $densify: { field: 'at', range: { step, unit, bounds: 'full' } } })
    same(
      found.map(({ at }) => (at as Date).getTime()),
      gives,
      `${step} ${unit}`
    )
  }
  const greatest = 2n ** 63n - 1n
  const longs = [{ n: greatest - 3n }, { n: greatest }]
  for (const step of [1, 2n]) {
    const found = await over(longs, { $densify: { field: 'n', range: { step, bounds: 'full' } } })
    const between = step === 1 ? [greatest - 2n, greatest - 1n] : [greatest - 1n]
    same(
      found.map(({ n }) => n),
      [greatest - 3n, ...between, greatest]
    )
  }
})

const coffee: readonly Document[] = [
  { _id: 1, kind: 'b', n: 4 },
  { _id: 2, kind: 'a', n: 1 },
  { _id: 3, kind: 'a', n: 3 },
  { _id: 4, n: 6 },
  { _id: 5, kind: null, n: 6 },
  { _id: 6, kind: 'c' }
]

test('partitions use their own range, the range of all, or the given one', async () => {
  const densified = (bounds: unknown): Promise<Document[]> =>
    over(coffee, { $densify: { field: 'n', partitionByFields: ['kind'], range: { step: 2, bounds } } })
  const [missing, none, a1, a3, b, c] = [4, 5, 2, 3, 1, 6].map((id) => coffee.find(({ _id }) => _id === id))
  same(await densified('partition'), [missing, none, a1, a3, b, c])
  // Upwards from 1 for all partitions; nothing is added to a partition without a value.
  same(await densified('full'), [
    ...[{ n: 1 }, { n: 3 }, { n: 5 }, missing],
    ...[{ kind: null, n: 1 }, { kind: null, n: 3 }, { kind: null, n: 5 }, none],
    ...[a1, a3, { kind: 'a', n: 5 }],
    ...[{ kind: 'b', n: 1 }, { kind: 'b', n: 3 }, b, { kind: 'b', n: 5 }],
    c
  ])
  same(await densified([3, 6]), [
    ...[{ n: 3 }, { n: 5 }, missing],
    ...[{ kind: null, n: 3 }, { kind: null, n: 5 }, none],
    ...[a1, a3, { kind: 'a', n: 5 }],
    ...[{ kind: 'b', n: 3 }, b, { kind: 'b', n: 5 }],
    c
  ])
  const $densify = { field: 'n', partitionByFields: ['kind'], range: { step: 1, bounds: [0, 3] } }
  assert.equal(await over([], { $densify }), [])
})

test('the greatest value is added to partitions that lack it', async () => {
  const documents = [
    { _id: 1, part: 0, n: 0 },
    { _id: 2, part: 1, n: 4 }
  ]
  const found = await over(documents, {
    $densify: { field: 'n', partitionByFields: ['part'], range: { step: 2, bounds: 'full' } }
  })
  same(found, [
    { _id: 1, part: 0, n: 0 },
    { part: 0, n: 2 },
    { part: 0, n: 4 },
    { part: 1, n: 0 },
    { part: 1, n: 2 },
    { _id: 2, part: 1, n: 4 }
  ])
})

test('partitions by several fields and by paths, with equal numbers of different kinds', async () => {
  const documents = [
    { _id: 1, at: { x: 1, n: 1 }, y: 'p' },
    { _id: 2, at: { x: 1n, n: 3 }, y: 'p' },
    { _id: 3, at: { x: 1, n: 3 }, y: 'q' },
    { _id: 4, at: [{ n: 1 }, { n: 9 }], y: 'q' }
  ]
  const $densify = { field: 'at.n', partitionByFields: ['at.x', 'y'], range: { step: 1, bounds: 'partition' } }
  same(
    (await over(documents.slice(0, 3), { $densify })).filter(({ _id }) => _id === undefined),
    [{ at: { x: 1, n: 2 }, y: 'p' }]
  )
  // A path does not lead through an array.
  same(await over(documents.slice(3), { $densify: { field: 'at.n', range: { step: 1, bounds: 'full' } } }), [
    documents[3]
  ])
})

test('a malformed $densify is refused before anything is read', () => {
  const range = { step: 1, bounds: 'full' }
  const [first, second] = [day('2024-01-01'), day('2024-01-02')]
  const of = (more: Document): Document => ({ $densify: { field: 'n', range: { ...range, ...more } } })
  return refusesStages(
    [],
    [
      [{ $densify: 'n' }, 'BadValue', /must be an object, not string/],
      [{ $densify: { range } }, 'BadValue', /a path must be a string, not undefined/],
      [{ $densify: { field: 1, range } }, 'BadValue', /a path must be a string, not number/],
      [{ $densify: { field: '$n', range } }, 'BadValue', /has the invalid component '\$n'/],
      [{ $densify: { field: 'n', range, by: 1 } }, 'FailedToParse', /no option 'by'/],
      [{ $densify: { field: 'n' } }, 'BadValue', /range must be an object, not undefined/],
      [{ $densify: { field: 'n', range, partitionByFields: 'a' } }, 'BadValue', /an array of paths, not string/],
      [{ $densify: { field: 'n', range, partitionByFields: ['$a'] } }, 'BadValue', /has the invalid component '\$a'/],
      [
        { $densify: { field: 'n', range, partitionByFields: ['n'] } },
        'BadValue',
        /has 'n', which overlaps the densified field/
      ],
      [
        { $densify: { field: 'n', range, partitionByFields: ['n.a'] } },
        'BadValue',
        /which overlaps the densified field/
      ],
      [
        { $densify: { field: 'n.a', range, partitionByFields: ['n'] } },
        'BadValue',
        /which overlaps the densified field/
      ],
      [of({ size: 1 }), 'FailedToParse', /no option 'size'/],
      [of({ step: undefined }), 'BadValue', /range.step must be a number greater than 0, not undefined/],
      [of({ step: '1' }), 'BadValue', /not string/],
      [of({ step: 0 }), 'BadValue', /not 0/],
      [of({ step: -1 }), 'BadValue', /not -1/],
      [of({ step: Number.NaN }), 'BadValue', /not NaN/],
      [of({ step: 1.5, unit: 'day' }), 'BadValue', /range.step must be a whole number ≥ 1, not 1.5/],
      [of({ unit: 'days' }), 'BadValue', /range.unit must be one of .*, not 'days'/],
      [of({ unit: 1 }), 'BadValue', /range.unit must be one of .*, not number/],
      [of({ bounds: undefined }), 'BadValue', /range.bounds must be/],
      [of({ bounds: 'all' }), 'BadValue', /range.bounds must be/],
      [of({ bounds: 'partition' }), 'BadValue', /'partition' requires partitionByFields/],
      [of({ bounds: [1] }), 'BadValue', /range.bounds must be/],
      [of({ bounds: [1, 2, 3] }), 'BadValue', /range.bounds must be/],
      [of({ bounds: [1, second] }), 'BadValue', /two numbers or two dates/],
      [of({ bounds: [1, Number.POSITIVE_INFINITY] }), 'BadValue', /two numbers or two dates/],
      [of({ bounds: [first, new Date(Number.NaN)], unit: 'day' }), 'BadValue', /two numbers or two dates/],
      [of({ bounds: [2, 1] }), 'BadValue', /ascend/],
      [of({ bounds: [second, first], unit: 'day' }), 'BadValue', /ascend/],
      [of({ bounds: [1, 2], unit: 'day' }), 'BadValue', /range.unit cannot be used with numbers in range.bounds/],
      [of({ bounds: [first, second] }), 'BadValue', /range.unit is required with dates in range.bounds/]
    ]
  )
})

test('values that are not numbers, or not dates where there is a unit, are errors', async () => {
  const byNumber = { $densify: { field: 'n', range: { step: 1, bounds: 'full' } } }
  const byDay = { $densify: { field: 'n', range: { step: 1, unit: 'day', bounds: 'full' } } }
  for (const bad of ['x', [1], { a: 1 }, true, Number.NaN, Number.POSITIVE_INFINITY, day('2024-01-01')]) {
    await refusesStages([{ n: 1 }, { n: bad }], [[byNumber, 'BadValue', /without a unit, 'n' must be a finite number/]])
  }
  for (const bad of [1, 'x']) {
    await refusesStages(
      [{ n: day('2024-01-01') }, { n: bad }],
      [[byDay, 'BadValue', /with a unit, 'n' must be a date/]]
    )
  }
  await refusesStages(
    [{ n: 2 ** 60 }, { n: 2 ** 61 }],
    [[byNumber, 'BadValue', /range.step is too small: it does not change 1152921504606847000/]]
  )
})

test('added documents are not held and stop once no more are needed; incoming documents are held', async () => {
  await using db = await open('unused', { store: 'memory' })
  await db.insertMany([{ n: 0 }, { n: 1e12 }])
  const endless = { $densify: { field: 'n', range: { step: 1, bounds: 'full' } } }
  assert.is((await db.aggregate([endless, { $limit: 5 }]).toArray()).length, 5)
  await rejects(db.aggregate([endless, { $match: { n: -1 } }], { maxTimeMS: 50 }).toArray(), 'MaxTimeMSExpired')
  const large = db.collection('large')
  await large.insertMany(Array.from({ length: 110 }, (_, n) => ({ n, text: 'x'.repeat(2 ** 20) })))
  const error = await rejects(large.aggregate([endless]).toArray(), 'QueryExceededMemoryLimit')
  assert.match(error.message, '$densify (stage 0)')
})

test.run()
