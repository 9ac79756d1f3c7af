/**
 * With a collation, strings compare by the rules of its language wherever they occur. For the letters a to c, English
 * without case is the order of code points after conversion to lower case, which serves as the oracle.
 */
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { encodeRecord } from '../../src/docstore/documents/record.ts'
import { compareStrings, compareValues, equalValues } from '../../src/model/compare.ts'
import { PetalError } from '../../src/model/errors.ts'
import type { Document } from '../../src/model/types.ts'
import { parseCollation } from '../../src/query/collation.ts'
import { compileFilter } from '../../src/query/filter.ts'
import { compileProjection } from '../../src/query/projection.ts'
import { compileSort } from '../../src/query/sort.ts'
import { compileUpdate } from '../../src/query/update/update.ts'
import { documents, filters, type Profile, plain, testSeed, values } from '../support/arbitraries.ts'
import { evaluate, honest, referencePairs } from '../support/reference-pairs.ts'

const seed = testSeed()
const withoutCase = parseCollation({ locale: 'en', strength: 2 })!
const now = new Date(5)

const letters: Profile = {
  ...plain,
  scalars: fc.constantFrom<unknown>(null, 1, 'a', 'A', 'b', 'B', 'ab', 'aB', 'Ab', 'AB', 'c', 'C', ''),
  patterns: fc.constantFrom(/a/i, /^B/i),
  withArraysInArrays: true
}

function small(value: unknown): unknown {
  if (typeof value === 'string') return value.toLowerCase()
  if (Array.isArray(value)) return value.map(small)
  if (typeof value !== 'object' || value === null || value instanceof RegExp) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, small(inner)]))
}

test('filters match as if all letters were lower case, and their bounds and prefilters are sound', () => {
  let matched = 0
  fc.assert(
    fc.property(filters(letters), fc.array(documents(letters), { minLength: 4, maxLength: 4 }), (filter, some) => {
      const collated = compileFilter(filter, { order: withoutCase })
      const expected = compileFilter(small(filter))
      for (const document of some) {
        const matches = collated.matches(document)
        assert.is(matches, expected.matches(small(document) as Document))
        const { lower, upper } = evaluate(collated.bounds, referencePairs(document), honest)
        assert.ok(!matches || upper, 'a match outside of upper')
        assert.ok(matches || !lower, 'lower holds what does not match')
        if (!matches) continue
        matched++
        assert.ok(collated.prefilter?.(encodeRecord(document, true)) ?? true, 'a match that its text rules out')
      }
    }),
    { seed, numRuns: 6000 }
  )
  assert.ok(matched > 1000, `${matched} matches`)
})

test('sorts compare as if all letters were lower case, and keep equal documents in order', () => {
  const sorts = fc.constantFrom<Record<string, 1 | -1>>({ a: 1 }, { a: -1 }, { 'a.b': 1 }, { 'b.a': -1 })
  fc.assert(
    fc.property(sorts, fc.array(documents(letters), { maxLength: 12 }), (spec, some) => {
      const [collated, binary] = [compileSort(spec, withoutCase), compileSort(spec)]
      assert.ok(collated.isCollated)
      const paired = some.map((document) => ({ document, small: small(document) as Document }))
      const sorted = [...some].sort(collated.compare)
      assert.equal(
        sorted,
        paired.sort((a, b) => binary.compare(a.small, b.small)).map(({ document }) => document)
      )
    }),
    { seed, numRuns: 2000 }
  )
})

test('objects and arrays compare as if their strings were lower case; field names keep their case', () => {
  fc.assert(
    fc.property(values(letters, 3), values(letters, 3), (a, b) => {
      assert.is(Math.sign(compareValues(a, b, withoutCase)), Math.sign(compareValues(small(a), small(b))))
      assert.is(equalValues(a, b, withoutCase), equalValues(small(a), small(b)))
    }),
    { seed, numRuns: 5000 }
  )
  assert.not(equalValues({ a: 1 }, { A: 1 }, withoutCase))
  assert.ok(equalValues({ a: ['X'] }, { a: ['x'] }, withoutCase))
})

