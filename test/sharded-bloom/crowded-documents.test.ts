/** A few documents with very many pairs are candidates only for what they have, and cost other documents no rows. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Document } from '../../src/model/types.ts'
import { compileFilter } from '../../src/query/filter.ts'
import { chooseShards, usualPairs } from '../../src/sharded-bloom/tune/tail-parameters.ts'
import { IndexHarness } from '../support/index-harness.ts'

/** Users with a few followers, one in a hundred with many. */
function users(from: number, to: number, many = 2000): Document[] {
  return Array.from({ length: to - from }, (_, k) => {
    const i = from + k
    const followers = Array.from({ length: i % 100 === 50 ? many : i % 6 }, (_, j) => `u${(i * 31 + j * 17) % 20_011}`)
    return { name: `u${i}`, city: `c${i % 1999}`, followers }
  })
}

async function candidates(harness: IndexHarness, filter: Document): Promise<{ found: number; matches: number }> {
  const compiled = compileFilter(filter)
  const { upper } = await harness.snapshot().evaluate(compiled)
  return { found: upper.size, matches: [...harness.documents.values()].filter((each) => compiled.matches(each)).length }
}

const asked: readonly Document[] = [
  { name: 'u77' },
  { name: 'nobody' },
  { city: 'c5' },
  { city: 'c0', name: { $ne: 'u0' } },
  { followers: 'u123' },
  { followers: { $all: ['u1581', 'u1598'] } },
  { followers: { $size: 2000 } },
  { followers: { $size: 17 } }
]

for (const usesBytes of [false, true]) {
  test(`false positives do not grow with the pairs of a few documents${usesBytes ? ', added as bytes' : ''}`, async () => {
    const harness = await IndexHarness.open({ segmentDocuments: 8192 })
    harness.usesBytes = usesBytes
    await harness.insert(users(0, 10_000), 500)
    if (usesBytes) assert.ok(harness.scanned > 9000, `${harness.scanned} scanned`)
    for (const stage of ['sealed and open', 'reopened', 'rebuilt']) {
      if (stage === 'reopened') await harness.reopen()
      if (stage === 'rebuilt') await harness.rebuild()
      for (const filter of asked) {
        const { found, matches } = await candidates(harness, filter)
        assert.ok(found <= matches + 2, `${stage}, ${JSON.stringify(filter)}: ${found} candidates, ${matches} matches`)
      }
      await harness.check(asked.map((filter) => compileFilter(filter)))
      const segments = harness.index.stats().parameters
      const crowded = segments.reduce((sum, segment) => sum + segment.crowded, 0)
      assert.is(crowded, 100, stage)
      for (const { shards, density } of segments) assert.ok(shards <= 256 && density < 0.3, `${stage}: ${shards} rows`)
    }
    await harness.close()
  })
}

test('a document with more pairs than an import scans is found by the last of them, and only by what it has', async () => {
  const harness = await IndexHarness.open({ segmentDocuments: 512 })
  harness.usesBytes = true
  await harness.insert([
    ...users(0, 300, 3),
    { all: Array.from({ length: 100_000 }, (_, i) => ({ k: i, v: `v${i}` })) }
  ])
  for (const stage of ['open', 'sealed']) {
    if (stage === 'sealed') await harness.insert(users(300, 900, 3))
    assert.equal(await candidates(harness, { 'all.k': 99_999, 'all.v': 'v99999' }), { found: 1, matches: 1 })
    assert.is((await candidates(harness, { name: 'nobody' })).found, 0)
    assert.is((await candidates(harness, { 'all.k': 100_000 })).found, 0)
  }
  await harness.close()
})

test('facts of crowded documents are found when facts are too many for private rows', async () => {
  const harness = await IndexHarness.open({ segmentDocuments: 4096 })
  // A segment has private rows for 2,048 facts.
  const paths = Array.from({ length: 1200 }, (_, i): Document => ({ [`k${i}`]: 0 }))
  const crowded = {
    v: Array.from({ length: 500 }, (_, i) => i),
    ...Object.fromEntries(paths.slice(0, 100).map((_, i) => [`k${1199 - i}`, { x: i }]))
  }
  const documents = [...paths, ...paths, crowded, crowded]
  await harness.insert(documents)
  for (const stage of ['open', 'reopened', 'sealed']) {
    if (stage === 'reopened') await harness.reopen()
    if (stage === 'sealed') await harness.insert([...paths, ...paths])
    for (const filter of [{ k1150: { $exists: true } }, { k1150: { $type: 'object' } }, { 'k1150.x': { $gte: 0 } }]) {
      const { upper } = await harness.snapshot().evaluate(compileFilter(filter))
      assert.ok(upper.has(2400) && upper.has(2401), `${stage}: ${JSON.stringify(filter)}`)
    }
    assert.is(harness.index.stats().parameters[0]!.crowded, 2, stage)
  }
  await harness.close()
})

test('documents that all have more pairs than rows can tell apart have fingerprints', async () => {
  const harness = await IndexHarness.open({ segmentDocuments: 8192 })
  const large = (i: number): Document => ({ n: i, v: Array.from({ length: 1500 }, (_, j) => i * 1500 + j) })
  await harness.insert(
    Array.from({ length: 1200 }, (_, i) => large(i)),
    100
  )
  for (const stage of ['tuned', 'reopened', 'rebuilt']) {
    if (stage === 'reopened') await harness.reopen()
    if (stage === 'rebuilt') await harness.rebuild()
    assert.equal(
      harness.index.stats().parameters.map(({ tail }) => tail),
      ['fingerprint'],
      stage
    )
    for (const [filter, found] of [
      [{ v: 1500 * 700 + 77 }, 1],
      [{ n: 3 }, 1],
      [{ v: -1 }, 0]
    ] as const) {
      assert.is((await candidates(harness, filter)).found, found, `${stage}: ${JSON.stringify(filter)}`)
    }
  }
  await harness.close()
})

test('usual documents are those with at most four times as many pairs as the mean of usual documents', () => {
  const mostly = (usual: number, unusual: number, every: number) =>
    Array.from({ length: 4096 }, (_, i) => (i % every === every - 1 ? unusual : usual))
  assert.is(usualPairs(mostly(10, 2000, 64)), 10)
  assert.is(usualPairs(mostly(10, 40, 2)), 25)
  assert.is(usualPairs([]), 0)
  assert.is(usualPairs([5, 0, 0, 0, 0]), 0)
  // Documents that have changed are usual although they are few.
  const changed = [...Array.from({ length: 3500 }, () => 10), ...Array.from({ length: 596 }, () => 200)]
  assert.is(usualPairs(changed), 200)
  assert.is(chooseShards(mostly(10, 2000, 64), 8, 24), chooseShards(mostly(10, 10, 64), 8, 24))
})

test.run()
