/** Predictions for a candidate agree with measurements of an index built with it; a choice outlives the index. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Document } from '../../src/model/types.ts'
import { compileFilter } from '../../src/query/filter.ts'
import type { IndexTuning } from '../../src/sharded-bloom/document-index.ts'
import type { TuneQuery } from '../../src/sharded-bloom/tune/queries.ts'
import { readChoice, writeChoice } from '../../src/sharded-bloom/tune/stored-choice.ts'
import { tuneIndex } from '../../src/sharded-bloom/tune/tune-index.ts'
import type { TuneChoice } from '../../src/sharded-bloom/tune/tune-result.ts'
import { checkTuning } from '../../src/sharded-bloom/tune/tuning-options.ts'
import { generateTweets } from '../../src/workload/index.ts'
import { IndexHarness, RecordMap } from '../support/index-harness.ts'

const present: IndexTuning = { ...checkTuning({}), segmentDocuments: 16_384, hash: 'murmur' }
const documents = [...generateTweets({ count: 3000, seed: 7 })] as unknown as Document[]

/** Enough for tests that count nothing. */
const few = documents.slice(0, 512)

const query = (filter: Document, weight = 1): TuneQuery => ({ bounds: compileFilter(filter).bounds, weight })

function assertPredicted({ predicted, measured, ...choice }: TuneChoice): void {
  const what = JSON.stringify({ ...choice, predicted, measured })
  assert.ok(Math.abs(predicted.bytesPerDocument / measured.bytesPerDocument - 1) < 0.1, what)
  // Five standard deviations, and a fifth for the choice of probes.
  const expected = (predicted.falsePositiveRate * measured.falsePositives) / measured.falsePositiveRate
  if (!measured.isTelling) return
  assert.ok(Math.abs(measured.falsePositives - expected) < 5 * Math.sqrt(expected) + 0.2 * expected, what)
}

test('without queries, probes are used, and every choice has the predicted bytes and false positives', async () => {
  const tuned = await tuneIndex({ documents, queries: [], present, goal: { targetFpr: 1e-3 } })
  assert.ok(tuned.queries.areProbes)
  assert.ok(tuned.considered >= 180)
  assert.ok(tuned.choices.some(({ measured }) => measured.isTelling))
  for (const choice of tuned.choices) assertPredicted(choice)
  assert.is(tuned.choices.filter(({ isPresent }) => isPresent).length, 1)
  assert.ok(tuned.choices[0]!.isPresent)
})

test('a looser target takes fewer bytes, and a larger budget allows fewer false positives', async () => {
  const taken = async (goal: { targetFpr?: number; bytesPerDocument?: number }): Promise<TuneChoice> => {
    const { choices, taken } = await tuneIndex({ documents: few, queries: [], present, goal })
    return choices[taken]!
  }
  const exact = await taken({ targetFpr: 1e-5 })
  const loose = await taken({ targetFpr: 1e-2 })
  assert.ok(loose.measured.bytesPerDocument < exact.measured.bytesPerDocument)
  const { bytesPerDocument } = exact.measured
  const bought = await taken({ bytesPerDocument })
  assert.ok(bought.measured.bytesPerDocument <= bytesPerDocument)
  assert.ok(bought.predicted.falsePositiveRate < loose.predicted.falsePositiveRate)
})

test('fingerprints are recommended for a low target, and take the predicted bytes', async () => {
  const { choices, taken } = await tuneIndex({ documents, queries: [], present, goal: { targetFpr: 2e-5 } })
  const [now] = choices
  assert.is(now!.tail, 'bloom')
  const { tail, predicted, measured } = choices[taken]!
  assert.is(tail, 'fingerprint')
  assert.ok(Math.abs(predicted.bytesPerDocument / measured.bytesPerDocument - 1) < 0.05, JSON.stringify(predicted))
  assert.ok(measured.bytesPerDocument < 0.75 * now!.measured.bytesPerDocument)
  assert.ok(predicted.falsePositiveRate < 1.5e-6)
  assert.ok(predicted.reads < now!.predicted.reads)
})

test('queries that hashed rows cannot help have no false positives', async () => {
  const queries = [
    query({ text: { $regex: 'a' } }),
    query({ lang: 'en' }),
    query({ retweet_count: { $gte: 3 } }),
    query({ coordinates: { $exists: false } })
  ]
  const { choices } = await tuneIndex({ documents: few, queries, present, goal: { targetFpr: 1e-5 } })
  for (const { predicted, measured } of choices) {
    assert.is(measured.falsePositives, 0)
    assert.ok(predicted.falsePositiveRate < 1e-9)
  }
})

