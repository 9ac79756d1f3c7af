/**
 * Golden bytes of columns and of the upper level, as described in docs/file-formats.md. A failure means that either the
 * change is a mistake or the format needs a new number.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { createHasher } from '../../src/bloom/hash.ts'
import { type Document, Type } from '../../src/model/types.ts'
import { PairHash } from '../../src/sharded-bloom/pairs/pair-hash.ts'
import { PathTable } from '../../src/sharded-bloom/pairs/path-table.ts'
import { textKey } from '../../src/sharded-bloom/ranges/range-key.ts'
import { IndexArea } from '../../src/sharded-bloom/records/index-keys.ts'
import { IndexHarness } from '../support/index-harness.ts'

const seed = { lo: 1, hi: 2 }
/** Form of the texts below. */
const form = { prefix: '', template: '#-0000' }

/** A growing time, a number out of few (sometimes two on one path), a text out of many. */
function documentAt(i: number): Document {
  const n = i % 64 === 1 ? [1, 2] : i % 8 === 0 ? null : (i * 37) % 5
  return { at: 1000 + (i >> 1), n, s: `#-${1000 + ((i * 31) % 512)}` }
}

const harness = await IndexHarness.open({ segmentDocuments: 512, shards: 64, rowsPerPair: 2, seed, rangeCodes: 'all' })
// The first segment has no columns: they are chosen from a sample of it.
await harness.insert(Array.from({ length: 1030 }, (_, i) => documentAt(i)))
await harness.close()

function contentOf(key: string): Buffer {
  return Buffer.from(harness.records.records.get(key) ?? []).subarray(0, -4)
}

function doublesOf(key: string): number[] {
  const bytes = contentOf(key)
  return Array.from({ length: bytes.length / 8 }, (_, i) => bytes.readDoubleLE(8 * i))
}

interface StoredSegment {
  readonly columns: readonly unknown[]
  readonly columnSpecs: readonly unknown[]
  readonly upper: unknown
  readonly bytes: { readonly rangeCodes: number; readonly upperLevel: number }
}

function segmentOf(first: string): StoredSegment {
  return JSON.parse(contentOf(`7300000000${first}`).toString()) as StoredSegment
}

const sealed = segmentOf('00000200')
const open = segmentOf('00000400')

test('the records of sealed and open segments describe their columns', () => {
  const least = textKey('#-1000', form)
  const greatest = textKey('#-1511', form)
  assert.equal(sealed.columns, [
    ['at', Type.number, '', 'growing', 512, 1256, 1511, [-2, 8, 9, 10, 11], -1, 16, 0],
    ['s', Type.string, ['', '#-0000'], 'codes', 512, least, greatest, [12, 13, 14, 15, 16, 17, 18, 19], -1, 342, 1],
    ['n', Type.number, '', 'codes', 440, 0, 4, [20, 21, 22], 6, 10, 2]
  ])
  assert.equal(sealed.columnSpecs, [])
  assert.equal(open.columns, [])
  assert.equal(open.columnSpecs, [
    ['at', Type.number, ''],
    ['s', Type.string, ['', '#-0000']],
    ['n', Type.number, '']
  ])
})

test('a growing column stores the key of every 32nd position', () => {
  assert.equal(
    doublesOf('6b000000000000020000000000'),
    Array.from({ length: 16 }, (_, group) => 1256 + 16 * group)
  )
})

test('a column of codes stores the least and the greatest key of each bin', () => {
  assert.equal(doublesOf('6b000000000000020000000002'), [0, 0, 1, 1, 2, 2, 3, 3, 4, 4])
})

test('a growing column stores how many sixteenths each key is on its way to the next stored one', () => {
  const rows = ['08', '09', '0a', '0b'].map((row) => contentOf(`700000000000000200000000${row}`))
  for (const row of rows) assert.is(row[0], 2, 'dense')
  for (let d = 0; d < 512; d++) {
    const sixteenth = rows.reduce((sum, row, bit) => sum + (((row[1 + (d >> 3)]! >> (d & 7)) & 1) << bit), 0)
    // Two documents have each key, and stored keys are 16 apart.
    assert.is(sixteenth, (d % 32) >> 1)
  }
})

