/** The formulas compared with known values, and with counts in real columns. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { createHasher, rowNumbers } from '../../src/bloom/hash.ts'
import { densityOf, meanRowFalsePositiveRate, optimalHashes, rowFalsePositiveRate } from '../../src/bloom/sizing.ts'

const near = (actual: number, expected: number, tolerance: number, what = '') =>
  assert.ok(Math.abs(actual - expected) <= tolerance, `${what} expected ${expected} ± ${tolerance}, got ${actual}`)

test('the optimal number of hashes sets half of the bits, and is at least one', () => {
  assert.is(optimalHashes(10), 7)
  assert.is(optimalHashes(0.1), 1)
})

test('rates and densities are 0 without pairs or documents', () => {
  assert.is(densityOf(0, 64, 8), 0)
  assert.is(meanRowFalsePositiveRate([5], 64, 8), 0)
  assert.is(meanRowFalsePositiveRate([], 64, 8), 0)
})

test('the column of a document is as dense as predicted', () => {
  const hasher = createHasher('murmur')
  for (const [shards, rowsPerPair, postings] of [
    [64, 8, 5],
    [256, 4, 60],
    [2432, 8, 100],
    [4, 8, 1]
  ] as const) {
    const rows = new Int32Array(rowsPerPair)
    const documents = 2000
    let set = 0
    for (let document = 0; document < documents; document++) {
      const column = new Uint8Array(shards)
      for (let pair = 0; pair < postings; pair++) {
        hasher.hashNumber(document, 7, 3, pair)
        rowNumbers(hasher.lo, hasher.hi, shards, rowsPerPair, rows)
        for (const row of rows) column[row] = 1
      }
      for (const bit of column) set += bit
    }
    const density = densityOf(postings, shards, rowsPerPair)
    near(set / (documents * shards), density, 0.01 * density, `${shards} rows`)
  }
})

test('the mean of the rate over uneven documents is far above the rate of the mean', () => {
  const histogram = new Float64Array(301)
  histogram[100] = 900
  histogram[300] = 100
  const mean = meanRowFalsePositiveRate(histogram, 2880, 8)
  const expected = 0.9 * rowFalsePositiveRate(100, 2880, 8) + 0.1 * rowFalsePositiveRate(300, 2880, 8)
  near(mean, expected, 1e-12)
  assert.ok(mean > 10 * rowFalsePositiveRate(120, 2880, 8))
})

test.run()
