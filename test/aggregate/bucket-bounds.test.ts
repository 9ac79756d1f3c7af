/** Preferred numbers: each series is complete, and every value lies between two neighbours of it. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { boundsOfSeries, granularities } from '../../src/aggregate/bucket-bounds.ts'
import { testSeed } from '../support/arbitraries.ts'
import { randomFrom } from '../support/random.ts'

const place = { stage: '$bucketAuto', position: 0, within: undefined }

/** How many numbers a decade has, for series whose names do not say it. */
const sizes: Readonly<Record<string, number>> = { '1-2-5': 3 }

function seriesOf(granularity: string, from: number, to: number): number[] {
  const bounds = boundsOfSeries(granularity, place)
  const series: number[] = []
  for (let bound = bounds.end(from).max(1); (bound as number) <= to; bound = bounds.end(bound).max(1)) {
    series.push(bound as number)
  }
  return series
}

test('a decade has the number of values that its series is named after, at nearly equal ratios', () => {
  for (const granularity of granularities.filter((name) => name !== 'POWERSOF2')) {
    const size = sizes[granularity] ?? Number(granularity.slice(1))
    const series = seriesOf(granularity, 1, 10)
    assert.is(series.length, size, granularity)
    assert.is(series.at(-1), 10)
    // Preferred numbers are rounded, those of E24 most of all.
    for (const [i, number] of series.entries()) {
      const exact = 10 ** ((i + 1) / size)
      assert.ok(Math.abs(number / exact - 1) < (granularity === '1-2-5' ? 0.08 : 0.052), `${granularity}: ${number}`)
    }
    // A series contains that of half its size, except that E48 does not contain E24, which is rounded to two digits.
    const half = `${granularity[0]}${size / 2}`
    if (!granularities.includes(half) || granularity === 'E48') continue
    for (const number of seriesOf(half, 1, 10)) assert.ok(series.includes(number), `${granularity} lacks ${number}`)
  }
  assert.equal(seriesOf('POWERSOF2', 0.3, 10), [0.5, 1, 2, 4, 8])
})

test('a value of any magnitude lies between two neighbours of the series', () => {
  const random = randomFrom(testSeed())
  for (const granularity of granularities) {
    const bounds = boundsOfSeries(granularity, place)
    for (let n = 0; n < 300; n++) {
      const value = random() * 10 ** Math.floor(random() * 600 - 300)
      const [below, above] = [bounds.first(value) as number, bounds.end(value).max(1) as number]
      assert.ok(below < value && value < above, `${granularity}: ${below} ${value} ${above}`)
      // The series has nothing between them but the value itself.
      const next = bounds.end(below).max(1) as number
      assert.ok(next === value || next === above, `${granularity}: ${below} ${next} ${above}`)
    }
    for (const value of [5e-324, 1e-300, Number.MAX_VALUE]) {
      const [below, above] = [bounds.first(value) as number, bounds.end(value).max(1) as number]
      assert.ok(below < value && value < above, `${granularity}: ${below} ${value} ${above}`)
    }
  }
})

test.run()
