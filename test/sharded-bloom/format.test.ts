/**
 * Golden bytes of a tiny index, as described in docs/file-formats.md. A failure means that either the change is a
 * mistake or the format needs a new number.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { createHasher } from '../../src/bloom/hash.ts'
import { type Document, Type } from '../../src/model/types.ts'
import { PairHash } from '../../src/sharded-bloom/pairs/pair-hash.ts'
import { Tag } from '../../src/sharded-bloom/pairs/pair-tags.ts'
import { PathTable } from '../../src/sharded-bloom/pairs/path-table.ts'
import { checksum } from '../../src/sharded-bloom/records/checksum.ts'
import { indexFormat } from '../../src/sharded-bloom/records/index-header.ts'
import { IndexArea, indexKey, indexRange, numberOf, ordinalOf } from '../../src/sharded-bloom/records/index-keys.ts'
import {
  decodeSegmentRecord,
  encodeSegmentRecord,
  type SegmentRecord
} from '../../src/sharded-bloom/segment/segment-record.ts'
import { IndexHarness } from '../support/index-harness.ts'

const seed = { lo: 1, hi: 2 }

function documentAt(i: number): Document {
  if (i === 512) return { a: 'x' }
  if (i === 513) return { a: [[2]] }
  if (i === 514) return { b: null }
  return {
    n: i,
    ...(i % 2 === 1 ? { half: {} } : {}),
    ...(i === 3 || i === 300 ? { few: {} } : {}),
    ...(i === 7 ? {} : { most: {} })
  }
}

const harness = await IndexHarness.open({ segmentDocuments: 512, shards: 64, rowsPerPair: 2, seed, rangeCodes: 'none' })
await harness.insert(Array.from({ length: 515 }, (_, i) => documentAt(i)))
await harness.remove([513])
const marked = harness.records.keysOf(IndexArea.dead)
await harness.close()

/** Content without its checksum, which must be right. */
function contentOf(key: string): Buffer {
  const stored = Buffer.from(harness.records.records.get(key) ?? assert.unreachable(`no record ${key}`) ?? [])
  const content = stored.subarray(0, -4)
  const keyBytes = Buffer.from(key, 'hex')
  assert.is(stored.readUInt32LE(content.length), checksum(content, checksum(keyBytes, 0)))
  return content
}

test('an index has exactly the documented records', () => {
  assert.equal([...harness.records.records.keys()].sort(), [
    '6300000000000002000000000000000000',
    '67000000000000020000000000',
    '68',
    '690000000000000200',
    '6c0000000000000000',
    '6c0000000000000200',
    '6e0000000000000000',
    '70000000000000000000000000',
    '70000000000000000000000001',
    '70000000000000000000000002',
    '72000000000000000000000000',
    '730000000000000000',
    '730000000000000200',
    '77000000000000020000000000'
  ])
  assert.equal(marked, ['640000000000000201'], 'dead marks go when they are folded')
})

test('the header is JSON with format, hash, seeds, segment size and damage mark', () => {
  assert.is(indexFormat, 9)
  assert.is(
    contentOf('68').toString(),
    '{"format":9,"hash":"murmur","seedLo":1,"seedHi":2,"segmentDocuments":512,"isDamaged":false}'
  )
  assert.is(harness.records.records.get('68')?.length, 95)
  assert.is(
    Buffer.from(harness.records.records.get('68') ?? [])
      .toString('hex')
      .slice(-8),
    '89fc1564'
  )
})

test('a sealed segment has the documented segment record', () => {
  assert.equal(JSON.parse(contentOf('730000000000000000').toString()), {
    firstOrdinal: 0,
    documents: 512,
    isSealed: true,
    shards: 64,
    rowsPerPair: 2,
    hashedPairs: 512,
    isShapeComplete: true,
    tunings: 0,
    alwaysCandidates: [],
    pairs: [],
    rowOfSlot: [],
    storedPairs: 8,
    storedPaths: 4,
    storedRows: 3,
    columnSpecs: [],
    columns: [],
    upper: { frames: 0, groupDocuments: 16, unknownGroups: 0 },
    crowdedPairs: 128,
    bytes: { hashedRows: 4096, fingerprints: 0, privateRows: 71, rangeCodes: 0, upperLevel: 0, pairTable: 153 }
  })
})

