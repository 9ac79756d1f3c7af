/** $setWindowFields: which documents are in a window. */
import { Decimal128 } from 'bson'
import { test } from 'uvu'
import type { Document } from '../../src/index.ts'
import { same } from './aggregate-over.ts'
import { column, five, secondsOn } from './aggregate-windows-fixture.ts'

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

test('a range may end beyond the first and the last date that there is', async () => {
  const last = 8.64e15
  const ends = [-last, 0, last].map((at, i) => ({ _id: i, at: new Date(at) }))
  const counts = (range: readonly unknown[], unit: string): Promise<unknown[]> =>
    column(ends, { at: 1 }, { $count: {}, window: { range, unit } })
  same(await counts([-1, 1], 'day'), [1, 1, 1])
  same(await counts([-300_000, 0], 'year'), [1, 2, 2])
  same(await counts([0, Number.MAX_SAFE_INTEGER], 'week'), [3, 2, 1])
  same(await counts([1, 300_000], 'month'), [0, 0, 0])
  same(await counts([-Number.MAX_SAFE_INTEGER, -1], 'millisecond'), [0, 1, 1])
})

test.run()
