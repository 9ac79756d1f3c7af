import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { PetalError } from '../../src/model/errors.ts'
import type { Document } from '../../src/model/types.ts'
import { compileProjection } from '../../src/query/projection.ts'
import { describe } from '../support/describe.ts'
import { anyDocument, seedOfRun } from '../support/values.ts'

const seed = seedOfRun()
const document: Document = {
  _id: 1,
  a: 1,
  b: { c: 2, d: { e: 3, f: 4 } },
  list: [{ x: 1, y: 2 }, { x: 3 }, 5, [{ x: 6, y: 7 }]],
  tags: ['p', 'q', 'r', 's'],
  empty: []
}

const cases: readonly (readonly [claim: string, spec: unknown, expected: Document])[] = [
  ['inclusion keeps _id', { a: 1 }, { _id: 1, a: 1 }],
  ['_id can be left out of an inclusion', { a: true, _id: 0 }, { a: 1 }],
  ['_id can be included alone', { _id: 1 }, { _id: 1 }],
  ['a missing field is not invented', { z: 1, 'a.b': 1, 'b.z': 1 }, { _id: 1, b: {} }],
  ['keys keep the order of the document', { b: 1, a: 1, _id: 1 }, { _id: 1, a: 1, b: document.b }],
  ['dotted paths keep the levels above', { 'b.d.e': 1 }, { _id: 1, b: { d: { e: 3 } } }],
  ['nested objects are dotted paths', { b: { d: { e: 1 }, c: 1 } }, { _id: 1, b: { c: 2, d: { e: 3 } } }],
  [
    'inclusion through arrays drops scalars and enters nested arrays',
    { 'list.x': 1 },
    { _id: 1, list: [{ x: 1 }, { x: 3 }, [{ x: 6 }]] }
  ],
  ['exclusion keeps the rest', { b: 0, list: 0, tags: false }, { _id: 1, a: 1, empty: [] }],
  [
    'exclusion through arrays keeps scalars',
    { 'list.x': 0, b: 0, tags: 0 },
    { _id: 1, a: 1, list: [{ y: 2 }, {}, 5, [{ y: 7 }]], empty: [] }
  ],
  ['_id: 0 in an exclusion drops _id, too', { _id: 0, b: 0, list: 0, tags: 0, empty: 0 }, { a: 1 }],
  ['_id may be included in an exclusion', { _id: 1, b: 0, list: 0, tags: 0, empty: 0 }, { _id: 1, a: 1 }],
  ['digits are keys, not positions', { 'tags.0': 1, 'list.0.x': 1 }, { _id: 1, list: [{}, {}, [{}]], tags: [] }],
  ['$slice takes from the front', { a: 1, tags: { $slice: 2 } }, { _id: 1, a: 1, tags: ['p', 'q'] }],
  ['$slice takes from the end', { a: 1, tags: { $slice: -1 } }, { _id: 1, a: 1, tags: ['s'] }],
  ['$slice can skip elements', { a: 1, tags: { $slice: [1, 2] } }, { _id: 1, a: 1, tags: ['q', 'r'] }],
  ['$slice can start counting from the end', { a: 1, tags: { $slice: [-3, 2] } }, { _id: 1, a: 1, tags: ['q', 'r'] }],
  ['$slice beyond the end is empty', { a: 1, tags: { $slice: [9, 2] } }, { _id: 1, a: 1, tags: [] }],
  [
    '$slice from before the start begins there',
    { a: 1, tags: { $slice: [-9, 2] } },
    { _id: 1, a: 1, tags: ['p', 'q'] }
  ],
  ['$slice leaves other values unchanged', { a: { $slice: 1 }, b: 0, list: 0, tags: 0, empty: 0 }, { _id: 1, a: 1 }],
  ['$elemMatch keeps the first match', { list: { $elemMatch: { x: { $gt: 1 } } } }, { _id: 1, list: [{ x: 3 }] }],
  [
    '$elemMatch in an inclusion comes after the other fields, in the order of the spec',
    { tags: { $elemMatch: { $gt: 'q' } }, list: { $elemMatch: { x: 1 } }, empty: 1, a: 1 },
    { _id: 1, a: 1, empty: [], tags: ['r'], list: [{ x: 1, y: 2 }] }
  ],
  [
    '$elemMatch in an exclusion keeps the place of the field',
    { list: { $elemMatch: { x: 3 } }, b: 0, tags: 0 },
    { _id: 1, a: 1, list: [{ x: 3 }], empty: [] }
  ],
  ['$elemMatch tests scalars', { tags: { $elemMatch: { $gt: 'q' } } }, { _id: 1, tags: ['r'] }],
  ['$elemMatch without a match drops the field', { list: { $elemMatch: { x: 9 } }, a: 1 }, { _id: 1, a: 1 }],
  ['$elemMatch on other values drops the field', { a: { $elemMatch: { x: 9 } } }, { _id: 1 }]
]

