/** Operators on dates: the calendar, time zones and changes of their clocks, null and missing, from and to text. */
import { Decimal128, ObjectId, Timestamp } from 'bson'
import { test } from 'uvu'
import { gives, refuses } from './evaluate.ts'

const date = (text: string): Date => new Date(text)
const document = {
  at: date('2024-01-15T10:30:15.250Z'),
  early: date('1935-07-10T11:36:37.133Z'),
  old: date('1900-07-10T11:41:22.418Z'),
  ancient: date('0005-03-01T00:00:00Z'),
  id: ObjectId.createFromTime(date('2024-02-03T00:00:00Z').getTime() / 1000),
  stamp: new Timestamp({ t: 86_400, i: 1 }),
  nothing: null,
  text: '2024-01-15'
}
const berlin = 'Europe/Berlin'
const newYork = 'America/New_York'

test('parts of dates are those in the given time zone', async () => {
  await gives(
    [
      [{ $year: '$at' }, 2024],
      [{ $year: ['$ancient'] }, 5],
      [{ $month: '$id' }, 2],
      [{ $dayOfMonth: '$stamp' }, 2],
      [{ $hour: { date: '$at', timezone: '+05:30' } }, 16],
      [{ $hour: { date: '$at', timezone: '-03' } }, 7],
      [{ $minute: { date: '$at', timezone: '+0530' } }, 0],
      [{ $second: '$at' }, 15],
      [{ $millisecond: '$at' }, 250],
      [{ $dayOfYear: date('2024-12-31T00:00:00Z') }, 366],
      [{ $dayOfWeek: date('2024-01-14T00:00:00Z') }, 1],
      [{ $isoDayOfWeek: date('2024-01-14T00:00:00Z') }, 7],
      [{ $week: date('2023-01-01T00:00:00Z') }, 1],
      [{ $isoWeek: date('2021-01-03T00:00:00Z') }, 53],
      [{ $isoWeekYear: date('2021-01-03T00:00:00Z') }, 2020],
      [{ $isoWeek: date('2018-12-31T00:00:00Z') }, 1],
      [{ $year: { date: '$at', timezone: '$none' } }, null],
      [{ $year: { date: '$nothing', timezone: 5 } }, null],
      [{ $dateDiff: { startDate: 1, endDate: 2, unit: 'week', timezone: 1, startOfWeek: '$none' } }, null],
      [{ $dateDiff: { startDate: '$none', endDate: 1, unit: 'century', timezone: 5 } }, null],
      [{ $dateAdd: { startDate: 'x', unit: '$none', amount: 'y', timezone: 5 } }, null],
      [{ $dateTrunc: { date: 1, unit: 'week', binSize: '$none', timezone: 5 } }, null],
      [{ $year: { date: '$nothing' } }, null],
      [
        { $dateToParts: { date: '$at', timezone: newYork } },
        { year: 2024, month: 1, day: 15, hour: 5, minute: 30, second: 15, millisecond: 250 }
      ],
      [
        { $dateToParts: { date: date('2021-01-03T00:00:00Z'), iso8601: true } },
        { isoWeekYear: 2020, isoWeek: 53, isoDayOfWeek: 7, hour: 0, minute: 0, second: 0, millisecond: 0 }
      ],
      [{ $dateToParts: { date: '$none' } }, null],
      [{ $dateToParts: { date: '$at', timezone: '$nothing' } }, null],
      [{ $dateToParts: { date: '$at', iso8601: '$none' } }, null]
    ],
    document
  )
  await refuses(
    [
      { $year: '$text' },
      { $year: 5 },
      { $year: ['$at', '$at'] },
      { $year: {} },
      { $year: { date: '$at', zone: 'UTC' } },
      { $hour: { date: '$at', timezone: 'Nowhere/City' } },
      { $hour: { date: '$at', timezone: '+01:' } },
      { $hour: { date: '$at', timezone: 5 } },
      { $dateToParts: { date: '$at', iso8601: 1 } },
      { $dateToParts: { date: '$text' } },
      { $dateToParts: { timezone: 'UTC' } }
    ],
    document
  )
})