test('an open segment has the documented segment record', () => {
  assert.equal(JSON.parse(contentOf('730000000000000200').toString()), {
    firstOrdinal: 512,
    documents: 3,
    isSealed: false,
    shards: 64,
    rowsPerPair: 2,
    hashedPairs: 5,
    isShapeComplete: true,
    tunings: 0,
    alwaysCandidates: [],
    pairs: [],
    rowOfSlot: [],
    storedPairs: 7,
    storedRows: 0,
    columnSpecs: [],
    columns: [],
    upper: { frames: 1, groupDocuments: 16, unknownGroups: 0 },
    crowdedPairs: 23,
    bytes: { hashedRows: 1024, fingerprints: 0, privateRows: 28, rangeCodes: 0, upperLevel: 8192, pairTable: 78 }
  })
})

test('the private pairs of an open segment are a JSON list', () => {
  assert.is(
    contentOf('690000000000000200').toString(),
    '[["a",17,3],["a",18,0],["a",17,2],["a",17,5],["a",19,0],["b",17,1],["b",18,0]]'
  )
})

test('a segment record survives encoding, whatever its keys', () => {
  const record: SegmentRecord = {
    firstOrdinal: 2 ** 40,
    documents: 100,
    span: 1234,
    storedAt: 2 ** 52 + 7,
    isSealed: true,
    shards: 128,
    rowsPerPair: 3,
    hashedPairs: 17,
    isShapeComplete: false,
    tunings: 2,
    alwaysCandidates: [1, 99],
    pairs: [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1e300, 0.1, '', '\ud83d', '\0"'].map(
      (key) => ({
        path: 'a.\udc00',
        tag: 2,
        key
      })
    ),
    rowOfSlot: [0, 1, 2, -1, -2, 3, 4, 5],
    storedPairs: 0,
    storedRows: 9,
    columnSpecs: [{ path: 'd', type: Type.date, prefix: '', template: '' }],
    columns: [
      {
        path: 's',
        type: Type.string,
        prefix: '20',
        template: '00-00-00',
        kind: 'codes',
        count: 3,
        min: Number.NEGATIVE_INFINITY,
        max: 2.5e-300,
        rows: [-1, 6, -2],
        outside: 7,
        keys: 8,
        firstKeys: 0
      },
      {
        path: 'n',
        type: Type.number,
        prefix: '',
        template: '',
        kind: 'growing',
        count: 100,
        min: 1,
        max: 7,
        rows: [-2],
        outside: -1,
        keys: 4,
        firstKeys: 1
      },
      {
        path: 't',
        type: Type.date,
        prefix: '',
        template: '',
        kind: 'zones',
        count: 99,
        min: -1,
        max: 7,
        rows: [8, 5, -1, 3, 7],
        outside: -1,
        keys: 8,
        firstKeys: 2
      }
    ],
    upper: { frames: 7, groupDocuments: 2048, unknownGroups: -2 },
    crowdedPairs: 44,
    crowded: { bits: 26, bucketBits: 3, bytes: 99, from: 0, documents: 2 },
    bytes: { hashedRows: 1, fingerprints: 6, privateRows: 2, rangeCodes: 3, upperLevel: 4, pairTable: 5 }
  }
  assert.equal(decodeSegmentRecord(encodeSegmentRecord(record)), record)
  assert.ok(new TextDecoder().decode(encodeSegmentRecord(record)).includes('[["a.\\udc00",2,["NaN"]],'))
})

test('private pairs of a sealed segment are stored as hashes, row numbers, ends of keys, paths, tags, and keys', () => {
  const bytes = contentOf('6e0000000000000000')
  const hasher = createHasher('murmur')
  const paths = new PathTable(hasher, seed.lo, seed.hi)
  const pairHash = new PairHash(hasher, (path) => paths.seedOf(path))
  const rowOf: Readonly<Record<string, number>> = { most: 0, n: -2, half: 1, few: 2 }
  const names = JSON.parse(bytes.subarray(15 * 8 + 8).toString()) as string[]
  assert.equal([...names].sort(), ['few', 'half', 'most', 'n'])
  const number = (list: number, i: number): number => bytes.readInt32LE(4 * (8 * list + i))
  for (let i = 0; i < 8; i++) {
    const text = bytes.subarray(15 * 8).subarray(i === 0 ? 0 : number(2, i - 1), number(2, i))
    const path = names[bytes.readUInt16LE(12 * 8 + 2 * i)]!
    const tag = bytes[14 * 8 + i]!
    const key = JSON.parse(text.toString()) as number
    assert.is(number(0, i), pairHash.hash({ path, tag, key }).lo)
    assert.is(number(1, i), rowOf[path])
    if (i > 0) assert.ok(number(0, i) > number(0, i - 1))
  }
  assert.is(number(2, 7), 8)
})

