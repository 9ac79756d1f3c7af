/** Operators behave as MongoDB's documentation says where the expression engine by itself does not. */
import { inspect } from 'node:util'
import { Decimal128, ObjectId } from 'bson'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Document, open } from '../../src/index.ts'

const made = new Date('2024-01-15T10:30:00Z')
const document = {
  _id: ObjectId.createFromTime(made.getTime() / 1000),
  at: made,
  text: 'pän',
  nothing: null,
  long: 7n,
  decimal: Decimal128.fromString('2.345')
}

/** Values of expressions, by name. */
async function valuesOf(expressions: Document): Promise<Document> {
  await using db = await open('unused', { store: 'memory' })
  await db.insertOne(document)
  const [values] = await db.aggregate([{ $project: { _id: 0, ...expressions } }]).toArray()
  return values ?? {}
}

test('date operators return null for null and missing, and accept an ObjectId as a date', async () => {
  const parts = ['$year', '$month', '$dayOfMonth', '$hour', '$dayOfWeek', '$week', '$isoWeek', '$isoWeekYear']
  for (const part of parts) {
    const { none, missing, ofId, ofDate } = await valuesOf({
      none: { [part]: '$nothing' },
      missing: { [part]: { date: '$none', timezone: 'Europe/Oslo' } },
      ofId: { [part]: '$_id' },
      ofDate: { [part]: [{ $toDate: '$_id' }] }
    })
    assert.is(none, null, part)
    assert.is(missing, null, part)
    assert.is(ofId, ofDate, part)
    assert.type(ofId, 'number', part)
  }
  assert.equal(
    await valuesOf({
      apart: { $dateDiff: { startDate: '$none', endDate: '$at', unit: 'day' } },
      later: { $dateAdd: { startDate: '$nothing', unit: 'day', amount: 1 } },
      day: { $dateTrunc: { date: '$_id', unit: 'day' } },
      text: { $dateToString: { date: '$_id', format: '%Y-%m-%d' } },
      utc: { $hour: { date: '$at', timezone: 'UTC' } },
      read: { $toDate: '2024-05-06T00:00:00Z' },
      counted: { $toDate: 7n }
    }),
    {
      apart: null,
      later: null,
      day: new Date('2024-01-15T00:00:00Z'),
      text: '2024-01-15',
      utc: 10,
      read: new Date('2024-05-06T00:00:00Z'),
      counted: new Date(7)
    }
  )
})

test('weeks begin on Sundays, and ISO years end with their last week', async () => {
  const day = (text: string): Document => ({ date: new Date(`${text}T12:00:00Z`) })
  const format = '%G %U %w %% %%G'
  assert.equal(
    await valuesOf({
      second: { $week: day('2024-01-15') },
      before: { $week: day('2024-01-06') },
      first: { $week: day('2024-01-07') },
      last: { $isoWeekYear: day('2027-01-03') },
      next: { $isoWeekYear: day('2024-12-30') },
      text: { $dateToString: { ...day('2027-01-03'), format } }
    }),
    { second: 2, before: 0, first: 1, last: 2026, next: 2025, text: '2026 01 1 % %G' }
  )
})

