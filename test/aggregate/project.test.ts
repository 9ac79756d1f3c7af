/** Projections, of find() and of `$project`, in which some fields are kept and others computed. */
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Expressions } from '../../src/aggregate/expression.ts'
import { compileFindProjection, compileReshape } from '../../src/aggregate/reshape.ts'
import type { Document } from '../../src/model/types.ts'
import { testSeed } from '../support/arbitraries.ts'
import { describe } from '../support/describe.ts'
import { deepFreeze } from '../support/updates.ts'

/** The result of the projection in find(), and as a stage. REQUIRES: no operators. */
function projected(spec: Document, document: Document): readonly Document[] {
  const expressions = new Expressions()
  const stage = compileReshape({ place: { stage: '$project', position: 0 }, spec }, expressions)
  const find = compileFindProjection(spec, {}, () => expressions)
  deepFreeze(document)
  return [find(document), stage?.(document) as Document]
}

const cases: readonly (readonly [claim: string, document: Document, spec: Document, expected: Document])[] = [
  [
    'a path whose value is missing leaves the objects above it',
    { _id: 1, z: 5, y: 6 },
    { 'z.b': '$nope', 'w.b.c': '$nope', v: '$nope', y: 1 },
    { _id: 1, z: {}, y: 6, w: { b: {} } }
  ],
  [
    'elements without kept fields get the computed ones',
    { a: [1, { c: 2, b: 9 }, [{ c: 3 }], [4], null, []], z: 5 },
    { 'a.c': 1, 'a.b': '$z' },
    { a: [{ b: 5 }, { c: 2, b: 5 }, [{ c: 3, b: 5 }], [{ b: 5 }], { b: 5 }, []] }
  ],
  [
    'elements whose computed fields are missing become empty objects',
    { a: [1, { b: 2 }] },
    { 'a.b': '$nope' },
    { a: [{}, {}] }
  ],
  [
    'with a computed path in the same array, inclusion still drops scalars in arrays below',
    { a: [{ k: [1, { x: 2, y: 3 }], b: 1 }], z: 5 },
    { 'a.k.x': 1, 'a.b': '$z' },
    { a: [{ k: [{ x: 2 }], b: 5 }] }
  ],
  [
    'a computed path below _id replaces the rest of _id',
    { _id: { k: 1 }, n: 4 },
    { '_id.x': '$n', n: 1 },
    { _id: { x: 4 }, n: 4 }
  ],
  [
    'parts of _id are kept if they are included explicitly',
    { _id: { k: 1, l: 2 }, n: 4 },
    { '_id.x': '$n', '_id.k': 1 },
    { _id: { k: 1, x: 4 } }
  ],
  ['_id may be computed', { _id: 1, n: 4, m: 5 }, { _id: '$n', m: 1 }, { m: 5, _id: 4 }],
  [
    'computed fields come after kept ones, in the order of the spec',
    { _id: 1, a: 1, b: 2, c: { d: 3, e: 4 } },
    { f: '$a', b: '$c.d', a: 1, 'c.g': '$a', 'c.e': 1 },
    { _id: 1, a: 1, c: { e: 4, g: 1 }, f: 1, b: 3 }
  ],
  [
    'every value is computed from the original document',
    { _id: 1, a: 1, b: { c: 2 } },
    { a: '$b.c', b: { c: '$a', d: '$b' } },
    { _id: 1, b: { c: 1, d: { c: 2 } }, a: 2 }
  ],
  [
    'values other than numbers and booleans are constants or expressions',
    { _id: 1, a: 1 },
    { a: 'x', b: null, c: ['$a', 1], d: { e: { $literal: 1 } } },
    { _id: 1, a: 'x', b: null, c: [1, 1], d: { e: 1 } }
  ]
]

for (const [claim, document, spec, expected] of cases) {
  test(claim, () => {
    for (const found of projected(spec, document)) assert.is(describe(found), describe(expected))
  })
}

