/**
 * When index records are lost, truncated, overwritten or changed in one bit, the index still answers soundly, or is
 * rebuilt. Damage never hides a document and never shows a deleted one.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { rowMemory } from '../../src/bloom/kernels/index.ts'
import { compileFilter } from '../../src/query/filter.ts'
import { checksum } from '../../src/sharded-bloom/records/checksum.ts'
import { indexFormat } from '../../src/sharded-bloom/records/index-header.ts'
import { IndexArea, indexKey } from '../../src/sharded-bloom/records/index-keys.ts'
import { generateTweets } from '../../src/workload/index.ts'
import { testSeed } from '../support/arbitraries.ts'
import { IndexHarness, RecordMap } from '../support/index-harness.ts'

const seed = testSeed()
let state = seed | 0
function random(below: number): number {
  state = (Math.imul(state, 1664525) + 1013904223) | 0
  return Math.floor(((state >>> 8) / 2 ** 24) * below)
}

const encoder = new TextEncoder()
const tweets = [...generateTweets({ count: 1400 })]
const sample = tweets[700]!
const filters = [
  {},
  { lang: 'en' },
  { lang: { $ne: 'en' } },
  { 'user.verified': true, lang: 'en' },
  { place: null },
  { possibly_sensitive: { $exists: false } },
  { 'entities.hashtags': { $size: 0 } },
  { id_str: sample.id_str },
  { text: sample.text },
  { 'user.screen_name': sample.user.screen_name },
  { 'user.id': { $in: tweets.slice(0, 50).map((tweet) => tweet.user.id) } }
].map((filter) => compileFilter(filter))

const kinds: readonly (readonly [name: string, change: (bytes: Uint8Array) => Uint8Array | undefined])[] = [
  ['lost', () => undefined],
  ['empty', () => new Uint8Array(0)],
  ['cut by a byte', (bytes) => bytes.subarray(0, -1)],
  ['cut somewhere', (bytes) => bytes.subarray(0, random(bytes.length))],
  ['longer by a byte', (bytes) => Uint8Array.from([...bytes, 0])],
  [
    'changed in one bit',
    (bytes) => {
      const changed = bytes.slice()
      if (changed.length > 0) changed[random(changed.length)]! ^= 1 << random(8)
      return changed
    }
  ],
  ['zeros', (bytes) => new Uint8Array(bytes.length)]
]

async function build(tail: 'bloom' | 'fingerprint'): Promise<IndexHarness> {
  const harness = await IndexHarness.open({ segmentDocuments: 512, tail })
  await harness.insert(tweets.slice(0, 1200))
  await harness.remove(Array.from({ length: 200 }, (_, i) => i * 6))
  await harness.rebuild()
  await harness.insert(tweets.slice(1200, 1300))
  await harness.reopen()
  // The remains of a rebuild that failed and could not clean up.
  const unpublished = harness.rebuild(() => {
    harness.records.failAfterWrites = 0
  })
  await unpublished.catch(() => undefined)
  harness.records.failAfterWrites = Number.POSITIVE_INFINITY
  await harness.insert(tweets.slice(1300))
  await harness.close()
  return harness
}

const pristine = await build('bloom')
const fingerprinted = await build('fingerprint')
/** Areas that only `fingerprinted` has. */
const ofFingerprints: readonly number[] = [IndexArea.fingerprints, IndexArea.buckets, IndexArea.chunkFingerprints]
const pristineOf = (area: number): IndexHarness => (ofFingerprints.includes(area) ? fingerprinted : pristine)

async function checkDamaged(from: IndexHarness, key: string, value: Uint8Array | undefined): Promise<IndexHarness> {
  const harness = from.crashed()
  if (value === undefined) harness.records.records.delete(key)
  else harness.records.records.set(key, value)
  await harness.open()
  await harness.check(filters)
  await harness.reopen()
  await harness.check(filters)
  await harness.close()
  return harness
}

/** Free frames while all indexes are closed. */
const framesBefore = rowMemory().freeFrames

