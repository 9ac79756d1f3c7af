/** How a segment chooses P, private pairs and when to close, and what it does with documents that fit no choice. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { createHasher } from '../../src/bloom/hash.ts'
import type { Document } from '../../src/model/types.ts'
import { compileFilter } from '../../src/query/filter.ts'
import type { IndexStats } from '../../src/sharded-bloom/document-index.ts'
import { PathTable } from '../../src/sharded-bloom/pairs/path-table.ts'
import { createShardedIndex } from '../../src/sharded-bloom/sharded-index.ts'
import { generateTweets } from '../../src/workload/index.ts'
import { DocumentMap, IndexHarness, RecordMap } from '../support/index-harness.ts'

type SegmentStats = IndexStats['parameters'][number]

function segmentsOf(harness: IndexHarness): readonly SegmentStats[] {
  return harness.index.stats().parameters
}

/** Documents of `pairs` values that no other document has. */
function unique(count: number, pairs: number, from = 0): Document[] {
  return Array.from({ length: count }, (_, i) => ({
    v: Array.from({ length: pairs }, (_, j) => `${from + i}:${j}`)
  }))
}

async function isExact(harness: IndexHarness, filter: Document): Promise<boolean> {
  const { upper, certain } = await harness.snapshot().evaluate(compileFilter(filter))
  assert.ok(upper.size > 0)
  return certain.size === upper.size
}

test('a value in at least four of the first thousand documents gets a private row, a rarer one does not', async () => {
  const harness = await IndexHarness.open({ segmentDocuments: 2048 })
  const documents = Array.from({ length: 1100 }, (_, i) => ({
    n: i,
    four: i % 256 === 0 && i < 1024 ? 'seen' : i,
    three: i % 256 === 0 && i < 768 ? 'seen' : i
  }))
  await harness.insert(documents, 1024)
  assert.ok(await isExact(harness, { four: 'seen' }))
  assert.not.ok(await isExact(harness, { three: 'seen' }))
  assert.not.ok(await isExact(harness, { n: 7 }))
  await harness.close()
})

test('presence and types are exact from the first document on', async () => {
  const harness = await IndexHarness.open({ segmentDocuments: 512 })
  await harness.insert([{ a: 1, b: { c: [] } }, { a: 'x' }, { b: 1 }])
  for (const filter of [{ a: { $exists: true } }, { a: { $type: 'string' } }, { 'b.c': { $exists: false } }]) {
    assert.ok(await isExact(harness, filter), JSON.stringify(filter))
  }
  await harness.close()
})

test('segments whose documents have more pairs get more rows', async () => {
  const shards: number[] = []
  for (const pairs of [2, 12, 60]) {
    const harness = await IndexHarness.open({ segmentDocuments: 2048 })
    await harness.insert(unique(1100, pairs))
    const [segment] = segmentsOf(harness)
    assert.ok(segment!.density < 0.5, `${segment!.density}`)
    assert.is(segment!.shards % 64, 0)
    shards.push(segment!.shards)
    await harness.close()
  }
  assert.ok(shards[0]! < shards[1]! && shards[1]! < shards[2]!, shards.join(' < '))
})

const almostFull = Array.from({ length: 28_700 }, () => ({ kind: 'early' }))

test('parameters are chosen before the segment is full, and its last documents do not change them', async () => {
  const harness = await IndexHarness.open({ segmentDocuments: 32_768 })
  await harness.insert(almostFull)
  // In one batch, so that nothing is chosen meanwhile.
  harness.add(Array.from({ length: 4069 }, () => ({ kind: 'late' })))
  const { certain, upper } = await harness.snapshot().evaluate(compileFilter({ kind: 'late' }))
  assert.ok(upper.has(32_768))
  assert.not.ok(certain.has(32_768))
  await harness.close()
})

test('parameters chosen before the segment is full are dropped when its last documents fill the rows', async () => {
  const harness = await IndexHarness.open({ segmentDocuments: 32_768 })
  await harness.insert(almostFull)
  harness.add(unique(4000, 100))
  const [first, second] = segmentsOf(harness)
  assert.ok(second!.shards > first!.shards, `${second!.shards} > ${first!.shards}`)
  await harness.close()
})

