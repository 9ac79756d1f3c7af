import { Binary, BSONRegExp, BSONSymbol, Code, Decimal128, Long, MaxKey, MinKey, ObjectId, Timestamp } from 'bson'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { compareStrings, compareValues, equalValues } from '../../src/model/compare.ts'

/** Groups of equal values, ascending. */
const ordered: readonly (readonly unknown[])[] = [
  [new MinKey()],
  [null, undefined],
  [Number.NaN, Decimal128.fromString('NaN')],
  [Number.NEGATIVE_INFINITY],
  [-1],
  [0, -0, 0n],
  [Decimal128.fromString('0.1')],
  [0.1],
  [1, 1n, Long.fromNumber(1), Decimal128.fromString('1.0')],
  [2 ** 53],
  [2n ** 53n + 1n, Long.fromBigInt(2n ** 53n + 1n)],
  [''],
  ['A'],
  ['a', new BSONSymbol('a')],
  ['a\0'],
  ['aa'],
  ['b'],
  ['\ud7ff'],
  ['\ud83d'],
  ['\ue000'],
  ['\uffee'],
  ['\u{1f600}'],
  ['\u{1f601}'],
  [{}, { gone: undefined }],
  [{ a: 1 }],
  [{ a: 1, b: 1 }],
  [{ a: 2 }],
  [{ b: 1 }],
  [{ a: '' }],
  [{ a: { b: 1 } }],
  [{ a: [] }],
  [[]],
  [[null]],
  [[1], [1n]],
  [[1, 2]],
  [[2]],
  [['a']],
  [[[1]]],
  [new Uint8Array([9]), new Binary(new Uint8Array([9])), Buffer.from([9])],
  [new Binary(new Uint8Array([1]), 5)],
  [new Uint8Array([1, 1])],
  [new Uint8Array([1, 2])],
  [new ObjectId('000000000000000000000001'), new ObjectId('000000000000000000000001')],
  [new ObjectId('f00000000000000000000001')],
  [false],
  [true],
  [new Date(-1)],
  [new Date(5), new Date(5)],
  [new Timestamp({ t: 1, i: 1 })],
  [new Timestamp({ t: 1, i: 2 })],
  [new Timestamp({ t: 0xffff_ffff, i: 0 })],
  [/a/, new BSONRegExp('a', ''), /a/g],
  [/a/i, new BSONRegExp('a', 'i')],
  [/b/],
  [new Code('a')],
  [new Code('b')],
  [new Code('a', { n: 1 })],
  [new Code('a', { n: 2 })],
  [new MaxKey()]
]

test('values of every type have one total order', () => {
  ordered.forEach((group, i) => {
    ordered.forEach((other, j) => {
      for (const a of group) {
        for (const b of other) assert.is(Math.sign(compareValues(a, b)), Math.sign(i - j), `${i} ? ${j}`)
      }
    })
  })
})

test('equalValues() is true exactly when compareValues() returns 0', () => {
  ordered.forEach((group, i) => {
    ordered.forEach((other, j) => {
      for (const a of group) for (const b of other) assert.is(equalValues(a, b), i === j, `${i} = ${j}`)
    })
  })
})

test('objects compare field by field, by type, then name, then value', () => {
  assert.ok(compareValues({ b: 1 }, { a: 'x' }) < 0, 'a number is below a string whatever the names')
  assert.ok(compareValues({ a: 2 }, { b: 1 }) < 0, 'names count before values')
  assert.not(equalValues({ a: 1, b: 2 }, { b: 2, a: 1 }))
})

test('strings compare like their UTF-8 bytes', () => {
  const units = ['a', 'z', '\u00e9', '\ud7ff', '\ue000', '\uffff', '\u{10000}', '\u{1f600}', '\u{10ffff}']
  const texts = units.flatMap((x) => ['', ...units].map((y) => x + y))
  for (const a of texts) {
    for (const b of texts) {
      const bytes = Buffer.compare(Buffer.from(a), Buffer.from(b))
      assert.is(Math.sign(compareStrings(a, b)), bytes, JSON.stringify([a, b]))
    }
  }
})

test('strings with lone surrogates have a total order', () => {
  const units = ['a', '\ud83d', '\ude00', '\ue000', '\u{1f600}']
  const texts = units.flatMap((x) => units.flatMap((y) => [x + y, ...units.map((z) => x + y + z)]))
  const sorted = [...texts].sort(compareStrings)
  sorted.forEach((a, i) => {
    sorted.forEach((b, j) => {
      if (a !== b) assert.is(Math.sign(compareStrings(a, b)), Math.sign(i - j), JSON.stringify([a, b]))
    })
  })
})

test.run()
