/**
 * Ordinals without documents, because a batch failed, they were skipped, or the document was deleted before it was
 * indexed again, are never candidates, and hide no document.
 */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Document } from '../../src/model/types.ts'
import { compileFilter } from '../../src/query/filter.ts'
import { IndexHarness } from '../support/index-harness.ts'

const filters = [
  {},
  { n: { $exists: false } },
  { n: { $ne: -1 } },
  { n: 3 },
  { even: true },
  { even: { $ne: true } }
].map((filter) => compileFilter(filter))

function numbered(count: number, from = 0): Document[] {
  return Array.from({ length: count }, (_, i) => ({ n: (from + i) % 10, even: i % 2 === 0 }))
}

test('ordinals of a failed batch are in no view', async () => {
  const harness = await IndexHarness.open({ segmentDocuments: 512 })
  await harness.insert(numbered(100))
  harness.failBatch(numbered(70))
  await harness.check(filters)
  harness.skip(70)
  await harness.insert(numbered(100))
  await harness.check(filters)
  await harness.close()
})

test('ordinals of a failed batch stay dead through a checkpoint and a crash', async () => {
  const harness = await IndexHarness.open({ segmentDocuments: 8192 })
  await harness.insert(numbered(3000))
  harness.failBatch(numbered(70))
  harness.skip(70)
  await harness.insert(numbered(2000))
  const crashed = harness.crashed()
  await crashed.open()
  assert.ok(crashed.index.stats().recovered < 2000, 'a checkpoint was there')
  await crashed.check(filters)
  await crashed.close()
  await harness.close()
})

test('skipped ordinals stay dead through sealing and a crash', async () => {
  const harness = await IndexHarness.open({ segmentDocuments: 512 })
  await harness.insert(numbered(300))
  harness.skip(50)
  await harness.insert(numbered(300))
  const crashed = harness.crashed()
  await crashed.open()
  assert.is(crashed.index.stats().parameters[0]?.sealed, true)
  await crashed.check(filters)
  await crashed.close()
  await harness.close()
})

test('ordinals of a failed batch that are assigned again after a reopen hide nothing', async () => {
  const harness = await IndexHarness.open({ segmentDocuments: 512 })
  await harness.insert(numbered(100))
  harness.failBatch(numbered(70))
  await harness.reopen()
  await harness.insert(numbered(100))
  await harness.check(filters)
  await harness.reopen()
  await harness.check(filters)
  await harness.close()
})

test('ordinals deleted before they were indexed again are in no view, older ones included', async () => {
  const harness = await IndexHarness.open({ segmentDocuments: 512 })
  await harness.insert(numbered(100))
  await harness.remove([96, 97, 98, 99])
  const crashed = harness.crashed()
  await crashed.open()
  const before = crashed.snapshot()
  crashed.add(numbered(50))
  await before.check(filters)
  await crashed.check(filters)
  await crashed.close()
  await harness.close()
})

for (const gap of [1, 63, 64, 100, 511, 512, 513, 5000]) {
  test(`a gap of ${gap} ordinals hides nothing, before and after reopening`, async () => {
    const harness = await IndexHarness.open({ segmentDocuments: 512 })
    await harness.insert(numbered(130))
    harness.skip(gap)
    await harness.check(filters)
    await harness.insert(numbered(300))
    harness.skip(gap)
    await harness.check(filters)
    const crashed = harness.crashed()
    await crashed.open()
    await crashed.insert(numbered(10))
    await crashed.check(filters)
    await crashed.close()
    await harness.reopen()
    await harness.check(filters)
    await harness.insert(numbered(100))
    await harness.check(filters)
    await harness.close()
  })
}

test('a collection that starts far above ordinal 0 is indexed', async () => {
  const harness = await IndexHarness.open({ segmentDocuments: 512 })
  harness.skip(2 ** 40)
  await harness.insert(numbered(600))
  await harness.check(filters)
  await harness.reopen()
  await harness.check(filters)
  await harness.close()
})

test('an index rebuilt over sparse ordinals has every document', async () => {
  const harness = await IndexHarness.open({ segmentDocuments: 512 })
  await harness.insert(numbered(3000))
  await harness.remove(Array.from({ length: 3000 }, (_, i) => i).filter((i) => i % 7 !== 0 || (i > 800 && i < 2100)))
  const crashed = harness.crashed()
  crashed.records.records.clear()
  await crashed.open()
  assert.is(crashed.index.stats().recovered, harness.documents.size)
  await crashed.check(filters)
  await crashed.reopen()
  await crashed.check(filters)
  await crashed.close()
  await harness.close()
})

test.run()