const updateCases: readonly (readonly [update: object, before: Document, after: Document])[] = [
  [{ $addToSet: { t: 'A' } }, { t: ['a'] }, { t: ['a'] }],
  [{ $addToSet: { t: { $each: ['B', 'b'] } } }, { t: ['a'] }, { t: ['a', 'B'] }],
  [{ $pull: { t: 'A' } }, { t: ['a', 'b', 'A'] }, { t: ['b'] }],
  [{ $pull: { t: { $gte: 'B' } } }, { t: ['a', 'b', 'C'] }, { t: ['a'] }],
  [{ $pull: { t: { x: 'A' } } }, { t: [{ x: 'a' }, { x: 'b' }] }, { t: [{ x: 'b' }] }],
  [{ $pullAll: { t: ['A', 'B'] } }, { t: ['a', 'b', 'c'] }, { t: ['c'] }],
  [{ $push: { t: { $each: ['B'], $sort: 1 } } }, { t: ['c', 'a'] }, { t: ['a', 'B', 'c'] }],
  [
    { $push: { t: { $each: [{ x: 'B' }], $sort: { x: -1 } } } },
    { t: [{ x: 'c' }, { x: 'a' }] },
    { t: [{ x: 'c' }, { x: 'B' }, { x: 'a' }] }
  ],
  [{ $min: { t: 'B' } }, { t: 'a' }, { t: 'a' }],
  [{ $max: { t: 'B' } }, { t: 'a' }, { t: 'B' }]
]

test('update operators that compare values use the collation', () => {
  for (const [update, before, after] of updateCases) {
    const collated = compileUpdate(update, { order: withoutCase })
    assert.equal(collated(before, { isInsert: false, now }), after, JSON.stringify(update))
  }
})

test('array filters, the positional $ and projections of elements use the collation', () => {
  const document = {
    t: ['x', 'A', 'a'],
    d: [
      { k: 'X', n: 1 },
      { k: 'y', n: 2 }
    ]
  }
  const byFilter = compileUpdate({ $set: { 't.$[e]': 'z' } }, { arrayFilters: [{ e: 'a' }], order: withoutCase })
  assert.equal(byFilter(document, { isInsert: false, now }).t, ['x', 'z', 'z'])
  const byPosition = compileUpdate({ $inc: { 'd.$.n': 5 } }, { filter: { 'd.k': 'Y' }, order: withoutCase })
  assert.equal(byPosition(document, { isInsert: false, now }).d, [
    { k: 'X', n: 1 },
    { k: 'y', n: 7 }
  ])
  const alone = compileProjection({ 'd.$': 1 }, { filter: { 'd.k': 'Y' }, order: withoutCase })
  assert.equal(alone(document), { d: [{ k: 'y', n: 2 }] })
  const elements = compileProjection({ d: { $elemMatch: { k: 'x' } } }, { order: withoutCase })
  assert.equal(elements(document), { d: [{ k: 'X', n: 1 }] })
})