test('clocks of a zone go on beyond the first and the last date', async () => {
  const [first, last] = [new Date(-8.64e15), new Date(8.64e15)]
  await gives([
    [{ $dayOfWeek: { date: first, timezone: '-03' } }, 2],
    [{ $dayOfWeek: { date: last, timezone: '+24' } }, 1],
    [
      { $dateToParts: { date: last, timezone: '+14' } },
      { year: 275_760, month: 9, day: 13, hour: 14, minute: 0, second: 0, millisecond: 0 }
    ],
    [
      { $dateToParts: { date: first, timezone: '-01' } },
      { year: -271_821, month: 4, day: 19, hour: 23, minute: 0, second: 0, millisecond: 0 }
    ],
    [{ $dateToString: { date: last, timezone: berlin, format: '%m-%d %H:%M' } }, '09-13 02:00'],
    [{ $dateDiff: { startDate: first, endDate: last, unit: 'year', timezone: '-01' } }, 547_581],
    [
      { $dateAdd: { startDate: first, unit: 'month', amount: 1, timezone: '-01' } },
      new Date(-8.64e15 + 30 * 86_400_000)
    ]
  ])
  // The calendar repeats after 400 years.
  const cycle = 146_097 * 86_400_000
  for (const operator of ['$month', '$dayOfMonth', '$hour', '$dayOfYear', '$week', '$isoWeek', '$isoDayOfWeek']) {
    for (const timezone of ['UTC', '-0930', '+0930']) {
      const at = (time: number): object => ({ [operator]: { date: new Date(time), timezone } })
      await gives([
        [{ $eq: [at(-8.64e15), at(-8.64e15 + cycle)] }, true],
        [{ $eq: [at(8.64e15), at(8.64e15 - cycle)] }, true]
      ])
    }
  }
})

test('$dateFromParts carries over values beyond their range', async () => {
  await gives(
    [
      [{ $dateFromParts: { year: 2024 } }, date('2024-01-01T00:00:00Z')],
      [{ $dateFromParts: { year: 2024, month: 14, day: 1 } }, date('2025-02-01T00:00:00Z')],
      [{ $dateFromParts: { year: 2024, month: 0, day: 0 } }, date('2023-11-30T00:00:00Z')],
      [{ $dateFromParts: { year: 2023, month: 2, day: 30 } }, date('2023-03-02T00:00:00Z')],
      [{ $dateFromParts: { year: 2024, hour: -1, minute: 90, second: 100_000 } }, date('2024-01-02T04:16:40Z')],
      [{ $dateFromParts: { year: 99, month: 2 } }, date('0099-02-01T00:00:00Z')],
      [{ $dateFromParts: { year: 2024n, month: 7, timezone: berlin } }, date('2024-06-30T22:00:00Z')],
      [{ $dateFromParts: { year: 2024, month: 1, timezone: '-0330' } }, date('2024-01-01T03:30:00Z')],
      [{ $dateFromParts: { isoWeekYear: 2020, isoWeek: 53, isoDayOfWeek: 7 } }, date('2021-01-03T00:00:00Z')],
      [{ $dateFromParts: { isoWeekYear: 2024, hour: 5 } }, date('2024-01-01T05:00:00Z')],
      [{ $dateFromParts: { year: '$none' } }, null],
      [{ $dateFromParts: { year: 2024, day: '$nothing' } }, null],
      [{ $dateFromParts: { year: 2024, timezone: '$none' } }, null]
    ],
    document
  )
  await refuses(
    [
      { $dateFromParts: { month: 1 } },
      { $dateFromParts: { year: 0 } },
      { $dateFromParts: { year: 10_000 } },
      { $dateFromParts: { year: 2024.5 } },
      { $dateFromParts: { year: '2024' } },
      { $dateFromParts: { year: 2024, month: 32_768 } },
      { $dateFromParts: { year: 2024, isoWeek: 1 } },
      { $dateFromParts: { isoWeekYear: 2024, month: 1 } },
      { $dateFromParts: 2024 }
    ],
    document
  )
})

