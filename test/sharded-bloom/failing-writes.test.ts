/** Whichever write fails: the error is thrown, the index still answers, and is right after a reopen. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Document } from '../../src/model/types.ts'
import { compileFilter } from '../../src/query/filter.ts'
import { IndexHarness } from '../support/index-harness.ts'

const documents: Document[] = Array.from({ length: 9300 }, (_, i) => ({
  n: i,
  tens: i % 10,
  tags: i % 3 === 0 ? [`t${i % 7}`] : [],
  ...(i % 50 === 0 ? { rare: { [`key${i % 20}`]: i } } : {}),
  // Many pairs in the first documents only: parameters shrink when the segment is tuned.
  ...(i < 600 ? Object.fromEntries(Array.from({ length: 20 }, (_, j) => [`x${j}`, i * 20 + j])) : {})
}))

const filters = [
  {},
  { tens: 3 },
  { tens: { $ne: 3 } },
  { n: 1100 },
  { tags: 't3', tens: { $in: [1, 2, 9] } },
  { tags: { $size: 0 } },
  { rare: { $exists: false } },
  { 'rare.key10': { $exists: true } }
].map((filter) => compileFilter(filter))

/** Runs the steps with the n-th write failing; returns false if there are fewer writes. */
async function failAt(n: number, isLasting: boolean, segmentDocuments: number): Promise<boolean> {
  const harness = await IndexHarness.open({ segmentDocuments })
  harness.records.failAfterWrites = n
  let failures = 0
  const attempt = async (step: () => Promise<void>): Promise<void> => {
    try {
      await step()
      return
    } catch (error) {
      assert.match((error as Error).message, 'injected')
    }
    failures++
    if (failures === 1) {
      await harness.check(filters)
      const crashed = harness.crashed()
      await crashed.open()
      await crashed.check(filters)
      await crashed.reopen()
      assert.equal(crashed.damage, [], 'a crash is not damage')
      await crashed.check(filters)
      await crashed.close()
    }
    harness.records.failAfterWrites = isLasting && failures < 5 ? 0 : Number.POSITIVE_INFINITY
  }
  const marks = [400, 900, 1030, 2100, 4200, ...(segmentDocuments > 8192 ? [5000, documents.length] : [])]
  let begin = 0
  for (const end of marks) {
    for (; begin < end; begin += 100) {
      harness.add(documents.slice(begin, Math.min(end, begin + 100)))
      await attempt(() => harness.maintain())
    }
    begin = end
    await harness.remove([end - 7, end - 300, 3])
  }
  await harness.check(filters)
  await harness.close().catch((error: Error) => {
    failures++
    assert.match(error.message, 'injected')
  })
  harness.records.failAfterWrites = Number.POSITIVE_INFINITY
  await harness.open()
  assert.equal(harness.damage, [], 'a failure is not damage')
  await harness.check(filters)
  await harness.insert(documents.slice(0, 100))
  await harness.check(filters)
  await harness.reopen()
  await harness.check(filters)
  await harness.close()
  return failures > 0
}

for (const segmentDocuments of [2048, 16_384]) {
  // A segment this large is slow to build in every round: once is enough.
  for (const isLasting of segmentDocuments > 8192 ? [false] : [false, true]) {
    const times = isLasting ? 'five times' : 'once'
    test(`an index with ${segmentDocuments} documents a segment survives each write failing ${times}`, async () => {
      let n = 0
      while (await failAt(n, isLasting, segmentDocuments)) n++
      console.log(`${n} writes`)
      assert.ok(n > 5, 'there are writes to fail')
    })
  }
}

test('an index that could not be opened because the store failed opens when the store works again', async () => {
  for (let n = 0; n < 40; n++) {
    const harness = await IndexHarness.open({ segmentDocuments: 512 })
    await harness.insert(documents.slice(0, 1200))
    const crashed = harness.crashed()
    crashed.records.records.clear()
    crashed.records.failAfterWrites = n
    let hasFailed = false
    try {
      await crashed.open()
    } catch (error) {
      hasFailed = true
      assert.match((error as Error).message, 'injected')
    }
    crashed.records.failAfterWrites = Number.POSITIVE_INFINITY
    if (hasFailed) await crashed.open()
    await crashed.check(filters)
    await crashed.close()
    await harness.close()
    if (!hasFailed) return
  }
})

test.run()
