/**
 * Ranges over segments of many groups: the least and greatest key of each group exclude those that a range does not
 * reach, and rows are read only for the others. The matcher over a full scan is the oracle.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Document } from '../../src/model/types.ts'
import { type CompiledFilter, compileFilter } from '../../src/query/filter.ts'
import { Random } from '../../src/workload/random.ts'
import { testSeed } from '../support/arbitraries.ts'
import { IndexHarness } from '../support/index-harness.ts'

const seed = testSeed()
const segmentDocuments = 8192
/** Bytes of a row for one group, a 32nd of a segment. */
const groupBytes = segmentDocuments / 32 / 8

const paths = ['grows', 'late', 'series', 'text', 'random', 'lists', 'sometimes', 'rests'] as const

function documentAt(i: number, random: Random): Document {
  const place = i % segmentDocuments
  return {
    grows: i,
    late: i + random.below(20),
    // Three series that grow, one after the other.
    series: (place % 2731) * 3 + Math.floor(place / 2731) + i - place,
    text: new Date(Date.UTC(2026, 0) + i * 60_000 + random.below(300_000)).toISOString(),
    random: random.below(40_000),
    // Lists are not in the column, and their values are far from those of their neighbours.
    lists: i % 997 === 0 ? [i - 20_000, i + 20_000] : i,
    ...(place > 2000 && place < 5000 ? {} : { sometimes: i - random.below(9) }),
    rests: Math.min(place, 6000) + i - place,
    flag: random.chance(0.5)
  }
}

function endOf(path: string, random: Random): unknown {
  const at = random.below(40_000) - 3000
  return path === 'text' ? new Date(Date.UTC(2026, 0) + at * 60_000).toISOString() : at
}

function rangeOf(random: Random): object {
  const path = random.pick(paths)
  const ends = [endOf(path, random), endOf(path, random)].sort() as [unknown, unknown]
  const close = (low: unknown): unknown =>
    typeof low === 'number'
      ? low + random.below(300)
      : new Date(Date.parse(low as string) + random.below(2e7)).toISOString()
  const low = { [random.pick(['$gt', '$gte'])]: ends[0] }
  const high = { [random.pick(['$lt', '$lte'])]: random.chance(0.7) ? close(ends[0]) : ends[1] }
  const condition = random.pick([low, high, { ...low, ...high }, { ...low, ...high }, { ...low, ...high }])
  return { [path]: random.chance(0.1) ? { $not: condition } : condition }
}

function filterOf(random: Random): object {
  switch (random.below(8)) {
    case 0:
      return { $or: [rangeOf(random), rangeOf(random)] }
    case 1:
      return { $and: [rangeOf(random), rangeOf(random)] }
    case 2:
      return { $nor: [rangeOf(random), rangeOf(random)] }
    case 3:
      return { ...rangeOf(random), flag: true }
    case 4:
      return { $or: [{ $and: [rangeOf(random), { flag: true }] }, rangeOf(random)] }
    default:
      return rangeOf(random)
  }
}

async function harnessOf(random: Random): Promise<IndexHarness> {
  const harness = await IndexHarness.open({ segmentDocuments, rangeCodes: 'all' })
  const count = 3 * segmentDocuments + 3000
  await harness.insert(Array.from({ length: count }, (_, i) => documentAt(i, random)))
  return harness
}

test('ranges and combinations of them are sound in every group of open and sealed segments', async () => {
  const random = new Random(seed, 1)
  const harness = await harnessOf(random)
  const filters = (count: number): CompiledFilter[] =>
    Array.from({ length: count }, () => compileFilter(filterOf(random)))
  const { matches, certain } = await harness.check(filters(60))
  assert.ok(matches > 10_000 && certain > matches / 2, `${certain} of ${matches} certain`)
  await harness.remove(Array.from({ length: 2000 }, () => random.below(harness.limit)))
  await harness.check(filters(30))
  await harness.rebuild()
  await harness.check(filters(30))
  await harness.reopen()
  await harness.check(filters(30))
  await harness.close()
})

test('both ends of a range are evaluated together, and rows are read only in the groups that it reaches', async () => {
  const random = new Random(seed, 2)
  const harness = await harnessOf(random)
  const { view } = harness.snapshot()
  for (const path of ['grows', 'late', 'series', 'sometimes', 'rests']) {
    // In the second segment.
    const low = segmentDocuments + 5500
    const { bounds } = compileFilter({ [path]: { $gte: low, $lt: low + 60 } })
    // The first call loads the keys.
    await view.evaluate(1, bounds)
    const { upperCount, rowsRead, bytesTouched } = await view.evaluate(1, bounds)
    assert.ok(upperCount > 0 && upperCount < 120, `${upperCount} candidates by ${path}`)
    // The three series are far apart.
    const groups = path === 'series' ? 32 : 2
    assert.ok(bytesTouched <= rowsRead * groups * groupBytes, `${bytesTouched} bytes of ${rowsRead} rows by ${path}`)
  }
  view.close()
  await harness.close()
})

test('a range that reaches just across the border of a group finds the documents on both sides', async () => {
  const harness = await harnessOf(new Random(seed, 4))
  const borders = [1, 2, 7, 31, 32, 33, 64, 95].map((group) => (group * segmentDocuments) / 32)
  const filters = borders.flatMap((border) =>
    (['grows', 'late', 'series'] as const).flatMap((path) => [
      compileFilter({ [path]: { $gte: border - 40, $lte: border + 3 } }),
      compileFilter({ [path]: { $gte: border - 4, $lte: border + 40 } })
    ])
  )
  await harness.check(filters)
  await harness.close()
})

test('a list is found when one of its values is within one end of a range, and another within the other', async () => {
  const harness = await harnessOf(new Random(seed, 3))
  const filter = compileFilter({ lists: { $gte: 4000, $lt: 4010 } })
  const { matches } = await harness.check([filter])
  // The ten numbers, and every 997th document below 24,010: a list of one value below 4,010 and one above.
  assert.is(matches, 10 + 25)
  await harness.close()
})

test.run()