test('$dateAdd and $dateSubtract respect ends of months and changes of clocks', async () => {
  const add = (startDate: Date, unit: string, amount: unknown, timezone = 'UTC') => ({
    $dateAdd: { startDate, unit, amount, timezone }
  })
  await gives(
    [
      [add(date('2024-01-31T12:00:00Z'), 'month', 1), date('2024-02-29T12:00:00Z')],
      [add(date('2023-10-31T12:00:00Z'), 'quarter', 1n), date('2024-01-31T12:00:00Z')],
      [add(date('2024-02-29T12:00:00Z'), 'year', 1), date('2025-02-28T12:00:00Z')],
      [add(date('2024-03-31T12:00:00Z'), 'month', -1), date('2024-02-29T12:00:00Z')],
      [add(date('2024-01-31T12:00:00Z'), 'week', 2), date('2024-02-14T12:00:00Z')],
      [add(date('2024-03-30T11:00:00Z'), 'day', 1, berlin), date('2024-03-31T10:00:00Z')],
      [add(date('2024-03-30T11:00:00Z'), 'hour', 24, berlin), date('2024-03-31T11:00:00Z')],
      [add(date('2024-01-31T23:30:00Z'), 'month', 1, berlin), date('2024-02-29T23:30:00Z')],
      // Half past two does not exist in Berlin on that day; half past one occurs twice in New York on the other.
      [add(date('2024-03-30T01:30:00Z'), 'day', 1, berlin), date('2024-03-31T01:30:00Z')],
      [add(date('2024-11-02T05:30:00Z'), 'day', 1, newYork), date('2024-11-03T05:30:00Z')],
      [{ $dateSubtract: { startDate: '$id', unit: 'day', amount: 3 } }, date('2024-01-31T00:00:00Z')],
      [
        { $dateSubtract: { startDate: date('2024-03-31T00:00:00Z'), unit: 'month', amount: 1 } },
        date('2024-02-29T00:00:00Z')
      ],
      [{ $dateAdd: { startDate: '$at', unit: '$none', amount: 1 } }, null],
      [{ $dateAdd: { startDate: '$at', unit: 'day', amount: '$none' } }, null],
      [{ $dateAdd: { startDate: '$at', unit: 'day', amount: 1, timezone: '$none' } }, null],
      [{ $dateSubtract: { startDate: '$nothing', unit: 'day', amount: 1 } }, null]
    ],
    document
  )
  await refuses(
    [
      add(date('2024-01-01T00:00:00Z'), 'days', 1),
      add(date('2024-01-01T00:00:00Z'), 'day', 1.5),
      add(date('2024-01-01T00:00:00Z'), 'day', '1'),
      add(date('2024-01-01T00:00:00Z'), 'year', 1e9),
      { $dateAdd: { startDate: '$text', unit: 'day', amount: 1 } },
      { $dateAdd: { startDate: '$at', unit: 'day' } },
      { $dateSubtract: { startDate: '$at', unit: 'day', amount: 1, binSize: 1 } }
    ],
    document
  )
})

