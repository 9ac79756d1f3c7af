import {
  Binary,
  BSONRegExp,
  BSONSymbol,
  Code,
  Decimal128,
  Double,
  Int32,
  Long,
  MaxKey,
  MinKey,
  ObjectId,
  Timestamp
} from 'bson'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { compileFilter } from '../../src/query/filter.ts'
import { testClaims } from '../support/claims.ts'

testClaims([
  {
    claim: '$elemMatch knows the fields of a DBRef',
    filter: { a: { $elemMatch: { $id: 1, $or: [{ $ref: 'c' }, { $db: 'd' }] } } },
    matches: [{ a: [{ $ref: 'c', $id: 1 }] }, { a: [{ $ref: 'b', $id: 1, $db: 'd' }] }],
    rejects: [{ a: [{ $ref: 'c', $id: 2 }] }, { a: [{ $ref: 'b', $id: 1 }] }, { a: { $ref: 'c', $id: 1 } }]
  },
  {
    claim: '$exists: true needs the field, which may be null',
    filter: { 'a.b': { $exists: true } },
    matches: [{ a: { b: null } }, { a: [{}, { b: 1 }] }, { a: { b: [] } }],
    rejects: [{ a: {} }, {}, { a: [1] }, { a: [[{ b: 1 }]] }, { a: { b: undefined } }]
  },
  {
    claim: '$exists: false is the negation of $exists: true',
    filter: { 'a.b': { $exists: false } },
    matches: [{}, { a: [] }, { a: [[{ b: 1 }]] }],
    rejects: [{ a: { b: null } }, { a: [{}, { b: 1 }] }]
  },
  {
    claim: '$exists treats 0 and null as false',
    filter: { a: { $exists: 0 }, b: { $exists: null } },
    matches: [{}],
    rejects: [{ a: 1 }, { b: 1 }]
  },
  {
    claim: '$exists treats any other value as true',
    filter: { a: { $exists: 'no' } },
    matches: [{ a: 1 }],
    rejects: [{}]
  },
  {
    claim: '$type: number looks into arrays',
    filter: { a: { $type: 'number' } },
    matches: [{ a: ['x', 1] }, { a: 1n }],
    rejects: [{ a: ['x'] }, { a: [[1]] }, {}]
  },
  {
    claim: '$type: array matches the array itself, or one inside it',
    filter: { a: { $type: 'array' } },
    matches: [{ a: [] }, { a: [[1]] }],
    rejects: [{ a: 1 }]
  },
  {
    claim: '$type accepts a list',
    filter: { a: { $type: ['null', 2] } },
    matches: [{ a: null }, { a: 'x' }],
    rejects: [{}, { a: 1 }]
  },
  {
    claim: '$type of types that cannot be stored matches nothing',
    filter: { a: { $type: ['undefined', 'dbPointer'] } },
    rejects: [{}, { a: undefined }, { a: 1 }]
  }
])

const typeCases: readonly (readonly [name: string, number: number, value: unknown])[] = [
  ['double', 1, 1.5],
  ['double', 1, 2 ** 31],
  ['double', 1, -0],
  ['double', 1, Number.NaN],
  ['string', 2, 'x'],
  ['string', 2, new BSONSymbol('x')],
  ['object', 3, {}],
  ['array', 4, []],
  ['binData', 5, new Uint8Array(1)],
  ['binData', 5, new Binary(new Uint8Array(1), 4)],
  ['objectId', 7, new ObjectId()],
  ['bool', 8, false],
  ['date', 9, new Date(0)],
  ['null', 10, null],
  ['regex', 11, /x/],
  ['regex', 11, new BSONRegExp('x')],
  ['javascript', 13, new Code('x')],
  ['javascriptWithScope', 15, new Code('x', { a: 1 })],
  ['int', 16, 1],
  ['int', 16, -(2 ** 31)],
  ['int', 16, new Int32(1)],
  ['int', 16, new Double(1)],
  ['timestamp', 17, new Timestamp({ t: 1, i: 1 })],
  ['long', 18, 1n],
  ['long', 18, Long.fromNumber(1)],
  ['decimal', 19, Decimal128.fromString('1')],
  ['minKey', -1, new MinKey()],
  ['maxKey', 127, new MaxKey()]
]

test('$type knows every type by name and by number', () => {
  for (const [name, number, value] of typeCases) {
    for (const [other, otherNumber] of typeCases) {
      const expected = name === other
      assert.is(compileFilter({ a: { $type: other } }).matches({ a: value }), expected, `${String(value)} is ${other}`)
      assert.is(compileFilter({ a: { $type: otherNumber } }).matches({ a: value }), expected)
    }
    const isNumber = ['double', 'int', 'long', 'decimal'].includes(name)
    assert.is(compileFilter({ a: { $type: 'number' } }).matches({ a: value }), isNumber)
    assert.is(compileFilter({ a: { $type: BigInt(number) } }).matches({ a: value }), true)
  }
})

test.run()