const orders: readonly (readonly [collation: object, sorted: readonly string[], equal?: readonly [string, string]])[] =
  [
    [{ locale: 'en' }, ['a', 'A', 'á', 'b', 'B']],
    [{ locale: 'en', strength: 1 }, ['a', 'b'], ['á', 'A']],
    [{ locale: 'en', strength: 2 }, ['a', 'á', 'b'], ['Á', 'á']],
    [{ locale: 'en', strength: 1, caseLevel: true }, ['a', 'A', 'b'], ['a', 'á']],
    [{ locale: 'en', caseFirst: 'upper' }, ['A', 'a', 'B', 'b']],
    [{ locale: 'en', caseFirst: 'off' }, ['a', 'A']],
    [{ locale: 'en', numericOrdering: true }, ['a9', 'a10', 'a100']],
    [{ locale: 'en' }, ['a10', 'a100', 'a9']],
    [{ locale: 'en', alternate: 'shifted', maxVariable: 'punct' }, ['a', 'b'], ['a-b', 'ab']],
    [{ locale: 'sv' }, ['z', 'å', 'ä', 'ö']],
    [{ locale: 'de' }, ['a', 'ä', 'o', 'ö', 'z']],
    [{ locale: 'de_AT' }, ['a', 'ä', 'z']],
    [{ locale: 'de@collation=phonebook' }, ['ad', 'ä', 'af']],
    [{ locale: 'es@collation=traditional' }, ['cz', 'ch', 'd']],
    [{ locale: 'en', normalization: true }, ['a'], ['\u00e1', 'a\u0301']]
  ]

test('collation options have the documented effect', () => {
  for (const [collation, sorted, equal] of orders) {
    const order = parseCollation(collation)!
    for (const [i, text] of sorted.entries()) {
      if (i > 0)
        assert.ok(order(sorted[i - 1]!, text) < 0, `${JSON.stringify(collation)}: ${sorted[i - 1]} before ${text}`)
    }
    if (equal !== undefined) assert.is(order(...equal), 0, `${JSON.stringify(collation)}: ${equal.join(' = ')}`)
  }
  assert.is(parseCollation({ locale: 'simple' }), undefined)
  assert.is(parseCollation(undefined), undefined)
  assert.is(parseCollation({ locale: 'en', strength: 2 }), withoutCase, 'it is kept')
})

const refused: readonly (readonly [collation: unknown, codeName: string, option: string])[] = [
  ['en', 'BadValue', 'collation'],
  [{}, 'FailedToParse', 'collation'],
  [{ strength: 2 }, 'FailedToParse', 'collation'],
  [{ locale: 5 }, 'BadValue', 'collation.locale'],
  [{ locale: 'klingon' }, 'BadValue', 'collation.locale'],
  [{ locale: 'xx' }, 'BadValue', 'collation.locale'],
  [{ locale: '' }, 'BadValue', 'collation.locale'],
  [{ locale: 'de@collation=nosuch' }, 'BadValue', 'collation.locale'],
  [{ locale: 'simple', strength: 1 }, 'BadValue', 'collation.locale'],
  [{ locale: 'en', strength: 6 }, 'BadValue', 'collation.strength'],
  [{ locale: 'en', strength: '2' }, 'BadValue', 'collation.strength'],
  [{ locale: 'en', strength: 4 }, 'CommandNotSupported', 'collation.strength'],
  [{ locale: 'en', backwards: true }, 'CommandNotSupported', 'collation.backwards'],
  [{ locale: 'en', maxVariable: 'space' }, 'CommandNotSupported', 'collation.maxVariable'],
  [{ locale: 'en', strength: 2, caseLevel: true }, 'CommandNotSupported', 'collation.caseLevel'],
  [{ locale: 'en', caseFirst: 'first' }, 'BadValue', 'collation.caseFirst'],
  [{ locale: 'en', numeric: true }, 'FailedToParse', 'collation.numeric']
]

test('an invalid collation is refused, and the error names the option', () => {
  for (const [collation, codeName, option] of refused) {
    try {
      parseCollation(collation)
      assert.unreachable(JSON.stringify(collation))
    } catch (error) {
      assert.instance(error, PetalError, JSON.stringify(collation))
      const { codeName: found, details, message } = error as PetalError
      assert.equal([found, details.option], [codeName, option], JSON.stringify(collation))
      assert.ok(message.startsWith(option))
    }
  }
})

test('without a collation, strings compare by code point', () => {
  assert.ok(compareStrings('B', 'a') < 0)
  assert.not(compileFilter({ a: 'A' }).matches({ a: 'a' }))
  assert.not(compileSort({ a: 1 }).isCollated)
})

test.run()