test('$dateDiff counts the starts of units between two dates', async () => {
  const diff = (start: string, end: string, unit: string, more: object = {}) => ({
    $dateDiff: { startDate: date(start), endDate: date(end), unit, ...more }
  })
  await gives(
    [
      [diff('2023-12-31T23:59:59Z', '2024-01-01T00:00:00Z', 'year'), 1],
      [diff('2024-01-01T00:00:00Z', '2023-12-31T23:59:59Z', 'year'), -1],
      [diff('2023-12-31T00:00:00Z', '2024-04-01T00:00:00Z', 'quarter'), 2],
      [diff('2024-01-31T00:00:00Z', '2024-03-01T00:00:00Z', 'month'), 2],
      [diff('2024-01-06T00:00:00Z', '2024-01-07T00:00:00Z', 'week'), 1],
      [diff('2024-01-06T00:00:00Z', '2024-01-07T00:00:00Z', 'week', { startOfWeek: 'monday' }), 0],
      [diff('2024-01-07T00:00:00Z', '2024-01-08T00:00:00Z', 'week', { startOfWeek: 'Mon' }), 1],
      [diff('1969-12-28T00:00:00Z', '1970-01-04T00:00:00Z', 'week'), 1],
      [diff('1969-12-31T23:00:00Z', '1970-01-01T01:00:00Z', 'day'), 1],
      [diff('2024-01-01T10:59:59Z', '2024-01-01T11:00:00Z', 'hour'), 1],
      [diff('2024-01-01T10:29:59Z', '2024-01-01T10:30:00Z', 'hour', { timezone: '+05:30' }), 1],
      [diff('2024-03-31T00:30:00Z', '2024-03-31T01:30:00Z', 'hour', { timezone: berlin }), 1],
      // Clocks on Lord Howe Island go from 01:59 to 02:30, and from 01:59 back to 01:30.
      [diff('2024-10-05T15:00:00Z', '2024-10-05T16:00:00Z', 'hour', { timezone: 'Australia/Lord_Howe' }), 2],
      [diff('2024-10-05T15:29:00Z', '2024-10-05T15:31:00Z', 'minute', { timezone: 'Australia/Lord_Howe' }), 2],
      [diff('2024-04-06T14:30:00Z', '2024-04-06T15:15:00Z', 'hour', { timezone: 'Australia/Lord_Howe' }), 0],
      // Local mean time was 53 minutes and 28 seconds ahead.
      [diff('1890-01-01T00:00:00Z', '1890-01-01T00:00:32Z', 'minute', { timezone: berlin }), 1],
      [diff('2024-01-01T10:00:59.999Z', '2024-01-01T10:01:00Z', 'minute'), 1],
      [diff('2024-01-01T10:00:00.900Z', '2024-01-01T10:00:01.100Z', 'second'), 1],
      [diff('1969-12-31T23:59:59.900Z', '1970-01-01T00:00:00.100Z', 'second'), 1],
      [diff('2024-01-01T10:00:00Z', '2024-01-01T10:00:00.005Z', 'millisecond'), 5],
      [diff('2024-01-15T22:30:00Z', '2024-01-15T23:30:00Z', 'day', { timezone: berlin }), 1],
      [{ $dateDiff: { startDate: '$at', endDate: '$none', unit: 'day' } }, null],
      [diff('2024-01-01T00:00:00Z', '2024-02-01T00:00:00Z', 'week', { startOfWeek: '$none' }), null],
      [diff('2024-01-01T00:00:00Z', '2024-02-01T00:00:00Z', 'day', { timezone: '$nothing' }), null]
    ],
    document
  )
  await refuses(
    [
      diff('2024-01-01T00:00:00Z', '2024-02-01T00:00:00Z', 'decade'),
      diff('2024-01-01T00:00:00Z', '2024-02-01T00:00:00Z', 'week', { startOfWeek: 'noday' }),
      { $dateDiff: { startDate: '$text', endDate: '$at', unit: 'day' } },
      { $dateDiff: { startDate: '$at', endDate: '$at' } }
    ],
    document
  )
})

