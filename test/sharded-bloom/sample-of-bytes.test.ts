/** A sample of scanned documents, counted in the scanner's memory, is the same as one of their objects. */
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { runSteps } from '../../src/model/time-slice.ts'
import type { Document } from '../../src/model/types.ts'
import type { ByteIngest } from '../../src/sharded-bloom/byte-scan/byte-ingest.ts'
import { jsonFormOf } from '../../src/sharded-bloom/byte-scan/plain.ts'
import type { OpenSegment } from '../../src/sharded-bloom/segment/open-segment.ts'
import type { PairList } from '../../src/sharded-bloom/tune/pair-list.ts'
import { Sampler } from '../../src/sharded-bloom/tune/sampler.ts'
import { initialParameters } from '../../src/sharded-bloom/tune/segment-parameters.ts'
import { checkTuning } from '../../src/sharded-bloom/tune/tuning-options.ts'
import { generateTweets } from '../../src/workload/index.ts'
import { adversarial, documents as arbitraryDocuments, testSeed } from '../support/arbitraries.ts'
import { encodeJson, SegmentTools } from '../support/scanned-segments.ts'
import { SimpleSampler } from '../support/simple-sampler.ts'

const seed = testSeed()
const tools = new SegmentTools(seed)
const initial = initialParameters(checkTuning({}))

/** Samples by one scanner, each with a simple sample to compare with. */
class Samples {
  readonly ingest: ByteIngest = tools.ingest()
  #segment: OpenSegment = tools.open(initial)
  handled = 0

