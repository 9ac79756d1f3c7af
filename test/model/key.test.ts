import { Binary, Decimal128, Double, Int32, Long, ObjectId, Timestamp } from 'bson'
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { compareValues, equalValues } from '../../src/model/compare.ts'
import { PetalError } from '../../src/model/errors.ts'
import { checkId, encodeKey } from '../../src/model/key.ts'
import { anyString, anyValue, number, scalar, seedOfRun } from '../support/values.ts'

const seed = seedOfRun()
const hex = (value: unknown) => Buffer.from(encodeKey(value)).toString('hex')
const order = (a: unknown, b: unknown) => Math.sign(Buffer.compare(encodeKey(a), encodeKey(b)))

test('equal numbers of all kinds have the same key', () => {
  const ones = [
    1,
    1n,
    Long.ONE,
    new Int32(1),
    new Double(1),
    Decimal128.fromString('1.00'),
    Decimal128.fromString('10E-1')
  ]
  assert.is(new Set(ones.map(hex)).size, 1)
  assert.is(hex(0), hex(-0))
  assert.is(hex(0), hex(Decimal128.fromString('-0')))
  assert.is(hex(Number.NaN), hex(Decimal128.fromString('NaN')))
})

test('integers that share a nearest double have different keys, in order', () => {
  const around = [2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 53n + 2n, 2n ** 62n, 2n ** 62n + 1n, 2n ** 63n - 1n]
  const values = [...around.map((n) => -n).reverse(), 0, ...around]
  for (let i = 1; i < values.length; i++)
    assert.is(order(values[i - 1], values[i]), -1, `${values[i - 1]} ${values[i]}`)
  assert.is.not(hex(2n ** 53n + 1n), hex(2 ** 53))
  assert.is(hex(2n ** 53n), hex(2 ** 53))
})

test('the format of keys is pinned', () => {
  assert.is(hex(1), '18bff000000000000080')
  assert.is(hex(-1), '18400fffffffffffff80')
  assert.is(hex('a\0\u0001b'), '2061010101026200')
  assert.is(hex('é\ud800😀'), '20c3a9eda080f09f988000')
  assert.is(hex(null), '10')
  assert.is(hex(true), '4801')
  assert.is(hex(new ObjectId('507f1f77bcf86cd799439011')), '40507f1f77bcf86cd799439011')
  assert.is(hex({ a: 1, b: 'x' }), '2818610018bff00000000000008020620020780000')
  assert.is(hex(new Date(1)), '50bff0000000000000')
  assert.is(hex(new Timestamp({ t: 1, i: 2 })), '580000000100000002')
  assert.is(hex(new Binary(Uint8Array.of(7), 5)), '38000000010507')
  assert.is(hex(2n ** 53n + 1n), '18c340000000000000c0800f0a010108020a0a0306050805010a0a0400')
})

test('a plain object with the _bsontype of an ObjectId is encoded as an object', () => {
  const forged = { _bsontype: 'ObjectId', id: '507f1f77bcf8' }
  assert.is(encodeKey(forged)[0], encodeKey({})[0])
})

test('lone surrogates have different keys from one another and from the replacement character', () => {
  const texts = ['\ud800', '\ud801', '\udc00', '\ufffd', '\ud800\udc00', 'a\ud800', '\ud800a']
  assert.is(new Set(texts.map(hex)).size, texts.length)
})

test('two values have the same key if and only if they are equal', () => {
  fc.assert(
    fc.property(anyValue, anyValue, (a, b) => {
      assert.is(hex(a) === hex(b), equalValues(a, b))
    }),
    { seed, numRuns: 10_000 }
  )
  fc.assert(
    fc.property(number, number, (a, b) => {
      assert.is(hex(a) === hex(b), equalValues(a, b))
    }),
    { seed, numRuns: 20_000 }
  )
})

test('keys sort like their values', () => {
  for (const arbitrary of [scalar, number, anyString, anyValue]) {
    fc.assert(
      fc.property(arbitrary, arbitrary, (a, b) => {
        assert.is(order(a, b), Math.sign(compareValues(a, b)))
      }),
      { seed, numRuns: 8000 }
    )
  }
})

test('no key is a proper prefix of another', () => {
  fc.assert(
    fc.property(anyValue, anyValue, (a, b) => {
      const [x, y] = [hex(a), hex(b)]
      assert.ok(x === y || !(x.startsWith(y) || y.startsWith(x)))
    }),
    { seed, numRuns: 10_000 }
  )
})

test('keys above 1 MiB are refused and do not spoil the next key', () => {
  assert.is(encodeKey('x'.repeat((1 << 20) - 2)).length, 1 << 20)
  for (const value of ['x'.repeat(1 << 20), '中'.repeat(400_000), new Uint8Array(1 << 20), '\0'.repeat(600_000)]) {
    assert.throws(() => encodeKey(value), isError('BadValue'))
  }
  assert.is(hex('a'), '206100')
})

test('a value that contains itself is refused', () => {
  const cyclic: Record<string, unknown> = {}
  cyclic.self = cyclic
  assert.throws(() => encodeKey(cyclic), isError('BadValue'))
})

test('arrays, regular expressions, undefined and functions cannot be an _id', () => {
  for (const value of [[1], /x/, undefined, () => 1, Symbol('x'), new Map()]) {
    assert.throws(() => checkId(value), isError('BadValue'))
  }
  assert.throws(() => checkId([1]), /can't use an array for _id/)
  assert.throws(() => checkId({ $a: 1 }), isError('DollarPrefixedFieldName'))
  for (const value of [1, 1n, 'a', '', null, true, new Date(0), new ObjectId(), { a: [1] }, {}]) checkId(value)
})

function isError(codeName: string) {
  return (error: unknown) => error instanceof PetalError && error.codeName === codeName
}

test.run()
