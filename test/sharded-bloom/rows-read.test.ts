/** Reading a segment's rows stops as soon as no candidate is left; where candidates remain, every row is read. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Document } from '../../src/model/types.ts'
import { compileFilter } from '../../src/query/filter.ts'
import { IndexArea } from '../../src/sharded-bloom/records/index-keys.ts'
import { IndexHarness } from '../support/index-harness.ts'

const segmentDocuments = 16_384
const count = segmentDocuments + 100
const asks = 30

function documentAt(i: number): Document {
  return { unique: `u${i}`, pair: `p${i >> 1}`, some: `s${i % 4001}`, common: i % 3, wide: i % 7 }
}

/** A sealed segment with none of its rows in memory. */
async function open(isAsync = false): Promise<IndexHarness> {
  const harness = await IndexHarness.open({ segmentDocuments, cacheBytes: 0, seed: { lo: 7, hi: 11 } })
  await harness.insert(Array.from({ length: count }, (_, i) => documentAt(i)))
  harness.records.isAsync = isAsync
  await harness.reopen()
  return harness
}

interface Asked {
  readonly candidates: readonly number[]
  readonly hashed: number
  readonly privately: number
}

/** Evaluates a filter in the sealed segment, with nothing of it in memory. */
async function ask(harness: IndexHarness, filter: Document): Promise<Asked> {
  await harness.reopen()
  const { records } = harness
  const read = new Map<number, number>()
  const get = records.get.bind(records)
  records.get = (key) => {
    read.set(key[0]!, (read.get(key[0]!) ?? 0) + 1)
    return get(key)
  }
  const { view } = harness.snapshot()
  const segment = await view.evaluate(0, compileFilter(filter).bounds)
  const candidates = Array.from({ length: segment.upperCount }, (_, c) => segment.ordinal(c))
  view.close()
  records.get = get
  return { candidates, hashed: read.get(IndexArea.hashedRows) ?? 0, privately: read.get(IndexArea.privateRow) ?? 0 }
}

async function* asked(harness: IndexHarness, filterAt: (i: number) => Document): AsyncGenerator<Asked> {
  for (let i = 0; i < asks; i++) yield await ask(harness, filterAt(i))
}

function rowsPerPairOf(harness: IndexHarness): number {
  return harness.index.stats().parameters[0]!.rowsPerPair
}

test('fewer rows are read for a value that no document has than for one that exists', async () => {
  const harness = await open()
  const rows = rowsPerPairOf(harness)
  let passed = 0
  let ofNothing = 0
  for (let i = 0; i < 20 * asks; i++) {
    const { candidates, hashed } = await ask(harness, { unique: `nobody${i}` })
    if (hashed === 0 || candidates.length > 0) continue
    passed++
    ofNothing += hashed
    if (passed === asks) break
  }
  assert.ok(passed > 10, `the upper level lets ${passed} values pass`)
  let ofSomething = 0
  let i = 0
  for await (const { candidates, hashed } of asked(harness, (each) => ({ unique: `u${each * 251}` }))) {
    assert.ok(candidates.includes(i++ * 251))
    ofSomething += hashed
  }
  const [nothing, something] = [ofNothing / passed, ofSomething / asks]
  // Several rows share a frame, and are then read together.
  assert.ok(something <= rows, `${something} frames for ${rows} rows`)
  assert.ok(
    nothing < 0.8 * something,
    `${nothing.toFixed(1)} frames read where nothing is, ${something.toFixed(1)} where something is`
  )
  await harness.close()
})

test('when rare values leave no candidate of an AND, no other rows are read', async () => {
  const harness = await open()
  let without = 0
  for (let i = 0; i < asks; i++) {
    // Both values exist, but in other documents: if these are in one group, the upper level cannot rule them out.
    const filter = { pair: `p${i * 100}`, unique: `u${i * 200 + 2}`, common: 1, wide: { $in: [1, 2] } }
    const { candidates, hashed, privately } = await ask(harness, filter)
    if (hashed === 0 || candidates.length > 0) continue
    without++
    assert.is(privately, 0, JSON.stringify(filter))
  }
  assert.ok(without > asks / 2, `${without} of ${asks} had hashed rows read, and nothing left`)
  const both = await ask(harness, { pair: 'p500', common: 1, wide: { $in: [0, 1, 2, 3, 4, 5, 6] } })
  assert.ok(both.privately > 0)
  assert.ok(both.candidates.some((ordinal) => ordinal === 1000 || ordinal === 1001))
  await harness.close()
})

test('an evaluation that did not need some rows does not need them when it is repeated', async () => {
  const harness = await IndexHarness.open({ segmentDocuments, seed: { lo: 7, hi: 11 } })
  await harness.insert(Array.from({ length: count }, (_, i) => documentAt(i)))
  await harness.reopen()
  for (let i = 0; i < asks; i++) {
    const { bounds } = compileFilter({
      $or: [{ unique: `u${i * 251}` }, { unique: `nobody${i}` }, { pair: `p${i * 7}` }]
    })
    const { view } = harness.snapshot()
    const walk = async (): Promise<number> =>
      (view.skip?.(0, bounds, 1) ?? 0) + (await view.evaluate(0, bounds)).upperCount
    const first = await walk()
    const { misses } = harness.index.stats().cache
    assert.is(await walk(), first)
    assert.is(harness.index.stats().cache.misses, misses, `${i}: the segment is evaluated in memory`)
    view.close()
  }
  await harness.close()
})

test('a store with asynchronous reads leads to the same candidates', async () => {
  const [atOnce, later] = [await open(), await open(true)]
  const filters: Document[] = [
    { unique: 'u77' },
    { unique: 'nobody' },
    { unique: 'u77', pair: 'p38', common: 77 % 3 },
    { unique: 'u77', pair: 'p39', common: 1 },
    { some: 's7', wide: 3, common: { $ne: 0 } },
    { $or: [{ unique: 'u5' }, { pair: 'p3000' }], wide: 5 }
  ]
  for (const filter of filters) {
    const { candidates } = await ask(atOnce, filter)
    assert.equal(candidates, (await ask(later, filter)).candidates, JSON.stringify(filter))
    const { matches } = compileFilter(filter)
    for (let i = 0; i < segmentDocuments; i++) {
      if (matches(documentAt(i))) assert.ok(candidates.includes(i), `${i} by ${JSON.stringify(filter)}`)
    }
  }
  await atOnce.close()
  await later.close()
})

test.run()
