/** An OR of many branches matches what its branches match, and takes hardly longer than one of them. */
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Decimal128, Long } from '../../src/index.ts'
import { compileFilter } from '../../src/query/filter.ts'
import {
  adversarial,
  documents,
  type FilterObject,
  filters,
  type Profile,
  plain,
  testSeed,
  values
} from '../support/arbitraries.ts'
import { cpuMilliseconds } from '../support/cpu-time.ts'

const seed = testSeed()

function isOperatorLike(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).some((key) => key.startsWith('$'))
}

/** Branches of which most require an equality on `a` or `a.b`. */
function branches(profile: Profile): fc.Arbitrary<readonly FilterObject[]> {
  const path = fc.constantFrom('a', 'a', 'a', 'a.b')
  const equality = fc
    .tuple(
      path,
      fc.oneof(fc.constantFrom(null, 0, 1, 'x', true, new Long(1), Decimal128.fromString('1.0')), values(profile, 1))
    )
    .filter(([, value]) => !isOperatorLike(value))
    .map(([key, value]): FilterObject => ({ [key]: value }))
  const branch = fc.oneof(
    { weight: 3, arbitrary: equality },
    {
      weight: 5,
      arbitrary: fc
        .tuple(equality, filters(profile, 1))
        .map(([first, second]): FilterObject => ({ $and: [first, second] }))
    },
    { weight: 1, arbitrary: filters(profile, 1) }
  )
  return fc.array(branch, { minLength: 20, maxLength: 40 })
}

for (const [name, profile] of Object.entries({ plain, adversarial })) {
  test(`an OR of many branches matches exactly what some branch matches: ${name}`, () => {
    const some = fc.sample(documents(profile), { numRuns: 60, seed })
    fc.assert(
      fc.property(branches(profile), (all) => {
        const together = compileFilter({ $or: all })
        const inElements = compileFilter({ list: { $elemMatch: { $or: all } } })
        const alone = all.map((branch) => compileFilter(branch))
        for (const document of some) {
          const expected = alone.some((branch) => branch.matches(document))
          assert.is(together.matches(document), expected)
          assert.is(inElements.matches({ list: [1, document] }), expected, 'in an element')
        }
      }),
      { seed, numRuns: 150 }
    )
  })
}

test('a branch is found through arrays, by equal numbers of any type, and by a missing value', () => {
  const many = Array.from({ length: 50 }, (_, i) => ({ 'a.b': 100 + i, c: i }))
  const { matches } = compileFilter({ $or: [...many, { 'a.b': null, c: 'none' }, { 'a.b': new Long(7), c: 'long' }] })
  assert.ok(matches({ a: [{ b: 1 }, { b: [5, 103] }], c: [3] }))
  assert.not.ok(matches({ a: [{ b: 1 }, { b: [5, 103] }], c: [4] }))
  assert.ok(matches({ a: { b: Decimal128.fromString('1.490E+2') }, c: 49 }))
  assert.ok(matches({ c: 'none' }))
  assert.ok(matches({ a: { b: 7 }, c: 'long' }))
})

test('a function in a branch may ask the same filter about another document', () => {
  const answers: boolean[] = []
  const filter: { matches: (document: Record<string, unknown>) => boolean } = compileFilter({
    $or: [
      ...Array.from({ length: 30 }, (_, i) => ({ a: i, b: i })),
      { a: 99, $where: () => answers.push(filter.matches({ a: 3, b: 3 })) === 0 },
      { a: 99, b: 98 }
    ]
  })
  assert.ok(filter.matches({ a: 99, b: 98 }))
  assert.equal(answers, [true])
})

test('ten thousand branches take little longer than ten', () => {
  const time = (count: number): number => {
    const { matches } = compileFilter({
      $or: Array.from({ length: count }, (_, i) => ({ user: `u${i}`, day: i % 365 }))
    })
    const document = { user: `u${count - 1}`, day: 400, text: 'x' }
    const start = cpuMilliseconds()
    for (let i = 0; i < 20_000; i++) matches(document)
    return cpuMilliseconds() - start
  }
  time(10)
  time(10_000)
  const [few, many] = [time(10), time(10_000)]
  assert.ok(many < 5 * few + 50, `${many} ms, with ten branches ${few}`)
})

test.run()
