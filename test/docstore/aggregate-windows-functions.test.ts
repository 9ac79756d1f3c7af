/** Functions that exist only for windows, and accumulators over windows, by tables. */
import { Decimal128 } from 'bson'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Document } from '../../src/index.ts'
import { over, refusesStages, same } from './aggregate-over.ts'

const decimal = (text: string): Decimal128 => Decimal128.fromString(text)
const second = (n: number): Date => new Date(Date.UTC(2024, 0, 1) + n * 1000)

/** Sorts points by `x` and returns the values of a window field. */
async function curve(
  points: readonly (readonly [x: unknown, y: unknown])[],
  field: Document,
  x: 1 | -1 = 1
): Promise<unknown[]> {
  const documents = points.map(([at, y], _id) => ({
    _id,
    ...(at !== undefined && { x: at }),
    ...(y !== undefined && { y })
  }))
  const found = await over(documents, { $setWindowFields: { sortBy: { x }, output: { found: field } } })
  return found.map((document) => document.found)
}

const values = (ys: readonly unknown[]): (readonly [number, unknown])[] => ys.map((y, i) => [i, y])
const refusesPoint = (point: Document, field: Document, message: RegExp): Promise<void> =>
  refusesStages([point], [[{ $setWindowFields: { sortBy: { x: 1 }, output: { found: field } } }, 'BadValue', message]])

test('$derivative is the slope between the ends of a window', async () => {
  const derivative = (documents: readonly unknown[]): Document => ({
    $derivative: { input: '$y' },
    window: { documents }
  })
  same(await curve(values([1, 2, 1, 4]), derivative([-1, 0])), [null, 1, -1, 3])
  const steps = values([100, 105, 108, 108, 115, 115, 118, 118])
  const slopes = [5, 4, 8 / 3, 15 / 4, 2.5, 2.5, 2.5, 1]
  same(await curve(steps, derivative([-3, 1])), slopes)
  same(await curve(steps, derivative([-1, 3]), -1), slopes.toReversed())
  same(await curve(values([0, 1, 4, 9]), derivative(['unbounded', 'unbounded'])), [3, 3, 3, 3])
  same(await curve(values([0, 1, 4]), derivative([1, 1])), [null, null, null])
  // The slope of a jump is infinite, so there is no value.
  same(
    await curve(
      [
        [1, 1],
        [1, 5]
      ],
      derivative([-1, 0])
    ),
    [null, null]
  )
  const points = [
    [0, 10],
    [10, 12],
    [11, 15],
    [12, 19],
    [13, 24],
    [20, 30]
  ] as const
  const ranged = [null, 2 / 10, 3 / 1, 7 / 2, 12 / 3, 18 / 10]
  same(await curve(points, { $derivative: { input: '$y' }, window: { range: [-10, 0] } }), ranged)
  same(await curve(values([1n, 2n ** 53n, decimal('0.5')]), derivative([-1, 0])), [
    null,
    Number(2n ** 53n - 1n),
    decimal('-9007199254740991.5')
  ])
})

test('$derivative over dates is per unit', async () => {
  const points = [5, 4, 6].map((y, i) => [second(i * 60), y] as const)
  const by = (unit: string): Document => ({ $derivative: { input: '$y', unit }, window: { documents: [-1, 0] } })
  same(await curve(points, by('minute')), [null, -1, 2])
  same(await curve(points, by('hour')), [null, -60, 120])
  same(await curve(points, by('second')), [null, (-1 / 60_000) * 1000, (2 / 60_000) * 1000])
  same(await curve(points, by('millisecond')), [null, -1 / 60_000, 2 / 60_000])
  same(await curve(points, { ...by('second'), window: { range: [-60, 0], unit: 'second' } }), [null, -1 / 60, 2 / 60])
})

