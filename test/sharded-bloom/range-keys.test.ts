/** Keys sort like MongoDB's values, are the same from objects as from bytes, and survive a checkpoint. */
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { rowMemory } from '../../src/bloom/kernels/index.ts'
import { compareStrings } from '../../src/model/compare.ts'
import type { RangeEnd } from '../../src/model/pairs.ts'
import { runSteps } from '../../src/model/time-slice.ts'
import { type Document, Type } from '../../src/model/types.ts'
import { chooseEdges, maxBins } from '../../src/sharded-bloom/ranges/bins.ts'
import { decodeColumnChunk, encodeColumnChunk } from '../../src/sharded-bloom/ranges/column-chunk.ts'
import type { ColumnSpec } from '../../src/sharded-bloom/ranges/column-spec.ts'
import { QueryRange } from '../../src/sharded-bloom/ranges/interval.ts'
import { OpenColumn } from '../../src/sharded-bloom/ranges/open-column.ts'
import { nextAbove, nextBelow, type TextForm, textKey } from '../../src/sharded-bloom/ranges/range-key.ts'
import { ScratchArena } from '../../src/sharded-bloom/records/scratch-arena.ts'
import { testSeed } from '../support/arbitraries.ts'
import { keysOf, SegmentPair, SegmentTools } from '../support/scanned-segments.ts'

const seed = testSeed()
const forms: TextForm[] = [
  ...['', 'a', 'ab-', 'same-prefix-'].map((prefix) => ({ prefix, template: '' })),
  { prefix: '', template: '0000-00-00' },
  { prefix: 'a', template: 'b-0' },
  { prefix: '20', template: '00-00-00T00:00:00.0' },
  { prefix: 'ab', template: '-\0"\\000\x7f0' }
]
const unit = fc.constantFrom(
  '\0',
  '\x01',
  'a',
  'b',
  '-',
  '"',
  '\\',
  '\x7f',
  '\x80',
  'é',
  '\ud7ff',
  '\ud800',
  '\udc00',
  '\ue000',
  '\uffff'
)
const date = fc
  .tuple(
    fc.date({ min: new Date('1990-01-01T00:00:00Z'), max: new Date('2040-01-01T00:00:00Z'), noInvalidDate: true }),
    fc.nat(26),
    fc.oneof(unit, fc.constantFrom('0', '9', ':', '/', ''))
  )
  .map(([time, at, other]) => {
    const text = time.toISOString()
    return at > 23 ? text : text.slice(0, at) + other + text.slice(at + 1)
  })
const words = fc
  .tuple(
    fc.constantFrom('', 'a', 'ab', 'ab-', 'same-prefix', 'same-prefix-', '\u{1f600}'),
    fc.string({ unit, maxLength: 11 })
  )
  .map(([head, tail]) => head + tail)
const digits = fc.string({ unit: fc.constantFrom('0', '1', '9', '-', 'b', '/', ':'), maxLength: 12 })
const text = fc.oneof(words, date, digits)

test('keys of texts sort by code points, and are never NaN', () => {
  fc.assert(
    fc.property(text, text, fc.constantFrom(...forms), (a, b, form) => {
      const [x, y] = [textKey(a, form), textKey(b, form)]
      assert.not.ok(Number.isNaN(x))
      const order = compareStrings(a, b)
      if (order < 0) assert.ok(x <= y)
      else if (order > 0) assert.ok(x >= y)
      else assert.is(x, y)
    }),
    { seed, numRuns: 20_000 }
  )
})

test('texts that differ within eight bytes after the prefix have different keys, except in the last bit', () => {
  const form = { prefix: 'ab-', template: '' }
  assert.ok(textKey('ab-1234567a', form) < textKey('ab-1234567d', form))
  assert.is(textKey('ab-12345678a', form), textKey('ab-12345678b', form))
  assert.is(textKey('b', form), Number.POSITIVE_INFINITY)
  assert.is(textKey('a', form), Number.NEGATIVE_INFINITY)
})

test('with a template, the keys of dates of a century differ from one hundredth of a second to the next', () => {
  const form = { prefix: '20', template: '00-00-00T00:00:00.00' }
  const step = 10
  const time = fc.integer({ min: Date.UTC(2000, 0) / step, max: Date.UTC(2100, 0) / step - 2 })
  fc.assert(
    fc.property(time, (at) => {
      const [here, next] = [at, at + 1].map((each) => textKey(new Date(each * step).toISOString(), form))
      assert.ok(here! < next!)
    }),
    { seed, numRuns: 2000 }
  )
})

