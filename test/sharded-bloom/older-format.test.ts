/**
 * Indexes of format 2, whose segment records contain their pairs, of format 7, whose pairs repeat their paths, and of
 * format 8, whose open segments have their pairs in the segment record, are read as they are; writes use the current
 * format.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { compileFilter } from '../../src/query/filter.ts'
import { checksum } from '../../src/sharded-bloom/records/checksum.ts'
import { indexFormat } from '../../src/sharded-bloom/records/index-header.ts'
import { IndexArea } from '../../src/sharded-bloom/records/index-keys.ts'
import { generateTweets } from '../../src/workload/index.ts'
import { IndexHarness } from '../support/index-harness.ts'

const tweets = [...generateTweets({ count: 1400 })]
const sample = tweets[700]!
const filters = [
  {},
  { lang: 'en' },
  { lang: { $ne: 'en' } },
  { place: null, 'user.verified': true },
  { id_str: sample.id_str },
  { timestamp_ms: { $gte: sample.timestamp_ms } }
].map((filter) => compileFilter(filter))

type Json = Record<string, unknown>

function contentOf(harness: IndexHarness, key: string): Buffer {
  return Buffer.from(harness.records.records.get(key) ?? []).subarray(0, -4)
}

function put(harness: IndexHarness, key: string, value: Json | Buffer): void {
  const content = Buffer.isBuffer(value) ? value : Buffer.from(JSON.stringify(value))
  const framed = Buffer.alloc(content.length + 4)
  content.copy(framed)
  framed.writeUInt32LE(checksum(content, checksum(Buffer.from(key, 'hex'), 0)), content.length)
  harness.records.records.set(key, framed)
}

/** Keeps, for zones and growing keys, only the row of the column's documents. */
function withoutSixteenths(column: unknown[]): unknown[] {
  return column.map((part, i) => (i === 7 && column[3] !== 'codes' ? (part as number[]).slice(0, 1) : part))
}

const frameBytes = 8192

/** Writes the records as before format 6: rows of every chunk as long as in a complete one. REQUIRES: M is 512. */
function makeWhole(harness: IndexHarness, format: number): void {
  const header: Json = JSON.parse(contentOf(harness, '68').toString())
  put(harness, '68', { ...header, format })
  const rowBytes = 512 / 8
  const rows = frameBytes / rowBytes
  for (const key of harness.records.keysOf(IndexArea.chunkRows)) {
    const short = contentOf(harness, key)
    const shortBytes = short.length / rows
    assert.ok(shortBytes < rowBytes, 'the chunk is not complete')
    const whole = Buffer.alloc(frameBytes)
    for (let row = 0; row < rows; row++) short.copy(whole, row * rowBytes, row * shortBytes, (row + 1) * shortBytes)
    put(harness, key, whole)
  }
}

interface StoredPair {
  readonly lo: number
  readonly row: number
  /** JSON: path, tag and key. */
  readonly text: string
}

function tableKey(record: Json): string {
  return `6e${BigInt(Number(record.storedAt ?? record.firstOrdinal))
    .toString(16)
    .padStart(16, '0')}`
}

function pairsOf(harness: IndexHarness, record: Json): StoredPair[] {
  const table = contentOf(harness, tableKey(record))
  const count = Number(record.storedPairs)
  const ends = Array.from({ length: count }, (_, i) => table.readUInt32LE(4 * (2 * count + i)))
  const keys = table.subarray(15 * count)
  const paths = JSON.parse(keys.subarray(ends.at(-1)).toString()) as string[]
  assert.is(paths.length, record.storedPaths)
  return ends.map((end, i) => {
    const path = JSON.stringify(paths[table.readUInt16LE(12 * count + 2 * i)])
    const key = keys.subarray(ends[i - 1] ?? 0, end).toString()
    const text = `[${path},${table[14 * count + i]},${key}]`
    return { lo: table.readInt32LE(4 * i), row: table.readInt32LE(4 * (count + i)), text }
  })
}

/** Moves the pairs of the open segment into its segment record, where they were before format 9. */
function makeFormat8(harness: IndexHarness): void {
  const header: Json = JSON.parse(contentOf(harness, '68').toString())
  put(harness, '68', { ...header, format: 8 })
  const [open, ...others] = harness.records.keysOf(IndexArea.openPairs)
  assert.ok(open !== undefined && others.length === 0, 'there is one open segment')
  const key = open.replace(/^../, '73')
  const { storedPairs, bytes, ...record }: Json = JSON.parse(contentOf(harness, key).toString())
  const pairs = JSON.parse(contentOf(harness, open).toString()) as Json[]
  assert.is(pairs.length, storedPairs)
  put(harness, key, { ...record, pairs, storedPairs: 0, bytes: { ...(bytes as Json), pairTable: 0 } })
  harness.records.records.delete(open)
}