  add(document: Document, sampler: Sampler, simple: SimpleSampler): void {
    const form = jsonFormOf(document)
    const bytes = form === undefined ? undefined : encodeJson(document)
    const onPairs = (list: PairList): void => sampler.observePairs(list)
    const flat = tools.flattener.flatten(document)
    simple.observe(flat)
    if (bytes !== undefined && this.ingest.add(this.#segment, bytes, 0, bytes.length, form!, onPairs)) {
      this.handled++
      return
    }
    this.#segment.add(flat)
    sampler.observe(flat)
    this.ingest.learn(flat)
  }

  beginSegment(): void {
    this.#segment.free()
    this.#segment = tools.open(initial)
  }

  close(): void {
    this.#segment.free()
    this.ingest.close()
  }
}

function withSamples(run: (samples: Samples) => void): void {
  const samples = new Samples()
  try {
    run(samples)
  } finally {
    samples.close()
  }
}

function assertSame(sampler: Sampler, simple: SimpleSampler, minCount = 1): void {
  assert.is(sampler.size, simple.size)
  assert.equal(sampler.documents(), simple.documents(), 'documents')
  const frequent = simple.frequent(minCount)
  assert.equal(sampler.frequent(minCount), frequent, 'frequent pairs')
  for (const privatePairs of [[], frequent.slice(0, frequent.length / 2)]) {
    const counts = [...runSteps(sampler.hashedPairsSteps(privatePairs))]
    assert.equal(counts, simple.hashedPairsPerDocument(privatePairs), 'hashed pairs')
  }
}

const texts = fc.oneof(
  fc.constantFrom('', 'a', 'b', '\ufeff', '\ufeffa', 'a"b', '\\', 'ü', '\ud800', '\u{1f600}', 'x'.repeat(257)),
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc.integer({ min: 250, max: 260 }).map((length) => 'ü'.repeat(length))
)
const values = fc.oneof(texts, fc.double({ noNaN: true }), fc.integer({ min: 0, max: 9 }), fc.constant(null))
const small: fc.Arbitrary<Document> = fc.dictionary(
  fc.constantFrom('a', 'b', 'c', '_id', 'schlüssel'),
  fc.oneof(values, fc.array(values, { maxLength: 6 }), fc.record({ in: values }))
)

test('the samples are equal for documents of every kind, also when thinned', () => {
  const run = ([documents, maxDocuments]: readonly [readonly Document[], number]): void => {
    withSamples((samples) => {
      const sampler = new Sampler(1, maxDocuments)
      const simple = new SimpleSampler(1, maxDocuments)
      for (const document of documents) samples.add(document, sampler, simple)
      assertSame(sampler, simple)
    })
  }
  const kinds = fc.oneof({ weight: 4, arbitrary: small }, arbitraryDocuments(adversarial))
  const limits = fc.constantFrom(4, 16, 4096)
  fc.assert(
    fc.property(fc.tuple(fc.array(kinds, { maxLength: 60 }), limits), (cases) => run(cases)),
    { seed, numRuns: 150 }
  )
})

test('the samples are equal for tweets, most of which are scanned', () => {
  withSamples((samples) => {
    const sampler = new Sampler()
    const simple = new SimpleSampler()
    for (const tweet of generateTweets({ count: 600, seed })) samples.add(tweet, sampler, simple)
    assert.ok(samples.handled > 550)
    assertSame(sampler, simple, 4)
  })
})

test('the samples are equal when several samplers take the memory from each other', () => {
  withSamples((samples) => {
    const samplers = [new Sampler(), new Sampler(), new Sampler()]
    const simples = samplers.map(() => new SimpleSampler())
    ;[...generateTweets({ count: 300, seed })].forEach((tweet, i) => {
      const which = i < 100 ? 0 : i % 3
      samples.add(tweet, samplers[which]!, simples[which]!)
    })
    samplers.forEach((sampler, i) => {
      assertSame(sampler, simples[i]!)
    })
  })
})

test('the samples are equal when the scanner is lost, or forgets its paths', () => {
  withSamples((samples) => {
    const sampler = new Sampler()
    const simple = new SimpleSampler()
    const tweets = [...generateTweets({ count: 300, seed })]
    for (const tweet of tweets.slice(0, 100)) samples.add(tweet, sampler, simple)
    samples.ingest.onScannerRevoked()
    for (const tweet of tweets.slice(100, 200)) samples.add(tweet, sampler, simple)
    assertSame(sampler, simple)
  })
  withSamples((samples) => {
    const sampler = new Sampler()
    const simple = new SimpleSampler()
    for (let i = 0; i < 5000; i++) samples.add({ [`key${i}`]: i % 7 }, sampler, simple)
    samples.beginSegment()
    for (let i = 0; i < 3000; i++)
      samples.add({ [`other${i % 300}`]: `${i % 7}`, [`key${i % 50}`]: 3 }, sampler, simple)
    assertSame(sampler, simple, 100)
  })
})

test('the samples are equal for more pairs, and more text, than the scanner has room for', () => {
  withSamples((samples) => {
    const sampler = new Sampler()
    const simple = new SimpleSampler()
    for (let i = 0; i < 300; i++) {
      const value = Array.from({ length: 700 }, (_, j) => (i < 20 ? j : i * 700 + j))
      samples.add({ value, i }, sampler, simple)
    }
    assert.ok(samples.handled > 290)
    assertSame(sampler, simple, 15)
  })
  withSamples((samples) => {
    const sampler = new Sampler()
    const simple = new SimpleSampler()
    for (let i = 0; i < 200; i++) {
      const texts = Array.from({ length: 120 }, (_, j) => `${i % 190}/${j}`.padEnd(250, 'text '))
      samples.add({ texts, long: 'l'.repeat(3000 + i) }, sampler, simple)
    }
    assertSame(sampler, simple, 2)
  })
})

test('the samples are equal for documents with more pairs than are sampled', () => {
  withSamples((samples) => {
    const sampler = new Sampler()
    const simple = new SimpleSampler()
    for (let i = 0; i < 40; i++) {
      const value = Array.from({ length: 900 + i * 10 }, (_, j) => j + (i % 3))
      samples.add({ value, last: ['x', i, 'x'] }, sampler, simple)
    }
    assertSame(sampler, simple)
  })
})

test('a closed sampler leaves a clean table to the next one', () => {
  withSamples((samples) => {
    const tweets = [...generateTweets({ count: 200, seed })]
    for (let round = 0; round < 2; round++) {
      const sampler = new Sampler()
      const simple = new SimpleSampler()
      for (const tweet of tweets) samples.add(tweet, sampler, simple)
      assertSame(sampler, simple)
      sampler.close()
    }
  })
})

test.run()
