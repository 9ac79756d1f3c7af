import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { BlockCache } from '../../src/lsm/cache/block-cache.ts'
import { BlockRing, type RingSlots } from '../../src/lsm/cache/block-ring.ts'
import { Block } from '../../src/lsm/format/block.ts'
import { EntryKind } from '../../src/lsm/format/entry.ts'
import { Found } from '../../src/lsm/format/found.ts'
import { keyHash } from '../../src/lsm/format/key-filter.ts'
import { seedOfRun } from '../support/values.ts'
import { buildTable, openTable, usualOptions } from './table-filling.ts'

const seed = seedOfRun()

/** A block of `bytes` bytes filled with `mark`, inside a larger buffer. */
function blockOf(bytes: number, mark: number): Block {
  const payload = Buffer.alloc(bytes + 20, mark)
  payload.writeUInt32LE(1, 10 + bytes - 4)
  return new Block(payload, 10, 10 + bytes, 'x', mark)
}

/** The payload of a block without its restart count. */
function marksOf({ bytes, start, payloadBytes }: Block): Buffer {
  return Buffer.from(bytes.subarray(start, start + payloadBytes - 4))
}

const step = fc.record({
  table: fc.nat(3),
  index: fc.nat(12),
  bytes: fc.oneof(fc.integer({ min: 12, max: 60 }), fc.integer({ min: 12, max: 2500 })),
  isClosing: fc.nat(60).map((n) => n === 0)
})

test('the cache returns blocks as they were added, whatever was added, evicted and moved since', () => {
  let kept = 0
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 300, size: 'max' }),
      fc.constantFrom(300, 1500, 4000, 20_000),
      (steps, budget) => {
        const cache = new BlockCache(budget)
        const tables = Array.from({ length: 4 }, () => cache.forTable(13))
        const added = tables.map(() => new Map<number, { mark: number; bytes: number }>())
        let mark = 0
        for (const { table, index, bytes, isClosing } of steps) {
          const blocks = tables[table]!
          const expected = added[table]!
          if (isClosing) {
            blocks.clear()
            expected.clear()
          }
          const found = blocks.get(index)
          if (found === undefined) {
            mark = (mark + 1) & 0xff
            blocks.add(index, blockOf(bytes, mark))
            expected.set(index, { mark, bytes })
          } else {
            kept++
            const was = expected.get(index)!
            assert.equal(marksOf(found), Buffer.alloc(was.bytes - 4, was.mark))
            assert.is(found.offset, was.mark)
            assert.is(found.restartCount, 1)
          }
          assert.ok(cache.usedBytes <= budget)
        }
        for (const blocks of tables) blocks.clear()
        assert.equal([cache.usedBytes, cache.blocks], [0, 0])
      }
    ),
    { seed, numRuns: 500 }
  )
  assert.ok(kept > 1000)
})

test('referenced blocks get a second chance, others are evicted in the order of arrival', () => {
  const ring = new BlockRing(16 * (1000 + 256))
  const slots: RingSlots = []
  const there = () => slots.flatMap((entry, index) => (entry === undefined ? [] : [index]))
  for (let i = 0; i < 14; i++) ring.add(slots, i, blockOf(1000, i))
  assert.is(ring.blocks, 14)
  for (const wanted of [1, 2, 5]) slots[wanted]!.isReferenced = true
  for (let i = 14; i < 24; i++) ring.add(slots, i, blockOf(1000, i))
  assert.equal(there(), [1, 2, 5, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23])
  for (const index of there()) assert.equal(marksOf(slots[index]!.block), Buffer.alloc(996, index))
  for (let i = 24; i < 48; i++) ring.add(slots, i, blockOf(1000, i & 0xff))
  assert.equal(
    there().filter((index) => index < 14),
    []
  )
})