test('changing the projection, or a projected document, has no effect on later results', () => {
  const date = new Date(5)
  const fields = { at: date, list: [date] }
  const project = compileFindProjection({ x: { $literal: fields }, y: date }, {}, () => new Expressions())
  date.setTime(9)
  fields.list.push(date)
  const expected = { x: { at: new Date(5), list: [new Date(5)] }, y: new Date(5) }
  const first = project({})
  assert.equal(first, expected)
  ;(first.y as Date).setTime(7)
  ;((first.x as typeof fields).list as unknown[]).push(1)
  assert.equal(project({}), expected)
})

const key = fc.constantFrom('a', 'b', 'c')
const { value } = fc.letrec<{ value: unknown; object: Document }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(1, null, 'x'),
    tie('object'),
    fc.array(tie('value'), { maxLength: 3 })
  ),
  object: fc.dictionary(key, tie('value'), { maxKeys: 3, noNullPrototype: true })
}))
const document = fc.dictionary(key, value, { maxKeys: 3, noNullPrototype: true })
const path = fc.array(key, { minLength: 1, maxLength: 3 }).map((keys) => keys.join('.'))
const spec = fc
  .uniqueArray(fc.tuple(path, fc.constantFrom(1, 'new', '$a.b', '$nope', '$b')), {
    minLength: 1,
    maxLength: 4,
    comparator: ([a], [b]) => a === b || a.startsWith(`${b}.`) || b.startsWith(`${a}.`)
  })
  .map((entries) => Object.fromEntries(entries))

/** Projects in two passes, first keeping and then computing fields, with a place for each element of an array. */
function inTwoPasses(fields: Document, whole: Document): Document {
  const missing = Symbol('missing')
  type Tree = Map<string, Tree | string | 1>
  const root: Tree = new Map()
  for (const [name, leaf] of Object.entries({ ...fields, _id: 1 })) {
    const components = name.split('.')
    const last = components.pop() as string
    let at = root
    for (const component of components) {
      if (!at.has(component)) at.set(component, new Map())
      at = at.get(component) as Tree
    }
    at.set(last, leaf as string | 1)
  }
  const isComputed = (tree: Tree): boolean =>
    [...tree.values()].some((node) => typeof node === 'string' || (node instanceof Map && isComputed(node)))
  const keep = (tree: Tree, from: unknown): unknown => {
    if (Array.isArray(from)) return from.map((element) => keep(tree, element))
    if (typeof from !== 'object' || from === null) return missing
    const kept = Object.entries(from).flatMap(([name, field]): [string, unknown][] => {
      const node = tree.get(name)
      if (node === 1) return [[name, field]]
      return node instanceof Map ? [[name, keep(node, field)]] : []
    })
    return Object.fromEntries(kept)
  }
  const compute = (tree: Tree, into: unknown): unknown => {
    if (Array.isArray(into)) return into.map((element) => compute(tree, element))
    const isObject = typeof into === 'object' && into !== null
    if (!isObject && !isComputed(tree)) return missing
    const result: Document = isObject ? { ...into } : {}
    for (const [name, node] of tree) {
      if (node instanceof Map) result[name] = compute(node, Object.hasOwn(result, name) ? result[name] : missing)
      else if (node !== 1) {
        const found = new Expressions().compile(node, { stage: '$project' })(whole)
        result[name] = found === undefined ? missing : found
      }
    }
    return result
  }
  const withoutMissing = (from: unknown): unknown => {
    if (Array.isArray(from)) return from.filter((element) => element !== missing).map(withoutMissing)
    if (typeof from !== 'object' || from === null) return from
    const there = Object.entries(from).filter(([, field]) => field !== missing)
    return Object.fromEntries(there.map(([name, field]) => [name, withoutMissing(field)]))
  }
  return withoutMissing(compute(root, keep(root, whole))) as Document
}

test('any projection returns the same as keeping fields first and computing others then', () => {
  fc.assert(
    fc.property(document, spec, (fields, projection) => {
      const whole = { _id: 1, ...fields }
      const expected = describe(inTwoPasses(projection, whole))
      for (const found of projected(projection, whole)) assert.is(describe(found), expected)
    }),
    { seed: testSeed(), numRuns: 5000 }
  )
})

test.run()