test('bit d of slice b is bit b of the code of the document at position d', () => {
  const rows = ['14', '15', '16'].map((row) => contentOf(`700000000000000200000000${row}`))
  for (const row of rows) assert.is(row[0], 2, 'dense')
  for (let d = 0; d < 512; d++) {
    const { n } = documentAt(512 + d)
    const code = rows.reduce((sum, row, bit) => sum + (((row[1 + (d >> 3)]! >> (d & 7)) & 1) << bit), 0)
    assert.is(code, typeof n === 'number' ? n + 1 : 0)
  }
})

test('the key of a text is the eight bytes after the prefix, halved, or made of the digits of its template', () => {
  const bits = new DataView(new ArrayBuffer(8))
  bits.setFloat64(0, textKey('#-1511', { prefix: '#-1', template: '' }))
  assert.is(bits.getBigUint64(0), BigInt('0x3531310000000000') >> 1n)
  const bitsOf = (text: string): bigint => {
    bits.setFloat64(0, textKey(text, form))
    return bits.getBigUint64(0)
  }
  const numberOf = (k: number, dash: number, ...digits: number[]): bigint =>
    BigInt(digits.reduce((number, digit) => 12 * number + digit, 3 * k + dash))
  assert.is(bitsOf('#-1511'), numberOf(1, 1, 2, 6, 2, 2))
  assert.is(bitsOf('#-1511 and more'), numberOf(1, 1, 2, 6, 2, 2))
  assert.is(bitsOf('#-15'), numberOf(1, 1, 2, 6, 0, 0))
  assert.is(bitsOf('#-1:11'), numberOf(1, 1, 2, 11, 0, 0))
  assert.is(bitsOf('#.1511'), numberOf(1, 2, 0, 0, 0, 0))
  assert.is(bitsOf('!-1511'), numberOf(0, 0, 0, 0, 0, 0))
})

test('each column of a chunk is stored as outsiders, documents and keys', () => {
  const none = '0100' + '00'
  const all = '0100' + '01'
  const keysOf = (width: number, least: number, above: string): string => {
    const bytes = Buffer.alloc(8)
    bytes.writeDoubleLE(least)
    return `0${width}${bytes.toString('hex')}${above}`
  }
  const bits = Array.from({ length: 6 }, (_, i) => {
    const bytes = Buffer.alloc(8)
    bytes.writeDoubleLE(textKey(String(documentAt(1024 + i).s), form))
    return bytes.readBigUInt64LE()
  })
  const least = Buffer.alloc(8)
  least.writeBigUInt64LE(bits[0]!)
  const aboveLeast = Buffer.from(bits.map((each) => Number(each - bits[0]!))).toString('hex')
  const expected = [
    [none, all, keysOf(1, 1512, '000001010202')],
    // As bits, a byte each.
    [none, all, `11${least.toString('hex')}${aboveLeast}`],
    // Null at position 0, two numbers at 1; then 2, 4, 1, 3, stored relative to the least key, 1.
    [`0200${'0301'}`, `0300${'040000'}`, keysOf(1, 1, '01030002')]
  ]
  assert.is(contentOf('76000000000000040000000000').toString('hex'), expected.flat().join(''))
})

test('the upper level has five words of a frame for each pair, with a bit for each group', () => {
  assert.equal(sealed.upper, { frames: 1, groupDocuments: 16, unknownGroups: 0 })
  assert.is(sealed.bytes.upperLevel, 8192)
  assert.equal(harness.records.keysOf(IndexArea.upperLevel), ['75000000000000020000000000'])
  const frame = contentOf('75000000000000020000000000')
  assert.is(frame.length, 8192)
  const hasher = createHasher('murmur')
  const paths = new PathTable(hasher, seed.lo, seed.hi)
  const { lo, hi } = new PairHash(hasher, (path) => paths.seedOf(path)).hash({
    path: 'at',
    tag: Type.number,
    key: 1256 + 100
  })
  const words = [1888, 1397, 534, 868, 1933]
  let state = Math.imul(lo ^ ((hi << 16) | (hi >>> 16)), 0x9e3779b1)
  const probed = words.map(() => {
    state = (Math.imul(state, 0x915f77f5) + (hi | 1)) | 0
    return state >>> 21
  })
  assert.equal(probed, words)
  const groups = words.reduce((all, word) => all & frame.readInt32LE(4 * word), -1)
  // Positions 200 and 201 are in group 12.
  assert.ok((groups & (1 << 12)) !== 0)
})

test.run()
