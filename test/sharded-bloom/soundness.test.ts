/**
 * lower ⊆ matches ⊆ upper for every live document of a real index, at every stage of its life.
 *
 * Documents and filters are adversarial; the matcher over a full scan is the oracle.
 */
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Document } from '../../src/model/types.ts'
import { type CompiledFilter, compileFilter } from '../../src/query/filter.ts'
import { adversarial, documents, filters, plain, testSeed } from '../support/arbitraries.ts'
import { type HarnessOptions, IndexHarness, type SoundnessTally } from '../support/index-harness.ts'

const seed = testSeed()
const total: SoundnessTally = { pairs: 0, matches: 0, candidates: 0, certain: 0 }

function sampleDocuments(count: number, offset = 0, profile = adversarial): Document[] {
  return fc.sample(documents(profile), { numRuns: count, seed: seed + offset })
}

function sampleFilters(count: number, offset = 0, profile = adversarial): CompiledFilter[] {
  return fc
    .sample(filters(profile), { numRuns: count, seed: seed + 1000 + offset })
    .map((filter) => compileFilter(filter))
}

async function check(harness: IndexHarness, list: readonly CompiledFilter[]): Promise<void> {
  const tally = await harness.check(list)
  total.pairs += tally.pairs
  total.matches += tally.matches
  total.candidates += tally.candidates
  total.certain += tally.certain
}

/** Every third ordinal below the limit, from `start`. */
function* thirds(harness: IndexHarness, start: number): Generator<number> {
  for (let ordinal = start; ordinal < harness.limit; ordinal += 3) yield ordinal
}

async function checkLife(options: HarnessOptions, isAsync = false): Promise<void> {
  const harness = new IndexHarness(options)
  harness.records.isAsync = isAsync
  await harness.open()
  const asked = sampleFilters(24)

  await harness.insert(sampleDocuments(37), 37)
  await check(harness, asked) // with a partly filled block of 64
  await harness.insert(sampleDocuments(400, 1))
  await harness.remove(thirds(harness, 0))
  await check(harness, asked) // with dead documents
  await harness.reopen()
  assert.is(harness.index.stats().recovered, 0, 'closing leaves nothing to index again')
  await check(harness, asked) // restored in the middle of a block

  await harness.insert(sampleDocuments(700, 2), 64)
  await check(harness, asked) // two segments sealed
  await harness.remove(thirds(harness, 1))
  const crashed = harness.crashed()
  await crashed.open()
  assert.ok(crashed.index.stats().recovered <= 8192)
  await check(crashed, asked)
  await crashed.close()
  await harness.reopen()
  await check(harness, asked)
  await harness.insert(sampleDocuments(100, 3), 7)
  await check(harness, sampleFilters(24, 1))
  await harness.close()
}

test('bounds hold throughout the life of an index with small segments', () => checkLife({ segmentDocuments: 512 }))

test('bounds hold when rows are nearly full', () => checkLife({ segmentDocuments: 512, shards: 64, rowsPerPair: 16 }))

test('bounds hold with one row per pair', () => checkLife({ segmentDocuments: 512, shards: 64, rowsPerPair: 1 }))

test('bounds hold when rows are read asynchronously, through the smallest cache', () =>
  checkLife({ segmentDocuments: 512, cacheBytes: 0 }, true))

test('bounds hold with farmhash', () => checkLife({ segmentDocuments: 512, hash: 'farmhash' }))

test('bounds hold with fingerprints', () => checkLife({ segmentDocuments: 512, tail: 'fingerprint' }))

test('bounds hold with fingerprints that are read asynchronously, through the smallest cache', () =>
  checkLife({ segmentDocuments: 512, cacheBytes: 0, tail: 'fingerprint' }, true))

async function checkTuning(harness: IndexHarness): Promise<void> {
  await harness.open()
  const asked = sampleFilters(6, 2)
  const many = [...sampleDocuments(1250, 4), ...sampleDocuments(1250, 4, plain)]
  await harness.insert(many.slice(0, 1000))
  await check(harness, asked)
  const isBloom = harness.options.tail !== 'fingerprint'
  assert.is(harness.index.stats().parameters[0]?.shards, isBloom ? 512 : 0, 'general parameters at first')
  await harness.insert(many.slice(1000, 1100))
  assert.ok((harness.index.stats().parameters[0]?.privatePairs ?? 0) > 100, 'tuned at 1,024')
  await check(harness, asked)
  await harness.remove(thirds(harness, 0))
  await harness.insert(many)
  await harness.insert(many)
  await check(harness, asked) // tuned at 4,096 without dead documents, and checkpointed once
  const crashed = harness.crashed()
  await crashed.open()
  assert.ok(crashed.index.stats().recovered < 4096)
  assert.ok(crashed.index.stats().recovered > 0)
  await check(crashed, asked)
  await crashed.close()
  await harness.remove(thirds(harness, 1))
  await harness.insert(many)
  await check(harness, asked)
  await harness.reopen()
  await check(harness, asked)
  for (let i = 0; i < 4; i++) await harness.insert(many)
  assert.ok(harness.index.stats().parameters[0]?.sealed)
  await check(harness, asked)
  await harness.reopen()
  await check(harness, asked)
  await harness.close()
}

test('bounds hold while the first segment is tuned, checkpointed and sealed', () =>
  checkTuning(new IndexHarness({ segmentDocuments: 16_384 })))

for (const tail of ['bloom', 'fingerprint'] as const) {
  test(`bounds hold when documents are indexed from their bytes: ${tail}`, async () => {
    const harness = new IndexHarness({ segmentDocuments: 16_384, tail })
    harness.usesBytes = true
    await checkTuning(harness)
    assert.ok(harness.scanned > 3000, `${harness.scanned} scanned`)
  })
}

test('lower bounds decide most matches of plain documents once pairs are known', async () => {
  const harness = await IndexHarness.open({ segmentDocuments: 2048 })
  await harness.insert(sampleDocuments(3000, 5, plain))
  // A few filters match nearly all documents, and some of these prove nothing. By Chernoff's bound, from 2,500 such
  // filters, a hundred of them prove too few matches once in 10^8 seeds; with forty it would be once in 3,000.
  const tally = await harness.check(sampleFilters(100, 3, plain))
  assert.ok(tally.certain > 0.3 * tally.matches, `${tally.certain} of ${tally.matches} matches are certain`)
  assert.ok(tally.candidates < 0.8 * tally.pairs, `${tally.candidates} candidates among ${tally.pairs}`)
  await harness.close()
})

test('more than 100,000 pairs of documents and filters were tried', () => {
  console.log(`seed ${seed}: ${total.pairs} pairs, ${total.matches} match, ${total.certain} certain`)
  assert.ok(total.pairs >= 100_000)
  // Three quarters of such filters match next to nothing, and only 54 are used. This rules out that none matches.
  assert.ok(total.matches >= 1000)
})

test.run()