test('$integral is the area under the documents of a window', async () => {
  const integral = (documents: readonly unknown[]): Document => ({ $integral: { input: '$y' }, window: { documents } })
  same(await curve(values([1, 2, 1, 4]), integral([-1, 0])), [0, 1.5, 1.5, 2.5])
  same(
    await curve(
      [
        [0, 100],
        [2, 105],
        [4, 107],
        [6, -100]
      ],
      integral([-1, 0])
    ),
    [0, 205, 212, 7]
  )
  same(await curve(values([1, 2, 1, 4]), { $integral: { input: '$y' } }), [5.5, 5.5, 5.5, 5.5])
  same(await curve(values([1, 2, 1, 4]), integral(['unbounded', 'current'])), [0, 1.5, 3, 5.5])
  same(await curve(values([1, 2]), integral([1, 1])), [0, null])
  same(await curve(values([Number.NaN, 2, 4]), integral([-1, 0])), [Number.NaN, Number.NaN, 3])
  same(await curve(values([Number.POSITIVE_INFINITY, 0, 2]), integral([-1, 0])), [0, Number.POSITIVE_INFINITY, 1])
  same(await curve(values([decimal('0.1'), 0.3, 1n]), integral([-1, 0])), [0, decimal('0.200000000000000'), 0.65])
  // As with $add and $multiply, what does not fit 64 bits becomes a double.
  const bytes = [2n ** 52n, 2n ** 52n, 2n ** 63n - 1n].map((y, i) => [second(i * 60), y] as const)
  const perHour = { $integral: { input: '$y', unit: 'hour' }, window: { documents: [-1, 0] } }
  same(await curve(bytes, perHour), [0, 2 ** 52 / 60, (2 ** 52 + 2 ** 63) / 120])
  const far = [-(2n ** 63n), 2n ** 63n - 1n].map((x) => [x, 2] as const)
  same(await curve(far, integral([-1, 0])), [0, 2 ** 65])
  const dated = [0, 2, 4, 6].map((y) => [second(y / 1000), y] as const)
  const field = { $integral: { input: '$y', unit: 'second' }, window: { documents: [-1, 1] } }
  same(await curve(dated, field), [0.002, 0.008, 0.016, 0.01])
  const slow = [
    [second(0), 0],
    [second(4), 2.4],
    [second(10), 5.6],
    [second(18), 6.8]
  ] as const
  const ranged = (range: readonly unknown[]): Promise<unknown[]> =>
    curve(slow, { $integral: { input: '$y', unit: 'second' }, window: { range, unit: 'second' } })
  same(await ranged([-1, -1]), [null, null, null, null])
  same(await ranged([-2, 0]), [0, 0, 0, 0])
  same(await ranged([-6, 6]), [4.8, 28.8, 24, 0])
})

test('values that $derivative and $integral cannot handle are errors, and so are malformed arguments', async () => {
  const window = { documents: [-1, 0] }
  const both = ['$derivative', '$integral']
  for (const name of both) {
    const by = (argument: unknown): Document => ({ [name]: argument, window })
    await refusesPoint(
      { x: second(1), y: 1 },
      by({ input: '$y' }),
      /without a unit, .* needs numbers to sort by, .* 'x' is/
    )
    await refusesPoint(
      { x: 1, y: 1 },
      by({ input: '$y', unit: 'day' }),
      /with a unit, .* needs dates to sort by, .* 'x' is number/
    )
    await refusesPoint({ y: 1 }, by({ input: '$y' }), /'x' is missing/)
    await refusesPoint({ x: 1 }, by({ input: '$y' }), /takes numbers, got n(othing|ull)/)
    await refusesPoint({ x: 1, y: 'a' }, by({ input: '$y' }), /string/)
    const stage = (field: Document, sortBy: unknown = { x: 1 }): Document => ({
      $setWindowFields: { sortBy, output: { found: field } }
    })
    await refusesStages(
      [],
      [
        [stage(by('$y')), 'BadValue', /takes \{ input, unit \}, not string/],
        [stage(by({})), 'BadValue', /needs 'input'/],
        [stage(by({ input: '$y', outputUnit: 'day' })), 'BadValue', /no option 'outputUnit'/],
        [stage(by({ input: '$y', unit: 'month' })), 'FailedToParse', /unit must be 'week' or shorter, not 'month'/],
        [stage(by({ input: '$y', unit: 'moon' })), 'BadValue', /unit must be one of/],
        [stage(by({ input: '$y' }), { x: 1, y: 1 }), 'FailedToParse', /needs a sortBy of one field, not 2/],
        [{ $setWindowFields: { output: { found: by({ input: '$y' }) } } }, 'FailedToParse', /needs? a sortBy/]
      ]
    )
  }
  const unbounded = { $setWindowFields: { sortBy: { x: 1 }, output: { y: { $derivative: { input: '$y' } } } } }
  await refusesStages([], [[unbounded, 'FailedToParse', /\$derivative needs a window/]])
})

