/** Random lives of an index: whatever happens in whatever order, every view is sound for its documents. */
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Document } from '../../src/model/types.ts'
import { compileFilter } from '../../src/query/filter.ts'
import { adversarial, documents, filters, plain, testSeed } from '../support/arbitraries.ts'
import { IndexHarness, type IndexSnapshot } from '../support/index-harness.ts'

const seed = testSeed()
const many = [
  ...fc.sample(documents(adversarial), { numRuns: 700, seed }),
  ...fc.sample(documents(plain), { numRuns: 700, seed })
].map((document, i) => (i % 40 === 7 ? { ...document, ...crowd(i) } : document))

/** Hundreds of values on one path, or of paths. */
function crowd(i: number): Document {
  const values = Array.from({ length: 300 }, (_, k) => (7 * i + k) % 500)
  return i % 80 === 7 ? { many: values } : Object.fromEntries(values.map((value, k) => [`k${value}`, k]))
}

const asked = [
  ...fc.sample(filters(adversarial), { numRuns: 6, seed }),
  {},
  { a: { $exists: false } },
  { b: { $ne: 1 } },
  { many: 300 },
  { many: { $nin: [2, 450] }, k33: { $exists: true } }
].map((filter) => compileFilter(filter))

type Step =
  | { readonly kind: 'insert' | 'insertUnmaintained' | 'failBatch' | 'skip'; readonly count: number }
  | { readonly kind: 'remove'; readonly every: number; readonly start: number }
  | { readonly kind: 'failWrites' | 'failRebuild'; readonly after: number }
  | { readonly kind: 'rebuild'; readonly count: number; readonly every: number }
  | { readonly kind: 'capture' | 'reopen' | 'crash' | 'maintain' | 'otherTail' }

const count = fc.oneof(fc.integer({ min: 1, max: 70 }), fc.integer({ min: 1, max: 700 }))
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('insert' as const), count }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('insertUnmaintained' as const), count }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('failBatch' as const, 'skip' as const), count }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('remove' as const),
      every: fc.integer({ min: 1, max: 40 }),
      start: fc.nat(900)
    })
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('failWrites' as const), after: fc.nat(6) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('failRebuild' as const), after: fc.nat(40) })
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('rebuild' as const),
      count: fc.nat(300),
      every: fc.integer({ min: 1, max: 9 })
    })
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom('capture' as const, 'reopen' as const, 'crash' as const, 'maintain' as const)
    })
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'otherTail' as const }) }
)

class Life {
  #harness: IndexHarness
  #views: IndexSnapshot[] = []
  #next = 0

  constructor(harness: IndexHarness) {
    this.#harness = harness
  }

  async take(each: Step): Promise<void> {
    const harness = this.#harness
    switch (each.kind) {
      case 'insert':
        return harness.insert(this.#documents(each.count), 90)
      case 'insertUnmaintained':
        harness.add(this.#documents(each.count))
        return
      case 'failBatch':
        // Its ordinals are either skipped, or assigned again after a reopen.
        harness.failBatch(this.#documents(each.count))
        if (each.count % 2 === 0) harness.skip(each.count)
        else await this.#reopen()
        return
      case 'skip':
        return harness.skip(each.count)
      case 'remove':
        return harness.remove(
          [...harness.documents.keys()].filter(
            (ordinal) => ordinal >= each.start && (ordinal - each.start) % each.every === 0
          )
        )
      case 'failWrites':
        harness.records.failAfterWrites = each.after
        await harness.maintain().catch(() => undefined)
        harness.records.failAfterWrites = Number.POSITIVE_INFINITY
        return
      case 'failRebuild':
        harness.records.failAfterWrites = each.after
        await harness.rebuild().catch(() => undefined)
        harness.records.failAfterWrites = Number.POSITIVE_INFINITY
        return
      case 'rebuild':
        return harness.rebuild(async () => {
          await harness.insert(this.#documents(each.count), 90)
          await harness.remove([...harness.documents.keys()].filter((ordinal) => ordinal % each.every === 0))
        })
      case 'capture':
        this.#views.push(harness.snapshot())
        return
      case 'maintain':
        return harness.maintain()
      case 'reopen':
        return this.#reopen()
      case 'otherTail': {
        // For segments that start from now on; existing ones keep theirs.
        const { options, records, source, limit } = harness
        await harness.close()
        const tail = options.tail === 'fingerprint' ? 'bloom' : 'fingerprint'
        this.#harness = new IndexHarness({ ...options, tail }, records, source, limit)
        this.#harness.usesBytes = true
        this.#views = []
        return this.#harness.open()
      }
      case 'crash': {
        const crashed = harness.crashed()
        await harness.close()
        await crashed.open()
        this.#harness = crashed
        this.#views = []
      }
    }
  }

  async check(): Promise<void> {
    await this.#harness.check(asked)
    for (const view of this.#views.slice(-3)) await view.check(asked)
    assert.equal(this.#harness.damage, [])
  }

  close(): Promise<void> {
    return this.#harness.close()
  }

  async #reopen(): Promise<void> {
    await this.#harness.reopen()
    this.#views = []
  }

  #documents(length: number): typeof many {
    return Array.from({ length }, () => many[this.#next++ % many.length]!)
  }
}

for (const isAsync of [false, true]) {
  test(`every view is sound at every step of a random life${isAsync ? ', rows arriving asynchronously' : ''}`, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 4, maxLength: 16 }),
        fc.constantFrom(512, 1024, 8192),
        fc.constantFrom('bloom' as const, 'fingerprint' as const),
        async (steps, size, tail) => {
          const harness = new IndexHarness({ segmentDocuments: size, tail, ...(isAsync ? { cacheBytes: 0 } : {}) })
          harness.records.isAsync = isAsync
          harness.usesBytes = true
          await harness.open()
          const life = new Life(harness)
          try {
            for (const each of steps) {
              await life.take(each)
              await life.check()
            }
          } finally {
            await life.close()
          }
        }
      ),
      { seed, numRuns: isAsync ? 8 : 30 }
    )
  })
}

test.run()
