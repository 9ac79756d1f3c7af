/** rowNumbers(), which derives rows from a hash: range, distinctness, uniformity, independence. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { createHasher, rowNumbers } from '../../src/bloom/hash.ts'
import { seededRandom } from './random.ts'

const random = seededRandom()
const hasher = createHasher('murmur')

/** Rows of the i-th value of a structured sequence, which is a harder test than random bits. */
function rowsOf(i: number, shards: number, count: number, out: Int32Array): void {
  hasher.hashNumber(11, 22, 2, i)
  rowNumbers(hasher.lo, hasher.hi, shards, count, out)
}

test('rows are ascending and in range, and distinct if enough rows exist', () => {
  for (let round = 0; round < 20_000; round++) {
    const count = 1 + random.below(16)
    const shards = [count, count + 1, 2 * count, 64, 192, 3008, 65_536][round % 7] as number
    const rows = new Int32Array(count)
    rowNumbers(random.next(), random.next(), shards, count, rows)
    rows.forEach((row, i) => {
      assert.ok(row >= 0 && row < shards)
      if (shards >= count && i > 0) assert.ok(row > (rows[i - 1] as number))
    })
  }
})

test('if fewer rows exist than requested, rows repeat but stay in range', () => {
  const rows = new Int32Array(8)
  for (let shards = 1; shards < 8; shards++) {
    for (let round = 0; round < 500; round++) {
      rowNumbers(random.next(), random.next(), shards, 8, rows)
      assert.ok(rows.every((row) => row >= 0 && row < shards))
    }
  }
})

test('all rows are equally likely', () => {
  for (const [shards, count] of [
    [64, 1],
    [64, 8],
    [1024, 4],
    [3008, 8],
    [4096, 16]
  ] as const) {
    const hits = new Float64Array(shards)
    const rows = new Int32Array(count)
    const total = 100 * shards
    for (let i = 0; i < total; i++) {
      rowsOf(i, shards, count, rows)
      for (const row of rows) hits[row] = (hits[row] as number) + 1
    }
    assertChiSquare(hits, (total * count) / shards, `${shards} rows, ${count} per pair`)
  }
})

test('the rows of one pair are independent of each other', () => {
  const shards = 64
  const count = 8
  const width = shards / count
  const rows = new Int32Array(count)
  const cells = new Float64Array(count * count * width * width)
  const total = 100_000
  for (let i = 0; i < total; i++) {
    rowsOf(i, shards, count, rows)
    for (let x = 0; x < count; x++) {
      for (let y = 0; y < x; y++) {
        const cell = ((x * count + y) * width + ((rows[x] as number) % width)) * width + ((rows[y] as number) % width)
        cells[cell] = (cells[cell] as number) + 1
      }
    }
  }
  for (let x = 0; x < count; x++) {
    for (let y = 0; y < x; y++) {
      const first = (x * count + y) * width * width
      assertChiSquare(cells.subarray(first, first + width * width), total / (width * width), `rows ${y} and ${x}`)
    }
  }
})

test('two pairs share all their rows only as often as by chance, even if there are few rows', () => {
  // (a + i·b) mod P would give 1/P² here: sixteen times as often.
  const shards = 64
  const count = 4
  const total = 20_000
  const seen = new Map<number, number>()
  const rows = new Int32Array(count)
  let shared = 0
  for (let i = 0; i < total; i++) {
    rowsOf(i, shards, count, rows)
    const key = rows.reduce((sum, row) => sum * shards + row, 0)
    const before = seen.get(key) ?? 0
    shared += before
    seen.set(key, before + 1)
  }
  const expected = ((total * (total - 1)) / 2) * (count / shards) ** count
  assert.ok(Math.abs(shared - expected) < 6 * Math.sqrt(expected), `${shared} shared, ${expected.toFixed(0)} expected`)
})

/** Allows six standard deviations of the chi-square distribution. */
function assertChiSquare(observed: Float64Array, expected: number, what: string): void {
  let chiSquare = 0
  for (const hits of observed) chiSquare += (hits - expected) ** 2 / expected
  const freedom = observed.length - 1
  const deviations = (chiSquare - freedom) / Math.sqrt(2 * freedom)
  assert.ok(Math.abs(deviations) < 6, `${what}: chi-square ${chiSquare.toFixed(0)} for ${freedom} degrees of freedom`)
}

test.run()
