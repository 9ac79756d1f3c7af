/**
 * isPlainJson() is true only for documents that survive as JSON, and for nearly all of those.
 */
import { ObjectId } from 'bson'
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { isIdentical } from '../../src/model/clone.ts'
import type { Document } from '../../src/model/types.ts'
import { isPlainJson, jsonFormOf } from '../../src/sharded-bloom/byte-scan/plain.ts'
import { adversarial, documents, plain, testSeed } from '../support/arbitraries.ts'
import { SegmentTools } from '../support/scanned-segments.ts'

const seed = testSeed()
const { flattener } = new SegmentTools(seed)

function nested(depth: number, wrap: (inner: unknown) => unknown): Document {
  let value: unknown = 1
  for (let i = 1; i < depth; i++) value = wrap(value)
  return { a: value }
}

test('isPlainJson() agrees with flatten() and JSON on adversarial documents', () => {
  let yes = 0
  for (const document of fc.sample(documents(adversarial), { numRuns: 5000, seed })) {
    const { isPlain } = flattener.flatten(document)
    assert.is(isPlainJson(document), isPlain, JSON.stringify(Object.keys(document)))
    if (!isPlain) continue
    yes++
    assert.ok(isIdentical(JSON.parse(JSON.stringify(document)), document))
  }
  assert.ok(yes > 500)
})

test('isPlainJson() is true for plain documents', () => {
  for (const document of fc.sample(documents(plain), { numRuns: 1000, seed })) assert.ok(isPlainJson(document))
})

test('isPlainJson() is false for what JSON would lose or change', () => {
  class Point {
    x = 1
  }
  class List extends Array<number> {}
  const sparse = [1, 2, 3]
  delete sparse[1]
  const cycle: Document = {}
  cycle.self = cycle
  const values: Record<string, unknown> = {
    date: new Date(0),
    map: new Map(),
    set: new Set([1]),
    bytes: new Uint8Array(2),
    regex: /x/,
    bigint: 1n,
    symbol: Symbol('x'),
    function: () => 1,
    NaN: Number.NaN,
    infinity: -Infinity,
    minusZero: -0,
    instance: new Point(),
    boxed: new String('x'),
    objectId: new ObjectId(),
    subclass: List.from([1]),
    sparse,
    undefinedElement: [undefined],
    dateInArray: [[{ at: new Date(0) }]],
    minusZeroInArray: [-0],
    toJSON: { toJSON: () => 1 },
    proto: JSON.parse('{"__proto__": 1}'),
    cycle
  }
  for (const [name, value] of Object.entries(values)) {
    assert.not.ok(isPlainJson({ _id: 1, value }), name)
    assert.not.ok(isPlainJson({ _id: 1, deep: [{ value }] }), `${name}, deeper`)
  }
  assert.not.ok(isPlainJson(new Point() as unknown as Document))
  assert.not.ok(isPlainJson(JSON.parse('{"__proto__": {}}')))
})

test('isPlainJson() is true for undefined fields and harmless curiosities', () => {
  assert.ok(isPlainJson({ a: undefined, b: { c: undefined } }))
  assert.ok(isPlainJson(Object.assign(Object.create(null), { a: 1 })))
  assert.ok(isPlainJson({ [Symbol('x')]: 1, a: 1 } as Document))
  assert.ok(isPlainJson({ toJSON: 1, constructor: 'x', _bsontype: 'ObjectId' }))
})

test('isPlainJson() has the same limit of nesting as flatten()', () => {
  for (const wrap of [(inner: unknown) => ({ b: inner }), (inner: unknown) => [inner]]) {
    assert.ok(isPlainJson(nested(100, wrap)))
    assert.not.ok(isPlainJson(nested(101, wrap)))
    assert.not.throws(() => flattener.flatten(nested(100, wrap)))
    assert.throws(() => flattener.flatten(nested(101, wrap)))
  }
})

test('the JSON form of a document whose _id is an ObjectId is objectId', () => {
  assert.is(jsonFormOf({ _id: new ObjectId(), a: 1 }), 'objectId')
  assert.is(jsonFormOf({ _id: 'x' }), 'json')
  assert.is(jsonFormOf({ _id: { _id: new ObjectId() } }), undefined)
  assert.is(jsonFormOf({ _id: new Date() }), undefined)
})

test('isPlainJson() is always false while all objects inherit a property or toJSON()', () => {
  const prototype = Object.prototype as unknown as Record<string, unknown>
  const arrays = Array.prototype as unknown as Record<string, unknown>
  prototype.inherited = 1
  try {
    assert.not.ok(isPlainJson({ a: 1 }))
  } finally {
    delete prototype.inherited
  }
  for (const target of [prototype, arrays]) {
    Object.defineProperty(target, 'toJSON', { value: () => 0, configurable: true, enumerable: false })
    try {
      assert.not.ok(isPlainJson({ a: [1] }))
    } finally {
      delete target.toJSON
    }
  }
  assert.ok(isPlainJson({ a: [1] }))
})

test.run()