test('$dateTrunc truncates dates to bins that are counted from 2000', async () => {
  const cut = (text: string, unit: string, more: object = {}) => ({ $dateTrunc: { date: date(text), unit, ...more } })
  await gives(
    [
      [cut('2024-05-17T10:30:00Z', 'quarter'), date('2024-04-01T00:00:00Z')],
      [cut('2024-05-17T10:30:00Z', 'month', { binSize: 6 }), date('2024-01-01T00:00:00Z')],
      [cut('1999-05-17T10:30:00Z', 'year', { binSize: 5 }), date('1995-01-01T00:00:00Z')],
      [cut('2024-05-17T10:30:00Z', 'week'), date('2024-05-12T00:00:00Z')],
      [cut('2024-05-17T10:30:00Z', 'week', { startOfWeek: 'friday' }), date('2024-05-17T00:00:00Z')],
      [cut('1999-12-31T10:30:00Z', 'week', { startOfWeek: 'sat' }), date('1999-12-25T00:00:00Z')],
      [cut('2000-01-12T00:00:00Z', 'week', { binSize: 2 }), date('2000-01-02T00:00:00Z')],
      [cut('2000-01-04T10:30:00Z', 'day', { binSize: 2n }), date('2000-01-03T00:00:00Z')],
      [cut('2024-05-17T10:30:00Z', 'hour', { binSize: 4 }), date('2024-05-17T08:00:00Z')],
      [cut('2024-05-17T10:37:00Z', 'minute', { binSize: 15 }), date('2024-05-17T10:30:00Z')],
      [cut('1999-12-31T23:59:59.999Z', 'second'), date('1999-12-31T23:59:59Z')],
      [cut('2024-05-17T10:37:00.123Z', 'millisecond', { binSize: 100 }), date('2024-05-17T10:37:00.100Z')],
      [cut('2024-03-31T12:00:00Z', 'day', { timezone: berlin }), date('2024-03-30T23:00:00Z')],
      [cut('2024-05-17T10:40:00Z', 'hour', { timezone: '+05:45' }), date('2024-05-17T10:15:00Z')],
      // Bins of hours do not move when clocks change.
      [cut('2024-01-15T10:30:00Z', 'hour', { binSize: 2, timezone: berlin }), date('2024-01-15T09:00:00Z')],
      [cut('2024-07-01T10:30:00Z', 'hour', { binSize: 2, timezone: berlin }), date('2024-07-01T09:00:00Z')],
      [{ $dateTrunc: { date: '$none', unit: 'day' } }, null],
      [{ $dateTrunc: { date: '$at', unit: '$none' } }, null],
      [{ $dateTrunc: { date: '$at', unit: 'day', binSize: '$none' } }, null],
      [{ $dateTrunc: { date: '$at', unit: 'day', timezone: '$none' } }, null],
      [{ $dateTrunc: { date: '$at', unit: 'day', startOfWeek: '$none' } }, date('2024-01-15T00:00:00Z')]
    ],
    document
  )
  await refuses(
    [
      cut('2024-05-17T10:30:00Z', 'day', { binSize: 0 }),
      cut('2024-05-17T10:30:00Z', 'day', { binSize: 1.5 }),
      cut('2024-05-17T10:30:00Z', 'Day'),
      { $dateTrunc: { date: '$text', unit: 'day' } },
      { $dateTrunc: { date: '$at' } }
    ],
    document
  )
})

test('a number added to or subtracted from a date is rounded to milliseconds', async () => {
  const shifted = (milliseconds: number): Date => new Date(document.at.getTime() + milliseconds)
  const decimal = (text: string): Decimal128 => Decimal128.fromString(text)
  await gives(
    [
      [{ $subtract: ['$at', 0.5] }, shifted(-1)],
      [{ $subtract: ['$at', 1.4] }, shifted(-1)],
      [{ $subtract: ['$at', -1.5] }, shifted(2)],
      [{ $subtract: ['$at', decimal('1.5')] }, shifted(-2)],
      [{ $subtract: ['$at', decimal('2.5')] }, shifted(-2)],
      [{ $add: ['$at', -0.5] }, shifted(-1)],
      [{ $add: [0.5, '$at', 1n] }, shifted(2)],
      [{ $add: ['$at', decimal('0.5')] }, shifted(0)],
      [{ $add: [1.25, '$at', 1.25] }, shifted(2)],
      [{ $add: [1.25, 1.25, '$at'] }, shifted(3)],
      [{ $add: ['$at', 2397083434877565865n, 819.536, -2397083434877565864n] }, shifted(821)],
      [{ $add: '$at' }, document.at]
    ],
    document
  )
  await refuses(
    [{ $add: ['$at', Number.NaN] }, { $subtract: ['$at', decimal('NaN')] }, { $add: ['$at', 1e300] }],
    document
  )
})