test('$expMovingAvg averages by N or alpha, and skips values that are not numbers', async () => {
  const by = (more: Document): Document => ({ $expMovingAvg: { input: '$y', ...more } })
  same(
    await curve(values([13, 15.4, 12, 11.7, 82]), by({ N: 2 })),
    [13, 14.6, 12.866666666666667, 12.088888888888889, 58.696296296296296]
  )
  same(await curve(values([10, 20, 40]), by({ alpha: 0.5 })), [10, 15, 27.5])
  same(await curve(values([10, 20, 40]), by({ N: 3n })), [10, 15, 27.5])
  same(await curve(values([null, 10, 'x', undefined, 20, null]), by({ alpha: 0.5 })), [null, 10, 10, 10, 15, 15])
  same(await curve(values(['a', null]), by({ N: 2 })), [null, null])
  // Computed with decimals: as doubles, 0.1 + 0.2 exceeds 0.3.
  same(await curve(values([0.1, 0.5]), by({ alpha: 0.5 })), [0.1, 0.3])
  same(await curve(values([1n, decimal('2'), 3]), by({ alpha: decimal('0.1') })), [1, decimal('1.1'), decimal('1.29')])
  same(await curve(values([1, Number.NaN, 1]), by({ N: 1 })), [1, Number.NaN, Number.NaN])
})

test('$shift returns the value of the document that many places away', async () => {
  const shift = (by: unknown, more: Document = {}): Document => ({ $shift: { output: '$y', by, ...more } })
  const three = values(['a', 'b', 'c'])
  same(await curve(three, shift(1)), ['b', 'c', null])
  same(await curve(three, shift(-1)), [null, 'a', 'b'])
  same(await curve(three, shift(0)), ['a', 'b', 'c'])
  same(await curve(three, shift(2n, { default: 'z' })), ['c', 'z', 'z'])
  same(await curve(three, shift(-9, { default: { $add: [1, 1] } })), [2, 2, 2])
  same(await curve(three, shift(1, { default: null })), ['b', 'c', null])
  same(await curve(three, shift(1), -1), ['b', 'a', null])
  // A missing value yields the default, null does not.
  same(await curve(values(['a', null, undefined]), shift(1, { default: 'z' })), [null, 'z', 'z'])
})

