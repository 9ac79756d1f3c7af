/** Updates with many paths, elements and values decide as if they compared each with each, and do not. */
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { isIdentical } from '../../src/model/clone.ts'
import { equalValues } from '../../src/model/compare.ts'
import type { PetalError } from '../../src/model/errors.ts'
import type { Document } from '../../src/model/types.ts'
import { parseCollation } from '../../src/query/collation.ts'
import { compileAddToSet } from '../../src/query/update/arrays.ts'
import { ElementConflicts, type ElementPlace } from '../../src/query/update/element-conflicts.ts'
import { type PathStep, parseUpdatePath } from '../../src/query/update/path.ts'
import { MatchedPositions } from '../../src/query/update/positional.ts'
import { compilePullAll } from '../../src/query/update/pull.ts'
import { testSeed } from '../support/arbitraries.ts'

const seed = testSeed()
const order = parseCollation({ locale: 'en', strength: 2 })!

const components = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('a', 'b') },
  { weight: 2, arbitrary: fc.constantFrom('$[]', '$[x]', '$[y]') },
  { weight: 1, arbitrary: fc.constantFrom('0', '$') }
)
const paths = fc
  .tuple(fc.constantFrom('a', 'b'), fc.array(components, { maxLength: 4 }))
  .map(([first, others]) => [first, ...others].join('.'))
  .filter((path) => path.split('.').filter((component) => component === '$').length < 2)

const selects = (step: PathStep | undefined): boolean => step?.kind === 'every' || step?.kind === 'filtered'

/** Whether some path leads to elements of what another one takes for a field or a position, by pairs. */
function areMixed(places: readonly ElementPlace[]): boolean {
  return places.some((place) =>
    places.some((other) => {
      const [a, b] = [place.path.text.split('.'), other.path.text.split('.')]
      let at = 0
      while (at < a.length && a[at] === b[at]) at++
      const [x, y] = [place.path.steps[at], other.path.steps[at]]
      return x !== undefined && y !== undefined && selects(x) !== selects(y)
    })
  )
}

/** Whether paths meet in a document that has both. */
function mayMeet(a: readonly PathStep[], b: readonly PathStep[]): boolean {
  const length = Math.min(a.length, b.length)
  return a.slice(0, length).every((step, i) => {
    const other = b[i]
    if (step.kind === 'field') return other?.kind === 'field' && step.name === other.name
    return selects(step) && selects(other)
  })
}

/** A value in which all these paths exist; undefined if one of them needs an array where another needs an object. */
function having(paths: readonly (readonly PathStep[])[]): unknown {
  const longer = paths.filter(({ length }) => length > 0)
  if (longer.length === 0) return 1
  const below = (some: readonly (readonly PathStep[])[]): unknown => having(some.map((steps) => steps.slice(1)))
  if (longer.every(([step]) => selects(step))) {
    const element = below(longer)
    return element === undefined ? undefined : [element]
  }
  const result: Document = {}
  for (const [step] of longer) {
    if (step?.kind !== 'field') return undefined
    const value = below(longer.filter(([other]) => other?.kind === 'field' && other.name === step.name))
    if (value === undefined) return undefined
    result[step.name] = value
  }
  return result
}

test('conflicts between paths to elements are those that comparing all pairs finds', () => {
  let [mixed, met, fine] = [0, 0, 0]
  fc.assert(
    fc.property(fc.uniqueArray(paths, { minLength: 2, maxLength: 6 }), (texts) => {
      const places = texts.map((text) => ({ operator: '$set', path: parseUpdatePath(text, '$set') }))
      const ofElements = places.filter(({ path }) => path.steps.some(selects))
      const code = (run: () => unknown): string | undefined => {
        try {
          run()
          return undefined
        } catch (error) {
          return (error as PetalError).codeName
        }
      }
      if (ofElements.length > 0 && areMixed(places)) {
        mixed++
        assert.is(
          code(() => new ElementConflicts(places, () => true)),
          'ConflictingUpdateOperators'
        )
        return
      }
      const conflicts = new ElementConflicts(places, () => true)
      const expected = ofElements.some((place, i) =>
        ofElements.slice(i + 1).some((other) => mayMeet(place.path.steps, other.path.steps))
      )
      const document = having(places.map(({ path }) => path.steps)) as Document | undefined
      fc.pre(document !== undefined)
      assert.is(code(() => conflicts.check(document)) !== undefined, expected, texts.join(' '))
      if (expected) met++
      else fine++
    }),
    { seed, numRuns: 4000 }
  )
  assert.ok(Math.min(mixed, met, fine) > 50, `${mixed} ${met} ${fine}`)
})

test('thousands of paths to elements are compared with those they may meet', () => {
  const texts = Array.from({ length: 20_000 }, (_, i) => `p${i}.$[].a`)
  const places = texts.map((text) => ({ operator: '$set', path: parseUpdatePath(text, '$set') }))
  // By pairs, 200 million of them, it took minutes.
  const conflicts = new ElementConflicts(places, () => true)
  conflicts.check(Object.fromEntries(texts.map((_, i) => [`p${i}`, [{ a: 1 }]])))
})

test('$addToSet and $pullAll of many values with a collation compare as by pairs', () => {
  const value = fc.oneof(
    fc.constantFrom('a', 'A', 'b', 'B', 'c', 'é', 'E'),
    fc.integer({ min: 0, max: 3 }),
    fc.constant(null)
  )
  const element = fc.oneof(value, fc.record({ s: value }), fc.array(value, { maxLength: 2 }))
  const elements = fc.array(element, { maxLength: 30 })
  const place = { operator: '$addToSet', path: 'a' }
  const context = { isInsert: false, now: new Date() }
  fc.assert(
    fc.property(elements, fc.array(element, { minLength: 9, maxLength: 30 }), (array, values) => {
      const added: unknown[] = [...array]
      for (const each of values) if (!added.some((other) => equalValues(other, each, order))) added.push(each)
      assert.ok(isIdentical(compileAddToSet({ $each: values }, place, order)(array, context), added))
      const left = array.filter((each) => !values.some((other) => equalValues(other, each, order)))
      assert.ok(isIdentical(compilePullAll(values, place, order)(array, context), left))
    }),
    { seed, numRuns: 2000 }
  )
})

test('the element that a positional operator stands for is found without copying the document for each', () => {
  let copies = 0
  const items = Array.from({ length: 100 }, (_, n) => ({ n }))
  const document = {
    get counted(): number {
      return copies++
    },
    user: { items, list: [{ items }] }
  }
  const path = parseUpdatePath('user.items.$.z', '$set')
  const resolved = new MatchedPositions({ 'user.items.n': { $gt: 41 } }).resolve(document, path, '$set')
  assert.is(resolved.text, 'user.items.42.z')
  const nestedPath = parseUpdatePath('user.list.0.items.$', '$set')
  const inList = new MatchedPositions({ 'user.list.0.items.n': 7 }).resolve(document, nestedPath, '$set')
  assert.is(inList.text, 'user.list.0.items.7')
  assert.is(copies, 0)
})

test.run()
