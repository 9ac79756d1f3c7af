/** Operands that an operator does not accept, before and after a null; results that no document can hold. */
import { inspect } from 'node:util'
import { Code } from 'bson'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Document } from '../../src/model/types.ts'
import { evaluate, gives, refuses } from './evaluate.ts'

/** An operator applied to values that it does not accept, and to null. */
const invalid: readonly (readonly [operator: string, invalid: readonly unknown[]])[] = [
  ['$add', ['x', true]],
  ['$multiply', ['x', new Date(0)]],
  ['$concat', [1]],
  ['$concatArrays', [1, 'x']],
  ['$setUnion', [1, 'x']],
  ['$setIntersection', [1, 'x']],
  ['$bitAnd', ['x', 1.5]],
  ['$bitOr', ['x', true]],
  ['$bitXor', ['x']],
  ['$atan2', ['x', true]],
  ['$round', ['x', true]],
  ['$trunc', ['x', new Date(0)]]
]

test('an invalid operand before a null is an error, one after it is not examined', async () => {
  for (const [operator, values] of invalid) {
    for (const value of values) {
      for (const none of [null, '$none']) {
        await refuses([{ [operator]: [{ $literal: value }, none] }])
        await gives([[{ [operator]: [none, { $literal: value }] }, null]])
      }
    }
  }
  await refuses([{ $zip: { inputs: [1, null] } }, { $slice: ['x', 1, null] }, { $slice: [[1], 'x', null] }])
  await gives([
    [{ $zip: { inputs: [null, 1] } }, null],
    [{ $slice: [[1], 1, '$none'] }, null],
    [{ $slice: ['x', null] }, null],
    [{ $slice: [null, 'x', 1] }, null],
    [{ $setIntersection: [[], null] }, null],
    // The first pair that differs decides.
    [{ $setEquals: [[1], [2], 'x'] }, false]
  ])
  await refuses([{ $setEquals: [[1], [1n], 'x'] }, { $setEquals: [[1], null] }])
})

test('an empty list of defaults for $zip is none', async () => {
  await gives([
    [{ $zip: { inputs: [[1, 2], [3]], defaults: [] } }, [[1, 3]]],
    [
      { $zip: { inputs: [[1, 2], [3]], defaults: [], useLongestLength: true } },
      [
        [1, 3],
        [2, null]
      ]
    ]
  ])
  await refuses([{ $zip: { inputs: [[1]], defaults: [1] } }])
})

test('formats, time zones and flags are checked even if there is no date', async () => {
  await refuses([
    // onError is for the text only.
    { $dateFromString: { dateString: 'x', timezone: 'Nowhere', onError: 1 } },
    { $dateFromString: { dateString: 5, timezone: 'Nowhere', onError: 1 } },
    { $dateFromString: { dateString: 5, format: '%Q', onError: 1 } },
    { $dateToString: { date: null, format: '%q' } },
    { $dateToString: { date: '$none', format: 'at %', onNull: 1 } },
    { $dateToString: { date: null, timezone: 'Nowhere' } },
    { $dateFromString: { dateString: null, format: '%Q', onNull: 1, onError: 2 } },
    { $dateFromString: { dateString: '$none', timezone: 'Nowhere' } },
    { $dateFromString: { dateString: null, format: 5 } },
    { $dateToParts: { date: null, timezone: 'Nowhere' } },
    { $dateToParts: { date: '$none', iso8601: 1 } }
  ])
  await gives([
    [{ $dateToString: { date: null, format: '%Y%%', timezone: 'Europe/Paris' } }, null],
    [{ $dateToString: { date: null, format: null, onNull: 1 } }, 1],
    [{ $dateFromString: { dateString: null, format: '%Y', timezone: 'Europe/Paris' } }, null],
    [{ $dateFromString: { dateString: null, format: null, timezone: null, onNull: 1 } }, 1],
    [{ $dateToParts: { date: null, timezone: 'Europe/Paris', iso8601: true } }, null]
  ])
})