test('given parameters are used', async () => {
  const harness = await IndexHarness.open({ segmentDocuments: 2048, shards: 192, rowsPerPair: 5 })
  await harness.insert(unique(2500, 12))
  for (const { shards, rowsPerPair } of segmentsOf(harness)) assert.equal([shards, rowsPerPair], [192, 5])
  assert.is(segmentsOf(harness).length, 2)
  await harness.close()
})

for (const options of [
  { shards: 100 },
  { shards: 0 },
  { rowsPerPair: 0 },
  { rowsPerPair: 17 },
  { bitsPerPosting: 0 }
]) {
  test(`${JSON.stringify(options)} is refused`, () => {
    assert.throws(
      () => createShardedIndex({ ...options, store: new RecordMap(), documents: new DocumentMap() }),
      (error: { codeName?: string }) => error.codeName === 'InvalidOptions'
    )
  })
}

test('a segment whose documents grow is closed before its rows are full, and the next one has more', async () => {
  const harness = await IndexHarness.open({ segmentDocuments: 16_384 })
  await harness.insert(unique(8300, 3), 1000)
  await harness.insert(unique(3000, 90, 8300), 500)
  const [first, second] = segmentsOf(harness)
  assert.ok(first!.documents < 11_300, `${first!.documents} documents`)
  assert.ok(first!.sealed)
  await harness.insert(unique(1000, 90, 11_300), 500)
  assert.ok(second!.shards > 2 * first!.shards, `${first!.shards}, then ${second!.shards}`)
  await harness.check([compileFilter({ v: '8500:3' }), compileFilter({ v: { $size: 3 } })])
  await harness.reopen()
  await harness.check([compileFilter({ v: '8500:3' }), compileFilter({ v: { $size: 3 } })])
  await harness.close()
})

test('an index reopened just before its second tuning does not choose by the few documents added since', async () => {
  const tweets = [...generateTweets({ count: 8400 })]
  const harness = await IndexHarness.open({ segmentDocuments: 16_384 })
  await harness.insert(tweets.slice(0, 8190), 1000)
  const before = segmentsOf(harness)[0]!.privatePairs
  await harness.reopen()
  await harness.insert(tweets.slice(8190))
  assert.ok(
    segmentsOf(harness)[0]!.privatePairs > before / 2,
    `${before}, then ${segmentsOf(harness)[0]!.privatePairs}`
  )
  await harness.close()
})

test('a document with too many pairs is a candidate for every filter and certain for none', async () => {
  const harness = await IndexHarness.open({ segmentDocuments: 512 })
  const huge = { v: Array.from({ length: 270_000 }, (_, i) => i), last: 'seen' }
  const wide = Object.fromEntries(Array.from({ length: 12_000 }, (_, i) => [`k${i}`, { x: 1 }]))
  await harness.insert([{ v: 1 }, huge, wide, { v: 2 }])
  const filters = [
    {},
    { last: 'seen' },
    { nothing: 1 },
    { v: { $size: 270_000 } },
    { v: { $ne: 269_999 } },
    { a: null }
  ]
  for (const stage of ['open', 'reopened', 'sealed']) {
    for (const filter of filters) {
      const { upper, certain } = await harness.snapshot().evaluate(compileFilter(filter))
      assert.ok(upper.has(1) && upper.has(2), `${stage}: ${JSON.stringify(filter)}`)
      assert.not.ok(certain.has(1) || certain.has(2), `${stage}: ${JSON.stringify(filter)}`)
    }
    await harness.check(filters.map((filter) => compileFilter(filter)))
    if (stage === 'open') await harness.reopen()
    else await harness.insert(unique(600, 2))
  }
  await harness.close()
})

