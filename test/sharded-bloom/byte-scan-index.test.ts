/**
 * An index fed with bytes stores the same as one fed with objects, through tuning, sealing, reopening and crashes.
 */
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Document } from '../../src/model/types.ts'
import { compileFilter } from '../../src/query/filter.ts'
import { generateTweets } from '../../src/workload/index.ts'
import { adversarial, documents, filters, plain, testSeed } from '../support/arbitraries.ts'
import { type HarnessOptions, IndexHarness } from '../support/index-harness.ts'
import { encodeJson, encodeStored } from '../support/scanned-segments.ts'

const seed = testSeed()

/** Feeds bytes wherever the index accepts them; for every other hundred documents, bytes that it wrote itself. */
class ByteHarness extends IndexHarness {
  handled = 0
  written = 0

  override add(documents: Iterable<Document>): number {
    const first = this.limit
    for (const document of documents) {
      const stored = encodeStored(document)
      const { form } = stored
      const isTurn = Math.floor(this.limit / 100) % 2 === 0
      const written = isTurn ? this.index.write?.(this.limit, document) : undefined
      const isWritten = written instanceof Uint8Array
      if (isWritten) this.written++
      const bytes = isWritten ? written : stored.bytes
      const mark = isWritten && form !== 'json' ? 1 : 0
      if (this.index.addBytes?.(this.limit, bytes, mark, bytes.length - mark, form)) {
        this.handled++
        this.source.documents.set(this.limit++, document)
      } else super.add([document])
    }
    return first
  }
}

async function openBoth(options: HarnessOptions): Promise<readonly [ByteHarness, IndexHarness]> {
  const both = [
    new ByteHarness({ ...options, seed: indexSeed }),
    new IndexHarness({ ...options, seed: indexSeed })
  ] as const
  for (const harness of both) await harness.open()
  return both
}

const indexSeed = { lo: seed, hi: ~seed }

function assertSameRecords([scanned, flattened]: readonly IndexHarness[]): void {
  const expected = flattened!.records.records
  assert.equal([...scanned!.records.records.keys()].sort(), [...expected.keys()].sort())
  for (const [key, value] of scanned!.records.records) {
    if (Buffer.compare(value, expected.get(key)!) !== 0) assert.unreachable(`record ${key} differs`)
  }
}

for (const tail of ['bloom', 'fingerprint'] as const) {
  test(`tweets through tuning, checkpoints and two seals leave the same records: ${tail}`, async () => {
    const both = await openBoth({ segmentDocuments: 8192, tail })
    const tweets = [...generateTweets({ count: 20_000, seed })]
    for (const harness of both) {
      for (let begin = 0; begin < tweets.length; begin += 5000) {
        await harness.insert(tweets.slice(begin, begin + 5000))
        await harness.reopen()
      }
      await harness.close()
    }
    assertSameRecords(both)
    assert.ok(both[0].handled > 2000, `${both[0].handled} were scanned`)
    assert.ok(both[0].written > 8000, `${both[0].written} were written by the index`)
  })
}

test('mixed documents leave the same records, and answers stay sound', async () => {
  const both = await openBoth({ segmentDocuments: 8192 })
  const mixed = [
    ...fc.sample(documents(plain), { numRuns: 8000, seed }),
    ...fc.sample(documents(adversarial), { numRuns: 2000, seed: seed + 1 }),
    ...fc.sample(documents(plain), { numRuns: 9000, seed: seed + 2 })
  ]
  const asked = fc.sample(filters(plain), { numRuns: 30, seed: seed + 3 }).map((filter) => compileFilter(filter))
  for (const harness of both) {
    await harness.insert(mixed.slice(0, 9001), 64)
    await harness.remove([5, 70, 2100])
    await harness.reopen()
    await harness.insert(mixed.slice(9001), 64)
  }
  await both[0].check(asked)
  const crashed = both[0].crashed()
  await crashed.open()
  await crashed.check(asked)
  await crashed.close()
  for (const harness of both) await harness.close()
  assertSameRecords(both)
  assert.ok(both[0].handled > 300, `${both[0].handled} were scanned`)
})

test('after skipped ordinals the index refuses bytes, and takes the next document as an object', async () => {
  const harness = new ByteHarness({ segmentDocuments: 512 })
  await harness.open()
  const numbered = (count: number): Document[] => Array.from({ length: count }, (_, i) => ({ n: i % 7 }))
  await harness.insert(numbered(5000))
  const bytes = encodeJson({ n: 1 })
  assert.not.ok(harness.index.addBytes?.(harness.limit + 1, bytes, 0, bytes.length))
  harness.skip(3)
  await harness.insert(numbered(500))
  await harness.check([compileFilter({ n: 3 }), compileFilter({ n: { $ne: 3 } }), compileFilter({})])
  await harness.close()
})

test('no document is scanned where the hash is farmhash', async () => {
  const harness = new ByteHarness({ segmentDocuments: 512, hash: 'farmhash' })
  await harness.open()
  await harness.insert(Array.from({ length: 2000 }, (_, n) => ({ n })))
  assert.is(harness.handled, 0)
  await harness.close()
})

test('more indexes than scanners work; scanners are taken from closed and from idle indexes', async () => {
  const filled = async (): Promise<ByteHarness> => {
    const harness = new ByteHarness()
    await harness.open()
    await harness.insert(Array.from({ length: 5000 }, (_, i) => ({ n: i % 5 })))
    return harness
  }
  const realNow = performance.now
  const start = performance.now()
  try {
    // The clock stands still, because on a busy machine a second is soon over.
    performance.now = () => start
    const harnesses: ByteHarness[] = []
    while (harnesses.length < 20) harnesses.push(await filled())
    assert.is(harnesses.filter(({ handled }) => handled > 0).length, 16)
    performance.now = () => start + 1001
    const late = await filled()
    assert.ok(late.handled > 0)
    for (const harness of [...harnesses, late]) {
      await harness.insert([{ n: 3 }, { n: 4 }])
      await harness.check([compileFilter({ n: 3 })])
      await harness.close()
    }
    const next = await filled()
    assert.ok(next.handled > 0)
    await next.close()
  } finally {
    performance.now = realNow
  }
})

test.run()