test('days are those of the time zone, on both sides of a clock change', async () => {
  const inBerlin = (text: string): Document => ({ date: new Date(text), timezone: 'Europe/Berlin' })
  assert.equal(
    await valuesOf({
      evening: { $dateTrunc: { ...inBerlin('2024-01-15T23:30:00Z'), unit: 'day' } },
      summer: { $dateTrunc: { ...inBerlin('2024-07-01T00:30:00Z'), unit: 'year' } },
      half: { $dateTrunc: { date: new Date('2024-01-15T10:40:00Z'), timezone: '+05:30', unit: 'hour' } },
      text: { $dateToString: { ...inBerlin('2024-07-15T22:30:00Z'), format: '%Y-%m-%d %H:%M %z' } },
      weekday: { $dayOfWeek: inBerlin('2024-01-13T23:30:00Z') },
      place: { $hour: { date: '$at', timezone: 'America/Argentina/Buenos_Aires' } },
      added: {
        $dateAdd: { startDate: new Date('2024-03-30T11:00:00Z'), unit: 'day', amount: 1, timezone: 'Europe/Berlin' }
      },
      hours: {
        $dateAdd: { startDate: new Date('2024-03-30T11:00:00Z'), unit: 'hour', amount: 24, timezone: 'Europe/Berlin' }
      },
      apart: {
        $dateDiff: {
          startDate: new Date('2024-01-15T22:30:00Z'),
          endDate: new Date('2024-01-15T23:30:00Z'),
          unit: 'day',
          timezone: 'Europe/Berlin'
        }
      }
    }),
    {
      evening: new Date('2024-01-15T23:00:00Z'),
      summer: new Date('2023-12-31T23:00:00Z'),
      half: new Date('2024-01-15T10:30:00Z'),
      text: '2024-07-16 00:30 +0200',
      weekday: 1,
      place: 7,
      added: new Date('2024-03-31T10:00:00Z'),
      hours: new Date('2024-03-31T11:00:00Z'),
      apart: 1
    }
  )
})

test('$round and $trunc decide by the exact value, half to even, on both sides of the decimal point', async () => {
  const cases: readonly (readonly [operator: string, argument: unknown, result: unknown])[] = [
    ['$round', 3.7, 4],
    ['$round', [2.54], 3],
    ['$round', [1.46, 0], 1],
    ['$round', [2.5], 2],
    ['$round', [3.5], 4],
    ['$round', [-2.5], -2],
    ['$round', [1280, -2], 1300],
    ['$round', [2.345, 2], 2.35],
    ['$round', [5.29, 2], 5.29],
    ['$round', ['$nothing', 2], null],
    ['$round', ['$long', -1], 10n],
    ['$trunc', [2.996, 1], 2.9],
    ['$trunc', [5.29, 2], 5.29],
    ['$trunc', [-2.7], -2],
    ['$mod', ['$nothing', 2], null],
    ['$mod', [7, 3], 1],
    ['$mod', ['$long', 4], 3n]
  ]
  for (const [operator, argument, result] of cases) {
    const { value } = await valuesOf({ value: { [operator]: argument } })
    assert.is(value, result, `${operator} of ${inspect(argument)}`)
  }
  const { value } = await valuesOf({ value: { $round: ['$decimal', 2] } })
  assert.is(String(value), '2.34')
})

test('null becomes empty text, substrings end with the text, and positions count characters', async () => {
  assert.equal(
    await valuesOf({
      lower: { $toLower: '$none' },
      upper: { $toUpper: ['$text'] },
      far: { $substr: ['$text', 0, 100] },
      rest: { $substrBytes: ['$text', 1, -1] },
      beyond: { $substr: ['$text', 50, 2] },
      at: { $indexOfCP: ['\u{1f600}pän', 'n'] },
      after: { $indexOfCP: ['aba', 'a', 1] },
      within: { $indexOfCP: ['abc', 'c', 0, 2] },
      none: { $indexOfCP: ['$none', 'a'] }
    }),
    { lower: '', upper: 'PÄN', far: 'pän', rest: 'än', beyond: '', at: 3, after: 2, within: -1, none: null }
  )
})

test('$convert accepts ObjectIds and converts Decimal128 to text', async () => {
  const values = await valuesOf({
    date: { $convert: { input: '$_id', to: 'date' } },
    text: { $convert: { input: '$_id', to: 'string' } },
    decimal: { $convert: { input: '$decimal', to: 2 } },
    bad: { $convert: { input: 'x', to: 'objectId', onError: 'none' } },
    none: { $convert: { input: '$none', to: 'date', onNull: 0 } },
    number: { $convert: { input: '12', to: 'int' } }
  })
  const text = document._id.toHexString()
  assert.equal(values, { date: made, text, decimal: '2.345', bad: 'none', none: 0, number: 12 })
})