for (const [claim, spec, expected] of cases) {
  test(claim, () => assert.is(describe(compileProjection(spec)(document)), describe(expected)))
}

test('the path of $slice leads through arrays, but not through arrays in arrays', () => {
  const nested = { a: [[{ b: [1, 2], c: 1 }], { b: [{ d: [3, 4] }, [{ d: [5, 6] }]] }, 7], e: [[1], [2]] }
  const project = (spec: Document): Document => compileProjection(spec)(nested)
  assert.equal(project({ 'a.b': { $slice: 1 } }).a, [[{ b: [1, 2], c: 1 }], { b: [{ d: [3, 4] }] }, 7])
  assert.equal(project({ 'a.b.d': { $slice: -1 } }).a, [[{ b: [1, 2], c: 1 }], { b: [{ d: [4] }, [{ d: [5, 6] }]] }, 7])
  assert.equal(project({ 'a.b': { $slice: 1 }, e: 1 }).a, [[{ b: [1, 2] }], { b: [{ d: [3, 4] }] }])
  assert.equal(project({ e: { $slice: -1 } }).e, [[2]])
})

test('$slice alone keeps all other fields', () => {
  const projected = compileProjection({ tags: { $slice: 1 } })(document)
  assert.equal(projected, { ...document, tags: ['p'] })
})

test('no projection, or an empty one, returns the document', () => {
  for (const spec of [undefined, null, {}]) assert.is(compileProjection(spec)(document), document)
})

const refused: readonly (readonly [spec: unknown, code: string, message: RegExp])[] = [
  [{ a: 1, b: 0 }, 'BadValue', /Cannot do exclusion on field b in inclusion projection/],
  [{ a: 0, 'b.c': 1 }, 'BadValue', /Cannot do inclusion on field b.c in exclusion projection/],
  [{ a: 1, 'a.b': 1 }, 'BadValue', /collision at 'a.b'/],
  [{ 'a.b': 1, a: 1 }, 'BadValue', /collision at 'a'/],
  [{ a: {} }, 'BadValue', /empty sub-projection/],
  [{ '': 1 }, 'BadValue', /empty component/],
  [{ 'a..b': 1 }, 'BadValue', /empty component/],
  [{ $a: 1 }, 'BadValue', /begins with '\$'/],
  [{ 'a.__proto__.b': 1 }, 'BadValue', /component '__proto__'/],
  [{ 'a.$': 1 }, 'CommandNotSupported', /a\.\$/],
  [{ a: '$b' }, 'CommandNotSupported', /not a value of type string/],
  [{ a: { $meta: 'textScore' } }, 'CommandNotSupported', /\$meta/],
  [{ a: { $slice: 'x' } }, 'BadValue', /\$slice at 'a'.*string/],
  [{ a: { $slice: [1] } }, 'BadValue', /\$slice/],
  [{ a: { $slice: [1, 0] } }, 'BadValue', /limit 0/],
  [{ a: { $slice: 1, $elemMatch: {} } }, 'BadValue', /one operator/],
  [{ 'a.b': { $elemMatch: { x: 1 } } }, 'BadValue', /nested field/],
  [{ a: { $elemMatch: 1 } }, 'BadValue', /\$elemMatch at 'a'.*number/],
  ['a', 'TypeMismatch', /string/]
]

for (const [spec, code, message] of refused) {
  test(`${JSON.stringify(spec)} is refused as a projection`, () => {
    assert.throws(
      () => compileProjection(spec),
      (error: unknown) => error instanceof PetalError && error.codeName === code && message.test(error.message)
    )
  })
}

test('a projected document shares nothing with its source', () => {
  const source: Document = { a: { b: [1, { c: 2 }] }, d: new Date(0), e: [{ f: [1] }] }
  const before = describe(source)
  for (const spec of [{ a: 1, d: 1, e: 1 }, { x: 0 }, { 'e.f': 1 }, { e: { $slice: 1 } }]) {
    scribble(compileProjection(spec)(source))
    assert.is(describe(source), before)
  }
})

test('inclusion and exclusion of the same fields complement each other', () => {
  fc.assert(
    fc.property(anyDocument, (generated) => {
      const { a, b, _id, ...rest } = generated
      const included = compileProjection({ a: 1, b: 1, _id: 0 })(generated)
      const excluded = compileProjection({ a: 0, b: 0, _id: 0 })(generated)
      assert.is(describe(excluded), describe(rest))
      assert.equal(
        Object.keys(included),
        Object.keys(generated).filter((key) => key === 'a' || key === 'b')
      )
    }),
    { seed, numRuns: 2000 }
  )
})

function scribble(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  for (const field of Object.values(value)) scribble(field)
  if (value instanceof Date) value.setTime(5)
  else if (Array.isArray(value)) value.push('scribble')
  else (value as Document).scribble = 1
}

test.run()
