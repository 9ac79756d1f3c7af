/** Sums, keys and comparisons support every kind of number, paths behave as in MongoDB, and sorts can run in steps. */
import { Decimal128, Double, Int32, Long, ObjectId } from 'bson'
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type AccumulatorClass, accumulatorClass } from '../../src/aggregate/accumulators.ts'
import { ExactSum } from '../../src/aggregate/exact-sum.ts'
import { Expressions } from '../../src/aggregate/expression.ts'
import { compareInExpression, isTruthy } from '../../src/aggregate/expression-values.ts'
import { compileFieldPath } from '../../src/aggregate/field-path.ts'
import { groupKey } from '../../src/aggregate/group-key.ts'
import { withValueAt } from '../../src/aggregate/set-path.ts'
import { equalValues } from '../../src/model/compare.ts'
import { compileSort, FullSort } from '../../src/query/sort.ts'
import { adversarial, testSeed, values } from '../support/arbitraries.ts'

function sumOf(...numbers: readonly unknown[]): ExactSum {
  const sum = new ExactSum()
  for (const number of numbers) sum.add(number)
  return sum
}

test('values have the same group key exactly if they are equal', () => {
  const value = values(adversarial, 2)
  const isMissing = (one: unknown): boolean => one === undefined || one === null
  fc.assert(
    fc.property(value, value, (one, other) => {
      const isEqual = equalValues(one, other) || (isMissing(one) && isMissing(other))
      assert.is(groupKey(one) === groupKey(other) || bothNaN(groupKey(one), groupKey(other)), isEqual)
    }),
    { numRuns: 2000, seed: testSeed() }
  )
  for (const one of [1, 1n, new Int32(1), new Double(1), Long.fromNumber(1), Decimal128.fromString('1.0')]) {
    assert.is(groupKey(one), 1)
  }
  assert.is.not(groupKey(2n ** 53n + 1n), groupKey(2n ** 53n))
  assert.is.not(groupKey('1'), groupKey(1))
})

function bothNaN(one: unknown, other: unknown): boolean {
  return Number.isNaN(one) && Number.isNaN(other)
}

test('sums do not depend on the order of doubles, and are exact', () => {
  assert.is(sumOf(1e100, 1, -1e100).total(), 1)
  assert.is(sumOf(...Array.from({ length: 10 }, () => 0.1)).total(), 1)
  assert.is(sumOf(2 ** 53, 1, 1).total(), 2 ** 53 + 2)
  assert.is(sumOf().total(), 0)
  assert.is(sumOf('1', null, undefined, true).total(), 0)
  assert.is(sumOf(1, Number.POSITIVE_INFINITY).total(), Number.POSITIVE_INFINITY)
  assert.ok(Number.isNaN(sumOf(Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY).total()))
  // The errors of both kinds of sums need more than two doubles together.
  const cents = Array.from({ length: 3000 }, (_, i) => (i % 7) / 10)
  assert.is(sumOf(1e17, ...cents, -1e17).total(), sumOf(...cents).total())
  assert.is(sumOf(2 ** 106, 2 ** 53, 1, 2 ** -53, -(2 ** 106), -(2 ** 53)).total(), 1)
  assert.is(sumOf(1, 2 ** -53, 2 ** -107).total(), 1 + 2 ** -52)
  const integer = fc.maxSafeInteger()
  fc.assert(
    fc.property(fc.array(integer), (numbers) => {
      const exact = numbers.reduce((sum, number) => sum + BigInt(number), 0n)
      assert.is(sumOf(...numbers).total(), Number(exact) + 0)
    }),
    { seed: testSeed() }
  )
})

test('sums do not depend on which numbers are summed separately', () => {
  // Few different exponents, so that numbers cancel out and end in the middle between two doubles.
  const double = fc
    .tuple(fc.constantFrom(1, 3, 0.1, 1 + 2 ** -52), fc.integer({ min: -4, max: 4 }), fc.constantFrom(-1, 1))
    .map(([digits, exponent, sign]) => sign * digits * 2 ** (exponent * 53))
  fc.assert(
    fc.property(fc.array(fc.array(double)), (parts) => {
      const merged = sumOf()
      for (const part of parts) merged.merge(sumOf(...part).state())
      assert.is(merged.total(), sumOf(...parts.flat().reverse()).total())
    }),
    { numRuns: 1000, seed: testSeed() }
  )
})

test('a sum that came close to an overflow cannot be merged', () => {
  assert.throws(() => sumOf(1e308, -1e308).state(), /may overflow/)
  assert.throws(() => sumOf(1.7e308, 1.7e308).state(), /may overflow/)
})

