/** stats() reports the bytes that are stored, and the documents that are live. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { IndexArea } from '../../src/sharded-bloom/records/index-keys.ts'
import { generateTweets } from '../../src/workload/index.ts'
import { IndexHarness } from '../support/index-harness.ts'

const tweets = [...generateTweets({ count: 9000 })]

/** Bytes of the records of some areas, without their checksums. */
function storedBytes(harness: IndexHarness, ...areas: number[]): number {
  return areas
    .flatMap((area) => harness.records.keysOf(area))
    .reduce((sum, key) => sum + (harness.records.records.get(key)?.length ?? 0) - 4, 0)
}

function checkBytes(harness: IndexHarness): void {
  const { bytes } = harness.index.stats()
  assert.is(bytes.hashedRows, storedBytes(harness, IndexArea.hashedRows, IndexArea.chunkRows), 'hashed rows')
  const { privateRow, chunkPrivate, columnKeys, chunkColumns } = IndexArea
  const rows = storedBytes(harness, privateRow, chunkPrivate, columnKeys, chunkColumns)
  // Codes of columns are stored among the private rows of sealed segments.
  assert.is(bytes.privateRows + bytes.rangeCodes, rows, 'private rows and range codes')
  assert.ok(bytes.rangeCodes >= storedBytes(harness, columnKeys, chunkColumns), 'range codes')
  assert.is(
    bytes.directory,
    storedBytes(harness, IndexArea.segment, IndexArea.pairTable, IndexArea.openPairs),
    'directory'
  )
  assert.is(bytes.live, storedBytes(harness, IndexArea.live), 'live')
  assert.is(bytes.upperLevel, storedBytes(harness, IndexArea.upperLevel, IndexArea.chunkUpper), 'upper level')
  const { hashedRows, privateRows, rangeCodes, upperLevel, directory, live } = bytes
  assert.is(bytes.total, hashedRows + privateRows + rangeCodes + upperLevel + directory + live)
}

for (const segmentDocuments of [512, 2048, 16_384]) {
  test(`stats() counts the bytes of the records, with ${segmentDocuments} documents a segment`, async () => {
    const harness = await IndexHarness.open({ segmentDocuments })
    for (let begin = 0; begin < tweets.length; begin += 1500) {
      await harness.insert(tweets.slice(begin, begin + 1500))
      checkBytes(harness)
      await harness.remove([begin, begin + 7])
      await harness.reopen()
      checkBytes(harness)
    }
    const { documents, dead, segments, parameters } = harness.index.stats()
    assert.is(documents, tweets.length - 12)
    assert.is(dead, 12)
    assert.is(segments, parameters.length)
    assert.is(segments, Math.ceil(tweets.length / segmentDocuments))
    await harness.close()
  })
}

test.run()
