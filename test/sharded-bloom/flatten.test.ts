/** Document → pairs: which ones each kind of value has; which documents are plain JSON, irregular or refused. */
import { Binary, Code, Decimal128, Double, Int32, Long, MaxKey, MinKey, ObjectId, Timestamp } from 'bson'
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { createHasher } from '../../src/bloom/hash.ts'
import { type Document, typeNames } from '../../src/model/types.ts'
import { Flattener } from '../../src/sharded-bloom/pairs/flatten.ts'
import { PairHash } from '../../src/sharded-bloom/pairs/pair-hash.ts'
import { Tag } from '../../src/sharded-bloom/pairs/pair-tags.ts'
import { testSeed } from '../support/arbitraries.ts'
import { describe } from '../support/describe.ts'
import { anyDocument } from '../support/values.ts'

const seed = testSeed()
const flattener = new Flattener(createHasher('murmur'), { lo: 1, hi: 2 })
const pairHash = new PairHash(createHasher('murmur'), (path) => flattener.seedOf(path))

/** Sorted: `T|path|type`, `V|path|type key`, `S|path|length`, `irregular|key`. E pairs are those of T without types. */
function pairsOf(document: Document): string[] {
  const flat = flattener.flatten(document)
  const pairs = new Set<string>()
  for (const { node, type } of flat.shape.facts()) pairs.add(`T|${node.path}|${typeNames[type]}`)
  for (let i = 0; i < flat.count; i++) {
    const { path } = flat.nodes[i]!
    const tag = flat.tags[i]!
    const key = flat.keys[i]!
    const { lo, hi } = pairHash.hash({ path, tag, key })
    assert.equal([flat.lo[i], flat.hi[i]], [lo, hi], 'documents and queries hash alike')
    pairs.add(tag === Tag.size ? `S|${path}|${key}` : `V|${path}|${typeNames[tag]} ${key}`)
  }
  for (const key of flat.irregularKeys) pairs.add(`irregular|${key}`)
  return [...pairs].sort()
}

const cases: readonly (readonly [name: string, document: Document, pairs: readonly string[]])[] = [
  ['nothing', {}, []],
  [
    'scalars',
    { s: 'x', n: 1.5, b: true, z: null },
    ['T|b|bool', 'T|n|number', 'T|s|string', 'T|z|null', 'V|b|bool 1', 'V|n|number 1.5', 'V|s|string x', 'V|z|null 0']
  ],
  ['undefined is missing', { a: undefined, b: { c: undefined } }, ['T|b|object']],
  ['interior paths', { a: { b: { c: 1 } } }, ['T|a.b.c|number', 'T|a.b|object', 'T|a|object', 'V|a.b.c|number 1']],
  [
    'arrays are transparent',
    { a: [{ b: 1 }, { b: 2 }] },
    ['S|a|2', 'T|a.b|number', 'T|a|array', 'T|a|object', 'V|a.b|number 1', 'V|a.b|number 2']
  ],
  ['an empty array', { a: [] }, ['S|a|0', 'T|a|array']],
  ['undefined in an array is null', { a: [undefined] }, ['S|a|1', 'T|a|array', 'T|a|null', 'V|a|null 0']],
  [
    'arrays in arrays',
    { a: [[1], [2, 3]] },
    ['S|a|1', 'S|a|2', 'T|a|array', 'T|a|number', 'V|a|number 1', 'V|a|number 2', 'V|a|number 3', 'irregular|a']
  ],
  ['digit keys', { a: { 0: { b: 1 } } }, ['T|a.b|number', 'T|a|object', 'V|a.b|number 1', 'irregular|a']],
  ['a top-level digit key', { 7: { b: 1 } }, ['T|b|number', 'T||object', 'V|b|number 1', 'irregular|', 'irregular|b']],
  ['a key with a dot', { 'a.b': 1 }, ['T|a.b|number', 'V|a.b|number 1', 'irregular|a']],
  ['the empty key', { '': { x: 1 } }, ['T|.x|number', 'T||object', 'V|.x|number 1']],
  [
    'names of inherited properties',
    { constructor: 1, toString: 'x' },
    ['T|constructor|number', 'T|toString|string', 'V|constructor|number 1', 'V|toString|string x']
  ],
  [
    'equal numbers of every kind',
    { a: [1, 1n, Long.fromNumber(1), new Int32(1), new Double(1), Decimal128.fromString('1.0')] },
    ['S|a|6', 'T|a|array', 'T|a|number', 'V|a|number 1']
  ],
  [
    'zeros and NaN',
    { a: [-0, 0], b: [Number.NaN, Decimal128.fromString('NaN')] },
    ['S|a|2', 'S|b|2', 'T|a|array', 'T|a|number', 'T|b|array', 'T|b|number', 'V|a|number 0', 'V|b|number NaN']
  ],
  [
    'numbers that are not doubles',
    { a: 2n ** 53n + 1n, b: 2n ** 53n, c: Decimal128.fromString('0.1'), d: Decimal128.fromString('0.5') },
    [
      'T|a|number',
      'T|b|number',
      'T|c|number',
      'T|d|number',
      'V|a|number 9007199254740992',
      'V|b|number 9007199254740992',
      'V|c|number 0.1',
      'V|d|number 0.5',
      'irregular|a',
      'irregular|c'
    ]
  ],
  ['dates', { a: new Date(5) }, ['T|a|date', 'V|a|date 5']],
  [
    'the rarer types',
    {
      a: new ObjectId('65a1b2c3d4e5f60718293a4b'),
      b: /x/i,
      c: new Timestamp({ t: 1, i: 2 }),
      d: new Code('f', { n: 1 }),
      e: new MinKey(),
      f: new MaxKey()
    },
    [
      'T|a|objectId',
      'T|b|regex',
      'T|c|timestamp',
      'T|d|javascript',
      'T|e|minKey',
      'T|f|maxKey',
      'V|a|objectId 65a1b2c3d4e5f60718293a4b',
      'V|b|regex /x/i',
      'V|c|timestamp 4294967298',
      'V|d|javascript f',
      'V|e|minKey 0',
      'V|f|maxKey 0'
    ]
  ],
  [
    'bytes, as Uint8Array or Binary',
    { a: new Uint8Array([65]), b: new Binary(new Uint8Array([65])) },
    ['T|a|binData', 'T|b|binData', 'V|a|binData 0:A', 'V|b|binData 0:A']
  ]
]

