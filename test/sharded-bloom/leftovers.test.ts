/** The stored list of segments to be deleted, on a store that may apply the earlier of two batches last. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { IndexWrite } from '../../src/sharded-bloom/document-index.ts'
import { Leftovers } from '../../src/sharded-bloom/rebuild/leftovers.ts'
import { firstRebuilt } from '../../src/sharded-bloom/records/index-keys.ts'
import { MemoryStore } from '../../src/sharded-bloom/tune/memory-store.ts'

/** Threads guarantee no order. */
class ReorderingStore extends MemoryStore {
  /** Applied after the others. */
  isLate = (_: readonly IndexWrite[]): boolean => false

  override async write(operations: readonly IndexWrite[]): Promise<void> {
    if (this.isLate(operations)) await new Promise((resolve) => setTimeout(resolve, 20))
    await super.write(operations)
  }
}

const [old, next, built] = [firstRebuilt, firstRebuilt + 1, firstRebuilt + 2] as const

async function listIn(store: MemoryStore): Promise<readonly number[]> {
  const leftovers = new Leftovers(store)
  await leftovers.load()
  return leftovers.numbers
}

test('a segment being built stays on the list while another is taken off it', async () => {
  const store = new ReorderingStore()
  const leftovers = new Leftovers(store)
  await leftovers.add(old)
  // The list is empty in between: its record is deleted.
  store.isLate = ([write]) => write?.value === undefined
  const cleared = leftovers.clear(old)
  while (leftovers.numbers.length > 0) await new Promise((resolve) => setImmediate(resolve))
  await Promise.all([cleared, leftovers.add(next)])
  assert.equal(await listIn(store), [next])
})

test('replaced segments are on the list although another is taken off it at the same time', async () => {
  const store = new ReorderingStore()
  const leftovers = new Leftovers(store)
  for (const number of [old, built]) await leftovers.add(number)
  store.isLate = (writes) => writes.length === 1
  const cleared = leftovers.clear(old)
  while (leftovers.numbers.length > 1) await new Promise((resolve) => setImmediate(resolve))
  await Promise.all([cleared, leftovers.exchange([built], [next], (list) => store.write([list, list]))])
  assert.equal(await listIn(store), [next])
})

test('an exchange that fails leaves the list as it was', async () => {
  const store = new MemoryStore()
  const leftovers = new Leftovers(store)
  await leftovers.add(built)
  const failed = await leftovers
    .exchange([built], [old], () => Promise.reject(new TypeError('full')))
    .catch((error: unknown) => error)
  assert.instance(failed, TypeError)
  assert.equal(leftovers.numbers, [built])
})

test.run()
