import { Binary, BSONRegExp, Decimal128, Long, MaxKey, MinKey, ObjectId } from 'bson'
import { test } from 'uvu'
import { testClaims } from '../support/claims.ts'

const id = '65a1b2c3d4e5f60718293a4b'

testClaims([
  { claim: 'an empty filter matches everything', filter: {}, matches: [{}, { a: 1 }] },
  {
    claim: 'a value stands for equality',
    filter: { a: 'x' },
    matches: [{ a: 'x' }, { a: ['x', 'y'] }],
    rejects: [{ a: 'X' }, { a: ['y'] }, { b: 'x' }, {}, { a: [['x']] }]
  },
  {
    claim: 'numbers are equal across kinds',
    filter: { a: 1 },
    matches: [{ a: 1n }, { a: Long.fromNumber(1) }, { a: Decimal128.fromString('1.0') }],
    rejects: [{ a: '1' }, { a: true }, { a: Decimal128.fromString('1.1') }]
  },
  {
    claim: '64-bit integers are compared exactly',
    filter: { a: 2n ** 53n + 1n },
    matches: [{ a: Long.fromBigInt(2n ** 53n + 1n) }, { a: Decimal128.fromString('9007199254740993') }],
    rejects: [{ a: 2 ** 53 }, { a: 2 ** 53 + 2 }]
  },
  {
    claim: 'a 64-bit value in the filter equals a plain number',
    filter: { a: Long.fromNumber(5) },
    matches: [{ a: 5 }]
  },
  { claim: 'minus zero is zero', filter: { a: 0 }, matches: [{ a: -0 }], rejects: [{ a: null }, { a: false }] },
  {
    claim: 'NaN equals NaN',
    filter: { a: Number.NaN },
    matches: [{ a: Number.NaN }, { a: Decimal128.fromString('NaN') }],
    rejects: [{ a: 0 }, {}, { a: null }]
  },
  {
    claim: 'an object equals one with the same fields in the same order',
    filter: { a: { b: 1, c: 2 } },
    matches: [{ a: { b: 1, c: 2 } }, { a: { b: 1n, c: 2 } }, { a: [{ b: 1, c: 2 }] }],
    rejects: [{ a: { c: 2, b: 1 } }, { a: { b: 1 } }, { a: { b: 1, c: 2, d: 3 } }]
  },
  {
    claim: 'operators inside an object are data',
    filter: { a: { b: { $gt: 1 } } },
    matches: [{ a: { b: { $gt: 1 } } }]
  },
  { claim: 'a DBRef is a value', filter: { a: { $ref: 'c', $id: 1 } }, matches: [{ a: { $ref: 'c', $id: 1 } }] },
  {
    claim: 'an array equals the complete value or an element',
    filter: { a: [1, 2] },
    matches: [{ a: [1, 2] }, { a: [[1, 2], 3] }],
    rejects: [{ a: [2, 1] }, { a: [1, 2, 3] }, { a: 1 }, { a: [[[1, 2]]] }]
  },
  {
    claim: 'an empty array equals an empty array',
    filter: { a: [] },
    matches: [{ a: [] }, { a: [[]] }],
    rejects: [{}, { a: [1] }]
  },
  {
    claim: '$eq compares with a regular expression as a value',
    filter: { a: { $eq: /x/i } },
    matches: [{ a: /x/i }, { a: new BSONRegExp('x', 'i') }],
    rejects: [{ a: 'x' }, { a: /x/ }]
  },
  {
    claim: 'object ids, dates and binary data are equal by content',
    filter: { a: new ObjectId(id), b: new Date(5), c: new Uint8Array([1]) },
    matches: [{ a: new ObjectId(id), b: new Date(5), c: new Binary(new Uint8Array([1])) }],
    rejects: [{ a: id, b: new Date(5), c: new Uint8Array([1]) }]
  },
  {
    claim: 'MinKey equals MinKey only',
    filter: { a: new MinKey() },
    matches: [{ a: new MinKey() }],
    rejects: [{}, { a: 1 }, { a: new MaxKey() }]
  },
  {
    claim: '$ne matches if neither the value nor any element is equal',
    filter: { a: { $ne: 1 } },
    matches: [{ a: 2 }, {}, { a: null }, { a: [2] }, { a: [[1]] }],
    rejects: [{ a: 1 }, { a: [1, 2] }]
  },
  {
    claim: '$in matches one of its members',
    filter: { a: { $in: [1, 'x', [2]] } },
    matches: [{ a: 1 }, { a: 1n }, { a: 'x' }, { a: ['y', 'x'] }, { a: [2] }, { a: [[2]] }],
    rejects: [{ a: 2 }, {}, { a: null }, { a: [['x']] }]
  },
  {
    claim: '$in of an array matches the array, not its members',
    filter: { a: { $in: [[1]] } },
    matches: [{ a: [1] }],
    rejects: [{ a: 1 }]
  },
  {
    claim: '$in accepts regular expressions',
    filter: { a: { $in: [/^x/, 'b'] } },
    matches: [{ a: 'xy' }, { a: 'b' }, { a: /^x/ }],
    rejects: [{ a: 'y' }]
  },
  {
    claim: '$in of many members finds every kind of value',
    filter: { a: { $in: [1n, new ObjectId(id), new Date(5), true, Number.NaN, 2n ** 60n + 1n, { b: 1 }] } },
    matches: [
      { a: 1 },
      { a: new ObjectId(id) },
      { a: new Date(5) },
      { a: true },
      { a: Number.NaN },
      { a: Long.fromBigInt(2n ** 60n + 1n) },
      { a: { b: 1n } }
    ],
    rejects: [{ a: false }, { a: 2 ** 60 }, { a: 5 }, { a: { b: 2 } }, { a: new Date(6) }]
  },
  { claim: '$in of nothing matches nothing', filter: { a: { $in: [] } }, rejects: [{}, { a: 1 }, { a: [] }] },
  {
    claim: '$nin is the negation of $in',
    filter: { a: { $nin: [1, null] } },
    matches: [{ a: 2 }, { a: [2] }, { a: [] }],
    rejects: [{ a: 1 }, {}, { a: [1, 2] }, { a: [null] }]
  }
])

