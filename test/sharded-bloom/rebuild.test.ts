/** Rebuilding an index: crashes and failures anywhere, open views, and when it pays. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { compileFilter } from '../../src/query/filter.ts'
import { rebuildReason } from '../../src/sharded-bloom/rebuild/policy.ts'
import { generateTweets } from '../../src/workload/index.ts'
import { testSeed } from '../support/arbitraries.ts'
import { IndexHarness } from '../support/index-harness.ts'

const seed = testSeed()
const tweets = [...generateTweets({ count: 2000 })]
const filters = [
  {},
  { lang: 'en' },
  { lang: { $ne: 'en' }, 'user.verified': true },
  { id_str: tweets[700]!.id_str },
  { retweet_count: { $gte: 5 } },
  { 'entities.hashtags': { $size: 0 } },
  { place: null }
].map((filter) => compileFilter(filter))

/** Segments of different sizes, every third document dead. */
async function worn(): Promise<IndexHarness> {
  const harness = await IndexHarness.open({ segmentDocuments: 512 })
  await harness.insert(tweets.slice(0, 550))
  harness.skip(600)
  await harness.insert(tweets.slice(550, 900))
  await harness.remove([...harness.documents.keys()].filter((ordinal) => ordinal % 3 === 2))
  await harness.reopen()
  return harness
}

test('a rebuild removes dead documents, merges small segments and keeps ordinals', async () => {
  const harness = await worn()
  const before = harness.index.stats()
  assert.ok(before.dead > 250)
  await harness.rebuild()
  await harness.check(filters)
  const { dead, documents, segments } = harness.index.stats()
  assert.equal({ dead, documents, segments }, { dead: 0, documents: harness.documents.size, segments: 2 })
  const { upper } = await harness.snapshot().evaluate(filters[0]!)
  assert.equal([...upper], [...harness.documents.keys()])
  await harness.reopen()
  await harness.check(filters)
  assert.is(harness.index.stats().recovered, 0)
  assert.is(harness.records.segmentNumbers().length, 2, 'nothing is left of what was replaced')
  await harness.close()
})

test('after a crash or failure at any write of a rebuild, answers are sound and nothing is left over', async () => {
  const asked = filters.slice(0, 3)
  // The seed decides which half of the writes; all of them would take too long.
  for (let n = seed & 1; ; n += 2) {
    const harness = await worn()
    harness.records.failAfterWrites = n
    let failure: Error | undefined
    await harness
      .rebuild(async () => {
        await harness.remove([...harness.documents.keys()].slice(5, 15))
      })
      .catch((error: Error) => {
        failure = error
      })
    const crashed = harness.crashed()
    harness.records.failAfterWrites = Number.POSITIVE_INFINITY
    if (failure !== undefined) assert.match(failure.message, 'injected')
    for (const each of [harness, crashed]) {
      if (each === crashed) await crashed.open()
      await each.check(asked)
      await each.insert(tweets.slice(1300, 1320))
      await each.rebuild()
      await each.reopen()
      await each.check(asked)
      assert.equal(each.damage, [], `write ${n}`)
      assert.is(each.records.segmentNumbers().length, each.index.stats().segments, `write ${n}: nothing is left`)
      await each.close()
    }
    if (failure === undefined && n > 20) break
  }
})

test('an open segment is replaced without being sealed, unless those after it have to be stored meanwhile', async () => {
  for (const added of [20, 500, 700]) {
    const harness = await worn()
    await harness.insert(tweets.slice(900, 1100))
    let crashed: IndexHarness | undefined
    await harness.rebuild(async () => {
      const { parameters } = harness.index.stats()
      assert.is(parameters.at(-1)!.sealed, false)
      await harness.insert(tweets.slice(1100, 1100 + added))
      await harness.remove([...harness.documents.keys()].slice(-30))
      crashed = harness.crashed()
      assert.is(harness.index.stats().parameters[parameters.length - 1]!.sealed, added > 512)
    })
    for (const each of [harness, crashed!]) {
      if (each === crashed) await each.open()
      await each.check(filters)
      assert.equal(each.damage, [], `${added} added`)
      await each.reopen()
      await each.check(filters)
      assert.is(each.index.stats().recovered, 0)
      await each.close()
    }
  }
})

test('nothing is damaged after a crash, whatever has to be stored while an open segment is being replaced', async () => {
  const cases: Record<string, (harness: IndexHarness) => Promise<void>> = {
    'the next segment is closed by a gap': async (harness) => {
      await harness.insert(tweets.slice(1050, 1070))
      harness.skip(600)
      await harness.insert(tweets.slice(1070, 1700))
    },
    'a rebuild that followed an aborted one': async (harness) => {
      const aborted = await harness.index.beginRebuild!(harness.limit)
      await harness.insert(tweets.slice(1050, 1540))
      await aborted.end()
      await begin(harness)
      await harness.insert(tweets.slice(1540, 2000))
    }
  }
  const begin = async (harness: IndexHarness) => {
    const rebuild = await harness.index.beginRebuild!(harness.limit)
    await rebuild.build()
  }
  for (const [name, meanwhile] of Object.entries(cases)) {
    const harness = await worn()
    await harness.insert(tweets.slice(900, 1050))
    if (!name.includes('aborted')) await begin(harness)
    await meanwhile(harness)
    const crashed = harness.crashed()
    await crashed.open()
    await crashed.check(filters)
    assert.equal(crashed.damage, [], name)
    const { recovered } = crashed.index.stats()
    assert.ok(recovered < 2 * 512, `${name}: ${recovered} recovered`)
    await crashed.close()
    await harness.close()
  }
})