test('bins of $dateTrunc may be longer than the calendar', async () => {
  const at = new Date('2024-03-31T01:30:00Z')
  for (const unit of ['year', 'quarter', 'month', 'week', 'day', 'hour', 'millisecond']) {
    for (const binSize of [2n ** 53n, 2n ** 62n]) {
      const first = unit === 'week' ? '2000-01-02' : '2000-01-01'
      await gives([[{ $dateTrunc: { date: at, unit, binSize } }, new Date(first)]])
      await refuses([{ $dateTrunc: { date: new Date('1999-12-31T23:59:59Z'), unit, binSize } }])
    }
  }
})

test('errors in values name the operator, however deep they are found', async () => {
  const least = -(2n ** 63n)
  const cases: readonly (readonly [operator: string, argument: unknown])[] = [
    ...['$toInt', '$toLong', '$toDouble', '$toDecimal', '$toDate', '$toObjectId'].map((name) => [name, 'x'] as const),
    ['$toString', { a: 1 }],
    ['$toDate', '2024-02-30'],
    ['$convert', { input: 'x', to: 'int' }],
    ['$convert', { input: 'x', to: 'date' }],
    ['$dateFromString', { dateString: 'x' }],
    ['$dateFromString', { dateString: 'x', format: '%Q' }],
    ['$dateToString', { date: new Date(0), format: '%Q' }],
    ['$year', { date: new Date(0), timezone: 'Nowhere' }],
    ['$dateFromParts', { year: 2024, timezone: 'Nowhere' }],
    ['$dateDiff', { startDate: new Date(0), endDate: new Date(0), unit: 'hour', timezone: 'Nowhere' }],
    ['$abs', least],
    ['$round', [least, -1]]
  ]
  for (const [operator, argument] of cases) {
    // The outer operator is not to blame.
    const error = await evaluate({ $concat: ['a', { [operator]: argument }] }).catch((reason: unknown) => reason)
    assert.match(String((error as Error).message), `$set (stage 0): ${operator}`, inspect(argument))
  }
})

test('$type tells code with a scope from code without', async () => {
  await gives([
    [{ $type: { $literal: new Code('a', { b: 1 }) } }, 'javascriptWithScope'],
    [{ $type: { $literal: new Code('a') } }, 'javascript']
  ])
})

test('a substring does not begin within a character, even if it is empty', async () => {
  await refuses([{ $substrBytes: ['é', 1, 0] }, { $substrBytes: ['é', 0, 1] }, { $substr: ['aé', 2, -1] }])
  await gives([
    [{ $substrBytes: ['é', 2, 0] }, ''],
    [{ $substrBytes: ['é', 0, 0] }, ''],
    [{ $substrBytes: ['é', 9, 9] }, '']
  ])
})

const callWith = (value: unknown): Document => ({ $function: { body: () => value, args: [], lang: 'js' } })

test('a function may only return what a document can hold, which is copied', async () => {
  class Point {
    x = 1
  }
  const shared = { list: [1] }
  for (const value of [new Map(), () => 1, Symbol('x'), Promise.resolve(1), new Date(Number.NaN), [{ a: new Set() }]]) {
    await refuses([callWith(value), { $ifNull: [callWith(value), 1] }])
  }
  await refuses(
    [1, null, '$none', { $literal: 'ab' }].map((args) => ({ $function: { body: () => 1, args, lang: 'js' } }))
  )
  await gives([
    [{ $function: { body: (...all: unknown[]) => all, args: { $literal: [1, [2]] }, lang: 'js' } }, [1, [2]]],
    [callWith(undefined), undefined],
    [callWith(null), null],
    [callWith({ a: undefined, b: [undefined, 1n] }), { b: [null, 1n] }],
    [callWith(new Point()), { x: 1 }],
    [callWith(shared), shared]
  ])
  const found = (await evaluate(callWith(shared))) as typeof shared
  assert.is.not(found, shared, inspect(found))
  assert.is.not(found.list, shared.list)
})

test.run()