testClaims([
  {
    claim: 'null equals null and missing',
    filter: { a: null },
    matches: [{ a: null }, {}, { a: undefined }, { a: [1, null] }],
    rejects: [{ a: 0 }, { a: '' }, { a: [] }, { a: false }]
  },
  {
    claim: 'null matches if one element of an array lacks the field',
    filter: { 'a.b': null },
    matches: [{ a: [{ b: 1 }, {}] }, { a: 5 }, { a: {} }, {}, { a: null }],
    rejects: [{ a: [{ b: 1 }] }, { a: [] }, { a: [1, 'x'] }, { a: [[{}]] }]
  },
  {
    claim: '$ne: null needs a value',
    filter: { a: { $ne: null } },
    matches: [{ a: 0 }, { a: [] }],
    rejects: [{}, { a: null }, { a: [null] }]
  },
  {
    claim: '$in with null matches missing',
    filter: { a: { $in: [null, 1] } },
    matches: [{}, { a: 1 }, { a: null }],
    rejects: [{ a: 2 }]
  },
  {
    claim: '$lte: null matches null and missing',
    filter: { a: { $lte: null } },
    matches: [{}, { a: null }],
    rejects: [{ a: 0 }]
  },
  {
    claim: '$gte: null matches null and missing',
    filter: { a: { $gte: null } },
    matches: [{}, { a: null }],
    rejects: [{ a: 0 }]
  },
  { claim: '$lt: null matches nothing', filter: { a: { $lt: null } }, rejects: [{}, { a: null }, { a: -1 }] },
  { claim: '$gt: null matches nothing', filter: { a: { $gt: null } }, rejects: [{}, { a: null }, { a: 1 }] }
])

test.run()
