/** The description of an update turns the document before it into the one after it. */
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { describeUpdate, type UpdateDescription } from '../../src/docstore/watch/update-description.ts'
import { cloneDocument, isIdentical } from '../../src/model/clone.ts'
import { type Document, isPlainObject } from '../../src/model/types.ts'
import { adversarial, documents, testSeed } from '../support/arbitraries.ts'

const seed = testSeed()

/** Applies a description as a consumer of events would. */
function replay(before: Document, { updatedFields, removedFields, truncatedArrays }: UpdateDescription): Document {
  const result = cloneDocument(before)
  const at = (path: string): [Document, string] => {
    const steps = path.split('.')
    const last = steps.pop() ?? ''
    return [steps.reduce((value, step) => value[step] as Document, result), last]
  }
  for (const path of removedFields) {
    const [object, key] = at(path)
    delete object[key]
  }
  for (const { field, newSize } of truncatedArrays) {
    const [object, key] = at(field)
    ;(object[key] as unknown[]).length = newSize
  }
  for (const [path, value] of Object.entries(updatedFields)) {
    const [object, key] = at(path)
    object[key] = value
  }
  return result
}

/** Ignores the order of the document's own fields. */
function isSame(a: Document, b: Document): boolean {
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && isIdentical(a[key], b[key]))
  )
}

/** Merges `b` into `a`, so that they have much in common, like both sides of an update. */
function mixed(a: unknown, b: unknown): unknown {
  if (Array.isArray(a) && Array.isArray(b)) return b.length < a.length ? a.slice(0, b.length) : [...a, ...b]
  if (!isPlainObject(a) || !isPlainObject(b)) return b
  const result: Document = { ...a }
  for (const key of Object.keys(b)) result[key] = Object.hasOwn(a, key) ? mixed(a[key], b[key]) : b[key]
  for (const key of Object.keys(a)) if (a[key] === null && Object.hasOwn(b, key)) delete result[key]
  return result
}

test('for any two documents, replaying the description turns one into the other', () => {
  const pairs = fc.tuple(documents(adversarial), documents(adversarial))
  let told = 0
  fc.assert(
    fc.property(pairs, ([before, after]) => {
      // Top-level keys are reported unchanged: a key with a dot could be taken for a path.
      fc.pre(Object.keys({ ...before, ...after }).every((key) => !key.includes('.')))
      for (const other of [after, mixed(before, after) as Document]) {
        const [from, to] = [cloneDocument(before), cloneDocument(other)]
        const description = describeUpdate(from, to)
        told += Object.keys(description.updatedFields).filter((path) => path.includes('.')).length
        assert.ok(isIdentical(from, cloneDocument(before)), 'what is described is left as it is')
        assert.ok(isSame(replay(from, description), to))
      }
    }),
    { seed, numRuns: 5000 }
  )
  assert.ok(told > 100, `${told}`)
})

const cases: readonly (readonly [string, Document, Document, Partial<UpdateDescription>])[] = [
  ['nothing', { a: { b: [1] } }, { a: { b: [1] } }, {}],
  ['a nested field', { a: { b: 1, c: 1 } }, { a: { b: 2, c: 1 } }, { updatedFields: { 'a.b': 2 } }],
  ['a new nested field', { a: { b: 1 } }, { a: { b: 1, c: 2 } }, { updatedFields: { 'a.c': 2 } }],
  ['a removed nested field', { a: { b: 1, c: 1 } }, { a: { b: 1 } }, { removedFields: ['a.c'] }],
  ['an element', { a: [1, 2, 3] }, { a: [1, 5, 3] }, { updatedFields: { 'a.1': 5 } }],
  ['a field of an element', { a: [{ b: 1 }, 2] }, { a: [{ b: 2 }, 2] }, { updatedFields: { 'a.0.b': 2 } }],
  ['an element at the end', { a: [1, 2] }, { a: [1, 2, 3] }, { updatedFields: { 'a.2': 3 } }],
  ['elements less', { a: [1, 2, 3] }, { a: [1] }, { truncatedArrays: [{ field: 'a', newSize: 1 }] }],
  ['an element in front', { a: [1, 2, 3] }, { a: [0, 1, 2, 3] }, { updatedFields: { a: [0, 1, 2, 3] } }],
  ['another type', { a: { b: 1 } }, { a: [1] }, { updatedFields: { a: [1] } }],
  ['1 and 1n', { a: 1 }, { a: 1n }, { updatedFields: { a: 1n } }],
  ['a key with a dot inside', { a: { 'b.c': 1 } }, { a: { 'b.c': 2 } }, { updatedFields: { a: { 'b.c': 2 } } }],
  ['a key with a dot', { 'b.c': { d: 1 } }, { 'b.c': { d: 2 } }, { updatedFields: { 'b.c': { d: 2 } } }],
  ['a key of digits', { a: { 0: 1 } }, { a: { 0: 2 } }, { updatedFields: { a: { 0: 2 } } }],
  ['another order of fields', { _id: 1, a: 1, b: 2 }, { _id: 1, b: 2, a: 1 }, { updatedFields: { b: 2, a: 1 } }],
  [
    'a new field before another',
    { _id: 1, o: { p: 1 } },
    { _id: 1, z: 1, o: { p: 1 } },
    { updatedFields: { z: 1, o: { p: 1 } } }
  ],
  ['another order of keys', { a: { b: 1, c: 1 } }, { a: { c: 1, b: 1 } }, { updatedFields: { a: { c: 1, b: 1 } } }]
]

for (const [title, before, after, expected] of cases) {
  test(`description of a change: ${title}`, () => {
    assert.equal(describeUpdate(before, after), {
      updatedFields: {},
      removedFields: [],
      truncatedArrays: [],
      ...expected
    })
  })
}

test('a description contains copies', () => {
  const after = { a: { b: [1] }, c: [{ d: 1 }] }
  const { updatedFields } = describeUpdate({ c: 1 }, after)
  assert.is.not(updatedFields.a, after.a)
  assert.is.not((updatedFields.c as unknown[])[0], after.c[0])
})

test.run()
