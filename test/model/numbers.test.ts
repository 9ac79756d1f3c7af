import { Decimal128, Long } from 'bson'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { compareNumbers, isExactDouble, toDouble } from '../../src/model/numbers.ts'
import type { Numeric } from '../../src/model/types.ts'

const ordered: Numeric[][] = [
  [Number.NaN, Decimal128.fromString('NaN')],
  [Number.NEGATIVE_INFINITY, Decimal128.fromString('-Infinity')],
  [Decimal128.fromString('-1E400')],
  [-1.5, Decimal128.fromString('-1.50')],
  [0, -0, 0n, Long.fromNumber(0), Decimal128.fromString('0.000')],
  [Decimal128.fromString('0.1')],
  [0.1],
  [1, 1n, Long.fromNumber(1), Decimal128.fromString('1.0')],
  [2 ** 53, 2n ** 53n],
  [2n ** 53n + 1n, Long.fromBigInt(2n ** 53n + 1n)],
  [2 ** 53 + 2],
  [1e300],
  [Decimal128.fromString('1E400')],
  [Number.POSITIVE_INFINITY]
]

test('numbers of all kinds compare by their exact values', () => {
  ordered.forEach((group, i) => {
    ordered.forEach((other, j) => {
      for (const a of group) for (const b of other) assert.is(compareNumbers(a, b), Math.sign(i - j), `${a} ? ${b}`)
    })
  })
})

test('toDouble() is the same for equal numbers, and isExactDouble() is false for inexact ones', () => {
  for (const group of ordered) for (const value of group) assert.ok(Object.is(toDouble(value), toDouble(group[0]!)))
  assert.is(isExactDouble(2n ** 53n + 1n), false)
  assert.is(isExactDouble(Decimal128.fromString('0.1')), false)
  assert.is(isExactDouble(Decimal128.fromString('0.5')), true)
  assert.is(isExactDouble(Decimal128.fromString('1E400')), false)
})

test.run()