/** Areas that opening the index does not read. */
const readLate: readonly number[] = [
  IndexArea.pairTable,
  IndexArea.openPairs,
  IndexArea.hashedRows,
  IndexArea.privateRow,
  IndexArea.columnKeys,
  IndexArea.upperLevel,
  IndexArea.fingerprints,
  IndexArea.buckets,
  IndexArea.chunkRows,
  IndexArea.chunkPrivate,
  IndexArea.chunkColumns,
  IndexArea.chunkFingerprints
]
/** Lists of records to delete, and an area that only saves time. */
const neverMissed: readonly number[] = [IndexArea.leftovers, IndexArea.chunkUpper]
/** Keys without content: of deleted documents, and of documents written to collections with computed ordinals. */
const marks: readonly number[] = [IndexArea.dead, IndexArea.written]
const areas = Object.entries(IndexArea).filter(([, area]) => !marks.includes(area))

for (const [name, area] of areas) {
  test(`damage to a record of the area '${name}' is harmless`, async () => {
    const from = pristineOf(area)
    const keys = from.records.keysOf(area)
    assert.ok(keys.length > 0, 'there are records')
    for (let i = 0; i < Math.min(2, keys.length); i++) {
      const key = keys[keys.length <= 2 ? i : random(keys.length)]!
      for (const [kind, change] of kinds) {
        const original = from.records.records.get(key)!
        try {
          await checkDamaged(from, key, change(original))
        } catch (error) {
          throw new Error(`record ${key} of '${name}', ${kind}: ${(error as Error).message}`, { cause: error })
        }
      }
    }
  })
}

test('a record replaced by another one of its area is harmless', async () => {
  for (const [name, area] of areas) {
    const from = pristineOf(area)
    const [first, second] = from.records.keysOf(area)
    if (first === undefined || second === undefined) continue
    try {
      await checkDamaged(from, second, from.records.records.get(first))
    } catch (error) {
      throw new Error(`'${name}': ${(error as Error).message}`, { cause: error })
    }
  }
})

test('damaged indexes have released their memory when closed', () => {
  assert.is(rowMemory().freeFrames, framesBefore)
})

test('damage found on opening is reported, and the index rebuilt', async () => {
  for (const [name, area] of areas) {
    // Pairs and rows are read only when a query needs them; records of `neverMissed` are not needed.
    if ([...readLate, ...neverMissed].includes(area)) continue
    const harness = pristine.crashed()
    const [key] = harness.records.keysOf(area) as [string]
    harness.records.records.set(key, new Uint8Array(5))
    await harness.open()
    assert.is(harness.damage.length, 1, name)
    assert.is(harness.index.stats().recovered, harness.documents.size, name)
    await harness.close()
  }
})

for (const [name, area] of areas.filter(([, area]) => readLate.includes(area))) {
  test(`damage that a query finds in '${name}' is reported once, and the next open rebuilds the index`, async () => {
    const harness = pristineOf(area).crashed()
    for (const key of harness.records.keysOf(area)) harness.records.records.delete(key)
    await harness.open()
    assert.is(harness.index.stats().recovered, 0)
    await harness.check([...filters, compileFilter({ timestamp_ms: { $gte: sample.timestamp_ms } })])
    assert.is(harness.damage.length, 1)
    assert.match(harness.damage[0]!, /segment at ordinal \d+/)
    await harness.reopen()
    assert.is(harness.index.stats().recovered, harness.documents.size)
    await harness.check(filters)
    assert.is(harness.damage.length, 1)
    await harness.close()
  })
}

/** Malformed private pairs: as they are and their number, changed in place. */
const malformedPairs: readonly (readonly [name: string, change: (bytes: Uint8Array, count: number) => void])[] = [
  ['texts that are no JSON', (bytes, count) => bytes.fill(0x7b, 15 * count, endOfTexts(bytes, count))],
  ['texts that are no UTF-8', (bytes, count) => bytes.fill(0xff, 15 * count, endOfTexts(bytes, count))],
  [
    'texts that are no keys',
    (bytes, count) => bytes.fill(0x20, 15 * count, endOfTexts(bytes, count)).set(encoder.encode('{}'), 15 * count)
  ],
  ['hashes out of order', (bytes) => bytes.subarray(0, 8).reverse()],
  ['a row below all others', (bytes, count) => bytes.set([0xf0, 0xff, 0xff, 0xff], 4 * count)],
  ['a row beyond all others', (bytes, count) => bytes.set([0xff, 0xff, 0xff, 0x7f], 4 * count)]
]

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}

function endOfTexts(bytes: Uint8Array, count: number): number {
  return 15 * count + new DataView(bytes.buffer, bytes.byteOffset).getUint32(12 * count - 4, true)
}

