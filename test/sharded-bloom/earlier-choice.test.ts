/** Parameters are reused for the next segments if their documents are alike, and chosen again if they are not. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { createHasher } from '../../src/bloom/hash.ts'
import { runSteps } from '../../src/model/time-slice.ts'
import { type Document, Type } from '../../src/model/types.ts'
import type { SegmentPlan } from '../../src/sharded-bloom/bulk/bulk-plan.ts'
import { BulkSegments } from '../../src/sharded-bloom/bulk/bulk-segments.ts'
import { EarlierChoices } from '../../src/sharded-bloom/bulk/earlier-choices.ts'
import { Scanner } from '../../src/sharded-bloom/byte-scan/scanner.ts'
import { Flattener } from '../../src/sharded-bloom/pairs/flatten.ts'
import type { SegmentParameters } from '../../src/sharded-bloom/segment/segment.ts'
import type { StoredDocument } from '../../src/sharded-bloom/stored-source.ts'
import { fittingParametersSteps } from '../../src/sharded-bloom/tune/earlier-choice.ts'
import { Sampler } from '../../src/sharded-bloom/tune/sampler.ts'
import { chooseParameters } from '../../src/sharded-bloom/tune/segment-parameters.ts'
import { checkTuning } from '../../src/sharded-bloom/tune/tuning-options.ts'
import { testSeed } from '../support/arbitraries.ts'
import { randomFrom } from '../support/random.ts'

const random = randomFrom(testSeed())
const below = (limit: number): number => Math.floor(random() * limit)
const flattener = new Flattener(createHasher('murmur'), { lo: 1, hi: 2 })
const tuning = checkTuning({})

/** Twelve values that no other document has, two of few different ones, and a growing number. */
const usual = (i: number): Document => ({
  ...Object.fromEntries(Array.from({ length: 12 }, (_, field) => [`f${field}`, `${i} ${below(1e9)}`])),
  lang: `l${below(20)}`,
  kind: `k${below(5)}`,
  at: 1_700_000_000 + i
})

function sampleOf(count: number, documentAt: (i: number) => Document): Sampler {
  const sampler = new Sampler(1, count)
  for (let i = 0; i < count; i++) sampler.observe(flattener.flatten(documentAt(i)))
  return sampler
}

function fitting(documentAt: (i: number) => Document): SegmentParameters | undefined {
  const parameters = chooseParameters(sampleOf(4096, usual), tuning, 65_536)
  const isPrivate = new Set(parameters.privatePairs.map(({ lo }) => lo))
  assert.ok(isPrivate.size >= 25)
  return runSteps(fittingParametersSteps(sampleOf(512, documentAt), { parameters, hashedPairs: 13 }, tuning))
}

test('parameters are reused for documents that are alike', () => {
  const parameters = fitting(usual)
  assert.ok(parameters !== undefined)
  assert.ok(parameters.privatePairs.length >= 25)
  assert.equal(
    parameters.columns.map(({ path, type }) => [path, type]),
    [['at', Type.number]]
  )
})

const others: Readonly<Record<string, (i: number) => Document>> = {
  'a new value in some documents': (i) => ({ ...usual(i), lang: below(20) === 0 ? 'new' : `l${below(20)}` }),
  'a new field in all documents': (i) => ({ ...usual(i), new: `${i}` }),
  'other frequent values': (i) => ({ ...usual(i), lang: `m${below(20)}` }),
  'fewer fields': (i) => ({ f0: `${i}`, lang: 'l1' })
}

for (const [name, documentAt] of Object.entries(others)) {
  test(`${name}: parameters are chosen again`, () => {
    assert.is(fitting(documentAt), undefined)
  })
}

test('a field whose values become numbers gets a column', () => {
  const columns = fitting((i) => ({ ...usual(i), f3: i * 7 }))?.columns ?? []
  assert.equal(columns.map(({ path }) => path).sort(), ['at', 'f3'])
})

const count = 20_000

/** @returns the number of sampled documents, and of hashed pairs per document of the segment */
async function built(earlier: EarlierChoices, documentAt: (i: number) => Document, other: Partial<SegmentPlan> = {}) {
  const documents = Array.from({ length: count }, (_, i) => Buffer.from(JSON.stringify(documentAt(i))))
  const stored = (ordinal: number): StoredDocument => {
    const json = documents[ordinal]!
    return {
      ordinal,
      bytes: json,
      start: 0,
      length: json.length,
      document: () => JSON.parse(json.toString()) as Document
    }
  }
  const plan = { seedLo: 1, seedHi: 2, segmentDocuments: 32_768, tuning, ...other }
  let sampled = 0
  const { scan } = Scanner.prototype
  Scanner.prototype.scan = function (...given) {
    if (given[5] === true) sampled++
    return scan.apply(this, given)
  }
  const segments = await BulkSegments.create(
    plan,
    async function* (from, to) {
      for (let at = from; at < to; at += 64) {
        yield Array.from({ length: Math.min(64, to - at) }, (_, i) => stored(at + i))
      }
    },
    () => {},
    earlier
  )
  try {
    await segments.begin(0, count)
    for (const [ordinal, bytes] of documents.entries()) {
      if (segments.addBytes(ordinal, bytes, 0, bytes.length) !== false) continue
      segments.add(ordinal, segments.flatten(stored(ordinal).document()))
    }
    const [segment] = await segments.finish()
    return { sampled, hashedPairs: segment!.record.hashedPairs / count }
  } finally {
    segments.close()
    Scanner.prototype.scan = scan
  }
}

test('a segment like the previous one of its index is sampled sparsely, others fully', async () => {
  const earlier = new EarlierChoices()
  const isFull = (sampled: number): boolean => sampled > 4000
  const first = await built(earlier, usual)
  assert.ok(isFull(first.sampled), `${first.sampled}`)
  for (let segment = 0; segment < 2; segment++) {
    const next = await built(earlier, usual)
    assert.ok(next.sampled < 1100, `${next.sampled}`)
    assert.ok(Math.abs(next.hashedPairs - first.hashedPairs) < 0.1)
  }
  const changed = (i: number): Document => ({ ...usual(i), kind: `other ${below(5)}` })
  const other = await built(earlier, changed)
  assert.ok(isFull(other.sampled), `${other.sampled}`)
  assert.ok(Math.abs(other.hashedPairs - first.hashedPairs) < 0.1, 'what is frequent now is private')
  assert.not(isFull((await built(earlier, changed)).sampled))
  assert.ok(isFull((await built(earlier, changed, { seedLo: 5 })).sampled))
  assert.ok(isFull((await built(earlier, changed)).sampled))
  assert.ok(isFull((await built(earlier, changed, { tuning: checkTuning({ shards: 1024 }) })).sampled))
})

test('documents that change gradually are compared with those of the last full choice', async () => {
  const earlier = new EarlierChoices()
  let fulls = 0
  for (let segment = 0; segment < 6; segment++) {
    // Each segment has 25 percentage points more changed documents.
    const drifting = (i: number): Document => (below(100) < 25 * segment ? { ...usual(i), new: `${i}` } : usual(i))
    if ((await built(earlier, drifting)).sampled > 4000) fulls++
  }
  assert.ok(fulls >= 2, `${fulls} of 6`)
})

test.run()