test('$locf and $linearFill fill in values', async () => {
  const locf = { $locf: '$y' }
  same(await curve(values([null, 0, 2, null, undefined, 'a', null]), locf), [null, 0, 2, 2, 2, 'a', 'a'])
  same(await curve(values([undefined, null]), locf), [null, null])
  const linear = { $linearFill: '$y' }
  same(await curve(values([null, 1, null, undefined, 4, 5, null]), linear), [null, 1, 2, 3, 4, 5, null])
  same(
    await curve(
      [
        [0, 0],
        [1, null],
        [9, undefined],
        [10, 10]
      ],
      linear
    ),
    [0, 1, 9, 10]
  )
  same(
    await curve(
      [
        [second(0), 1],
        [second(1), null],
        [second(4), 5]
      ],
      linear,
      -1
    ),
    [5, 2, 1]
  )
  same(await curve(values([decimal('1'), null, 2]), linear), [decimal('1'), decimal('1.5'), 2])
  const documents = [1, 2, 3, 4].map((_id) => ({ _id, p: _id % 2, ...(_id < 3 && { y: _id }) }))
  const output = { y: { $locf: '$y' }, z: { $locf: { $add: ['$y', 1] } } }
  same(await over(documents, { $setWindowFields: { partitionBy: '$p', sortBy: { _id: 1 }, output } }), [
    { _id: 2, p: 0, y: 2, z: 3 },
    { _id: 4, p: 0, y: 2, z: 3 },
    { _id: 1, p: 1, y: 1, z: 2 },
    { _id: 3, p: 1, y: 1, z: 2 }
  ])
  // $locf needs no order.
  const unordered = await over(documents, { $setWindowFields: { output: { y: locf } } })
  same(
    unordered.map(({ y }) => y),
    [1, 2, 2, 2]
  )
  await refusesPoint(
    { x: 1, y: 'a' },
    linear,
    /\$linearFill takes numbers, null and missing values, but its input is of type string/
  )
  await refusesPoint({ y: 1 }, linear, /\$linearFill needs numbers or dates to sort by, but 'x' is missing/)
  const twice = { $setWindowFields: { sortBy: { x: 1 }, output: { y: linear } } }
  await refusesStages([{ x: 1 }, { x: 1n }], [[twice, 'BadValue', /'x' has duplicates/]])
  await refusesStages([{ x: 1 }, { x: second(1) }], [[twice, 'BadValue', /mixes numbers and dates/]])
})

test('malformed functions of the order are refused', () => {
  const by = (field: Document, sortBy: unknown = { x: 1 }): Document => ({
    $setWindowFields: { sortBy, output: { found: field } }
  })
  const unordered = (field: Document): Document => ({ $setWindowFields: { output: { found: field } } })
  const average = (more: Document): Document => by({ $expMovingAvg: { input: '$y', ...more } })
  const window = { documents: [-1, 0] }
  return refusesStages(
    [],
    [
      [average({}), 'FailedToParse', /either N or alpha/],
      [average({ N: 2, alpha: 0.5 }), 'FailedToParse', /either N or alpha/],
      [average({ N: 0 }), 'BadValue', /N takes a whole number ≥ 1, got 0/],
      [average({ N: 0.5 }), 'BadValue', /got 0\.5/],
      [average({ N: '2' }), 'BadValue', /got string/],
      [average({ alpha: 1 }), 'FailedToParse', /alpha must be a number between 0 and 1, not 1/],
      [average({ alpha: 0 }), 'FailedToParse', /not 0/],
      [average({ alpha: Number.NaN }), 'FailedToParse', /not NaN/],
      [average({ alpha: '0.5' }), 'FailedToParse', /not string/],
      [average({ N: 2, more: 1 }), 'BadValue', /no option 'more'/],
      [by({ $expMovingAvg: '$y' }), 'BadValue', /not string/],
      [by({ $expMovingAvg: { input: '$y', N: 2 }, window }), 'FailedToParse', /\$expMovingAvg takes no window/],
      [unordered({ $expMovingAvg: { input: '$y', N: 2 } }), 'FailedToParse', /\$expMovingAvg needs a sortBy/],
      [by({ $shift: { output: '$y' } }), 'BadValue', /needs 'by'/],
      [by({ $shift: { by: 1 } }), 'BadValue', /needs 'output'/],
      [by({ $shift: { output: '$y', by: 1.1 } }), 'BadValue', /by takes a whole number, got 1\.1/],
      [by({ $shift: { output: '$y', by: { $add: [1, 1] } } }), 'BadValue', /by takes a whole number, got object/],
      [by({ $shift: { output: '$y', by: 1, default: '$y' } }), 'FailedToParse', /default must be a constant/],
      [by({ $shift: { output: '$y', by: 1 }, window }), 'FailedToParse', /\$shift takes no window/],
      [unordered({ $shift: { output: '$y', by: 1 } }), 'FailedToParse', /\$shift needs a sortBy/],
      [by({ $locf: '$y', window }), 'FailedToParse', /\$locf takes no window/],
      [by({ $linearFill: '$y', window }), 'FailedToParse', /\$linearFill takes no window/],
      [by({ $linearFill: '$y' }, { x: 1, y: 1 }), 'FailedToParse', /\$linearFill needs a sortBy of one field/]
    ]
  )
})