for (const [name, document, pairs] of cases) {
  test(`pairs: ${name}`, () => {
    assert.equal(pairsOf(document), [...pairs].sort())
  })
}

test('documents with the same facts share a shape, others do not', () => {
  const shapeOf = (document: Document): unknown => flattener.flatten(document).shape
  assert.is(shapeOf({ a: 1, b: ['x'] }), shapeOf({ a: 2, b: ['y', 'z'] }))
  assert.is.not(shapeOf({ a: 1 }), shapeOf({ a: '1' }))
  assert.is.not(shapeOf({ a: 1 }), shapeOf({ a: 1, b: 1 }))
})

/** False for objects of a class, which become plain ones when stored. */
function isJson(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return typeof value !== 'bigint'
  if (Array.isArray(value)) return value.every(isJson)
  return Object.getPrototypeOf(value) === Object.prototype && Object.values(value).every(isJson)
}

test('a document is plain exactly if it survives a round trip through JSON', () => {
  let plain = 0
  fc.assert(
    fc.property(anyDocument, (document) => {
      const isPlain = flattener.flatten(document).isPlain
      if (isPlain) plain++
      const returns = isJson(document) && describe(JSON.parse(JSON.stringify(document))) === describe(document)
      assert.is(isPlain, returns, describe(document))
    }),
    { seed, numRuns: 3000 }
  )
  assert.ok(plain > 100, `${plain} were plain`)
})

test('an ObjectId is plain as _id and nowhere else', () => {
  const id = new ObjectId()
  assert.ok(flattener.flatten({ _id: id, a: 1 }).isPlain)
  assert.not.ok(flattener.flatten({ a: id }).isPlain)
  assert.not.ok(flattener.flatten({ _id: [id] }).isPlain)
  assert.not.ok(flattener.flatten({ _id: { _id: id } }).isPlain)
  assert.not.ok(flattener.flatten({ a: { _id: id } }).isPlain)
})

const cyclic: Document = { a: { b: [] } }
;(cyclic.a as { b: unknown[] }).b.push(cyclic)

function nested(depth: number): Document {
  let value: Document = { end: 1 }
  for (let i = 1; i < depth; i++) value = { n: value }
  return value
}

const refused: readonly (readonly [name: string, document: unknown, path: string, message: RegExp])[] = [
  ['a function', { a: { f: () => 1 } }, 'a.f', /function/],
  ['a symbol', { a: [Symbol('x')] }, 'a', /symbol/],
  ['a Map', { a: { m: new Map() } }, 'a.m', /Map/],
  ['an invalid Date', { a: { d: new Date(Number.NaN) } }, 'a.d', /invalid Date/],
  ['an integer beyond 64 bits', { a: [{ n: 2n ** 63n }] }, 'a.n', /64 bits/],
  ['the key __proto__', { a: JSON.parse('{"__proto__": 1}') }, 'a.__proto__', /__proto__/],
  ['a cycle', cyclic, 'a.b', /contains itself/],
  ['nesting of 101', nested(101), 'n.n', /deeper than 100/]
]

for (const [name, document, path, message] of refused) {
  test(`${name} is refused, and the error names the path`, () => {
    try {
      flattener.flatten(document as Document)
      assert.unreachable()
    } catch (error) {
      const {
        codeName,
        message: text,
        details
      } = error as { codeName: string; message: string; details: { path: string } }
      assert.is(codeName, 'BadValue')
      assert.match(text, message)
      assert.ok(details.path.startsWith(path), details.path)
      assert.ok(text.includes(path), text)
    }
    assert.equal(pairsOf({ a: 1 }), ['T|a|number', 'V|a|number 1'], 'the next document is unharmed')
  })
}

test('nesting of 100 and integers of 64 bits are accepted', () => {
  flattener.flatten(nested(100))
  flattener.flatten({ a: [2n ** 63n - 1n, -(2n ** 63n)] })
})

for (const value of [null, undefined, 1, 'x', [], new Date(), new Map()]) {
  test(`${Object.prototype.toString.call(value)} is refused as a document`, () => {
    assert.throws(() => flattener.flatten(value as unknown as Document), /must be an object/)
  })
}

test('a document with more pairs than the limit is overfull', () => {
  const limited = new Flattener(
    createHasher('murmur'),
    { lo: 1, hi: 2 },
    { maxDepth: 100, maxValues: 10, maxFacts: 10 }
  )
  const numbers = (count: number): Document => ({ a: Array.from({ length: count }, (_, i) => i) })
  assert.not.ok(limited.flatten(numbers(9)).isOverfull)
  assert.ok(limited.flatten(numbers(10)).isOverfull)
  assert.ok(limited.flatten(numbers(1000)).count <= 10)
  assert.ok(limited.flatten(Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`k${i}`, {}]))).isOverfull)
  assert.not.ok(limited.flatten(numbers(3)).isOverfull)
})

test.run()
