/** An index that must not write reads the records that it would have written. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { OverlayIndexRecords } from '../../src/docstore/store/overlay-index-records.ts'
import type { IndexStore } from '../../src/sharded-bloom/document-index.ts'
import { MemoryStore } from '../../src/sharded-bloom/tune/memory-store.ts'
import { randomFrom } from '../support/random.ts'
import { seedOfRun } from '../support/values.ts'

const seed = seedOfRun()

const key = (n: number): Uint8Array => new Uint8Array([n >> 4, (n & 15) * 17])

async function recordsOf(store: IndexStore, from: number, to: number): Promise<string[]> {
  const records: string[] = []
  for await (const [name, value] of store.scan(key(from), key(to))) {
    assert.is(name.slice().buffer.byteLength, 2, 'a plain array, whose slice() is a copy')
    records.push(`${name}=${value}`)
  }
  return records
}

test('records read as if they had been written, and the store is unchanged', async () => {
  for (let round = 0; round < 60; round++) {
    const random = randomFrom(seed + round)
    const any = (below: number): number => Math.floor(random() * below)
    const stored = new MemoryStore()
    const model = new MemoryStore()
    const first = Array.from({ length: any(120) }, () => ({ key: key(any(200)), value: new Uint8Array([any(256)]) }))
    await stored.write(first)
    await model.write(first)
    const before = await recordsOf(stored, 0, 255)
    const kept = new OverlayIndexRecords(stored)
    for (let step = 0; step < 40; step++) {
      if (random() < 0.15) {
        const [from, to] = [any(200), any(220)]
        for (const each of [kept, model]) await each.clear(key(from), key(to))
      } else {
        const writes = Array.from({ length: 1 + any(6) }, () => ({
          key: key(any(200)),
          value: random() < 0.3 ? undefined : new Uint8Array([any(256)])
        }))
        for (const each of [kept, model]) await each.write(writes)
      }
      const n = any(200)
      assert.equal(await kept.get(key(n)), model.get(key(n)))
      const [from, to] = [any(200), any(220)]
      assert.equal(await recordsOf(kept, from, to), await recordsOf(model, from, to), `round ${round}, step ${step}`)
    }
    assert.equal(await recordsOf(kept, 0, 255), await recordsOf(model, 0, 255))
    assert.equal(await recordsOf(stored, 0, 255), before)
  }
})

test('values are copied when written and when read', async () => {
  const kept = new OverlayIndexRecords(new MemoryStore())
  const value = new Uint8Array([1, 2])
  await kept.write([{ key: key(1), value }])
  value[0] = 9
  for (let time = 0; time < 2; time++) {
    const read = await kept.get(key(1))
    assert.equal(read, new Uint8Array([1, 2]))
    read?.fill(7)
    for await (const [name, found] of kept.scan(key(0), key(9))) {
      assert.equal([name, found], [key(1), new Uint8Array([1, 2])])
      found.fill(8)
    }
  }
})

test.run()