/** Writes the records of sealed segments as before format 8: pairs with their paths. */
function makeFormat7(harness: IndexHarness): void {
  makeFormat8(harness)
  const header: Json = JSON.parse(contentOf(harness, '68').toString())
  put(harness, '68', { ...header, format: 7 })
  for (const key of harness.records.keysOf(IndexArea.segment)) {
    const { storedPaths, ...record }: Json = JSON.parse(contentOf(harness, key).toString())
    if (record.isSealed !== true) continue
    const pairs = pairsOf(harness, { ...record, storedPaths })
    const texts = pairs.map(({ text }) => Buffer.from(text))
    let end = 0
    const ends = texts.map(({ length }) => {
      end += length
      return end
    })
    const numbers = Int32Array.from([...pairs.map(({ lo }) => lo), ...pairs.map(({ row }) => row), ...ends])
    put(harness, tableKey(record), Buffer.concat([Buffer.from(numbers.buffer), ...texts]))
    put(harness, key, record)
  }
}

/** Writes the records as before format 3. */
function makeFormat2(harness: IndexHarness): void {
  makeFormat8(harness)
  makeWhole(harness, 2)
  for (const key of harness.records.keysOf(IndexArea.segment)) {
    const stored: Json = JSON.parse(contentOf(harness, key).toString())
    const { storedPairs, storedPaths, storedRows, bytes, ...record } = stored
    assert.ok(Number.isInteger(storedRows))
    record.columns = (record.columns as unknown[][]).map(withoutSixteenths)
    const { pairTable, ...parts } = bytes as Json
    assert.ok(Number.isInteger(pairTable))
    if (record.isSealed === true) {
      const pairs = pairsOf(harness, stored)
      record.pairs = pairs.map(({ text }) => JSON.parse(text))
      record.rowOfSlot = pairs.map(({ row }) => row)
    }
    put(harness, key, { ...record, bytes: parts })
  }
  for (const key of harness.records.keysOf(IndexArea.pairTable)) harness.records.records.delete(key)
}

for (const [format, makeOlder, isRebuilt] of [
  [2, makeFormat2, false],
  [2, makeFormat2, true],
  [7, makeFormat7, false],
  [7, makeFormat7, true],
  [8, makeFormat8, false],
  [8, makeFormat8, true]
] as const) {
  test(`an index of format ${format} can be used, ${isRebuilt ? 'built again before' : 'as sealed'}`, async () => {
    const harness = await IndexHarness.open({ segmentDocuments: 512 })
    await harness.insert(tweets.slice(0, 1200))
    await harness.remove([3, 4, 600])
    if (isRebuilt) await harness.rebuild()
    await harness.insert(tweets.slice(1200, 1300))
    await harness.close()
    makeOlder(harness)
    await harness.open()
    assert.is(harness.index.stats().recovered, 0)
    await harness.check(filters)
    const header: Json = JSON.parse(contentOf(harness, '68').toString())
    assert.is(header.format, indexFormat)
    await harness.insert(tweets.slice(1300))
    await harness.reopen()
    await harness.check(filters)
    assert.is(harness.index.stats().recovered, 0)
    await harness.rebuild()
    await harness.reopen()
    await harness.check(filters)
    assert.equal(harness.damage, [])
    await harness.close()
  })
}

test('an open segment of format 5 continues where it ended', async () => {
  const harness = await IndexHarness.open({ segmentDocuments: 512 })
  await harness.insert(tweets.slice(0, 1250))
  await harness.close()
  assert.ok(harness.records.keysOf(IndexArea.chunkRows).length > 0)
  makeFormat8(harness)
  makeWhole(harness, 5)
  for (const documents of [1290, 1400]) {
    await harness.open()
    assert.is(harness.index.stats().recovered, 0)
    await harness.check(filters)
    await harness.insert(tweets.slice(harness.documents.size, documents))
    await harness.check(filters)
    await harness.close()
  }
})

test('an index of a format before 2 is rebuilt', async () => {
  const harness = await IndexHarness.open({ segmentDocuments: 512 })
  await harness.insert(tweets.slice(0, 600))
  await harness.close()
  put(harness, '68', { ...(JSON.parse(contentOf(harness, '68').toString()) as Json), format: 1 })
  await harness.open()
  assert.is(harness.index.stats().recovered, 600)
  await harness.check(filters)
  await harness.close()
})

test.run()
