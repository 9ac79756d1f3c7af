import { ObjectId } from 'bson'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { compileFilter } from '../../src/query/filter.ts'
import { testClaims } from '../support/claims.ts'

testClaims([
  {
    claim: 'a path goes through objects and arrays of objects',
    filter: { 'a.b.c': 1 },
    matches: [{ a: { b: { c: 1 } } }, { a: [{ b: [{ c: [2, 1] }] }] }],
    rejects: [{ a: [[{ b: { c: 1 } }]] }, { 'a.b.c': 1 }, { a: { 'b.c': 1 } }]
  },
  {
    claim: 'digits name a position or a key',
    filter: { 'a.0.b': 1 },
    matches: [{ a: [{ b: 1 }] }, { a: { 0: { b: 1 } } }, { a: [{ 0: { b: 1 } }] }, { a: [[{ b: 1 }]] }],
    rejects: [{ a: [{ b: 2 }, { b: 1 }] }, { a: { b: 1 } }]
  },
  {
    claim: 'an element selected by position is not searched for elements',
    filter: { 'a.0': 1 },
    matches: [{ a: [1, 2] }, { a: { 0: 1 } }, { a: { 0: [1] } }],
    rejects: [{ a: [2, 1] }, { a: [[1, 2]] }, { a: 1 }]
  },
  {
    claim: 'positions can be nested',
    filter: { 'a.0.1': 6 },
    matches: [{ a: [[5, 6]] }],
    rejects: [{ a: [[6, 5]] }, { a: [5, 6] }]
  },
  {
    claim: 'a position is spelled without leading zeros',
    filter: { 'a.00': 1 },
    matches: [{ a: { '00': 1 } }],
    rejects: [{ a: [1] }]
  },
  {
    claim: 'a position beyond the end is missing, and yields nothing',
    filter: { 'a.5': { $exists: true } },
    rejects: [{ a: [1] }]
  },
  {
    claim: 'an object element also lacks the key that the position names',
    filter: { 'a.0': null },
    matches: [{ a: [{ b: 1 }] }, { a: [null] }, { a: {} }],
    rejects: [{ a: [1] }, { a: [] }]
  },
  { claim: 'a path may contain empty keys', filter: { 'a.': 1 }, matches: [{ a: { '': 1 } }], rejects: [{ a: 1 }] },
  { claim: 'the empty path means the empty key', filter: { '': 1 }, matches: [{ '': 1 }], rejects: [{ a: 1 }] },
  {
    claim: 'inherited properties are missing',
    filter: {
      $or: [{ constructor: { $exists: true } }, { toString: { $exists: true } }, { 'a.length': { $exists: true } }]
    },
    matches: [{ constructor: 1 }, { a: { length: 0 } }],
    rejects: [{}, { a: [1] }, { a: 'text' }, { a: new Date() }, { a: /x/ }]
  },
  {
    claim: 'values of special types have no fields',
    filter: { 'a.id': null },
    matches: [{ a: new ObjectId() }, { a: new Date() }]
  }
])

test('properties of a prototype are never read', () => {
  const document = Object.create({ a: 1 })
  assert.not.ok(compileFilter({ a: 1 }).matches(document))
  assert.ok(compileFilter({ a: { $exists: false } }).matches(document))
})

test('documents without a prototype can match', () => {
  const document = Object.assign(Object.create(null), { a: { b: 1 } })
  assert.ok(compileFilter({ 'a.b': 1 }).matches(document))
})

test.run()
