import { Long, MaxKey, MinKey } from 'bson'
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { compareValues } from '../../src/model/compare.ts'
import { PetalError } from '../../src/model/errors.ts'
import type { Document } from '../../src/model/types.ts'
import { type CompiledSort, compileSort, FullSort, type SortLimits, TopK } from '../../src/query/sort.ts'
import { scalar, seedOfRun } from '../support/values.ts'

const seed = seedOfRun()

function sortAll(sort: CompiledSort, documents: Iterable<Document>, limits: SortLimits = {}): Document[] {
  const sorter = new FullSort(sort, limits)
  for (const document of documents) sorter.push(document)
  return sorter.toArray()
}

/** Sorts documents { id, … } and returns the ids. */
function ids(spec: unknown, documents: readonly Document[]): unknown[] {
  return sortAll(compileSort(spec), documents).map(({ id }) => id)
}

test('every form of a sort that drivers accept is accepted', () => {
  const expected = [
    { path: 'a', direction: 1 },
    { path: 'b.c', direction: -1 }
  ]
  const specs = [
    { a: 1, 'b.c': -1 },
    { a: 'asc', 'b.c': 'descending' },
    { a: Long.ONE, 'b.c': -1n },
    new Map([
      ['a', 1],
      ['b.c', -1]
    ]),
    [
      ['a', 1],
      ['b.c', -1]
    ],
    ['a', ['b.c', 'desc']]
  ]
  for (const spec of specs) assert.equal(compileSort(spec).keys, expected)
  assert.equal(compileSort('a').keys, [{ path: 'a', direction: 1 }])
  assert.equal(compileSort(['a', -1]).keys, [{ path: 'a', direction: -1 }])
  assert.equal(compileSort(undefined).keys, [])
})

test('$natural can be given as a direction, but only alone', () => {
  assert.is(compileSort({ $natural: -1 }).natural, -1)
  assert.is(compileSort({ a: 1 }).natural, undefined)
  assert.throws(() => compileSort({ $natural: 1, a: 1 }), isError('BadValue'))
})

test('invalid directions and paths are refused', () => {
  for (const spec of [
    { a: 0 },
    { a: 2 },
    { a: 'up' },
    { a: null },
    { a: {} },
    { '': 1 },
    { 'a..b': 1 },
    { $a: 1 },
    5,
    [
      ['a', 1],
      ['a', -1]
    ]
  ]) {
    assert.throws(() => compileSort(spec), isError('BadValue'), JSON.stringify(spec))
  }
  assert.throws(() => compileSort({ a: { $meta: 'textScore' } }), isError('CommandNotSupported'))
})

test('a pair has two elements', () => {
  const spec = [['a', 1, 2]]
  const says = "A sort takes pairs [path, direction], got 3 elements at 'a'"
  assert.throws(
    () => compileSort(spec),
    (error: Error) => error.message === says
  )
})

test('the error of a direction shows the path and what was given', () => {
  const given: readonly (readonly [unknown, string])[] = [
    [{ a: 2 }, '2'],
    [{ a: 'up' }, "'up'"],
    [[['a']], 'undefined'],
    [{ a: true }, 'bool']
  ]
  for (const [spec, shown] of given) {
    const says = `The sort direction of 'a' must be 1 or -1, not ${shown}`
    assert.throws(
      () => compileSort(spec),
      (error: Error) => error.message === says,
      says
    )
  }
})

test('types sort in BSON order, with missing fields like null, and empty arrays before that', () => {
  const documents = [
    { id: 'max', a: new MaxKey() },
    { id: 'date', a: new Date(0) },
    { id: 'bool', a: false },
    { id: 'object', a: {} },
    { id: 'string', a: '' },
    { id: 'number', a: 5 },
    { id: 'nan', a: Number.NaN },
    { id: 'missing' },
    { id: 'null', a: null },
    { id: 'empty', a: [] },
    { id: 'min', a: new MinKey() }
  ]
  const ascending = ['min', 'empty', 'missing', 'null', 'nan', 'number', 'string', 'object', 'bool', 'date', 'max']
  assert.equal(ids({ a: 1 }, documents), ascending)
  const descending = ['max', 'date', 'bool', 'object', 'string', 'number', 'nan', 'missing', 'null', 'empty', 'min']
  assert.equal(ids({ a: -1 }, documents), descending)
})

test('an array sorts by its least element ascending, and by its greatest descending', () => {
  const documents = [
    { id: 1, a: [1, 9] },
    { id: 2, a: 5 },
    { id: 3, a: [4, 6] }
  ]
  assert.equal(ids({ a: 1 }, documents), [1, 3, 2])
  assert.equal(ids({ a: -1 }, documents), [1, 3, 2])
})

test('an array in an array sorts as one value', () => {
  const documents = [
    { id: 1, a: [[1]] },
    { id: 2, a: [2] }
  ]
  assert.equal(ids({ a: 1 }, documents), [2, 1])
})

test('paths go through arrays; elements without the field count as null', () => {
  const documents = [
    { id: 1, a: [{ b: 3 }, { b: 7 }] },
    { id: 2, a: { b: 5 } },
    { id: 3, a: [{ b: 6 }, {}] },
    { id: 4, a: [] },
    { id: 5, a: 9 },
    { id: 6, a: [{ b: [] }] }
  ]
  assert.equal(ids({ 'a.b': 1 }, documents), [6, 3, 4, 5, 1, 2])
  assert.equal(ids({ 'a.b': -1 }, documents), [1, 3, 2, 4, 5, 6])
})