test('windows without documents or without values have defined results', async () => {
  const nothing: Readonly<Record<string, unknown>> = {
    $sum: 0,
    $avg: null,
    $min: null,
    $max: null,
    $first: null,
    $last: null,
    $push: [],
    $addToSet: [],
    $stdDevPop: null,
    $stdDevSamp: null,
    $covariancePop: null,
    $covarianceSamp: null
  }
  for (const [name, expected] of Object.entries(nothing)) {
    const field = { [name]: '$none', window: { documents: [-2, -1] } }
    const growing = { [name]: '$none', window: { documents: ['unbounded', 'current'] } }
    same(await curve(values([7]), field), [expected], name)
    same(await curve(values([7]), growing), [expected], name)
  }
  const window = { documents: [1, 1] }
  same(await curve(values([7]), { $count: {}, window }), [0])
  same(await curve(values([7]), { $minN: { input: '$y', n: 2 }, window }), [[]])
  same(await curve(values([7]), { $top: { sortBy: { y: 1 }, output: '$y' }, window }), [null])
  same(await curve(values([7]), { $median: { input: '$y', method: 'approximate' }, window }), [null])
  same(await curve(values([7]), { $percentile: { input: '$y', p: [0.1, 0.9], method: 'approximate' }, window }), [
    [null, null]
  ])
})

test('$covariancePop and $covarianceSamp skip pairs that are not numbers', async () => {
  const window = { documents: ['unbounded', 'current'] }
  const points = [
    [0, 0],
    [2, 2],
    [3, 'x'],
    [4, Number.POSITIVE_INFINITY]
  ] as const
  same(await curve(points, { $covariancePop: ['$x', '$y'], window }), [0, 1, 1, Number.POSITIVE_INFINITY])
  same(await curve(points, { $covarianceSamp: ['$x', '$y'], window }), [null, 2, 2, Number.POSITIVE_INFINITY])
  same(await curve(points, { $covariancePop: ['$x'], window }), [null, null, null, null])
  same(await curve(points, { $covarianceSamp: ['$x', '$y'], window: { documents: [-1, 0] } }), [null, 2, null, null])
})

test("the manual's example, cake sales by state and year, gives the manual's results", async () => {
  const sales = [
    { _id: 0, type: 'chocolate', order: '2019-05-18', state: 'CA', price: 13, quantity: 120 },
    { _id: 1, type: 'chocolate', order: '2021-03-20', state: 'WA', price: 14, quantity: 140 },
    { _id: 2, type: 'vanilla', order: '2021-01-11', state: 'CA', price: 12, quantity: 145 },
    { _id: 3, type: 'vanilla', order: '2020-02-08', state: 'WA', price: 13, quantity: 104 },
    { _id: 4, type: 'strawberry', order: '2020-05-18', state: 'CA', price: 41, quantity: 162 },
    { _id: 5, type: 'strawberry', order: '2019-01-08', state: 'WA', price: 43, quantity: 134 }
  ].map(({ order, ...sale }) => ({ ...sale, order: new Date(`${order}T00:00:00Z`) }))
  const found = await over(sales, {
    $setWindowFields: {
      partitionBy: '$state',
      sortBy: { order: 1 },
      output: {
        cumulative: { $sum: '$quantity', window: { documents: ['unbounded', 'current'] } },
        recent: { $push: '$_id', window: { range: [-10, 'current'], unit: 'month' } },
        rank: { $rank: {} }
      }
    }
  })
  same(
    found.map(({ _id, cumulative, recent, rank }) => [_id, cumulative, recent, rank]),
    [
      [0, 120, [0], 1],
      [4, 282, [4], 2],
      [2, 427, [4, 2], 3],
      [5, 134, [5], 1],
      [3, 238, [3], 2],
      [1, 378, [1], 3]
    ]
  )
  assert.is(found.length, 6)
})

test.run()
