/** Filters made of values match fields that equal one of them, whatever the values look like. */
import { ObjectId } from 'bson'
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { allOf } from '../../src/query/ast.ts'
import { compileFilter, compileNormalForm } from '../../src/query/filter.ts'
import { equalsOneOf, exists } from '../../src/query/value-filter.ts'
import { adversarial, testSeed, values } from '../support/arbitraries.ts'

const seed = testSeed()

const finds = (list: readonly unknown[], value: unknown): boolean =>
  compileNormalForm(equalsOneOf('k', list)).matches({ k: value })

test('objects with operators as keys are values, and regular expressions equal only themselves', () => {
  const operators = { $gt: 5 }
  assert.ok(finds([operators], { $gt: 5 }))
  assert.ok(finds([1, operators], [{ $gt: 5 }]))
  assert.not(finds([operators], 7))
  assert.not(finds([operators], { $gt: 6 }))
  assert.ok(finds([/^x/], /^x/))
  assert.not(finds([/^x/], /^x/i))
  assert.not(finds([/^x/, 1], 'xyz'))
  assert.ok(finds([{ $in: [/x/] }], { $in: [/x/] }))
  assert.not(finds([], null))
})

test('null and undefined match missing fields, unless exists() is required, too', () => {
  for (const list of [[null], [undefined], [1, null]]) {
    assert.ok(finds(list, null))
    assert.ok(compileNormalForm(equalsOneOf('k', list)).matches({}))
    assert.not(compileNormalForm(allOf([equalsOneOf('k', list), exists('k')])).matches({}))
    assert.ok(compileNormalForm(allOf([equalsOneOf('k', list), exists('k')])).matches({ k: null }))
  }
})

test('values are copied, and values of _id become the ids of the filter', () => {
  const object = { a: [1] }
  const filter = compileNormalForm(equalsOneOf('k', [object]))
  object.a.push(2)
  assert.ok(filter.matches({ k: { a: [1] } }))
  assert.not(filter.matches({ k: { a: [1, 2] } }))
  const id = new ObjectId()
  assert.equal(compileNormalForm(equalsOneOf('_id', [1, id, 'x', 1])).ids, [1, id, 'x'])
  assert.is(compileNormalForm(equalsOneOf('_id', [/x/])).ids, undefined)
})

test('equalsOneOf() matches exactly the documents that $eq with one of the values matches', () => {
  const value = values(adversarial, 2)
  let found = 0
  fc.assert(
    fc.property(fc.array(value, { minLength: 1, maxLength: 5 }), fc.array(value), (list, others) => {
      const made = compileNormalForm(equalsOneOf('a.b', list))
      const spelled = compileFilter({ $or: list.map((each) => ({ 'a.b': { $eq: each } })) })
      for (const other of [...others, ...list, undefined]) {
        for (const document of [{ a: { b: other } }, { a: [{ b: other }, {}] }, { a: other }]) {
          if (made.matches(document)) found++
          assert.is(made.matches(document), spelled.matches(document))
        }
      }
    }),
    { seed, numRuns: 300 }
  )
  assert.ok(found > 100)
})

test.run()