test('a private pair that no document of a segment has makes no candidates there', async () => {
  const harness = await IndexHarness.open({ segmentDocuments: 1024 })
  await harness.insert(Array.from({ length: 2100 }, (_, n) => ({ n, phase: n < 1024 ? 'early' : 'late' })))
  const filters = [{ phase: 'early' }, { phase: { $ne: 'early' } }].map((filter) => compileFilter(filter))
  for (const filter of filters) {
    const { upper, certain } = await harness.snapshot().evaluate(filter)
    const second = (ordinals: Set<number>): number => [...ordinals].filter((n) => n >= 1024 && n < 2048).length
    assert.is(second(upper), second(certain), 'the second segment knows of the first what was frequent')
  }
  await harness.check(filters)
  await harness.reopen()
  await harness.check(filters)
  await harness.close()
})

test('an irregular key excludes its document from the lower bounds of that key only', async () => {
  const harness = await IndexHarness.open({ segmentDocuments: 512 })
  const irregular: Document[] = [
    { a: [[1]], b: 1 },
    { a: { 0: 1 }, b: 1 },
    { a: { 'x.y': 1 }, b: 1 },
    { a: 2n ** 53n + 1n, b: 1 }
  ]
  await harness.insert([...irregular, { a: 1, b: 1 }])
  const { upper, certain } = await harness.snapshot().evaluate(compileFilter({ a: { $exists: true } }))
  assert.equal([...upper], [0, 1, 2, 3, 4])
  assert.equal([...certain], [4])
  assert.ok(await isExact(harness, { b: { $exists: true } }))
  await harness.close()
})

test('answers are sound when there are more irregular keys than rows for them', async () => {
  const harness = await IndexHarness.open({ segmentDocuments: 4096 })
  const documents = Array.from({ length: 2500 }, (_, i) => ({ [`key${i}.x`]: [[i]], [`other${i}`]: 1, n: i % 3 }))
  await harness.insert(documents)
  const filters = [{ n: 1 }, { n: { $ne: 1 } }, { other2400: 1 }, { other2400: { $exists: false } }, { other3: null }]
  await harness.check(filters.map((filter) => compileFilter(filter)))
  await harness.reopen()
  await harness.insert(documents.slice(0, 200))
  await harness.check(filters.map((filter) => compileFilter(filter)))
  await harness.close()
})

test('answers are sound when keys are data', async () => {
  const harness = await IndexHarness.open({ segmentDocuments: 1024 })
  const documents = Array.from({ length: 2600 }, (_, i) => ({
    byUser: Object.fromEntries(Array.from({ length: 40 }, (_, j) => [`u${i * 40 + j}`, { score: j }])),
    n: i % 5
  }))
  await harness.insert(documents)
  const filters = [
    { 'byUser.u2000.score': 0 },
    { 'byUser.u2000.score': { $exists: false } },
    { 'byUser.u103999': { $exists: true }, n: { $in: [1, 4] } },
    { 'byUser.nobody': null },
    { 'byUser.u98000': { $exists: false } }
  ]
  await harness.check(filters.map((filter) => compileFilter(filter)))
  await harness.reopen()
  await harness.check(filters.map((filter) => compileFilter(filter)))
  // There is room for more rows now, but not for pairs that earlier documents had without one.
  await harness.insert(documents.slice(2450, 2500))
  await harness.check(filters.map((filter) => compileFilter(filter)))
  await harness.close()
})

test('the table of paths is cleared when it is full, and a path gets the same seed again', () => {
  const table = new PathTable(createHasher('murmur'), 1, 2, 100)
  const before = table.child(table.child(table.root, 'a'), 'b')
  assert.not.ok(table.trim())
  for (let i = 0; i < 200; i++) table.child(table.root, `k${i}`)
  assert.ok(table.trim())
  assert.is(table.root.children, undefined)
  assert.is(table.generation, 1)
  const after = table.child(table.child(table.root, 'a'), 'b')
  assert.is.not(after.id, before.id)
  assert.equal([after.seedLo, after.seedHi], [before.seedLo, before.seedHi])
  assert.equal(table.seedOf('a.b'), { lo: before.seedLo, hi: before.seedHi })
})

test.run()