test('a range asked of columns of several forms has the keys of each form', () => {
  const end = (key: string): RangeEnd => ({ key, isInclusive: true })
  const [low, high] = ['2026-11-24', '2026-12-01']
  const asked = new QueryRange([
    { path: 'at', type: Type.string, low: end(low), high: undefined },
    { path: 'at', type: Type.string, low: undefined, high: end(high) }
  ])
  for (const form of forms.flatMap((each) => [each, { ...each, template: '' }, each, { ...each, prefix: '20' }])) {
    const keys = { low: textKey(low, form), high: textKey(high, form) }
    const ends = { low: nextAbove(keys.low), high: nextBelow(keys.high) }
    for (const [side, expected] of [
      ['upper', keys],
      ['lower', ends]
    ] as const) {
      const interval = asked.interval(form, side)
      assert.equal({ low: interval.low, high: interval.high }, expected)
    }
  }
})

test('nextAbove() and nextBelow() return the adjacent doubles', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (key) => {
      const above = nextAbove(key)
      assert.ok(above > key)
      const middle = key / 2 + above / 2
      assert.ok(middle === key || middle === above || Math.abs(key) < 1e-300)
      assert.is(nextBelow(above) + 0, key + 0)
    }),
    { seed }
  )
  assert.is(nextAbove(-0), Number.MIN_VALUE)
  assert.is(nextBelow(0), -Number.MIN_VALUE)
  assert.is(nextAbove(Number.MAX_VALUE), Number.POSITIVE_INFINITY)
  assert.is(nextAbove(Number.NEGATIVE_INFINITY), -Number.MAX_VALUE)
  assert.ok(Number.isNaN(nextAbove(Number.POSITIVE_INFINITY)))
  assert.ok(Number.isNaN(nextBelow(Number.NEGATIVE_INFINITY)))
})

test('documents have the same keys from bytes as from objects', () => {
  const columns: ColumnSpec[] = [
    { path: 'n', type: Type.number, prefix: '', template: '' },
    ...forms.map((form, i): ColumnSpec => ({ path: `s${i}`, type: Type.string, ...form })),
    { path: 'o.n', type: Type.number, prefix: '', template: '' },
    { path: 'o.s', type: Type.string, prefix: 'ab-', template: '' },
    { path: 'd', type: Type.date, prefix: '', template: '' }
  ]
  const tools = new SegmentTools(seed)
  const ingest = tools.ingest()
  const number = fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }))
  const value = fc.oneof(
    { weight: 12, arbitrary: text },
    { weight: 6, arbitrary: number },
    { weight: 1, arbitrary: fc.array(fc.oneof(text, number), { maxLength: 3 }) },
    { weight: 1, arbitrary: fc.constantFrom<unknown>(null, [[1]], [['ab-']], {}, true) }
  )
  const fields = Object.fromEntries(['n', ...forms.map((_, i) => `s${i}`)].map((key) => [key, value]))
  const documents = fc.record({
    ...fields,
    o: fc.oneof(fc.record({ n: value, s: value }), fc.array(fc.record({ n: value }), { maxLength: 2 }))
  })
  const pair = new SegmentPair(tools, ingest, {
    shards: 128,
    rowsPerPair: 4,
    privatePairs: [],
    columns,
    upperFrames: 3
  })
  for (const document of fc.sample(documents, { numRuns: 7000, seed })) pair.add(document as Document)
  pair.assertEqual()
  assert.ok(pair.handled > 1000, `${pair.handled} were scanned`)
  assert.ok(pair.flattened.columns.all.slice(0, forms.length + 3).every((column) => column.count > 500))
  pair.free()
  ingest.close()
})

const place = { first: 4096, documents: 4000, rowBytes: 512 }

function bitsOf(high: number, low: number): number {
  return new Float64Array(Uint32Array.of(low, high).buffer)[0]!
}

/** The width byte of a record's first column. */
function widthOf(record: Uint8Array): number {
  const view = new DataView(record.buffer, record.byteOffset)
  const members = 2 + view.getUint16(0, true)
  return record[members + 2 + view.getUint16(members, true)]!
}

const dateForm: TextForm = { prefix: '20', template: '00-00-00T00:00:00.0' }

