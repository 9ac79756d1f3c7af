/** Merged equalities match what they match separately, and take no longer than one. */
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Document } from '../../src/model/types.ts'
import type { Filter } from '../../src/query/ast.ts'
import { boundsOf } from '../../src/query/bounds.ts'
import { compileFilter } from '../../src/query/filter.ts'
import { compileMatcher } from '../../src/query/matcher.ts'
import { mergeEqualities } from '../../src/query/merge-equalities.ts'
import { parseFilter } from '../../src/query/parse.ts'
import { sanitizeFilter } from '../../src/query/sanitize.ts'
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
import { evaluate, honest, randomMischief, referencePairs } from '../support/reference-pairs.ts'

const seed = testSeed()

function parsed(filter: unknown): Filter {
  return parseFilter(sanitizeFilter(filter), { options: {}, isTopLevel: true, path: '' })
}

/** Filters with many equalities on two paths, negated or not, among other conditions. */
function equalities(profile: Profile): fc.Arbitrary<FilterObject> {
  const value = values(profile, 1).filter((inside) => !isOperatorLike(inside))
  const list = fc.array(value, { maxLength: 3 })
  const path = fc.constantFrom('a', 'a', 'a.b')
  const isRegex = (operand: unknown): boolean => Object.prototype.toString.call(operand) === '[object RegExp]'
  const condition = fc.oneof(
    value,
    value.map(($eq) => ({ $eq })),
    list.map(($in) => ({ $in })),
    list.map(($nin) => ({ $nin })),
    value.filter((inside) => !isRegex(inside) && !isTagged(inside)).map(($ne) => ({ $ne })),
    value.map(($eq) => ({ $not: { $eq } }))
  )
  const term = fc.tuple(path, condition).map(([key, inside]) => ({ [key]: inside }))
  const terms = fc.array(fc.oneof({ weight: 6, arbitrary: term }, { weight: 1, arbitrary: filters(profile, 1) }), {
    minLength: 1,
    maxLength: 8
  })
  const connected = fc
    .tuple(fc.constantFrom('$and', '$or', '$nor'), terms)
    .map(([connective, children]): FilterObject => ({ [connective]: children }))
  const nested = fc
    .tuple(fc.constantFrom('$and', '$or', '$nor'), fc.array(connected, { minLength: 1, maxLength: 3 }), terms)
    .map(([connective, children, others]): FilterObject => ({ [connective]: [...children, ...others] }))
  return fc.oneof(
    connected,
    nested,
    connected.map((inside) => ({ a: { $elemMatch: inside } }))
  )
}

function isOperatorLike(value: unknown): boolean {
  return typeof value === 'object' && value !== null && (Object.keys(value)[0]?.startsWith('$') ?? false)
}

function isTagged(value: unknown): boolean {
  return (value as { readonly _bsontype?: unknown } | null)?._bsontype === 'BSONRegExp'
}

interface Tally {
  pairs: number
  matches: number
  merged: number
}

function check(filter: FilterObject, list: readonly Document[], mischiefSeed: number, tally: Tally): void {
  const asWritten = parsed(filter)
  const together = mergeEqualities(asWritten)
  const isMerged = leaves(together) < leaves(asWritten)
  const matchesAsWritten = compileMatcher(asWritten)
  const matches = compileMatcher(together)
  const bounds = [boundsOf(asWritten), boundsOf(together)] as const
  for (const document of list) {
    const isMatch = matchesAsWritten(document)
    assert.is(matches(document), isMatch)
    const pairs = referencePairs(document)
    // An ideal index proves and excludes at least as much; more where negations cancel out.
    const before = evaluate(bounds[0], pairs, honest)
    const after = evaluate(bounds[1], pairs, honest)
    assert.ok(after.lower || !before.lower)
    assert.ok(before.upper || !after.upper)
    const { lower, upper } = evaluate(bounds[1], pairs, randomMischief(mischiefSeed))
    assert.ok(isMatch ? upper : !lower)
    tally.pairs++
    if (isMatch) tally.matches++
    if (isMerged) tally.merged++
  }
}

function leaves(filter: Filter): number {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return filter.children.reduce((sum, child) => sum + leaves(child), 0)
    case 'not':
      return leaves(filter.child)
    case 'never':
      return 0
    case 'leaf': {
      const predicate = filter.leaf.kind === 'field' ? filter.leaf.predicate : undefined
      return predicate?.kind === 'elemMatchObject' ? leaves(predicate.filter) : 1
    }
  }
}

