import { Decimal128 } from 'bson'
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { addDecimals, type Decimal, multiplyDecimals, parseDecimal, toDecimal128 } from '../../src/model/decimal.ts'
import { compareNumbers } from '../../src/model/numbers.ts'
import { seedOfRun } from '../support/values.ts'

const seed = seedOfRun()

function parsed(text: string): Decimal {
  const decimal = parseDecimal(text)
  assert.ok(decimal, text)
  return decimal as Decimal
}

const rounded = (text: string) => toDecimal128(parsed(text)).toString()

test('parseDecimal() parses every spelling of a finite Decimal128', () => {
  assert.equal(parsed('-12.50'), { coefficient: -1250n, exponent: -2 })
  assert.equal(parsed('1.5E+10'), { coefficient: 15n, exponent: 9 })
  assert.equal(parsed('0E-6176'), { coefficient: 0n, exponent: -6176 })
  for (const text of ['NaN', 'Infinity', '-Infinity', '', 'x']) {
    assert.is(parseDecimal(text), undefined)
  }
})

test('toDecimal128() is exact for 34 digits and rounds longer numbers half to even', () => {
  assert.is(rounded('1234567890123456789012345678901234'), '1234567890123456789012345678901234')
  assert.is(rounded('12345678901234567890123456789012345'), '1.234567890123456789012345678901234E+34')
  assert.is(rounded('12345678901234567890123456789012355'), '1.234567890123456789012345678901236E+34')
  assert.is(rounded('123456789012345678901234567890123451'), '1.234567890123456789012345678901235E+35')
  assert.is(rounded('99999999999999999999999999999999995'), '1.000000000000000000000000000000000E+35')
  assert.is(rounded('-99999999999999999999999999999999995'), '-1.000000000000000000000000000000000E+35')
})

test('numbers that are too large become infinite, and those that are too small become zero', () => {
  assert.is(rounded('1E6144'), '1.000000000000000000000000000000000E+6144')
  assert.is(rounded('1E6145'), 'Infinity')
  assert.is(rounded('-1E7000'), '-Infinity')
  assert.is(rounded('1E-6176'), '1E-6176')
  assert.is(compareNumbers(toDecimal128(parsed('1E-6177')), 0), 0)
  assert.is(rounded('6E-6177'), '1E-6176')
  assert.is(compareNumbers(toDecimal128(parsed('0E9000')), 0), 0)
})

test('sums and products of 15 digits are exact', () => {
  const digits = fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n })
  const exponent = fc.integer({ min: -8, max: 0 })
  fc.assert(
    fc.property(digits, exponent, digits, exponent, (a, i, b, j) => {
      const [x, y] = [parsed(`${a}E${i}`), parsed(`${b}E${j}`)]
      const scaled = a * 10n ** BigInt(i + 8) + b * 10n ** BigInt(j + 8)
      assert.is(compareNumbers(toDecimal128(addDecimals(x, y)), Decimal128.fromString(`${scaled}E-8`)), 0)
      assert.is(compareNumbers(toDecimal128(multiplyDecimals(x, y)), Decimal128.fromString(`${a * b}E${i + j}`)), 0)
    }),
    { seed, numRuns: 2000 }
  )
})

test.run()
