/** The row cache is bounded, and all row memory is released in the end. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { RowMemory, rowMemory } from '../../src/bloom/kernels/index.ts'
import { type PairExpression, pairOf } from '../../src/model/pairs.ts'
import { Type } from '../../src/model/types.ts'
import { compileFilter } from '../../src/query/filter.ts'
import { type FrameOwner, frameBytes, RowCache } from '../../src/sharded-bloom/segment/row-cache.ts'
import { generateTweets } from '../../src/workload/index.ts'
import { IndexHarness } from '../support/index-harness.ts'

const tweets = [...generateTweets({ count: 3000 })]
const filters = tweets
  .slice(0, 200)
  .map((tweet) =>
    compileFilter({ $or: [{ id_str: tweet.id_str }, { text: tweet.text }, { 'user.id': tweet.user.id }] })
  )

function ownerOf(frames: number): FrameOwner {
  return { slots: new Uint32Array(frames) }
}

test('the cache stays within its budget, and keeps frames that are used', () => {
  const memory = rowMemory()
  const before = memory.freeFrames
  const cache = new RowCache(memory, 32 * frameBytes)
  const owner = ownerOf(100)
  for (let frame = 0; frame < 100; frame++) {
    cache.beginEvaluation()
    if (frame > 0) assert.ok(cache.lookup(owner, 0) !== 0, 'a frame in use stays')
    memory.u8[cache.insert(owner, frame)] = frame
    assert.ok(cache.usedBytes <= cache.budgetBytes)
  }
  assert.is(cache.usedBytes, cache.budgetBytes)
  let cached = 0
  for (let frame = 0; frame < 100; frame++) {
    const address = cache.lookup(owner, frame)
    if (address === 0) continue
    cached++
    assert.is(memory.u8[address], frame, 'frames do not share memory')
  }
  assert.is(cached, 32)
  cache.release(owner)
  assert.is(cache.usedBytes, 0)
  assert.ok(owner.slots.every((slot) => slot === 0))
  assert.is(memory.freeFrames, before)
})

test('when row memory is used up, caches give up frames that are not in use', () => {
  const memory = new RowMemory(4 << 20)
  const free = memory.freeFrames
  const caches = [new RowCache(memory, 1 << 30), new RowCache(memory, 1 << 30)]
  const owners = caches.map(() => ownerOf(free))
  const half = Math.floor(free / 2)
  caches.forEach((cache, i) => {
    for (let frame = 0; frame < half; frame++) {
      cache.beginEvaluation()
      memory.u8[cache.insert(owners[i]!, frame)] = frame
    }
    for (let frame = 0; frame < 20; frame++) assert.ok(cache.pin(owners[i]!, frame))
  })
  assert.is(memory.availableFrames, free)
  const taken = [...memory.allocateZeroed(free - 100)]
  assert.is(memory.freeFrames + caches[0]!.heldFrames + caches[1]!.heldFrames, 100)
  for (const [i, cache] of caches.entries()) {
    for (let frame = 0; frame < 20; frame++) assert.is(memory.u8[cache.lookup(owners[i]!, frame)], frame)
  }
  assert.throws(() => memory.allocateZeroed(80), /All \d+ frames/, 'what is in use stays')
  caches.forEach((cache, i) => {
    cache.release(owners[i]!)
  })
  for (const address of taken) memory.free(address)
  assert.is(memory.freeFrames, free)
  assert.is(memory.availableFrames, free)
})

test('a frame that an evaluation holds stays while others are loaded, until the next evaluation', () => {
  const cache = new RowCache(rowMemory(), 0)
  const owner = ownerOf(100)
  cache.beginEvaluation()
  for (let frame = 0; frame < 10; frame++) cache.insert(owner, frame)
  cache.beginEvaluation()
  assert.ok(cache.pin(owner, 3))
  assert.not(cache.pin(owner, 50))
  for (let frame = 50; frame < 90; frame++) cache.insert(owner, frame)
  assert.equal(
    [...owner.slots.slice(0, 10)].map((slot) => slot !== 0),
    Array.from({ length: 10 }, (_, frame) => frame === 3)
  )
  cache.beginEvaluation()
  for (let frame = 10; frame < 50; frame++) cache.insert(owner, frame)
  assert.not(cache.pin(owner, 3))
  cache.release(owner)
})

test('all frames of an evaluation stay, beyond the budget if necessary, and later evaluations shrink the cache', () => {
  const memory = rowMemory()
  const cache = new RowCache(memory, 0)
  const owner = ownerOf(100)
  cache.beginEvaluation()
  const addresses = Array.from({ length: 50 }, (_, frame) => cache.insert(owner, frame))
  addresses.forEach((address, frame) => {
    assert.is(cache.lookup(owner, frame), address)
  })
  assert.is(cache.usedBytes, 50 * frameBytes)
  for (let frame = 50; frame < 60; frame++) {
    cache.beginEvaluation()
    cache.insert(owner, frame)
  }
  assert.ok(cache.usedBytes <= cache.budgetBytes)
  cache.release(owner)
})

test('answers are sound with the smallest cache', async () => {
  for (const isAsync of [false, true]) {
    const harness = new IndexHarness({ segmentDocuments: 512, cacheBytes: 0 })
    harness.records.isAsync = isAsync
    await harness.open()
    await harness.insert(tweets)
    const some = filters.slice(0, isAsync ? 20 : 60)
    await Promise.all(some.map((filter) => harness.check([filter])))
    const { cache } = harness.index.stats()
    assert.ok(cache.misses > cache.budgetBytes / frameBytes, 'frames came and went')
    await harness.close()
  }
})

test('repeated queries cause no cache misses', async () => {
  const harness = await IndexHarness.open({ segmentDocuments: 1024 })
  await harness.insert(tweets)
  await harness.check(filters.slice(0, 20))
  const { misses } = harness.index.stats().cache
  assert.ok(misses > 0)
  await harness.check(filters.slice(0, 20))
  assert.is(harness.index.stats().cache.misses, misses)
  await harness.close()
})

test('closing an index releases all its frames', async () => {
  const before = rowMemory().freeFrames
  const harness = await IndexHarness.open({ segmentDocuments: 1024 })
  await harness.insert(tweets)
  await harness.check(filters.slice(0, 20))
  assert.ok(rowMemory().freeFrames < before)
  await harness.reopen()
  await harness.insert(tweets.slice(0, 100))
  await harness.check(filters.slice(0, 20))
  await harness.close()
  assert.is(rowMemory().freeFrames, before)
})

test('no frame is lost when closing, opening or tuning fails', async () => {
  const before = rowMemory().freeFrames
  const harness = await IndexHarness.open({ segmentDocuments: 2048 })
  harness.add(tweets.slice(0, 1500))
  const crashed = harness.crashed()
  for (const n of [0, 1, 2]) {
    harness.records.failAfterWrites = n
    await harness.maintain().catch(() => undefined)
  }
  harness.records.failAfterWrites = 0
  await harness.close().catch(() => undefined)
  assert.is(rowMemory().freeFrames, before, 'closing')
  for (let n = 0; n < 6; n++) {
    crashed.records.failAfterWrites = n
    await crashed.open().catch(() => undefined)
    if (rowMemory().freeFrames !== before) await crashed.close().catch(() => undefined)
    assert.is(rowMemory().freeFrames, before, `opening, write ${n}`)
  }
})

test('rows that arrive after the index was closed take no memory', async () => {
  const before = rowMemory().freeFrames
  const harness = new IndexHarness({ segmentDocuments: 1024 })
  harness.records.isAsync = true
  await harness.open()
  await harness.insert(tweets.slice(0, 1100))
  let letThrough = (): void => undefined
  harness.records.heldBack = new Promise((resolve) => {
    letThrough = resolve
  })
  const pending = harness.snapshot().check(filters.slice(0, 1))
  await harness.close()
  letThrough()
  let failure: { readonly codeName?: string } | undefined
  await pending.catch((error: { readonly codeName?: string }) => {
    failure = error
  })
  assert.is(failure?.codeName, 'DatabaseNotOpen')
  assert.is(rowMemory().freeFrames, before)
})

test('a disjunction of thousands of pairs needs only few frames', async () => {
  const harness = await IndexHarness.open({ segmentDocuments: 1024 })
  await harness.insert(tweets.slice(0, 1100))
  const memory = rowMemory()
  const absent = (i: number): PairExpression =>
    pairOf({ kind: 'value', path: 'text', value: { type: Type.string, key: `absent ${i}`, exact: true } })
  const expression: PairExpression = { kind: 'or', children: Array.from({ length: 5000 }, (_, i) => absent(i)) }
  await harness.snapshot().evaluate({ bounds: expression })
  const taken: number[] = []
  while (memory.freeFrames > 64) taken.push(memory.allocate())
  try {
    await harness.snapshot().evaluate({ bounds: expression })
    await harness.snapshot().evaluate({ bounds: { kind: 'not', child: expression } })
  } finally {
    for (const address of taken) memory.free(address)
  }
  await harness.close()
})

test.run()
