/** Segments of which no document is live are dropped without a rebuild. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { compileFilter } from '../../src/query/filter.ts'
import { IndexArea } from '../../src/sharded-bloom/records/index-keys.ts'
import { generateTweets } from '../../src/workload/index.ts'
import { testSeed } from '../support/arbitraries.ts'
import { type HarnessOptions, IndexHarness } from '../support/index-harness.ts'

const seed = testSeed()
const tweets = [...generateTweets({ count: 3000 })]
const filters = [
  {},
  { lang: 'en' },
  { lang: { $ne: 'en' }, 'user.verified': true },
  { id_str: tweets[700]!.id_str },
  { retweet_count: { $gte: 5 } }
].map((filter) => compileFilter(filter))

/** Three full segments and an open one. */
async function filled(options: HarnessOptions = {}): Promise<IndexHarness> {
  const harness = await IndexHarness.open({ segmentDocuments: 512, ...options })
  await harness.insert(tweets.slice(0, 1700))
  return harness
}

/** Removes documents of an ordinal range. */
async function removeRange(harness: IndexHarness, from: number, to: number): Promise<void> {
  await harness.remove([...harness.documents.keys()].filter((ordinal) => ordinal >= from && ordinal < to))
  await harness.maintain()
}

function firstOrdinals({ index }: IndexHarness): number[] {
  return index.stats().parameters.map(({ firstOrdinal }) => firstOrdinal)
}

test('a segment is dropped with its last document, wherever it is', async () => {
  for (const [from, to, left] of [
    [0, 512, [512, 1024, 1536]],
    [512, 1024, [0, 1024, 1536]],
    [0, 1536, [1536]],
    [200, 1600, [0, 1536]]
  ] as const) {
    const harness = await filled()
    await removeRange(harness, from, to)
    assert.not(harness.index.isMaintenanceDue)
    assert.equal(firstOrdinals(harness), left)
    await harness.check(filters)
    await harness.reopen()
    await harness.check(filters)
    assert.is(harness.index.stats().recovered, 0)
    assert.equal(harness.records.segmentNumbers(), left, 'nothing is left of what was dropped')
    assert.equal(harness.damage, [])
    await harness.close()
  }
})

test('views go on reading a dropped segment; its records are deleted with the last of them', async () => {
  const harness = await filled({ cacheBytes: 0 })
  const views = [harness.snapshot(), harness.snapshot()]
  await removeRange(harness, 0, 512)
  assert.is(harness.index.stats().segments, 3)
  for (const view of views) {
    assert.ok(harness.records.segmentNumbers().includes(0))
    await view.check(filters)
    view.view.close()
  }
  await harness.reopen()
  assert.not(harness.records.segmentNumbers().includes(0))
  await harness.close()
})

test('the last segment stays, sealed or open, and goes once another follows it', async () => {
  for (const count of [1536, 1700]) {
    const harness = await IndexHarness.open({ segmentDocuments: 512 })
    await harness.insert(tweets.slice(0, count))
    const last = harness.index.stats().parameters.at(-1)!
    assert.is(last.sealed, count === 1536)
    await removeRange(harness, 0, count)
    assert.equal(firstOrdinals(harness), [last.firstOrdinal])
    await harness.check(filters)
    await harness.insert(tweets.slice(count, 2500))
    await removeRange(harness, 0, 2048)
    assert.equal(firstOrdinals(harness), [2048])
    await harness.reopen()
    await harness.check(filters)
    await harness.close()
  }
})

test('a queue has few segments, whose parameters are not chosen again when earlier ones go', async () => {
  const harness = await IndexHarness.open({ segmentDocuments: 8192 })
  const { source } = harness
  const read = source.read.bind(source)
  let first = 0
  for (let round = 0; round < 30; round++) {
    await harness.insert(tweets.slice(0, 1000))
    if (round === 5) {
      source.read = () => {
        throw new Error('documents are read to choose parameters')
      }
    }
    if (round < 3) continue
    await removeRange(harness, first, first + 1000)
    first += 1000
    const { segments, dead } = harness.index.stats()
    assert.ok(segments <= 2 && dead <= 2 * 8192, `${segments} segments, ${dead} dead`)
  }
  source.read = read
  await harness.check(filters)
  await harness.reopen()
  await harness.check(filters)
  await harness.close()
})

test('none is dropped while a rebuild runs, and all are after it was aborted', async () => {
  const harness = await filled()
  const meanwhile = async (): Promise<void> => {
    await removeRange(harness, 0, 1024)
    await harness.index.maintain(harness.limit)
    assert.is(harness.index.stats().segments, 4)
    throw new Error('aborted')
  }
  const failed = await harness.rebuild(meanwhile).catch((error: Error) => error)
  assert.match((failed as Error).message, 'aborted')
  await harness.check(filters)
  assert.ok(harness.index.isMaintenanceDue)
  await harness.maintain()
  assert.is(harness.index.stats().segments, 2)
  await harness.check(filters)
  await harness.reopen()
  await harness.check(filters)
  assert.equal(harness.records.segmentNumbers(), [1024, 1536])
  await harness.close()
})

test("a segment whose batch failed is neither dropped nor deleted: its ordinals, and keys, will be others'", async () => {
  for (const isRebuilt of [false, true]) {
    const harness = await IndexHarness.open({ segmentDocuments: 512 })
    await harness.insert(tweets.slice(0, 100))
    // Fills the first segment and the second, and begins a third.
    harness.failBatch(tweets.slice(100, 1200))
    await harness.maintain()
    if (isRebuilt) await harness.rebuild()
    else assert.is(harness.index.stats().segments, 3)
    const keys = harness.records.keysOf(IndexArea.segment, harness.records.deletedInVain)
    assert.equal(keys, [], 'a deletion would hide what a bulk load puts there')
    await harness.check(filters)
    await harness.reopen()
    await harness.insert(tweets.slice(1200, 1260))
    await harness.check(filters)
    await harness.reopen()
    await harness.check(filters)
    assert.equal(harness.damage, [])
    await harness.close()
  }
})

test('after a crash or failure at any write, answers are sound, and the segments go later', async () => {
  for (let n = 0; ; n++) {
    const harness = await filled({ tail: seed & 1 ? 'bloom' : 'fingerprint' })
    await harness.remove([...harness.documents.keys()].filter((ordinal) => ordinal < 1024))
    harness.records.failAfterWrites = n
    const failure = await harness.maintain().catch((error: Error) => error)
    await new Promise((resolve) => setImmediate(resolve))
    const isOver = harness.records.failAfterWrites > 0
    const crashed = harness.crashed()
    harness.records.failAfterWrites = Number.POSITIVE_INFINITY
    if (failure !== undefined) assert.match(failure.message, 'injected')
    assert.is(harness.index.isMaintenanceDue, failure !== undefined)
    for (const each of [harness, crashed]) {
      if (each === crashed) await each.open()
      await each.check(filters)
      await each.maintain()
      await each.insert(tweets.slice(1700, 1710))
      assert.is(each.index.stats().segments, 2)
      await each.reopen()
      await each.check(filters)
      assert.equal(each.records.segmentNumbers(), [1024, 1536])
      assert.equal(each.damage, [])
      await each.close()
    }
    if (isOver) break
    assert.ok(n < 100)
  }
})

test.run()
