/**
 * lower ⊆ matches ⊆ upper over random documents and filters, for an index that errs as much as it is allowed to.
 */
import { Code, Decimal128 } from 'bson'
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Document } from '../../src/model/types.ts'
import { compileFilter } from '../../src/query/filter.ts'
import { adversarial, documents, filters, type Profile, plain, testSeed } from '../support/arbitraries.ts'
import {
  evaluate,
  honest,
  type Mischief,
  overfull,
  randomMischief,
  referencePairs
} from '../support/reference-pairs.ts'

const seed = testSeed()
const runs = 14_000
const documentsPerRun = 4

interface Tally {
  pairs: number
  matches: number
  certain: number
  excluded: number
}

function checkBounds(filter: unknown, document: Document, mischief: Mischief, tally?: Tally): void {
  const compiled = compileFilter(filter)
  const matches = compiled.matches(document)
  const { lower, upper } = evaluate(compiled.bounds, referencePairs(document), mischief)
  assert.ok(!matches || upper, 'a match outside of upper')
  assert.ok(matches || !lower, 'lower holds what does not match')
  if (tally === undefined) return
  tally.pairs++
  if (matches) tally.matches++
  if (matches && lower) tally.certain++
  if (!matches && !upper) tally.excluded++
}

function checkProfile(profile: Profile): Tally {
  const tally: Tally = { pairs: 0, matches: 0, certain: 0, excluded: 0 }
  fc.assert(
    fc.property(
      filters(profile),
      fc.array(documents(profile), { minLength: documentsPerRun, maxLength: documentsPerRun }),
      fc.nat(),
      (filter, list, mischiefSeed) => {
        for (const document of list) {
          checkBounds(filter, document, honest, tally)
          checkBounds(filter, document, randomMischief(mischiefSeed))
          checkBounds(filter, document, overfull)
        }
      }
    ),
    { seed, numRuns: runs }
  )
  const share = (part: number, whole: number): string => `${Math.round((100 * part) / whole)} %`
  console.log(
    `seed ${seed}: ${tally.pairs} pairs, ${share(tally.matches, tally.pairs)} match, ` +
      `${share(tally.certain, tally.matches)} of them certain, ` +
      `${share(tally.excluded, tally.pairs - tally.matches)} of the others excluded`
  )
  return tally
}

test('bounds hold for adversarial documents and filters', () => {
  const tally = checkProfile(adversarial)
  assert.ok(tally.pairs >= 50_000)
  assert.ok(tally.matches > 0.1 * tally.pairs, 'the generators make filters that match')
})

test('bounds hold for plain documents, and decide most of them', () => {
  const tally = checkProfile(plain)
  assert.ok(tally.pairs >= 50_000)
  assert.ok(tally.certain > 0.25 * tally.matches, 'lower bounds are worth having')
  assert.ok(tally.excluded > 0.4 * (tally.pairs - tally.matches), 'upper bounds are worth having')
})

/** Cases that failed once, here or in the prototype. */
const regressions: readonly (readonly [name: string, filter: Document, document: Document])[] = [
  ['a position is not any element', { 'a.0': 1 }, { a: [2, 1] }],
  ['arrays in arrays hide what the index sees', { 'a.b': { $exists: false } }, { a: [[{ b: 1 }]] }],
  ['a digit key lends its children to the parent', { a: { $ne: 1 } }, { 0: { a: 1 } }],
  ['a dotted key is not a path', { 'a.b': { $ne: 1 } }, { 'a.b': 1 }],
  ['missing in one element is not missing', { 'a.b': null }, { a: [{ b: 1 }, {}] }],
  ['an array prefix yields nothing rather than missing', { 'a.b': null }, { a: [1] }],
  ['numbers that share a double differ', { a: { $ne: 2 ** 53 } }, { a: 2n ** 53n + 1n }],
  ['a number lies below the double that is nearest to it', { a: { $lt: 0.1 } }, { a: Decimal128.fromString('0.1') }],
  ['a number lies above the double that is nearest to it', { a: { $gt: 2 ** 53 } }, { a: 2n ** 53n + 1n }],
  ['a number asked for shares its double with the one stored', { a: 2n ** 53n + 1n }, { a: 2 ** 53 }],
  ['code differs by its scope', { a: new Code('f()', { n: 1 }) }, { a: new Code('f()', { n: 2 }) }],
  ['a negated part of $elemMatch speaks of one element', { a: { $elemMatch: { $ne: 1 } } }, { a: [1, 2] }],
  ['a null in $elemMatch speaks of one element', { a: { $elemMatch: { b: null } } }, { a: [{ b: 1 }, {}] }],
  ['an array in an array is a document with positions for keys', { a: { $elemMatch: { 0: 1 } } }, { a: [[1]] }]
]

for (const [name, filter, document] of regressions) {
  test(`bounds hold where ${name}`, () => {
    checkBounds(filter, document, honest)
    checkBounds(filter, document, overfull)
    for (let i = 0; i < 64; i++) checkBounds(filter, document, randomMischief(i))
  })
}

test.run()
