import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { all, and, none, not, or, type PairExpression, pairOf, unknown, upperOnly } from '../../src/model/pairs.ts'

const leaf = (path: string): PairExpression => pairOf({ kind: 'exists', path })

test('and() and or() drop neutral members, reduce to absorbing ones, and return a single member itself', () => {
  assert.equal(and([]), all)
  assert.equal(or([]), none)
  assert.equal(and([all, leaf('a')]), leaf('a'))
  assert.equal(and([none, leaf('a')]), none)
  assert.equal(or([all, leaf('a')]), all)
  assert.equal(or([none, leaf('a'), leaf('b')]), { kind: 'or', children: [leaf('a'), leaf('b')] })
})

test('nested disjunctions of any width are flattened', () => {
  const wide = or(Array.from({ length: 300_000 }, (_, i) => leaf(`p${i}`)))
  const flat = or([leaf('a'), wide])
  assert.is(flat.kind === 'or' && flat.children.length, 300_001)
})

test('not() is its own inverse and negates the constants', () => {
  assert.equal(not(not(leaf('a'))), leaf('a'))
  assert.equal(not(all), none)
  assert.equal(not(none), all)
})

test('the lower bound of upperOnly() is none', () => {
  assert.equal(upperOnly(leaf('a')), { kind: 'bounds', lower: none, upper: leaf('a') })
  assert.equal(upperOnly(all), unknown)
})

test.run()