test('$dateToString formats dates', async () => {
  const text = (format: string, timezone = 'UTC') => ({ $dateToString: { date: '$at', format, timezone } })
  await gives(
    [
      [{ $dateToString: { date: '$at' } }, '2024-01-15T10:30:15.250Z'],
      [{ $dateToString: { date: '$at', timezone: berlin } }, '2024-01-15T11:30:15.250'],
      [{ $dateToString: { date: '$at', timezone: '+00:00' } }, '2024-01-15T10:30:15.250Z'],
      [{ $dateToString: { date: '$at', timezone: '-00' } }, '2024-01-15T10:30:15.250Z'],
      [{ $dateToString: { date: '$at', timezone: 'GMT' } }, '2024-01-15T10:30:15.250'],
      [text('%d.%m.%Y %j %u %w %U %V %G %%'), '15.01.2024 015 1 2 02 03 2024 %'],
      [text('%b %B %H%M%S %L'), 'Jan January 103015 250'],
      [text('%z (%Z)', 'Asia/Kathmandu'), '+0545 (345)'],
      [text('%z (%Z)', newYork), '-0500 (-300)'],
      [
        { $dateToString: { date: '$old', format: '%H:%M:%S %z (%Z)', timezone: 'America/Caracas' } },
        '07:13:42 -0427 (-267)'
      ],
      [{ $dateToString: { date: '$ancient', format: '%Y' } }, '0005'],
      [{ $dateToString: { date: '$none' } }, null],
      [{ $dateToString: { date: '$none', onNull: 'none' } }, 'none'],
      [{ $dateToString: { date: '$none', format: null, timezone: null, onNull: 'none' } }, 'none'],
      [{ $dateToString: { date: '$at', timezone: '$none' } }, null],
      [{ $dateToString: { date: '$at', format: '$none' } }, null]
    ],
    document
  )
  await refuses(
    [
      text('%n'),
      text('%'),
      { $dateToString: { date: '$text' } },
      { $dateToString: { date: '$at', format: 5 } },
      { $dateToString: { date: date('-000001-01-01T00:00:00Z') } },
      { $dateToString: { format: '%Y' } },
      { $dateToString: '$at' }
    ],
    document
  )
})

