import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { LsmLevel, MemoryFileSystem } from '../../src/lsm/index.ts'
import { lookupOrder } from '../../src/lsm/read/key-order.ts'
import { FaultyFileSystem } from '../support/faulty-file-system.ts'
import { closeAll, closeLater } from '../support/temporary-directory.ts'
import { seedOfRun } from '../support/values.ts'

const seed = seedOfRun()
const count = 2000
const keyOf = (number: number) => Buffer.from(`key${String(number).padStart(9, '0')}`)
const valueFor = (number: number) => Buffer.alloc(200, number % 251)

async function filled(cacheSize: number): Promise<{ db: LsmLevel<Buffer, Buffer>; fileSystem: FaultyFileSystem }> {
  const fileSystem = new FaultyFileSystem(new MemoryFileSystem(), { isTraced: true })
  const encodings = { keyEncoding: 'buffer', valueEncoding: 'buffer' } as const
  const db = closeLater(new LsmLevel<Buffer, Buffer>('/db', { fileSystem, cacheSize, ...encodings }))
  const put = (number: number) => ({ type: 'put' as const, key: keyOf(number), value: valueFor(number) })
  await db.batch(Array.from({ length: count }, (_, number) => put(number)))
  await db.compactRange(keyOf(0), keyOf(count))
  // Newer than the tables: a value and a tombstone.
  await db.batch([
    { type: 'put', key: keyOf(7), value: Buffer.from('newer') },
    { type: 'del', key: keyOf(8) }
  ])
  return { db, fileSystem }
}

for (const cacheSize of [0, 20_000, 8 << 20]) {
  test(`getMany() and hasMany() return what single reads return, with a cache of ${cacheSize} bytes`, async () => {
    const { db } = await filled(cacheSize)
    const some = fc.oneof(fc.nat(20), fc.nat(count + 10), fc.constantFrom(7, 8))
    await fc.assert(
      fc.asyncProperty(fc.array(some, { maxLength: 200, size: 'max' }), fc.boolean(), async (numbers, fillCache) => {
        const keys = numbers.map(keyOf)
        const one = keys.map((key) => db.getSync(key))
        assert.equal(await db.getMany(keys, { fillCache } as object), one)
        assert.equal(
          await db.hasMany(keys),
          one.map((value) => value !== undefined)
        )
        numbers.forEach((number, i) => {
          if (number > 8 && number < count) assert.equal(one[i], valueFor(number))
        })
      }),
      { seed, numRuns: 60 }
    )
  })
}

test('getMany() reads each block once, whatever the order of the keys, even without a cache', async () => {
  const { db, fileSystem } = await filled(0)
  const numbers = Array.from({ length: 200 }, (_, i) => 1000 + ((i * 73) % 200))
  db.getSync(keyOf(1))
  fileSystem.trace.length = 0
  const values = await db.getMany(numbers.map(keyOf), { fillCache: false } as object)
  assert.equal(values, numbers.map(valueFor))
  const reads = fileSystem.trace.filter(({ operation }) => operation === 'read').length
  // 200 values of 200 bytes fill some ten blocks of 4 KiB.
  assert.ok(reads <= 14, `${reads} reads`)
})

test('lookupOrder() has every position once, ordered by the first four bytes of the keys', () => {
  const key = fc.array(fc.constantFrom(0, 1, 255), { maxLength: 7 }).map((bytes) => Buffer.from(bytes))
  fc.assert(
    fc.property(fc.array(key, { maxLength: 50, size: 'max' }), (keys) => {
      const order = [...lookupOrder(keys)]
      assert.equal(
        [...order].sort((a, b) => a - b),
        keys.map((_, i) => i)
      )
      const beginnings = order.map((position) => Buffer.concat([keys[position]!, Buffer.alloc(4)]).subarray(0, 4))
      for (let i = 1; i < beginnings.length; i++) assert.ok(Buffer.compare(beginnings[i - 1]!, beginnings[i]!) <= 0)
    }),
    { seed, numRuns: 500 }
  )
})

test.after(closeAll)
test.run()