test('a full cache admits blocks that are missed twice, and blocks read once evict nothing', () => {
  const cache = new BlockCache(100 * (1000 + 256))
  const blocks = cache.forTable(10_000)
  const there = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, i) => blocks.has(from + i)).filter((has) => has).length
  const read = (index: number) => {
    if (blocks.get(index) === undefined) blocks.add(index, blockOf(1000, index & 0xff))
  }
  for (let i = 0; i < 200; i++) read(i)
  const kept = cache.blocks
  assert.is(there(0, kept), kept, 'the first come in as long as there is room')
  for (let i = 1000; i < 9000; i++) read(i)
  assert.is(there(0, kept), kept)
  for (const _ of [1, 2]) for (let i = 9500; i < 9550; i++) read(i)
  assert.is(there(9500, 9550), 50)
  for (let i = 0; i < 10; i++) read(i + 9600)
  for (let i = 1000; i < 4000; i++) read(i)
  for (let i = 0; i < 10; i++) read(i + 9600)
  assert.is(there(9600, 9610), 0, 'long after the first miss, the second is another first one')
})

test('a large cache uses all of its budget for one table', () => {
  const cache = new BlockCache(32 << 20)
  const blocks = cache.forTable(1000)
  const block = blockOf(30_000, 1)
  for (let i = 0; i < 1000; i++) blocks.add(i, block)
  assert.ok(cache.blocks > 950 && cache.usedBytes <= 32 << 20, `${cache.blocks} blocks`)
})

test('a large cache uses all of its budget for many tables of one block', () => {
  const cache = new BlockCache(32 << 20)
  const block = blockOf(30_000, 1)
  for (let i = 0; i < 1000; i++) cache.forTable(1).add(0, block)
  assert.ok(cache.blocks > 950 && cache.usedBytes <= 32 << 20, `${cache.blocks} blocks`)
})

test('a budget beyond any memory costs nothing until blocks come', () => {
  const cache = new BlockCache(Number.MAX_SAFE_INTEGER)
  const blocks = cache.forTable(100)
  for (let i = 0; i < 100; i++) blocks.add(i, blockOf(4000, i))
  assert.is(cache.blocks, 100)
  assert.equal(marksOf(blocks.get(99)!), Buffer.alloc(3996, 99))
})

const entries = Array.from({ length: 300 }, (_, i) => ({
  key: Buffer.from(String(i).padStart(6, '0')),
  sequence: i + 1,
  kind: EntryKind.put,
  value: Buffer.alloc(100, i)
}))

for (const codec of ['none', 'lz4'] as const) {
  const built = buildTable(entries, { ...usualOptions, blockBytes: 1000, codec })

  test(`a cache with room for a few blocks, codec ${codec}: reads are right, and readers keep their blocks`, () => {
    const cache = new BlockCache(8000)
    const table = openTable(built, cache)
    const walker = table.cursor({ fillCache: 'all', readahead: false })
    const within = table.blockCursor(3)
    const found = new Found()
    walker.seekToFirst()
    within.seekToFirst()
    const first = Buffer.from(within.keyBytes.subarray(within.keyStart, within.keyEnd))
    for (let i = 0; i < entries.length; i++) {
      const { value, sequence } = entries[i]!
      // Other blocks are cached and evicted between two steps of each reader.
      for (let j = 0; j < 5; j++) {
        const other = entries[(i * 37 + j * 61) % entries.length]!
        assert.ok(table.get(other.key, keyHash(other.key, 0, 6), 1000, found))
        assert.equal(Buffer.from(found.valueBytes.subarray(found.valueStart, found.valueEnd)), other.value)
        assert.ok(cache.blocks <= 7)
      }
      assert.is(walker.sequence, sequence)
      assert.equal(Buffer.from(walker.valueBytes.subarray(walker.valueStart, walker.valueEnd)), value)
      walker.next()
      assert.equal(Buffer.from(within.keyBytes.subarray(within.keyStart, within.keyEnd)), first)
    }
    assert.not(walker.isValid)
    for (let i = Number(first.toString()); within.isValid; within.next(), i++) {
      assert.equal(Buffer.from(within.valueBytes.subarray(within.valueStart, within.valueEnd)), entries[i]!.value)
    }
  })
}

test.run()