test('sums of mixed kinds of numbers have the same type as in MongoDB', () => {
  assert.is(sumOf(2n ** 60n, 1).total(), 2n ** 60n + 1n)
  assert.is(sumOf(2n ** 60n, 0.5).total(), 2 ** 60)
  assert.is(sumOf(2n ** 62n, 2n ** 62n).total(), 2 ** 63)
  assert.is(String(sumOf(Decimal128.fromString('0.1'), Decimal128.fromString('0.2'), 1n, 1).total()), '2.3')
  assert.is(String(sumOf(Decimal128.fromString('1'), Number.NaN).total()), 'NaN')
  assert.is(sumOf(1n, 2).average(), 1.5)
  assert.is(String(sumOf(Decimal128.fromString('1'), 1, 0).average()).slice(0, 10), '0.66666666')
  assert.is(sumOf(null).average(), null)
})

test('in expressions missing is less than null, and values are true as in MongoDB', () => {
  assert.ok(compareInExpression(undefined, null) < 0)
  assert.is(compareInExpression(undefined, undefined), 0)
  assert.is(compareInExpression(1n, Decimal128.fromString('1.0')), 0)
  assert.equal([0, 0n, -0, Decimal128.fromString('0.0'), null, undefined, false].map(isTruthy), Array(7).fill(false))
  assert.equal(['', Number.NaN, [], {}, '0', -1n].map(isTruthy), Array(6).fill(true))
})

test('field paths lead through arrays, digits are keys, and inherited properties are missing', () => {
  const document = { a: [{ b: 1 }, { b: [2, 3] }, 4, {}], c: { 0: 'zero' }, d: [['x']] }
  assert.equal(compileFieldPath('a.b')(document), [1, [2, 3]])
  assert.is(compileFieldPath('c.0')(document), 'zero')
  assert.equal(compileFieldPath('a.0')(document), [])
  const nested = { a: [[{ b: 1 }], { b: [[{ c: 2 }], { c: 3 }] }] }
  assert.equal(compileFieldPath('a.b')(nested), [[[{ c: 2 }], { c: 3 }]])
  assert.equal(compileFieldPath('a.b.c')(nested), [[3]])
  assert.is(compileFieldPath('constructor')(document), undefined)
  assert.is(compileFieldPath('c.toString')(document), undefined)
})

test('withValueAt() copies, sets the value in every element of an array, and removes it if undefined', () => {
  const document = Object.freeze({
    a: Object.freeze({ b: 1, c: 2 }),
    list: Object.freeze([Object.freeze({ x: 1 }), 5])
  })
  const at = (path: string, value: unknown) => withValueAt(document, path.split('.'), value, document)
  assert.equal(at('a.b', 9), { ...document, a: { b: 9, c: 2 } })
  assert.equal(at('a.b', undefined), { ...document, a: { c: 2 } })
  assert.equal(at('list.y', 7).list, [{ x: 1, y: 7 }, { y: 7 }])
  assert.equal(at('a.b.z', 1).a, { b: { z: 1 }, c: 2 })
})

test('expressions of paths, objects and literals load nothing, and keep instances unchanged', () => {
  const expressions = new Expressions()
  const place = { stage: '$set', position: 0 }
  const id = new ObjectId()
  const shape = expressions.compile(
    { id: '$id', none: '$none', list: ['$none', 1], lit: { $literal: '$x' }, me: '$$ROOT.id' },
    place
  )
  assert.equal(shape({ id }), { id, list: [null, 1], lit: '$x', me: id })
  assert.is(expressions.compile(id, place)({}), id)
  assert.is(expressions.needsLoading, false)
})

test('sorting in steps returns the same order, including ties, as sorting at once', () => {
  const sort = compileSort({ n: 1 })
  const whole = new FullSort(sort)
  const steps = new FullSort(sort)
  for (let i = 0; i < 10_000; i++) {
    const document = { n: (i * 7919) % 97, i }
    whole.push(document)
    steps.push(document)
  }
  const running = steps.steps()
  let pauses = 0
  for (let step = running.next(); ; step = running.next()) {
    if (step.done === true) {
      assert.equal(step.value, whole.toArray())
      break
    }
    pauses++
  }
  assert.ok(pauses > 10)
})

test('merged objects are copied only when a value comes after their result', () => {
  const merged = new (accumulatorClass('$mergeObjects') as AccumulatorClass)()
  const given = { a: 1 }
  merged.add(given)
  merged.add({ b: 2 })
  const first = merged.result()
  assert.is(merged.result(), first)
  merged.add({ a: 3 })
  assert.equal([first, merged.result(), given], [{ a: 1, b: 2 }, { a: 3, b: 2 }, { a: 1 }])
})

test.run()