test('$dateFromString parses dates', async () => {
  const read = (dateString: unknown, more: object = {}) => ({ $dateFromString: { dateString, ...more } })
  const noon = date('2017-07-04T12:00:00Z')
  await gives(
    [
      [read('2017-07-04T11:56:02Z'), date('2017-07-04T11:56:02Z')],
      [read('2017-07-04T11:56:02.81Z'), date('2017-07-04T11:56:02.810Z')],
      [read('2017-07-04T11:56.02.813'), date('2017-07-04T11:56:02.813Z')],
      [read('2017-07-04'), date('2017-07-04T00:00:00Z')],
      [read('2017-07-04 11:56'), date('2017-07-04T11:56:00Z')],
      [read('20170704T120000Z'), noon],
      [read('2017-07-04T12:00:00 GMT+02:00'), date('2017-07-04T10:00:00Z')],
      [read('2017-07-04T12:00:00+0330'), date('2017-07-04T08:30:00Z')],
      [read('2017-07-04T12:00:00 EST'), date('2017-07-04T17:00:00Z')],
      [read('2017-07-04T12:00:00 P'), date('2017-07-04T15:00:00Z')],
      [read('2017-07-04T12:00:00', { timezone: newYork }), date('2017-07-04T16:00:00Z')],
      [read('1960-07-10T12:35:37.513', { timezone: 'Europe/London' }), date('1960-07-10T11:35:37.513Z')],
      [read('2017-07-04T12:00:00Z', { timezone: 'UTC' }), noon],
      [read('1900-07-10T07:13:42', { timezone: 'America/Caracas' }), date('1900-07-10T11:41:22Z')],
      [read('2017-07-04T15:00:00+03:00', { timezone: '+00:00' }), noon],
      [read('05 12 1988', { format: '%d %m %Y' }), date('1988-12-05T00:00:00Z')],
      [read('4/26/1992:+0445', { format: '%m/%d/%Y:%z' }), date('1992-04-25T19:15:00Z')],
      [read('4/26/1992:+285', { format: '%m/%d/%Y:%Z' }), date('1992-04-25T19:15:00Z')],
      [read('Day: 05 (Dec) 1988', { format: 'Day: %d (%b) %Y' }), date('1988-12-05T00:00:00Z')],
      [read('5 december 1988', { format: '%d %B %Y' }), date('1988-12-05T00:00:00Z')],
      [read('2024 060', { format: '%Y %j' }), date('2024-02-29T00:00:00Z')],
      [read('53.7.2017', { format: '%V.%u.%G' }), date('2018-01-07T00:00:00Z')],
      [read('2017', { format: '%G' }), date('2017-01-02T00:00:00Z')],
      [read('2024-01-02T03', { format: '%Y-%m-%dT%H', timezone: '+03' }), date('2024-01-02T00:00:00Z')],
      [read('$none', { onNull: 'none', onError: 'bad' }), 'none'],
      [read('$none', { onError: 'bad' }), null],
      [read('July 4th', { onError: 'bad' }), 'bad'],
      [read('2017-02-30', { onError: '$none' }), undefined],
      [read(5, { format: null, onError: 'bad' }), 'bad'],
      [read('2017-07-04', { format: '$none', onError: 'bad' }), null],
      [read('nonsense', { timezone: '$none', onError: 'bad' }), null],
      [read('2018-01', { format: '%Y-%m-%d', onError: 'bad' }), 'bad'],
      [read('2018-01', { format: '%Y', onError: 'bad' }), 'bad'],
      [read('1992-26-04', { format: 'Y-d-m', onError: 'bad' }), 'bad'],
      [read('12/31/2018', { format: '%m/%d/%G', onError: 'bad' }), 'bad'],
      [read('ISO Day 6', { format: 'ISO Day %u', onError: 'bad' }), 'bad'],
      // Unlike hours, minutes and seconds need their leading zero.
      [read('2024-1-2 9:05', { format: '%Y-%m-%d %H:%M' }), date('2024-01-02T09:05:00Z')],
      [read('2024-1-2 9:5', { format: '%Y-%m-%d %H:%M', onError: 'bad' }), 'bad'],
      [read('2024-1-2 9:05:7', { format: '%Y-%m-%d %H:%M:%S', onError: 'bad' }), 'bad']
    ],
    document
  )
  await refuses(
    [
      read('2017-07-04T12:00:00Z', { timezone: newYork }),
      read('2017-07-04T12:00:00Z', { timezone: 'Europe/London' }),
      read('2017-07-04T12:00:00 America/New_York'),
      read('2017-13-04'),
      read('12:50:53'),
      read(5),
      read('4/26/1992', { format: 5, onError: 'bad' }),
      read('4/26/1992', { format: '%n', onError: 'bad' }),
      read('4/26/1992', { format: '%m/%d/%Y %', onError: 'bad' }),
      { $dateFromString: { format: '%Y' } },
      { $dateFromString: '2017-07-04' }
    ],
    document
  )
})

test.run()