test('digits in a path name a position in an array, or a key in an object', () => {
  const documents = [
    { id: 1, a: [3, 1] },
    { id: 2, a: [2, 9] },
    { id: 3, a: { 0: 1 } },
    { id: 4, a: [{ 0: 0 }] }
  ]
  assert.equal(ids({ 'a.0': 1 }, documents), [4, 3, 2, 1])
})

test('an array at a position of the path sorts as one value, and an array below it by an element', () => {
  const documents = [
    { id: 1, a: [[1, 9]] },
    { id: 2, a: [5] },
    { id: 3, a: [{ b: [7, 2] }] },
    { id: 4, a: [[]] },
    { id: 5, a: [[1]] },
    { id: 6, a: { 0: [4, 8] } },
    { id: 7, a: [] }
  ]
  assert.equal(ids({ 'a.0': 1 }, documents), [7, 6, 2, 3, 4, 5, 1])
  assert.equal(ids({ 'a.0': -1 }, documents), [1, 5, 4, 3, 6, 2, 7])
  assert.equal(ids({ 'a.0.b': 1 }, documents.slice(1, 4)), [2, 4, 3])
})

test('two paths through one array take their values from the same element', () => {
  const documents = [
    {
      id: 1,
      a: [
        { x: 1, y: 5 },
        { x: 2, y: 1 }
      ]
    },
    { id: 2, a: [{ x: 1, y: 3 }] }
  ]
  assert.equal(ids({ 'a.x': 1, 'a.y': 1 }, documents), [2, 1])
})

test('an array that two fields share is refused like two that are alike', () => {
  const tags = [1, 2]
  assert.throws(() => ids({ a: 1, b: 1 }, [{ id: 1, a: tags, b: tags }]), /parallel arrays/)
  assert.throws(() => ids({ 'a.x': 1, 'b.x': 1 }, [{ id: 1, a: tags, b: tags }]), /parallel arrays/)
  const inside = { x: [{ y: 1, z: 2 }] }
  assert.equal(ids({ 'a.x.y': 1, 'a.x.z': 1 }, [{ id: 1, a: inside }]), [1])
})

test('parallel arrays are refused', () => {
  assert.throws(() => ids({ a: 1, b: 1 }, [{ a: [1], b: [2] }]), isError('BadValue'))
})

test('inherited properties are missing', () => {
  assert.equal(ids({ constructor: 1 }, [{ id: 1, constructor: 1 }, { id: 2 }]), [2, 1])
})

const sortable = fc.record({ a: fc.oneof(fc.integer({ min: 0, max: 3 }), scalar), b: fc.integer({ min: 0, max: 2 }) })

test('the order is that of compareValues(), and stable', () => {
  fc.assert(
    fc.property(fc.array(sortable, { maxLength: 30 }), (documents) => {
      const numbered = documents.map((document, arrival) => ({ ...document, arrival }))
      const expected = [...numbered].sort((x, y) => compareValues(x.a, y.a) || y.b - x.b || x.arrival - y.arrival)
      assert.equal(
        sortAll(compileSort({ a: 1, b: -1 }), numbered).map(({ arrival }) => arrival),
        expected.map(({ arrival }) => arrival)
      )
    }),
    { seed, numRuns: 2000 }
  )
})

test('TopK returns the first k of the complete order, with ties in order of arrival', () => {
  fc.assert(
    fc.property(fc.array(sortable, { maxLength: 40 }), fc.nat(12), (documents, limit) => {
      const numbered = documents.map((document, arrival) => ({ ...document, arrival }))
      const sort = compileSort({ b: 1, a: -1 })
      const first = new TopK(sort, limit)
      for (const document of numbered) first.push(document)
      const arrivals = (list: readonly Document[]) => list.map(({ arrival }) => arrival)
      assert.equal(arrivals(first.toArray()), arrivals(sortAll(sort, numbered).slice(0, limit)))
    }),
    { seed, numRuns: 2000 }
  )
})

test('items other than the documents themselves can be sorted', () => {
  const sort = compileSort('a')
  const top = new TopK<number>(sort, 1)
  assert.is(top.push({ a: 2 }, 20, 10), true)
  assert.is(top.push({ a: 3 }, 30, 10), false)
  assert.is(top.push({ a: 1 }, 10, 10), true)
  assert.equal(top.toArray(), [10])
  const full = new FullSort<number>(sort)
  full.push({ a: 2 }, 20)
  full.push({ a: 1 }, 10)
  assert.equal(full.toArray(), [10, 20])
})

test('a sort of more bytes than maxBytes fails, but not if the first k fit', () => {
  const sort = compileSort({ a: 1 })
  const documents = Array.from({ length: 100 }, (_, a) => ({ a, text: 'x'.repeat(1000) }))
  assert.throws(() => sortAll(sort, documents, { maxBytes: 50_000 }), isError('QueryExceededMemoryLimit'))
  const top = new TopK(sort, 5, { maxBytes: 50_000 })
  for (const document of documents.reverse()) top.push(document)
  assert.equal(
    top.toArray().map(({ a }) => a),
    [0, 1, 2, 3, 4]
  )
  const large = new TopK(sort, 100, { maxBytes: 50_000 })
  assert.throws(() => {
    for (const document of documents) large.push(document)
  }, isError('QueryExceededMemoryLimit'))
})

function isError(codeName: string) {
  return (error: unknown) => error instanceof PetalError && error.codeName === codeName
}

test.run()
