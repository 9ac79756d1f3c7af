/** Evaluations end even if they need more rows than the cache has room for, read asynchronously. */
import fc from 'fast-check'
import { test } from 'uvu'
import { compileFilter } from '../../src/query/filter.ts'
import { adversarial, documents, filters, testSeed } from '../support/arbitraries.ts'
import { IndexHarness } from '../support/index-harness.ts'

const seed = testSeed()
const many = fc.sample(documents(adversarial), { numRuns: 700, seed })
const asked = fc.sample(filters(adversarial), { numRuns: 300, seed }).flatMap((filter) => {
  try {
    return [compileFilter(filter)]
  } catch {
    return []
  }
})

/** Sealed segments whose cache holds 16 rows or frames of rows. */
async function small(): Promise<IndexHarness> {
  const harness = new IndexHarness({ segmentDocuments: 512, cacheBytes: 0 })
  await harness.open()
  await harness.insert(
    Array.from({ length: 1600 }, (_, i) => many[(i * i) % many.length]!),
    90
  )
  harness.records.isAsync = true
  return harness
}

/** @throws Error if it does not end */
async function ending<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('it does not end')), 20_000)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

test('evaluations one after the other end, though some of their rows are cached already', async () => {
  const harness = await small()
  await ending(harness.check(asked))
  await harness.close()
})

test('concurrent evaluations that evict the rows of the others end', async () => {
  const harness = await small()
  const views = Array.from({ length: 5 }, () => harness.snapshot())
  const share = Math.floor(asked.length / views.length)
  await ending(Promise.all(views.map((view, i) => view.check(asked.slice(i * share, (i + 1) * share)))))
  await harness.close()
})

test.run()
