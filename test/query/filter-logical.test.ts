import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { compileFilter } from '../../src/query/filter.ts'
import { assertRefused, testClaims } from '../support/claims.ts'

testClaims([
  {
    claim: 'fields of a filter are a conjunction',
    filter: { a: 1, b: 2 },
    matches: [{ a: 1, b: 2 }],
    rejects: [{ a: 1 }, { b: 2 }]
  },
  {
    claim: '$and matches if all its filters do',
    filter: { $and: [{ a: 1 }, { b: 2 }, { c: 3 }, { d: 4 }] },
    matches: [{ a: 1, b: 2, c: 3, d: 4 }],
    rejects: [{ a: 1, b: 2, c: 3 }]
  },
  {
    claim: '$or matches if one of its filters does',
    filter: { $or: [{ a: 1 }, { b: 2 }, { c: 3 }] },
    matches: [{ a: 1 }, { c: 3 }],
    rejects: [{ a: 2 }, {}]
  },
  {
    claim: '$nor matches if none of its filters does',
    filter: { $nor: [{ a: 1 }, { b: 2 }] },
    matches: [{ a: 2 }, {}],
    rejects: [{ a: 1 }, { b: 2 }]
  },
  {
    claim: '$not negates the conjunction of operators',
    filter: { a: { $not: { $gt: 1, $lt: 5 } } },
    matches: [{ a: 1 }, { a: 5 }, {}, { a: 'x' }],
    rejects: [{ a: 3 }]
  },
  {
    claim: '$not accepts a pattern',
    filter: { a: { $not: /^x/ } },
    matches: [{ a: 'y' }, {}, { a: 1 }],
    rejects: [{ a: 'xy' }, { a: ['y', 'x'] }]
  },
  {
    claim: '$not of $not is the condition itself',
    filter: { a: { $not: { $not: { $eq: 1 } } } },
    matches: [{ a: 1 }],
    rejects: [{ a: 2 }, {}]
  },
  {
    claim: '$comment has no effect',
    filter: { $comment: 'why', a: { $eq: 1, $comment: 'here too' } },
    matches: [{ a: 1 }],
    rejects: [{ a: 2 }]
  }
])

test('the function of $where gets the document as this and as its argument', () => {
  const byThis = compileFilter({
    $where(this: { a: number }) {
      return this.a > 1
    }
  })
  assert.ok(byThis.matches({ a: 2 }))
  assert.not.ok(byThis.matches({ a: 1 }))
  assert.ok(compileFilter({ $where: (document: { a: number }) => document.a }).matches({ a: 1 }))
})

test('an asynchronous $where is refused, instead of passing for every document', () => {
  const { matches } = compileFilter({ $where: async () => false })
  assert.throws(() => matches({ a: 1 }), /\$where: must not return a promise/)
  // Nobody else would handle its rejection.
  const failing = compileFilter({ $where: () => Promise.reject(new Error('late')) })
  assert.throws(() => failing.matches({ a: 1 }), /\$where: must not return a promise/)
})

test('$where is refused with code as text, and anywhere but at the top level', () => {
  assertRefused({ $where: 'this.a > 1' }, 'BadValue', /\$where: needs a function, not string/)
  assertRefused({ a: { $elemMatch: { $where: () => true } } }, 'BadValue', /\$where at 'a': .*top-level/)
  assert.ok(compileFilter({ $or: [{ $where: () => true }] }).matches({}))
})

test('$expr is compiled by the expression option, and is refused without it', () => {
  assertRefused({ $expr: { $gt: ['$a', 1] } }, 'CommandNotSupported', /\$expr/)
  const seen: unknown[] = []
  const expression = (argument: unknown) => {
    seen.push(argument)
    return { evaluate: (document: Record<string, unknown>) => document.a, implied: undefined, paths: undefined }
  }
  const { matches } = compileFilter({ $expr: { $gt: ['$a', 1] } }, { expression })
  assert.equal(seen, [{ $gt: ['$a', 1] }])
  for (const truthy of [1, 'x', '', Number.NaN, [], {}, true, 1n]) assert.ok(matches({ a: truthy }), String(truthy))
  for (const falsy of [0, -0, null, undefined, false, 0n]) assert.not.ok(matches({ a: falsy }), String(falsy))
})

test('a filter tells whether it may call a function of the caller', () => {
  const options = { expression: () => ({ evaluate: () => true, implied: undefined, paths: undefined }) }
  const body = () => 1
  const calling = { $eq: [{ $function: { body, args: [], lang: 'js' } }, 1] }
  const has = (filter: unknown): boolean => compileFilter(filter, options).hasCallback
  const $where = () => true
  for (const filter of [{ $where }, { $expr: calling }, { $nor: [{ a: 1 }, { $expr: { a: [calling] } }] }]) {
    assert.ok(has(filter))
    assert.ok(has({ $or: [{ a: 1 }, filter] }))
  }
  const none = [{}, { a: 1, b: { $in: [] } }, { $nor: [{ a: 1 }] }, { $expr: { $eq: ['$a', { $literal: calling }] } }]
  for (const filter of none) assert.not(has(filter))
})

test('the filter that an $expr implies is an additional condition', () => {
  const expression = () => ({ evaluate: () => true, implied: { a: 1 }, paths: undefined })
  const { matches, bounds } = compileFilter({ $expr: true }, { expression })
  assert.equal([matches({ a: 1 }), matches({ a: 2 })], [true, false])
  assert.is(bounds.kind, 'and')
})

test.run()
