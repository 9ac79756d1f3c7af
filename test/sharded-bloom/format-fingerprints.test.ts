/** Golden bytes of a tail of fingerprints, as described in docs/file-formats.md. See format.test.ts. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { createHasher } from '../../src/bloom/hash.ts'
import { type Document, Type } from '../../src/model/types.ts'
import { PairHash } from '../../src/sharded-bloom/pairs/pair-hash.ts'
import { PathTable } from '../../src/sharded-bloom/pairs/path-table.ts'
import { checksum } from '../../src/sharded-bloom/records/checksum.ts'
import { indexFormat } from '../../src/sharded-bloom/records/index-header.ts'
import { IndexArea } from '../../src/sharded-bloom/records/index-keys.ts'
import { decodeSegmentRecord } from '../../src/sharded-bloom/segment/segment-record.ts'
import { fingerprintOf } from '../../src/sharded-bloom/segment/tail/codec.ts'
import { IndexHarness } from '../support/index-harness.ts'

const seed = { lo: 1, hi: 2 }
const harness = await IndexHarness.open({ segmentDocuments: 512, tail: 'fingerprint', seed, rangeCodes: 'none' })
/** 512 documents with a value of their own and one that they share, and three documents of the next segment. */
await harness.insert(Array.from({ length: 515 }, (_, i): Document => (i < 512 ? { n: i, all: 1 } : { n: i - 512 })))
await harness.close()

/** Content without its checksum, which must be right. */
function contentOf(key: string): Buffer {
  const stored = Buffer.from(harness.records.records.get(key) ?? assert.unreachable(`no record ${key}`) ?? [])
  const content = stored.subarray(0, -4)
  assert.is(stored.readUInt32LE(content.length), checksum(content, checksum(Buffer.from(key, 'hex'), 0)))
  return content
}

function recordOf(key: string): Record<string, unknown> {
  return JSON.parse(contentOf(key).toString()) as Record<string, unknown>
}

const hasher = createHasher('murmur')
const paths = new PathTable(hasher, seed.lo, seed.hi)
const pairHash = new PairHash(hasher, (path) => paths.seedOf(path))
const codeOf = (path: string, key: number, bits: number): number => {
  const { lo, hi } = pairHash.hash({ path, tag: Type.number, key })
  return fingerprintOf(lo, hi, bits)
}

test('an index with fingerprints has the same format number, and neither hashed rows nor an upper level', () => {
  assert.is(indexFormat, 9)
  assert.is(harness.records.keysOf(IndexArea.hashedRows).length, 0)
  assert.is(harness.records.keysOf(IndexArea.upperLevel).length, 0)
})

test('segment records have 0 shards, so that a version without fingerprints rebuilds the index', () => {
  const { shards, rowsPerPair, upper, fingerprints, bytes } = recordOf('730000000000000000')
  const stored = { shards, rowsPerPair, upper, fingerprints, bytes }
  assert.equal(stored, {
    shards: 0,
    rowsPerPair: 1,
    upper: { frames: 0, groupDocuments: 16, unknownGroups: 0 },
    fingerprints: { bits: 24, bucketBits: 3, bytes: 1779 },
    bytes: { hashedRows: 0, fingerprints: 1815, privateRows: 0, rangeCodes: 0, upperLevel: 0, pairTable: 75 }
  })
  assert.equal(recordOf('730000000000000200').fingerprints, { bits: 20, bucketBits: 0, bytes: 0 })
})

test('fingerprints consist of bits of the hash', () => {
  assert.equal(
    ['n', 'all'].map((path) => codeOf(path, 1, 24).toString(16)),
    ['5847fe', 'cbd872']
  )
  assert.is(codeOf('n', 1, 18), codeOf('n', 1, 24) >>> 6)
})

test('the record of buckets has the start of each, and the end of the last one', () => {
  const ends = contentOf('62000000000000000000000000')
  assert.is(ends.length, 4 * (8 + 1))
  assert.is(ends.readUInt32LE(0), 0)
  assert.is(ends.readUInt32LE(32), 1779)
  assert.is(contentOf('66000000000000000000000000').length, 1779)
})

test('a run of a chunk is stored as documents, parts, their lengths, and a bucket of all codes', () => {
  const run = contentOf('6500000000000002000000000000000000')
  assert.is(run.toString('hex'), ['0300', '0000', '09000000', '76b2865c776a14ffa8'].join(''))
})

test('an inconsistent segment record is damage', () => {
  const sealed = recordOf('730000000000000000')
  const fingerprints = sealed.fingerprints as object
  for (const wrong of [
    { ...sealed, shards: 64 },
    { ...sealed, fingerprints: null },
    { ...sealed, fingerprints: { ...fingerprints, bits: 17 } },
    { ...sealed, fingerprints: { ...fingerprints, bits: 31 } },
    { ...sealed, fingerprints: { ...fingerprints, bucketBits: 25 } },
    { ...sealed, fingerprints: { ...fingerprints, bucketBits: -1 } },
    { ...sealed, fingerprints: { ...fingerprints, bytes: 2 ** 28 + 1 } },
    { ...sealed, fingerprints: { ...fingerprints, bytes: 0.5 } },
    { ...sealed, fingerprints: undefined }
  ]) {
    try {
      decodeSegmentRecord(new TextEncoder().encode(JSON.stringify(wrong)))
      assert.unreachable(JSON.stringify(wrong))
    } catch (error) {
      assert.is((error as { codeName?: string }).codeName, 'IndexDamaged')
    }
  }
})

test.run()