for (const [name, width, keyAt] of [
  ['a byte', 1, (i: number) => -5 + (i % 256)],
  ['two bytes', 2, (i: number) => 1e15 + ((i * 7919) % 65_536)],
  ['three bytes', 3, (i: number) => -(2 ** 52) + ((i * 7919) % 2 ** 24)],
  ['four bytes', 4, (i: number) => 1_700_000_000_000 + ((i * 1_000_003) % 2 ** 32)],
  ['five bytes', 5, (i: number) => (i * 100_000_007) % 2 ** 40],
  ['seven bytes', 7, (i: number) => Number.MAX_SAFE_INTEGER - ((i * 1e13) % 2 ** 53)],
  ['integers far apart', 8, (i: number) => (i % 2 === 0 ? -i : i) * 2 ** 41],
  ['equal', 1, () => -7.5],
  ['fractions', 7, (i: number) => 1 + i / 7],
  ['fractions close together', 5, (i: number) => 0.5 + i / 2 ** 30],
  ['fractions below zero', 5, (i: number) => -0.5 - i / 2 ** 30],
  ['bits with a carry', 2, (i: number) => bitsOf(0x4000_0000, 0xffff_ff00) + i * 2 ** -51],
  ['dates', 3, (i: number) => textKey(new Date(1_700_000_000_000 + i * 977).toISOString(), dateForm)],
  ['texts', 7, (i: number) => textKey(`${100 + (i % 100)} and more`, forms[0]!)],
  [
    'infinities',
    8,
    (i: number) => (i % 3 === 0 ? i : i % 3 === 1 ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY)
  ],
  ['nothing', 1, () => Number.NaN]
] as const) {
  test(`keys survive a checkpoint: ${name}`, () => {
    const spec: ColumnSpec = { path: 'a', type: Type.number, prefix: '', template: '' }
    const columnOf = (): OpenColumn => new OpenColumn(rowMemory(), 65_536, spec)
    const [column, empty, restored, other] = [columnOf(), columnOf(), columnOf(), columnOf()]
    for (let i = 0; i < place.documents; i++) {
      const key = keyAt(i)
      if (i % 5 === 4 || Number.isNaN(key)) column.outside.add(place.first + i)
      else column.set(place.first + i, key)
    }
    const record = runSteps(encodeColumnChunk([column, empty], place, rowMemory(), new ScratchArena()))
    assert.is(widthOf(record) & 15, width)
    assert.ok(decodeColumnChunk(record, [restored, other], place, rowMemory()))
    const [from, to] = [keysOf(column, 8192), keysOf(restored, 8192)]
    assert.is(
      to.findIndex((key, i) => !Object.is(key, from[i])),
      -1,
      'keys'
    )
    assert.equal(restored.outside.words(0, 8192), column.outside.words(0, 8192))
    assert.is(restored.isGrowing, column.isGrowing)
    assert.is(other.count, 0)
    for (const length of [0, 1, record.length - 1]) {
      assert.not.ok(decodeColumnChunk(record.subarray(0, length), [columnOf(), columnOf()], place, rowMemory()))
    }
    for (const each of [column, empty, restored, other]) each.free()
  })
}

test('bins are equally deep, frequent values have their own, and few values have one each', () => {
  const edgesOf = (keys: number[]): number[] => chooseEdges(Float64Array.from(keys).sort())
  assert.equal(edgesOf([3, 1, 1, 2]), [1, 2, 3])
  const even = edgesOf(Array.from({ length: 4096 }, (_, i) => i))
  assert.ok(even.length > 240 && even.length < maxBins)
  assert.ok(even.every((edge, i) => i === 0 || edge - even[i - 1]! <= 18))
  const skewed = edgesOf(Array.from({ length: 4096 }, (_, i) => (i % 2 === 0 ? 0 : i % 4 === 1 ? 1000 : i)))
  assert.is(skewed[0], 0)
  assert.ok(skewed.includes(1000) && skewed.includes(999))
  assert.ok(skewed.length < maxBins)
  fc.assert(
    fc.property(fc.array(fc.nat(2000), { maxLength: 4096, minLength: 1 }), (keys) => {
      const edges = edgesOf(keys)
      assert.ok(edges.length < maxBins)
      assert.is(edges.at(-1), Math.max(...keys))
      assert.ok(edges.every((edge, i) => i === 0 || edge > edges[i - 1]!))
    }),
    { seed, numRuns: 200 }
  )
})

test.run()