test('$top and $bottom return one value; percentiles consider numbers only', async () => {
  await using db = await open('unused', { store: 'memory' })
  await db.insertMany([10.5, 100n, 7, null, 'x'].map((n, _id) => ({ _id, n })))
  const ranks = { input: '$n', method: 'approximate' }
  const [group] = await db
    .aggregate([
      { $match: { n: { $type: ['number', 'null'] } } },
      {
        $group: {
          _id: null,
          top: { $top: { sortBy: { _id: -1 }, output: '$n' } },
          bottom: { $bottom: { sortBy: { _id: -1 }, output: ['$n', '$_id'] } },
          median: { $median: ranks },
          ranks: { $percentile: { ...ranks, p: [0, 0.5, 0.95, 1] } }
        }
      },
      { $set: { again: { $median: { ...ranks, input: [100, 7, 10.5] } } } }
    ])
    .toArray()
  assert.equal(group, {
    _id: null,
    top: null,
    bottom: [10.5, 0],
    median: 10.5,
    ranks: [7, 10.5, 100, 100],
    again: 10.5
  })
})

const people = [
  { _id: 1, team: 'a', age: 30n, name: 'Al' },
  { _id: 2, team: 'a', age: null, name: 'Bo' },
  { _id: 3, team: 'a', age: Decimal128.fromString('20'), name: 'Cy' },
  { _id: 4, team: 'b', name: 'Di' },
  { _id: 5, team: 'b', age: 10, name: 'Ed' }
]

async function overPeople(...pipeline: Document[]): Promise<Document[]> {
  await using db = await open('unused', { store: 'memory' })
  await db.insertMany(people)
  return await db.aggregate(pipeline).toArray()
}

test('accumulators of n values take numbers of all kinds, and n may depend on the group', async () => {
  const twoOfA = { $cond: [{ $eq: ['$team', 'a'] }, 2, 1] }
  const groups = await overPeople(
    {
      $group: {
        _id: { team: '$team' },
        first: { $firstN: { input: '$age', n: twoOfA } },
        last: { $lastN: { input: '$name', n: 1n } },
        least: { $minN: { input: '$age', n: 5_000_000_000 } },
        greatest: { $maxN: { input: '$age', n: 1 } },
        top: { $topN: { sortBy: { age: -1 }, output: '$name', n: 2 } },
        bottom: { $bottomN: { sortBy: { age: -1 }, output: ['$name', '$age'], n: 1 } },
        spread: { $stdDevPop: '$age' },
        names: {
          $accumulator: {
            init: (text: string) => text,
            initArgs: ['$team'],
            accumulate: (text: string, name: string) => text + name,
            accumulateArgs: ['$name'],
            finalize: (text: string) => `${text}.`,
            lang: 'js'
          }
        }
      }
    },
    { $sort: { _id: 1 } }
  )
  const twenty = Decimal128.fromString('20')
  assert.equal(groups, [
    {
      _id: { team: 'a' },
      first: [30n, null],
      last: ['Cy'],
      least: [twenty, 30n],
      greatest: [30n],
      top: ['Al', 'Cy'],
      bottom: [['Bo', null]],
      spread: 5,
      names: 'aAlBoCy.'
    },
    {
      _id: { team: 'b' },
      first: [null],
      last: ['Ed'],
      least: [10],
      greatest: [10],
      top: ['Ed', 'Di'],
      bottom: [['Di', null]],
      spread: 0,
      names: 'bDiEd.'
    }
  ])
})

