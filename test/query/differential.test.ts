/**
 * Compares our matcher with npm mingo and sift on random JSON: every disagreement must be a known error of theirs.
 *
 * A disagreement about a compound filter must be caused by a disagreement about one operator on one path alone, on the
 * same document (or one element of it, below `$elemMatch`), which must be listed in known-disagreements.ts.
 */
import { inspect } from 'node:util'
import fc from 'fast-check'
import { Query } from 'mingo'
import sift from 'sift'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Document } from '../../src/model/types.ts'
import { compileFilter } from '../../src/query/filter.ts'
import { documents, type FilterObject, filters, plain, testSeed } from '../support/arbitraries.ts'
import { type Condition, type Disagreement, knownDisagreements, type Library } from './known-disagreements.ts'

// Fixed by default, since a new error found in one of the libraries must not fail an unrelated change.
const seed = testSeed(20_260_401)
const cases = Number(process.env.PETALDB_CASES ?? 4000)
const documentsPerCase = 5

type Answer = boolean | 'throws'

const libraries: Readonly<Record<Library, (filter: FilterObject) => (document: Document) => boolean>> = {
  mingo: (filter) => {
    const query = new Query(filter)
    return (document) => query.test(document)
  },
  sift: (filter) => sift.default(filter)
}

function answer(library: Library, filter: FilterObject, document: Document): Answer {
  try {
    return libraries[library](filter)(document)
  } catch {
    return 'throws'
  }
}

function isDisputed(library: Library, filter: FilterObject, document: Document): boolean {
  return answer(library, filter, document) !== compileFilter(filter).matches(document)
}

/** The known error that causes a disagreement. */
function explain(library: Library, filter: FilterObject, document: Document): Disagreement | undefined {
  if (!isDisputed(library, filter, document)) return undefined
  const conditions = conditionsOf(filter)
  if (conditions.length === 1 && conditions[0] !== undefined) return explainCondition(library, conditions[0], document)
  for (const { path, operator, argument } of conditions) {
    const found = explain(library, { [path]: { [operator]: argument } }, document)
    if (found !== undefined) return found
  }
  for (const part of logicalParts(filter)) {
    const found = explain(library, part, document)
    if (found !== undefined) return found
  }
  return undefined
}

function explainCondition(library: Library, condition: Condition, document: Document): Disagreement | undefined {
  const known = knownDisagreements.find((entry) => entry.library === library && entry.applies(condition, document))
  if (known !== undefined) return known
  const { path, operator, argument } = condition
  if (operator === '$not') return explain(library, { [path]: argument }, document)
  if (operator !== '$elemMatch') return undefined
  const inside = argument as FilterObject
  const isFilter = !(Object.keys(inside)[0] ?? '').startsWith('$') || logicalParts(inside).length > 0
  for (const element of elementsAt(document, path.split('.'))) {
    const found = isFilter
      ? explainElement(library, inside, element)
      : explain(library, { element: inside }, { element })
    if (found !== undefined) return found
  }
  return undefined
}

function explainElement(library: Library, filter: FilterObject, element: unknown): Disagreement | undefined {
  if (typeof element !== 'object' || element === null) return undefined
  return explain(library, filter, Array.isArray(element) ? { ...element } : (element as Document))
}

/** One condition per operator and path; a literal is `$eq`, a pattern `$regex`. */
function conditionsOf(filter: FilterObject): readonly Condition[] {
  return Object.entries(filter).flatMap(([path, value]): Condition[] => {
    if (path.startsWith('$')) return []
    if (value instanceof RegExp) return [{ path, operator: '$regex', argument: value }]
    const isOperators = typeof value === 'object' && value !== null && Object.keys(value)[0]?.startsWith('$') === true
    if (!isOperators) return [{ path, operator: '$eq', argument: value }]
    return Object.entries(value).map(([operator, argument]) => ({ path, operator, argument }))
  })
}

function logicalParts(filter: FilterObject): readonly FilterObject[] {
  return ['$and', '$or', '$nor'].flatMap((operator) => (filter[operator] as readonly FilterObject[] | undefined) ?? [])
}

/** Elements of every array that the path may lead to. */
function elementsAt(value: unknown, components: readonly string[]): readonly unknown[] {
  if (Array.isArray(value)) {
    const here = components.length === 0 ? value : []
    return [...here, ...value.flatMap((element) => elementsAt(element, components))].concat(
      components.length > 0 ? elementsAt(value[Number(components[0])], components.slice(1)) : []
    )
  }
  if (typeof value !== 'object' || value === null || components.length === 0) return []
  const [first, ...rest] = components
  return elementsAt((value as Document)[first ?? ''], rest)
}

test('every disagreement with mingo and sift is a known error of theirs', () => {
  const counts = new Map<Disagreement, number>()
  const unexplained: string[] = []
  const sample = fc.sample(
    fc.tuple(
      filters(plain, 2),
      fc.array(documents(plain, 2), { minLength: documentsPerCase, maxLength: documentsPerCase })
    ),
    { seed, numRuns: cases }
  )
  for (const [filter, list] of sample) {
    const { matches } = compileFilter(filter)
    for (const library of ['mingo', 'sift'] as const) {
      for (const document of list) {
        if (answer(library, filter, document) === matches(document)) continue
        const known = explain(library, filter, document)
        if (known !== undefined) counts.set(known, (counts.get(known) ?? 0) + 1)
        else
          unexplained.push(
            `${library} ${inspect({ filter, document, ours: matches(document) }, { depth: 9, breakLength: Number.POSITIVE_INFINITY, compact: 99 })}`
          )
      }
    }
  }
  const disagreements = [...counts.values()].reduce((sum, count) => sum + count, 0)
  console.log(
    `seed ${seed}: ${cases} cases of ${documentsPerCase} documents, ${disagreements} disagreements, all known`
  )
  assert.is(unexplained.length, 0, unexplained.slice(0, 5).join('\n'))
})

for (const { library, error, documented, example } of knownDisagreements) {
  test(`${library} ${error}; ${documented}`, () => {
    assert.is(compileFilter(example.filter).matches(example.document), example.matches)
    assert.is.not(answer(library, example.filter, example.document), example.matches, 'the library has been mended')
    assert.ok(explain(library, example.filter, example.document), 'the entry applies to its example')
  })
}

test.run()