for (const [name, profile] of Object.entries({ adversarial, plain })) {
  test(`merged equalities match the same documents, and prove and exclude no fewer: ${name}`, () => {
    const tally: Tally = { pairs: 0, matches: 0, merged: 0 }
    fc.assert(
      fc.property(
        equalities(profile),
        fc.array(documents(profile, 2), { minLength: 8, maxLength: 8 }),
        fc.nat(),
        (filter, list, mischiefSeed) => check(filter, list, mischiefSeed, tally)
      ),
      { seed, numRuns: 6500 }
    )
    console.log(`seed ${seed}: ${tally.pairs} pairs, ${tally.matches} match, ${tally.merged} of merged filters`)
    assert.ok(tally.merged > tally.pairs / 3)
    assert.ok(tally.matches > tally.pairs / 10 && tally.matches < 0.9 * tally.pairs)
  })
}

const cases: readonly (readonly [unknown, string])[] = [
  [{ $or: [{ a: 1 }, { a: 2 }, { a: { $in: [3] } }] }, 'a in [1,2,3]'],
  [{ $and: [{ a: { $ne: 1 } }, { a: { $nin: [2, 3] } }] }, 'not a in [1,2,3]'],
  [{ a: { $ne: 1, $nin: [2] } }, 'not a in [1,2]'],
  [{ $nor: [{ a: 1 }, { a: 2 }] }, 'not a in [1,2]'],
  [{ $and: [{ a: { $ne: 1 } }, { $and: [{ b: 1 }, { a: { $ne: 2 } }] }] }, '(not a in [1,2] and b equal 1)'],
  [{ $or: [{ a: 1 }, { b: 1 }, { $or: [{ b: 2 }, { a: 2 }] }] }, '(a in [1,2] or b in [1,2])'],
  [{ a: { $elemMatch: { $or: [{ b: 1 }, { b: 2 }] } } }, 'a elemMatch b in [1,2]'],
  [{ $and: [{ a: 1 }, { a: 2 }] }, '(a equal 1 and a equal 2)'],
  [{ $or: [{ a: { $ne: 1 } }, { a: { $ne: 2 } }] }, '(not a equal 1 or not a equal 2)'],
  [{ $or: [{ a: 1 }, { a: /x/ }] }, '(a equal 1 or a regex)'],
  [{ $or: [{ a: 1 }, { 'a.b': 1 }] }, '(a equal 1 or a.b equal 1)']
]

function text(filter: Filter): string {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return `(${filter.children.map(text).join(` ${filter.kind} `)})`
    case 'not':
      return `not ${text(filter.child)}`
    case 'never':
      return 'never'
    case 'leaf': {
      if (filter.leaf.kind !== 'field') return filter.leaf.kind
      const { path, predicate } = filter.leaf
      const { kind } = predicate
      if (kind === 'in') return `${path.text} in ${JSON.stringify(predicate.values)}`
      if (kind === 'equal') return `${path.text} equal ${JSON.stringify(predicate.value)}`
      return kind === 'elemMatchObject' ? `${path.text} elemMatch ${text(predicate.filter)}` : `${path.text} ${kind}`
    }
  }
}

for (const [filter, expected] of cases) {
  test(`${JSON.stringify(filter)} is merged into ${expected}`, () => {
    assert.is(text(mergeEqualities(parsed(filter))), expected)
  })
}

test('the time per document does not grow with the number of equalities on a path', () => {
  const count = 20_000
  const terms = Array.from({ length: count }, (_, i) => ({ text: { $ne: `text ${i}` } }))
  const alternatives = Array.from({ length: count }, (_, i) => ({ text: `text ${i}` }))
  const list = Array.from({ length: 20_000 }, (_, i) => ({ _id: i, text: [`text ${count + i}`, `other ${i}`] }))
  for (const [filter, expected] of [
    [{ $and: terms }, list.length],
    [{ $nor: alternatives }, list.length],
    [{ $or: alternatives }, 0]
  ] as const) {
    const { matches } = compileFilter(filter)
    const before = cpuMilliseconds()
    assert.is(list.filter((document) => matches(document)).length, expected)
    const took = cpuMilliseconds() - before
    assert.ok(took < 1000, `${took} ms of the processor`)
  }
})

test.run()