test('windows evaluate operators and group accumulators with variables of $lookup', async () => {
  const windows = await overPeople(
    {
      $setWindowFields: {
        partitionBy: { $toUpper: '$team' },
        sortBy: { _id: 1 },
        output: {
          sum: { $sum: { $ifNull: ['$age', 0n] }, window: { documents: ['unbounded', 'current'] } },
          two: { $minN: { input: '$_id', n: 2 } },
          rank: { $rank: {} }
        }
      }
    },
    { $match: { _id: { $in: [1, 3, 5] } } },
    { $project: { sum: 1, two: 1, rank: 1 } }
  )
  assert.equal(windows, [
    { _id: 1, sum: 30n, two: [1, 2], rank: 1 },
    { _id: 3, sum: Decimal128.fromString('50'), two: [1, 2], rank: 3 },
    { _id: 5, sum: 10n, two: [4, 5], rank: 2 }
  ])
  await using db = await open('unused', { store: 'memory' })
  const collection = db.collection('orders')
  await collection.insertMany([{ _id: 1, by: 10 }])
  const [joined] = await collection
    .aggregate([
      {
        $lookup: {
          from: 'orders',
          let: { by: '$by' },
          pipeline: [
            {
              $setWindowFields: {
                sortBy: { _id: 1 },
                output: { n: { $sum: { $add: ['$$by', 1] } }, m: { $sum: '$$by' } }
              }
            }
          ],
          as: 'with'
        }
      }
    ])
    .toArray()
  assert.equal(joined?.with, [{ _id: 1, by: 10, n: 11, m: 10 }])
})

test('missing and null are one group in an object of one field, and two in others, as in MongoDB', async () => {
  await using db = await open('unused', { store: 'memory' })
  await db.insertMany([{ _id: 1 }, { _id: 2, a: null }, { _id: 3, a: 1 }])
  const groups = async (_id: unknown): Promise<Document[]> =>
    await db.aggregate([{ $group: { _id, n: { $sum: 1 } } }]).toArray()
  assert.equal(await groups({ a: '$a' }), [
    { _id: { a: null }, n: 2 },
    { _id: { a: 1 }, n: 1 }
  ])
  assert.equal(await groups({ a: '$a', b: '$b' }), [
    { _id: {}, n: 1 },
    { _id: { a: null }, n: 1 },
    { _id: { a: 1 }, n: 1 }
  ])
  assert.equal(await groups({ a: { b: '$b' } }), [{ _id: { a: {} }, n: 3 }])
  assert.equal(await groups({}), [{ _id: {}, n: 3 }])
})

test('$limit and $skip take every 64-bit integer', async () => {
  const most = 2n ** 63n - 1n
  const all = people.map(({ _id }) => _id)
  const ids = async (...pipeline: Document[]): Promise<unknown[]> =>
    (await overPeople(...pipeline)).map(({ _id }) => _id)
  for (const first of [[], [{ $unwind: '$team' }]]) {
    assert.equal(await ids(...first, { $sort: { _id: 1 } }, { $limit: most }), all)
    assert.equal(
      await ids(...first, { $sort: { _id: -1 } }, { $skip: 1 }, { $limit: 2 ** 62 }),
      all.toReversed().slice(1)
    )
    assert.equal(await ids(...first, { $skip: most }, { $limit: most }), [])
    assert.equal(await ids(...first, { $skip: most }, { $skip: most }), [])
  }
})

test('a malformed accumulator is refused before anything is read', async () => {
  const bad = [
    { $topN: { sortBy: {}, output: '$a', n: 1 } },
    { $top: { sortBy: { a: 1 }, output: '$a', n: 1 } },
    { $firstN: { input: '$a' } },
    { $percentile: { input: '$a', method: 'approximate' } },
    { $percentile: { input: '$a', p: [0.5] } },
    { $median: { input: '$a', method: 'discrete' } },
    { $covariancePop: ['$a', '$b'] }
  ]
  for (const accumulator of bad) {
    const error = await overPeople({ $match: { _id: 0 } }, { $group: { _id: null, x: accumulator } }).catch(
      (reason: unknown) => reason
    )
    assert.match(String((error as Error).message), /^\$group \(stage 1\): /, inspect(accumulator))
  }
  const late = await overPeople({ $group: { _id: null, x: { $minN: { input: '$age', n: '$none' } } } }).catch(
    (reason: unknown) => reason
  )
  assert.match(String((late as Error).message), /^\$group \(stage 0\): \$minN: n takes a whole number ≥ 1, got nothing/)
})

test.run()