test('private rows are stored as complement, dense or list, and identical ones only once', () => {
  assert.is(contentOf('70000000000000000000000000').toString('hex'), '0407')
  assert.is(contentOf('70000000000000000000000001').toString('hex'), `02${'aa'.repeat(64)}`)
  assert.is(contentOf('70000000000000000000000002').toString('hex'), '0303a802')
})

test('private rows of a chunk are stored in order, each preceded by its length', () => {
  const rows = ['0300', '020002', '0301', '0301', '0301', '0302', '0302']
  // a is in documents 0 and 1 of 3: the complement is shorter.
  rows[1] = '0402'
  const encoded = rows.map((row) => `0${row.length / 2}00${row}`).join('')
  assert.is(contentOf('67000000000000020000000000').toString('hex'), encoded)
})

test('a live bitmap is empty while all documents are live, otherwise it has a bit for every position', () => {
  assert.is(contentOf('6c0000000000000000').length, 0)
  assert.is(contentOf('6c0000000000000200').toString('hex'), `fd${'ff'.repeat(63)}`)
})

test('hashes and row numbers of pairs do not change', () => {
  const hasher = createHasher('murmur')
  const paths = new PathTable(hasher, seed.lo, seed.hi)
  assert.equal(paths.seedOf('a'), { lo: 331769565, hi: -348135769 })
  const pairHash = new PairHash(hasher, (path) => paths.seedOf(path))
  const rowsOf = (path: string, tag: number, key: number | string): readonly unknown[] => {
    const { lo, hi } = pairHash.hash({ path, tag, key })
    const rows = new Int32Array(2)
    pairHash.rows(lo, hi, 64, rows)
    return [lo, hi, ...rows]
  }
  assert.equal(rowsOf('a', Type.string, 'x'), [-898427269, -2014119633, 25, 48])
  assert.equal(rowsOf('a', Type.number, 2), [1153980896, 2032775865, 21, 57])
  assert.equal(rowsOf('a', Tag.size, 1), [-1281103948, -86728795, 0, 36])
  assert.equal(rowsOf('b', Type.null, 0), [-1015245883, -1961462802, 30, 56])
})

test('in a chunk of three documents, hashed row p starts at byte 8·p, and document d is its bit d', () => {
  const frame = contentOf('6300000000000002000000000000000000')
  assert.is(frame.length, 1024)
  const set: [row: number, document: number][] = []
  for (let byte = 0; byte < frame.length; byte++) {
    for (let bit = 0; bit < 8; bit++) {
      if ((frame[byte]! & (1 << bit)) !== 0) set.push([byte >> 3, (byte & 7) * 8 + bit])
    }
  }
  assert.equal(set, [
    [0, 1],
    [21, 1],
    [25, 0],
    [30, 2],
    [36, 1],
    [48, 0],
    [56, 2],
    [57, 1]
  ])
})

test('the upper level of a chunk that is the complete segment is stored word by word', () => {
  const bytes = contentOf('77000000000000020000000000')
  assert.is(bytes.length, 8192)
  const set = Array.from({ length: 2048 }, (_, word) => word).filter((word) => bytes.readUInt32LE(4 * word) !== 0)
  // Three values and the length of an array: five words each, all with the bit of the first group.
  assert.is(set.length, 20)
  for (const word of set) assert.is(bytes.readUInt32LE(4 * word), 1)
})

test('hashed rows of a sealed segment are stored in records with a checksum', () => {
  const stored = Buffer.from(harness.records.records.get('72000000000000000000000000') ?? [])
  assert.is(contentOf('72000000000000000000000000').length, 64 * 64)
  assert.is(stored.toString('hex').slice(-8), 'f8dbab86')
})

test('keys are big-endian and ascend with the ordinal', () => {
  const key = indexKey(IndexArea.chunkRows, 2 ** 32 + 5, 1, 258)
  assert.is(Buffer.from(key).toString('hex'), '6300000001000000050000000100000102')
  assert.is(ordinalOf(key), 2 ** 32 + 5)
  assert.equal([numberOf(key, 0), numberOf(key, 1), numberOf(key, 2)], [1, 258, undefined])
  assert.is(ordinalOf(Uint8Array.of(IndexArea.dead, 1)), undefined)
  const [from, to] = indexRange(IndexArea.chunkRows, 2 ** 32 + 5)
  assert.ok(Buffer.compare(from, key) < 0 && Buffer.compare(key, to) < 0)
  assert.ok(Buffer.compare(key, indexKey(IndexArea.chunkRows, 2 ** 53 - 1, 0, 0)) < 0)
})

test.run()