for (const [name, change] of malformedPairs) {
  test(`private pairs with a right checksum, but ${name}, are damage`, async () => {
    const harness = pristine.crashed()
    const { records } = harness.records
    for (const segment of harness.records.keysOf(IndexArea.segment)) {
      const record = JSON.parse(Buffer.from(records.get(segment)!.subarray(0, -4)).toString())
      const { firstOrdinal, storedAt = firstOrdinal, storedPairs, isSealed } = record
      if (!isSealed) continue
      const key = hexOf(indexKey(IndexArea.pairTable, storedAt))
      const content = records.get(key)!.slice(0, -4)
      change(content, storedPairs)
      records.set(key, framed(key, content))
    }
    await harness.open()
    const view = harness.index.capture(harness.limit)
    for (let i = 0; i < view.segmentCount; i++) {
      await view.values!(i, 'lang')
      await view.types!(i)
    }
    view.close()
    await harness.check(filters)
    assert.is(harness.damage.length, 1)
    assert.match(harness.damage[0]!, /private pairs of the segment at ordinal \d+ are damaged/)
    await harness.insert(tweets.slice(0, 1000))
    await harness.check(filters)
    await harness.reopen()
    assert.is(harness.index.stats().recovered, harness.documents.size)
    await harness.check(filters)
    await harness.close()
  })
}

test('private pairs of the open segment with a right checksum that are malformed are damage', async () => {
  const malformed = ['', '[', '{}', '[]', '[["lang",2]]', '[["lang",2,{}]]', '\xff']
  for (const text of malformed) {
    const harness = pristine.crashed()
    const [key] = harness.records.keysOf(IndexArea.openPairs)
    harness.records.records.set(key!, framed(key!, Buffer.from(text, 'latin1')))
    await harness.open()
    assert.is(harness.index.stats().recovered, 0, text)
    await harness.check(filters)
    assert.is(harness.damage.length, 1, text)
    assert.match(harness.damage[0]!, /private pairs of the segment at ordinal \d+ are damaged/i)
    await harness.insert(tweets.slice(0, 300))
    await harness.check(filters)
    await harness.reopen()
    assert.is(harness.index.stats().recovered, harness.documents.size, text)
    await harness.check(filters)
    await harness.close()
  }
})

test('a private row of the open segment with a right checksum that is malformed is damage', async () => {
  const malformed: readonly (readonly [row: number, bytes: readonly number[]])[] = [
    [0, []],
    [0, [9]],
    [0, [2, 1]],
    [3, [3, 0x80]],
    [3, [3, 0xff, 0xff, 0x7f]]
  ]
  for (const [row, stored] of malformed) {
    for (const from of [pristine, fingerprinted]) {
      const harness = from.crashed()
      for (const key of harness.records.keysOf(IndexArea.chunkPrivate)) {
        const bytes = harness.records.records.get(key)!.slice(0, -4)
        let at = 0
        for (let i = 0; i < row; i++) at += 2 + (bytes[at]! | (bytes[at + 1]! << 8))
        const end = at + 2 + (bytes[at]! | (bytes[at + 1]! << 8))
        const changed = [...bytes.subarray(0, at), stored.length, 0, ...stored, ...bytes.subarray(end)]
        harness.records.records.set(key, framed(key, Uint8Array.from(changed)))
      }
      await harness.open()
      await harness.insert(tweets.slice(0, 300))
      await harness.check(filters)
      assert.is(harness.damage.length, 1)
      assert.match(harness.damage[0]!, /private row \d+ of a chunk is unreadable/)
      await harness.rebuild()
      await harness.check(filters)
      await harness.reopen()
      await harness.check(filters)
      assert.is(harness.damage.length, 1)
      await harness.close()
    }
  }
})

test('columns of the open segment with a right checksum that are malformed are damage', async () => {
  const range = compileFilter({ timestamp_ms: { $gte: sample.timestamp_ms } })
  const changes: readonly ((bytes: Uint8Array) => Uint8Array)[] = [
    (bytes) => bytes.subarray(0, bytes.length >> 1),
    (bytes) => bytes.fill(0xff, bytes.length >> 1),
    (bytes) => Uint8Array.of(...bytes, 0)
  ]
  for (const change of changes) {
    const harness = pristine.crashed()
    for (const key of harness.records.keysOf(IndexArea.chunkColumns)) {
      harness.records.records.set(key, framed(key, change(harness.records.records.get(key)!.slice(0, -4))))
    }
    await harness.open()
    await harness.check([...filters, range])
    assert.is(harness.damage.length, 1)
    assert.match(harness.damage[0]!, /a record of columns is unreadable/)
    await harness.insert(tweets.slice(0, 700))
    await harness.check([...filters, range])
    await harness.reopen()
    assert.is(harness.index.stats().recovered, harness.documents.size)
    await harness.check([...filters, range])
    await harness.close()
  }
})

