/** The stored open segment is read only when it is first needed, once, and not after the index was closed. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { rowMemory } from '../../src/bloom/kernels/index.ts'
import { compileFilter } from '../../src/query/filter.ts'
import { IndexArea } from '../../src/sharded-bloom/records/index-keys.ts'
import { maxYoungDocuments } from '../../src/sharded-bloom/segment/hashed-rows.ts'
import { generateTweets } from '../../src/workload/index.ts'
import { IndexHarness } from '../support/index-harness.ts'

const tweets = [...generateTweets({ count: 2500 })]
const filters = [{}, { lang: 'en' }, { lang: { $ne: 'en' } }, { id_str: tweets[600]!.id_str }].map((filter) =>
  compileFilter(filter)
)

async function closedHarness(documents = 650): Promise<IndexHarness> {
  const harness = await IndexHarness.open({ segmentDocuments: 2048 })
  await harness.insert(tweets.slice(0, documents))
  await harness.close()
  return harness
}

/** Collects the areas of the keys that are read. */
function watch(harness: IndexHarness): number[] {
  const areas: number[] = []
  const get = harness.records.get.bind(harness.records)
  harness.records.get = (key) => {
    areas.push(key[0]!)
    return get(key)
  }
  return areas
}

test('opening and closing an index reads no rows', async () => {
  const harness = await closedHarness()
  const areas = watch(harness)
  await harness.open()
  assert.is(harness.index.liveCount(harness.limit), 650)
  await harness.close()
  assert.not.ok(areas.includes(IndexArea.chunkPrivate))
})

test('statistics call the open segment open before and after its rows are read', async () => {
  const harness = await closedHarness(2500)
  await harness.open()
  const sealed = (): readonly boolean[] => harness.index.stats().parameters.map((segment) => segment.sealed)
  assert.equal(sealed(), [true, false])
  const snapshot = harness.snapshot()
  await snapshot.check(filters)
  assert.equal(sealed(), [true, false])
  snapshot.view.close()
  await harness.close()
})

test('concurrent evaluations read the segment only once', async () => {
  const harness = await closedHarness()
  const areas = watch(harness)
  harness.records.isAsync = true
  await harness.open()
  const snapshot = harness.snapshot()
  await Promise.all(filters.map((filter) => snapshot.check([filter])))
  assert.is(areas.filter((area) => area === IndexArea.chunkPrivate).length, 1)
  snapshot.view.close()
  await harness.close()
})

for (const documents of [650, 1300]) {
  const what = documents > maxYoungDocuments ? 'rows' : 'signatures'
  test(`documents can be added after ${documents} stored ones, kept as ${what}`, async () => {
    // Of a chunk that is not complete, the last documents, too, are found by values that have no row of their own.
    const last = tweets.slice(documents - 5, documents + 50).map(({ id_str }) => compileFilter({ id_str }))
    const checked = [...filters, ...last]
    const harness = await closedHarness(documents)
    await harness.open()
    await harness.check(checked)
    await harness.reopen()
    assert.ok(harness.index.isMaintenanceDue)
    assert.throws(() => harness.add(tweets.slice(documents, documents + 1)), /before maintain/)
    await harness.insert(tweets.slice(documents, documents + 50))
    await harness.check(checked)
    await harness.reopen()
    await harness.check(checked)
    await harness.close()
  })
}

test('an index that is closed while an evaluation reads the segment releases its memory', async () => {
  const before = rowMemory().freeFrames
  const harness = await closedHarness()
  harness.records.isAsync = true
  await harness.open()
  const { view } = harness.snapshot()
  const asked = Promise.resolve(view.evaluate(0, filters[1]!.bounds)).then(
    () => 'answered',
    (error: { codeName?: string }) => error.codeName
  )
  await harness.close()
  assert.is(await asked, 'DatabaseNotOpen')
  assert.is(rowMemory().freeFrames, before)
})

test('private pairs that come after a checkpoint are stored with the next one', async () => {
  const harness = await IndexHarness.open({ segmentDocuments: 512 })
  for (const path of ['first', 'second', 'third']) {
    await harness.insert(Array.from({ length: 50 }, (_, i) => ({ [path]: i, common: true })))
    await harness.reopen()
    assert.is(harness.index.stats().recovered, 0, path)
    await harness.check([{ [path]: { $exists: true } }, { [path]: 7 }, {}].map((filter) => compileFilter(filter)))
    assert.equal(harness.damage, [], path)
  }
  await harness.close()
})

test.run()
