/** The formulas compared with known values, and with counts in real filters and columns. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { BloomFilter } from '../../src/bloom/bloom-filter.ts'
import { createHasher, rowNumbers } from '../../src/bloom/hash.ts'
import {
  densityOf,
  estimatedKeys,
  expectedFill,
  falsePositiveRate,
  falsePositiveRateAtFill,
  falsePositiveRateBound,
  MAX_SHARDS,
  meanDensity,
  meanRowFalsePositiveRate,
  optimalBits,
  optimalHashes,
  rowFalsePositiveRate,
  shardsFor
} from '../../src/bloom/sizing.ts'

const near = (actual: number, expected: number, tolerance: number, what = '') =>
  assert.ok(Math.abs(actual - expected) <= tolerance, `${what} expected ${expected} ± ${tolerance}, got ${actual}`)

test('ten bits per key and seven hashes yield about one percent of false positives', () => {
  assert.is(optimalBits(1000, 0.01), 9586)
  assert.is(optimalHashes(10), 7)
  assert.is(optimalHashes(0.1), 1)
  near(falsePositiveRate(9586, 7, 1000), 0.01, 1e-4)
  near(expectedFill(9586, 7, 1000), 0.518, 1e-3)
})

test('rates and densities are 0 if nothing has been added', () => {
  assert.is(falsePositiveRate(64, 4, 0), 0)
  assert.is(expectedFill(64, 4, 0), 0)
  assert.is(densityOf(0, 64, 8), 0)
  assert.is(estimatedKeys(64, 4, 0), 0)
  assert.is(meanDensity([5], 64, 8), 0)
  assert.is(meanDensity([], 64, 8), 0)
})

test('the bound is above the classic estimate and approaches it for large filters', () => {
  for (const [bits, hashes, keys] of [
    [64, 3, 10],
    [1024, 7, 100],
    [65_536, 8, 6000]
  ] as const) {
    assert.ok(falsePositiveRateBound(bits, hashes, keys) > falsePositiveRate(bits, hashes, keys))
  }
  near(falsePositiveRateBound(2 ** 24, 7, 1_600_000) / falsePositiveRate(2 ** 24, 7, 1_600_000), 1, 1e-4)
})

test('fill, false positives and estimated keys of a real filter are as predicted', () => {
  const hasher = createHasher('murmur')
  for (const [bits, hashes, keys] of [
    [4096, 4, 500],
    [65_536, 7, 6500],
    [100_032, 8, 12_000]
  ] as const) {
    const filter = new BloomFilter(bits, hashes)
    for (let i = 0; i < keys; i++) {
      hasher.hashNumber(1, 2, 3, i)
      filter.add(hasher.lo, hasher.hi)
    }
    const fill = filter.fillRatio()
    near(fill, expectedFill(bits, hashes, keys), 0.02, 'fill')
    near(estimatedKeys(bits, hashes, fill) / keys, 1, 0.05, 'estimated keys')
    let wrong = 0
    const probes = 200_000
    for (let i = 0; i < probes; i++) {
      hasher.hashNumber(1, 2, 3, keys + i)
      if (filter.mayContain(hasher.lo, hasher.hi)) wrong++
    }
    const expected = falsePositiveRateAtFill(fill, hashes) * probes
    near(wrong, expected, 6 * Math.sqrt(expected) + 0.03 * expected, 'false positives')
  }
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
  near(meanDensity(histogram, 2880, 8), 0.9 * densityOf(100, 2880, 8) + 0.1 * densityOf(300, 2880, 8), 1e-12)
})

test('shardsFor() returns the fewest rows that reach the target', () => {
  const histogram = new Float64Array(301)
  histogram[100] = 900
  histogram[300] = 100
  assert.is(shardsFor(histogram, 8, 1e-4), 4416)
  for (const target of [0.1, 1e-2, 1e-3, 1e-4, 1e-6]) {
    const shards = shardsFor(histogram, 8, target)
    assert.is(shards % 64, 0)
    assert.ok(meanRowFalsePositiveRate(histogram, shards, 8) <= target)
    if (shards > 64) assert.ok(meanRowFalsePositiveRate(histogram, shards - 64, 8) > target)
  }
})

test('shardsFor() stays within its limits', () => {
  assert.is(shardsFor([], 8, 1e-4), 64)
  assert.is(shardsFor([100], 8, 1e-4), 64, 'documents without hashed pairs')
  const huge = new Float64Array(1_000_001)
  huge[1_000_000] = 1
  assert.is(shardsFor(huge, 8, 1e-9), MAX_SHARDS)
})

test.run()
