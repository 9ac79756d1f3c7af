import { Binary, BSONRegExp, BSONSymbol, Code, Decimal128, Double, EJSON, Int32, Long, ObjectId, UUID } from 'bson'
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { createHasher } from '../../src/bloom/hash.ts'
import { decodeRecord, encodeRecord } from '../../src/docstore/documents/record.ts'
import { PetalError } from '../../src/model/errors.ts'
import { type Document, isPlainObject } from '../../src/model/types.ts'
import { Flattener } from '../../src/sharded-bloom/pairs/flatten.ts'
import { describe } from '../support/describe.ts'
import { anyDocument, seedOfRun } from '../support/values.ts'

const seed = seedOfRun()
const roundTrip = (document: Document) => decodeRecord(encodeRecord(document, false))

test('a plain document is stored as its JSON', () => {
  const document = { _id: 1, text: 'a', list: [1, null, { b: true }], $date: 1 }
  assert.is(encodeRecord(document, true), JSON.stringify(document))
  assert.equal(decodeRecord(encodeRecord(document, true)), document)
})

test('an ObjectId as _id costs one character, and keeps its place among the keys', () => {
  const document = { a: 1, _id: new ObjectId('507f1f77bcf86cd799439011'), b: 2 }
  const text = encodeRecord(document, true)
  assert.is(text, '\u0002{"a":1,"_id":"507f1f77bcf86cd799439011","b":2}')
  const decoded = decodeRecord(text)
  assert.is(describe(decoded), describe(document))
  assert.equal(Object.keys(decoded), ['a', '_id', 'b'])
})

test('other values are decoded as the types that PetalDB returns', () => {
  const stored: Document = {
    date: new Date(1234),
    negativeZero: -0,
    nan: Number.NaN,
    infinity: Number.NEGATIVE_INFINITY,
    bigint: 5n,
    long: Long.fromString('9007199254740993'),
    int: new Int32(7),
    double: new Double(1.5),
    decimal: Decimal128.fromString('1.50'),
    bytes: Uint8Array.of(1, 2),
    buffer: Buffer.from('x'),
    binary: new Binary(Uint8Array.of(3), 0),
    uuid: new UUID('00112233445566778899aabbccddeeff'),
    regex: /a\/b/gi,
    pcre: new BSONRegExp('(?i)a', 'x'),
    symbol: new BSONSymbol('s'),
    code: new Code('x', { $date: 1 }),
    gone: undefined,
    list: [undefined, 1]
  }
  const expected: Document = {
    ...withoutUndefined(stored),
    long: 9007199254740993n,
    int: 7,
    double: 1.5,
    buffer: Uint8Array.of(120),
    regex: /a\/b/i,
    symbol: 's',
    list: [null, 1]
  }
  assert.is(describe(roundTrip(stored)), describe(expected))
})

test('documents that look like wrappers are decoded unchanged', () => {
  const documents: Document[] = [
    { v: { $date: 1 } },
    { v: { $$date: 1 } },
    { v: { $$$oid: { $oid: 'x' } } },
    { v: { $code: 1, $scope: { $minKey: 1 } } },
    { v: { $scope: 1, $code: 2 } },
    { v: { $numberLong: '1', gone: undefined } },
    { v: { gone: undefined, $numberLong: new Date(1) } },
    { $oid: '507f1f77bcf86cd799439011' },
    { $in: [1], $ref: 'a', $date: 2 }
  ]
  for (const document of documents) assert.is(describe(roundTrip(document)), describe(withoutUndefined(document)))
})

test('class instances are stored by their own fields, whatever their toJSON() returns', () => {
  class Money {
    amount = 1
    at = new Date(0)
    toJSON(): string {
      return 'lost'
    }
  }
  assert.is(describe(roundTrip({ price: new Money() })), describe({ price: { amount: 1, at: new Date(0) } }))
})

test('any document is decoded unchanged', () => {
  fc.assert(
    fc.property(anyDocument, (document) => {
      const decoded = roundTrip(document)
      assert.is(describe(decoded), describe(document))
      assert.is(describe(roundTrip(decoded)), describe(decoded))
    }),
    { seed, numRuns: 5000 }
  )
})

test('any document is decoded unchanged if the flattener decides whether it is plain', () => {
  const flattener = new Flattener(createHasher('murmur'), { lo: 1, hi: 2 })
  const id = fc.oneof(
    fc.integer(),
    fc.uint8Array({ minLength: 12, maxLength: 12 }).map((bytes) => new ObjectId(bytes))
  )
  fc.assert(
    fc.property(id, fc.oneof(anyDocument, fc.object({ maxDepth: 2 }).filter(isStorable)), (_id, fields) => {
      const document = { ...fields, _id }
      const decoded = decodeRecord(encodeRecord(document, flattener.flatten(document).isPlain))
      assert.is(describe(decoded), describe(document))
    }),
    { seed, numRuns: 5000 }
  )
})

test('the bson package reads the wrappers as the same document', () => {
  fc.assert(
    fc.property(anyDocument.filter(isReadByBson), (document) => {
      const theirs = EJSON.parse(encodeRecord(document, false).slice(1), { relaxed: true, useBigInt64: true })
      const bare = (value: unknown) => describe(value, { isLoose: true })
      assert.is(bare(theirs), bare(decodeRecord(encodeRecord(document, false))))
    }),
    { seed, numRuns: 3000 }
  )
})

test('a damaged record always fails with DataCorruption', () => {
  const texts = [
    '',
    'x',
    '{',
    '{"a":',
    '\u0001',
    '\u0001[1]',
    '\u0001null',
    '\u0001{"a":{"$oid":"x"}}',
    '\u0002{}',
    '\u0002{"_id":"zz"}'
  ]
  for (const text of texts) {
    assert.throws(
      () => decodeRecord(text),
      (error: unknown) => error instanceof PetalError && error.codeName === 'DataCorruption',
      text
    )
  }
})

test('values that documents cannot have are refused', () => {
  for (const value of [2n ** 63n, new Date(Number.NaN), () => 1, new Map()]) {
    assert.throws(
      () => encodeRecord({ a: value }, false),
      (error: unknown) => error instanceof PetalError && error.codeName === 'BadValue'
    )
  }
  const poisoned = JSON.parse('{"a":{"__proto__":{"x":1}},"d":1}') as Document
  assert.throws(() => encodeRecord(poisoned, false), /__proto__/)
})

function withoutUndefined(document: Document): Document {
  const fields = Object.entries(document).filter(([, field]) => field !== undefined)
  return Object.fromEntries(fields.map(([key, field]) => [key, isPlainObject(field) ? withoutUndefined(field) : field]))
}

function isStorable(value: unknown): boolean {
  return !JSON.stringify(value).includes('__proto__') && !describe(value).includes('undefined')
}

function isReadByBson(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isReadByBson)
  if (!isPlainObject(value)) return true
  return Object.entries(value).every(([key, field]) => !/^\$|\0/.test(key) && isReadByBson(field))
}

test.run()
