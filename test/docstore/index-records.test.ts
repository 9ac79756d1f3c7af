/** Records of an index that are read without memory of their own are the same as those that are read with it. */

import type { AbstractLevel } from 'abstract-level'
import { MemoryLevel } from 'memory-level'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Store } from '../../src/docstore/options.ts'
import { IndexRecords } from '../../src/docstore/store/index-records.ts'
import { Area } from '../../src/docstore/store/layout.ts'
import { LsmLevel } from '../../src/lsm/index.ts'
import { readTransient } from '../../src/sharded-bloom/records/read-transient.ts'
import { testSeed } from '../support/arbitraries.ts'
import { randomFrom } from '../support/random.ts'
import { scratchPath } from './scratch.ts'

const seed = testSeed()
const sizes = [0, 1, 100, 8238, 65_535, 65_536, 65_537, 200_000, 1 << 20, (1 << 20) + 1, 3 << 20]
const area = new Area('1.index')
const keyOf = (n: number): Uint8Array => Uint8Array.of(n)

async function recordsIn(store: Store, canReadSync: boolean): Promise<IndexRecords> {
  const random = randomFrom(seed)
  for (const [n, size] of sizes.entries()) {
    const value = Uint8Array.from({ length: size }, () => random() * 256)
    await store.put<Uint8Array, Uint8Array>(area.key(keyOf(n)), value, { keyEncoding: 'view', valueEncoding: 'view' })
  }
  const writing = { write: async () => assert.unreachable(), assertWritable: () => {} }
  return new IndexRecords(store, area, canReadSync, writing)
}

async function assertSame(records: IndexRecords): Promise<void> {
  const random = randomFrom(seed)
  for (let read = 0; read < 100; read++) {
    const n = Math.floor(random() * (sizes.length + 2))
    const expected = await records.get(keyOf(n))
    const found = readTransient(records, keyOf(n))
    // Compared before another read.
    const isEqual = (bytes: Uint8Array | undefined) =>
      bytes === undefined || expected === undefined ? bytes === expected : Buffer.compare(bytes, expected) === 0
    assert.ok(found instanceof Promise ? isEqual(await found) : isEqual(found), `seed ${seed}: ${sizes[n]} bytes`)
    assert.is(expected?.length, sizes[n])
  }
}

test('records of all sizes are read from memtables and from tables, and absent ones are not found', async () => {
  const store = new LsmLevel(scratchPath())
  const records = await recordsIn(store as unknown as Store, true)
  await assertSame(records)
  await store.compactRange('', '\uffff')
  await assertSame(records)
  await store.close()
})

test('a store without synchronous reads returns promises', async () => {
  const store = new MemoryLevel() as unknown as AbstractLevel<Uint8Array, Uint8Array, Uint8Array>
  await assertSame(await recordsIn(store as unknown as Store, false))
})

test('records of up to a mebibyte are read into the same memory', async () => {
  const store = new LsmLevel(scratchPath())
  const records = await recordsIn(store as unknown as Store, true)
  const buffers = sizes.map((_, n) => (readTransient(records, keyOf(n)) as Uint8Array).buffer)
  const again = sizes.map((_, n) => (readTransient(records, keyOf(n)) as Uint8Array).buffer)
  const shared = again[0]
  sizes.forEach((size, n) => {
    assert.is(again[n] === shared, size <= 1 << 20, `${size} bytes`)
  })
  assert.ok(buffers.at(-1) !== again.at(-1))
  await store.close()
})

test.run()