test('a list of leftovers with a right checksum that is no list is damage', async () => {
  for (const content of ['[1,', '{}', 'null', '["x"]', '[-1]', '[9007199254740993]']) {
    const harness = pristine.crashed()
    const key = hexOf(indexKey(IndexArea.leftovers))
    harness.records.records.set(key, framed(key, encoder.encode(content)))
    await harness.open()
    assert.is(harness.damage.length, 1, content)
    assert.is(harness.index.stats().recovered, harness.documents.size, content)
    await harness.check(filters)
    await harness.reopen()
    assert.is(harness.damage.length, 1, content)
    await harness.close()
  }
})

test('writes continue when the open segment was damaged, and survive a crash', async () => {
  for (const area of [
    IndexArea.chunkRows,
    IndexArea.chunkPrivate,
    IndexArea.chunkColumns,
    IndexArea.chunkFingerprints
  ]) {
    const harness = pristineOf(area).crashed()
    for (const key of harness.records.keysOf(area)) harness.records.records.set(key, new Uint8Array(5))
    await harness.open()
    const before = harness.snapshot()
    await harness.insert(tweets.slice(0, 1000))
    await harness.remove([harness.limit - 1, harness.limit - 700])
    await harness.check(filters)
    await before.check(filters)
    const crashed = harness.crashed()
    await crashed.open()
    await crashed.check(filters)
    await crashed.close()
    before.view.close()
    await harness.close()
  }
})

test('an index with another segment size is rebuilt', async () => {
  const { records } = pristine.crashed()
  const harness = new IndexHarness({ segmentDocuments: 1024 }, records, pristine.source, pristine.limit)
  await harness.open()
  assert.is(harness.index.stats().recovered, harness.documents.size)
  await harness.check(filters)
  await harness.close()
})

test('an index that counts fewer or more live documents than the store is rebuilt', async () => {
  const harness = pristine.crashed()
  await harness.open()
  const [ordinal] = harness.documents.keys()
  await harness.remove([ordinal!])
  const crashed = harness.crashed()
  // With the mark of the deletion lost, only the number of documents can reveal it.
  for (const key of crashed.records.keysOf(IndexArea.dead)) crashed.records.records.delete(key)
  await crashed.open()
  assert.is(crashed.damage.length, 1)
  assert.is(crashed.index.liveCount(crashed.limit), crashed.documents.size)
  assert.equal(crashed.index.stats().damage, crashed.damage)
  await crashed.check(filters)
  await crashed.close()
  await harness.close()
})

/** The content of a record, with a right checksum. */
function framed(key: string, content: Uint8Array): Uint8Array {
  const record = Buffer.alloc(content.length + 4)
  record.set(content)
  record.writeUInt32LE(checksum(content, checksum(Buffer.from(key, 'hex'), 0)), content.length)
  return record
}

test('an index of a later format is refused and left unchanged', async () => {
  const harness = pristine.crashed()
  const [key] = harness.records.keysOf(IndexArea.header)
  const stored = harness.records.records.get(key!)!
  const header = JSON.parse(Buffer.from(stored.subarray(0, -4)).toString())
  const later = Buffer.from(JSON.stringify({ ...header, format: indexFormat + 1, more: true }))
  harness.records.records.set(key!, framed(key!, later))
  const before = new RecordMap(harness.records.records)
  try {
    await harness.open()
    assert.unreachable()
  } catch (error) {
    assert.is((error as { codeName?: string }).codeName, 'UnsupportedFormat')
  }
  assert.equal(harness.records.records, before.records)
})

test('the checksum is MurmurHash3_x86_32', () => {
  const of = (text: string, start = 0): number => checksum(new TextEncoder().encode(text), start)
  assert.is(of(''), 0)
  assert.is(of('', 1), 0x514e28b7)
  assert.is(of('test'), 0xba6bd213)
  assert.is(of('Hello, world!'), 0xc0363e43)
  assert.is(of('The quick brown fox jumps over the lazy dog'), 0x2e4ff723)
})

test.run()
