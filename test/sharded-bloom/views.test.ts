/** A view sees exactly the documents that were live when it was captured, whatever happens to the index afterwards. */
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { compileFilter } from '../../src/query/filter.ts'
import { OrdinalSet } from '../../src/sharded-bloom/ordinal-set.ts'
import { adversarial, documents, filters, testSeed } from '../support/arbitraries.ts'
import { IndexHarness, type IndexSnapshot } from '../support/index-harness.ts'

const seed = testSeed()
const many = fc.sample(documents(adversarial), { numRuns: 3000, seed })
const asked = [
  ...fc.sample(filters(adversarial), { numRuns: 12, seed }),
  {},
  { a: { $ne: 1 } },
  { a: { $exists: false } },
  { nothing: { $exists: false } }
].map((filter) => compileFilter(filter))

test('a view stays right through additions, removals, sealing, checkpoints and new parameters', async () => {
  const harness = await IndexHarness.open({ segmentDocuments: 2048 })
  const views: IndexSnapshot[] = [harness.snapshot()]
  const step = async (): Promise<void> => {
    views.push(harness.snapshot())
    for (const view of views) await view.check(asked)
  }
  harness.add(many.slice(0, 37))
  await step()
  await harness.insert(many.slice(37, 700), 61)
  await step()
  await harness.remove([0, 1, 5, 36, 64, 500])
  await step()
  const untuned = harness.index.stats().parameters[0]?.privatePairs ?? 0
  await harness.insert(many.slice(700, 1100))
  assert.ok((harness.index.stats().parameters[0]?.privatePairs ?? 0) > untuned, 'tuned at 1,024')
  await step()
  await harness.remove([1, 2, 3, 650, 1000])
  await harness.insert(many.slice(1100, 2500))
  assert.is(harness.index.stats().parameters[0]?.sealed, true)
  await step()
  await harness.remove([4, 2047, 2048, 2400])
  await harness.insert(many.slice(2500))
  await step()
  await harness.close()
})

test('documents that are added but not committed are in no view', async () => {
  const harness = await IndexHarness.open({ segmentDocuments: 512 })
  harness.add(many.slice(0, 500))
  const before = harness.snapshot()
  for (let i = 500; i < 600; i++) harness.index.add(i, harness.index.flatten(many[i] ?? {}))
  await before.check(asked)
  await harness.snapshot().check(asked)
  const limited = harness.index.capture(10)
  assert.is(limited.segmentCount, 1)
  assert.is((await limited.evaluate(0, { kind: 'all' })).upperCount, 10)
  assert.is(harness.index.capture(0).segmentCount, 0)
  await harness.close()
})

test('candidates do not change after they were returned', async () => {
  const harness = await IndexHarness.open({ segmentDocuments: 512 })
  harness.add(many.slice(0, 100))
  const candidates = await harness.index.capture(100).evaluate(0, { kind: 'all' })
  await harness.remove([0, 50])
  harness.add(many.slice(100, 200))
  assert.is(candidates.upperCount, 100)
  assert.is(candidates.lowerCount, 100)
  assert.ok(candidates.has(50))
  assert.not.ok(candidates.has(100))
  assert.not.ok(candidates.has(-1))
  assert.not.ok(candidates.has(2 ** 40))
  await harness.close()
})

test('a view shows no ordinal that it hides, and later views show it again', async () => {
  const harness = await IndexHarness.open({ segmentDocuments: 512 })
  const hidden = fc.sample(fc.nat(1999), { numRuns: 60, seed })
  const views: IndexSnapshot[] = []
  const step = async (): Promise<void> => {
    // One that hides documents that do not exist, and all of a segment.
    const others = [...Array.from({ length: 512 }, (_, i) => i), harness.limit, 2 ** 40]
    views.push(harness.snapshot(hidden), harness.snapshot(others), harness.snapshot())
    for (const view of views) await view.check(asked)
  }
  await harness.insert(many.slice(0, 700), 61)
  await step()
  await harness.remove(hidden.slice(0, 20))
  await harness.insert(many.slice(700, 2000))
  await step()
  await harness.remove([...Array(300).keys()])
  await harness.rebuild()
  await step()
  const [some, none, all] = views.slice(-3).map((view) => view.view.evaluate(0, { kind: 'all' }, 0))
  const counts = (await Promise.all([some, none, all])).map((found) => [found!.upperCount, found!.lowerCount])
  assert.ok(counts[1]![0]! < counts[0]![0]! && counts[0]![0]! < counts[2]![0]!, 'counted without being listed')
  for (const [upper, lower] of counts) assert.is(upper, lower)
  await harness.close()
})

test('an ordinal set has what was added to it', () => {
  fc.assert(
    fc.property(fc.array(fc.array(fc.nat(50))), fc.nat(50), fc.nat(50), (runs, from, to) => {
      let set = OrdinalSet.empty
      for (const run of runs) set = set.with(run)
      const expected = [...new Set(runs.flat())].sort((a, b) => a - b)
      assert.equal([...set], expected)
      assert.equal(
        set.within(from, to),
        expected.filter((ordinal) => ordinal >= from && ordinal < to)
      )
      assert.is(set.has(from), expected.includes(from))
    }),
    { seed }
  )
})

test('views are sound while maintenance runs and rows arrive asynchronously', async () => {
  const harness = new IndexHarness({ segmentDocuments: 512, cacheBytes: 0 })
  harness.records.isAsync = true
  await harness.open()
  await harness.insert(many.slice(0, 1200))
  harness.add(many.slice(1200, 1600))
  const before = harness.snapshot()
  await Promise.all([before.check(asked), harness.maintain(), harness.snapshot().check(asked)])
  await before.check(asked)
  await harness.close()
})

test.run()