test('the false positives of a negated hashed pair, which excludes no document, are predicted exactly', async () => {
  const name = (documents[17] as { user?: { screen_name?: string } }).user!.screen_name!
  const having = documents.filter(
    (document) => (document as { user: { screen_name: string } }).user.screen_name === name
  )
  const queries = [query({ 'user.screen_name': { $ne: name } })]
  const { choices } = await tuneIndex({ documents, queries, present: { ...present, privateShare: 1 / 256 }, goal: {} })
  const [now] = choices
  if (having.length * 256 >= documents.length) return
  assert.is(now!.measured.falsePositives, having.length)
  assert.ok(Math.abs(now!.predicted.falsePositiveRate * documents.length - having.length) < 1e-3)
})

test('the same documents and queries lead to the same choices', async () => {
  const run = async () => {
    const { choices, taken } = await tuneIndex({
      documents: few,
      queries: [],
      present,
      goal: { targetFpr: 1e-4 }
    })
    return {
      taken,
      choices: choices.map(({ measured: { microseconds: _, ...measured }, ...choice }) => ({ ...choice, measured }))
    }
  }
  assert.equal(await run(), await run())
})

test('tuneIndex() can be aborted', async () => {
  const controller = new AbortController()
  const tuning = tuneIndex({ documents, queries: [], present, goal: { targetFpr: 1e-4 }, signal: controller.signal })
  setTimeout(() => controller.abort(), 50)
  try {
    await tuning
    assert.unreachable()
  } catch (error) {
    assert.is((error as Error).name, 'AbortError')
  }
})

test('a stored choice is read back, and a malformed one is ignored', async () => {
  const store = new RecordMap()
  assert.is(await readChoice(store), undefined)
  for (const tail of ['bloom', 'fingerprint'] as const) {
    const choice = { tail, rowsPerPair: 6, bitsPerPosting: 12, privateShare: 1 / 512, upperLevel: false }
    await writeChoice(store, choice)
    assert.equal(await readChoice(store), choice)
  }
  for (const text of ['', 'no json', '{"rowsPerPair":99}', '{"upperLevel":"maybe"}', '[]', '{"rowsPerPair":"auto"}']) {
    await store.write([{ key: Uint8Array.of(0x74), value: new TextEncoder().encode(text) }])
    assert.is(await readChoice(store), undefined, text)
  }
})

test('a chosen tail applies to later segments, and to all after a rebuild; the option takes precedence', async () => {
  const harness = await IndexHarness.open({ segmentDocuments: 2048 })
  const tails = (of = harness): readonly string[] => of.index.stats().parameters.map(({ tail }) => tail)
  const asked = [compileFilter({ id_str: (documents[5] as { id_str?: string }).id_str }), compileFilter({ lang: 'en' })]
  await harness.insert(documents.slice(0, 2048))
  await harness.index.retune!({
    tail: 'fingerprint',
    rowsPerPair: 8,
    bitsPerPosting: 24,
    privateShare: 1 / 1024,
    upperLevel: true
  })
  await harness.insert(documents.slice(0, 2048))
  assert.equal(tails(), ['bloom', 'fingerprint'])
  const { bytes } = harness.index.stats()
  assert.ok(bytes.fingerprints > 0 && bytes.fingerprints < bytes.hashedRows)
  await harness.reopen()
  await harness.check(asked)
  assert.equal(tails(), ['bloom', 'fingerprint'])
  await harness.rebuild()
  await harness.check(asked)
  assert.equal(tails(), ['fingerprint', 'fingerprint'])
  assert.is(harness.index.stats().bytes.hashedRows, 0)
  await harness.close()
  const options = { segmentDocuments: 2048, tail: 'bloom' as const }
  const other = new IndexHarness(options, harness.records, harness.source, harness.limit)
  await other.open()
  await other.rebuild()
  await other.check(asked)
  assert.equal(tails(other), ['bloom', 'bloom'])
  await other.close()
})

test('a choice applies to later segments, before and after a reopen; explicit options take precedence', async () => {
  const insert = (harness: IndexHarness, from: number) => harness.insert(documents.slice(from, from + 2048))
  const harness = await IndexHarness.open({ segmentDocuments: 2048 })
  await insert(harness, 0)
  await harness.index.retune!({
    tail: 'bloom',
    rowsPerPair: 5,
    bitsPerPosting: 8,
    privateShare: 1 / 256,
    upperLevel: false
  })
  await insert(harness, 2048)
  const [first, second] = harness.index.stats().parameters
  assert.is(first!.rowsPerPair, 8)
  assert.is(second!.rowsPerPair, 5)
  assert.ok(second!.shards < first!.shards)
  assert.ok(second!.privatePairs < first!.privatePairs)
  await harness.close()
  assert.is((await reopened(harness, {})).rowsPerPair, 5)
  assert.is((await reopened(harness, { rowsPerPair: 7 })).rowsPerPair, 7)
})

async function reopened(harness: IndexHarness, options: { readonly rowsPerPair?: number }) {
  Object.assign(harness.options, options)
  await harness.open()
  const { tuning } = harness.index
  await harness.close()
  return tuning!
}

test.run()
