/** Columns whose keys nearly grow: how they are sealed, and how few false candidates a range over them has. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Document } from '../../src/model/types.ts'
import { compileFilter } from '../../src/query/filter.ts'
import { IndexArea } from '../../src/sharded-bloom/records/index-keys.ts'
import { Random } from '../../src/workload/random.ts'
import { testSeed } from '../support/arbitraries.ts'
import { IndexHarness } from '../support/index-harness.ts'

const seed = testSeed()
const segmentDocuments = 512

function contentOf(harness: IndexHarness, key: string): Buffer {
  return Buffer.from(harness.records.records.get(key) ?? []).subarray(0, -4)
}

/** Kinds of the columns of the segment that begins at the ordinal, by path. */
function kindsOf(harness: IndexHarness, firstOrdinal: number): Map<string, string> {
  const key = harness.records.keysOf(IndexArea.segment).find((each) => Number(`0x${each.slice(2)}`) === firstOrdinal)
  const { columns } = JSON.parse(contentOf(harness, key!).toString()) as { columns: [string, number, string, string][] }
  return new Map(columns.map(([path, , , kind]) => [path, kind]))
}

test('keys are sealed in the form that leaves few candidates for few bytes', async () => {
  const random = new Random(seed)
  const harness = await IndexHarness.open({ segmentDocuments, rangeCodes: 'all' })
  const documents = Array.from({ length: 2 * segmentDocuments + 1 }, (_, i): Document => {
    const place = i % segmentDocuments
    return {
      growing: i,
      late: i + random.below(20),
      twice: (place % 256) * 2 + (place >> 8),
      often: place % 32,
      many: ((place % 64) * 8 + (place >> 6)) * 5,
      random: random.below(1e9),
      few: random.below(7),
      sparse: place % 3 === 0 && (place < 128 || place >= 192) ? i - random.below(9) : null
    }
  })
  await harness.insert(documents)
  assert.equal(
    kindsOf(harness, segmentDocuments),
    new Map([
      ['growing', 'growing'],
      ['late', 'zones'],
      ['twice', 'zones'],
      // Eight series, or complete disorder: every zone spans most keys.
      ['many', 'codes'],
      ['random', 'codes'],
      // A bin for each value: exact.
      ['often', 'codes'],
      ['few', 'codes'],
      // Few different keys, too.
      ['sparse', 'codes']
    ])
  )
  await harness.close()
})

test('zones are stored as the least and the greatest key of every 32 positions', async () => {
  const harness = await IndexHarness.open({ segmentDocuments, rangeCodes: 'numbers' })
  // No document has a key in zone 3, and elsewhere one in 32 has none.
  const keyOf = (i: number): number | undefined =>
    i % 32 === 5 || (i % segmentDocuments) >> 5 === 3 ? undefined : 10 * (i ^ 7)
  await harness.insert(Array.from({ length: 2 * segmentDocuments + 1 }, (_, i) => ({ n: keyOf(i) ?? null })))
  assert.equal(kindsOf(harness, segmentDocuments), new Map([['n', 'zones']]))
  const bytes = contentOf(harness, '6b000000000000020000000000')
  const zones = Array.from({ length: bytes.length / 16 }, (_, i) => [
    bytes.readDoubleLE(16 * i),
    bytes.readDoubleLE(16 * i + 8)
  ])
  const expected = Array.from({ length: segmentDocuments / 32 }, (_, zone) => {
    const keys = Array.from({ length: 32 }, (_, i) => keyOf(segmentDocuments + 32 * zone + i) ?? Number.NaN)
    const own = keys.filter((key) => !Number.isNaN(key))
    return [Math.min(...own), Math.max(...own)]
  })
  assert.equal(expected[3], [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])
  assert.equal(zones, expected)
  await harness.close()
})

test('ranges are sound over zones and growing keys that take several frames', async () => {
  const documents = 32_768
  const harness = await IndexHarness.open({ segmentDocuments: documents, rangeCodes: 'numbers' })
  await harness.insert(Array.from({ length: 2 * documents + 1 }, (_, i) => ({ late: i ^ 7, grows: 10 * i })))
  assert.equal(
    kindsOf(harness, documents),
    new Map([
      ['late', 'zones'],
      ['grows', 'growing']
    ])
  )
  // A frame holds 512 zones, or 1,024 groups.
  const starts = [0, 16_000, 16_383, 16_384, 20_000, 32_700].map((start) => documents + start)
  const filters = starts.flatMap((start) => [
    compileFilter({ late: { $gte: start, $lt: start + 100 } }),
    compileFilter({ grows: { $gt: 10 * start, $lte: 10 * start + 995 } }),
    compileFilter({ late: { $not: { $gte: start } }, grows: { $gte: 10 * documents } })
  ])
  await harness.check(filters)
  await harness.close()
})

test('ranges of times slightly out of order have few false candidates, even after documents were replaced', async () => {
  const random = new Random(seed)
  const harness = await IndexHarness.open({ segmentDocuments })
  const first = Date.UTC(2026, 10, 1)
  const textOf = (time: number): string => new Date(first + time * 1000).toISOString()
  const times = Array.from({ length: 1400 }, (_, i) => 100 * i + random.below(1500))
  await harness.insert(times.map((time) => ({ at: textOf(time) })))
  // The first segment of a collection has no columns, because nothing was known yet.
  await harness.rebuild()
  const filters = Array.from({ length: 20 }, (_, i) => {
    const from = 60_000 + 1_000 * i
    return compileFilter({ at: { $gte: textOf(from), $lt: textOf(from + 500) } })
  })
  const candidatesOf = async (): Promise<number> => {
    const { candidates, matches } = await harness.check(filters)
    return (candidates - matches) / filters.length
  }
  const early = await candidatesOf()
  assert.ok(early < 24, `${early} false candidates`)

  // Documents anywhere are replaced one by one.
  for (let round = 0; round < 1100; round++) {
    const ordinal = random.below(1400)
    await harness.remove([ordinal])
    await harness.insert([{ at: textOf(times[ordinal]!) }])
  }
  const late = await candidatesOf()
  assert.ok(late < 24, `${late} false candidates`)
  await harness.rebuild()
  const rebuilt = await candidatesOf()
  assert.ok(rebuilt < 24, `${rebuilt} false candidates`)
  await harness.close()
})

test.run()