test('a segment that was not stored before a crash during a rebuild leaves no live bitmap', async () => {
  const harness = await IndexHarness.open({ segmentDocuments: 512 })
  await harness.insert(Array.from({ length: 4600 }, (_, n) => ({ n })))
  const rebuild = await harness.index.beginRebuild!(harness.limit)
  await rebuild.build()
  await harness.insert(tweets.slice(0, 20))
  // So many that they are written as bitmaps.
  await harness.remove([...harness.documents.keys()].slice(0, 4200))
  await harness.maintain()
  const crashed = harness.crashed()
  await crashed.open()
  await crashed.check(filters)
  await crashed.insert(tweets.slice(20, 40))
  await crashed.rebuild()
  await crashed.reopen()
  assert.is(crashed.records.segmentNumbers().length, crashed.index.stats().segments)
  await crashed.close()
  await harness.close()
})

test('rebuilt after a reopen, a last segment of few documents has the private pairs of earlier ones', async () => {
  const harness = await IndexHarness.open({ segmentDocuments: 512 })
  await harness.insert(tweets.slice(0, 600))
  await harness.reopen()
  await harness.rebuild()
  const [first, last] = harness.index.stats().parameters
  assert.is(last!.documents, 88)
  assert.ok(last!.privatePairs > first!.privatePairs / 2, `${last!.privatePairs} of ${first!.privatePairs}`)
  await harness.check(filters)
  await harness.close()
})

test('a view from before a rebuild still sees its documents, and its segments stay until it is closed', async () => {
  for (const isAsync of [false, true]) {
    const harness = await worn()
    harness.records.isAsync = isAsync
    const before = harness.snapshot()
    const numbers = harness.records.segmentNumbers()
    await harness.rebuild()
    const between = harness.snapshot()
    await harness.remove([...harness.documents.keys()].slice(0, 100))
    await harness.insert(tweets.slice(1300))
    await harness.rebuild()
    for (const view of [before, between]) await view.check(filters)
    await harness.check(filters)
    assert.ok(numbers.every((number) => harness.records.segmentNumbers().includes(number)))
    before.view.close()
    between.view.close()
    await harness.reopen()
    assert.is(harness.records.segmentNumbers().length, harness.index.stats().segments)
    await harness.check(filters)
    await harness.close()
  }
})

test('documents added after a rebuild of few documents get parameters that fit', async () => {
  const harness = await IndexHarness.open({ segmentDocuments: 8192 })
  await harness.insert(tweets.slice(0, 10))
  await harness.rebuild()
  await harness.insert([...tweets.slice(10), ...tweets, ...tweets])
  await harness.check(filters.slice(0, 4))
  const { parameters } = harness.index.stats()
  assert.is(parameters.length, 2)
  assert.ok(parameters[1]!.privatePairs > parameters[0]!.privatePairs)
  assert.ok(parameters[1]!.columns > 0)
  await harness.close()
})

const full = { sealed: true, documents: 65_536 }
const small = { sealed: true, documents: 3000 }
const cases = [
  ['nothing', { documents: 0, dead: 0, parameters: [] }, undefined, undefined],
  ['few dead of few', { documents: 500, dead: 500, parameters: [small] }, undefined, undefined],
  ['30 % dead', { documents: 70_000, dead: 30_000, parameters: [full] }, undefined, undefined],
  ['31 % dead', { documents: 69_000, dead: 31_000, parameters: [full] }, undefined, 'dead documents'],
  ['some small', { documents: 24_000, dead: 0, parameters: Array(8).fill(small) }, undefined, undefined],
  ['many small', { documents: 27_000, dead: 0, parameters: Array(9).fill(small) }, undefined, 'small segments'],
  ['many full', { documents: 655_360, dead: 0, parameters: Array(10).fill(full) }, undefined, undefined],
  [
    'as predicted',
    { documents: 65_536, dead: 0, parameters: [full] },
    { falsePositives: 5000, predicted: 4000 },
    undefined
  ],
  ['by chance', { documents: 65_536, dead: 0, parameters: [full] }, { falsePositives: 900, predicted: 10 }, undefined],
  [
    'far from it',
    { documents: 65_536, dead: 0, parameters: [full] },
    { falsePositives: 5000, predicted: 400 },
    'false positives'
  ]
] as const

test('a rebuild pays for many dead documents, many small segments, or more false positives than predicted', () => {
  for (const [name, stats, observed, expected] of cases) {
    assert.is(rebuildReason(stats as unknown as Parameters<typeof rebuildReason>[0], 65_536, observed), expected, name)
  }
})

test.run()
