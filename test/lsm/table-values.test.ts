import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { BlockCache } from '../../src/lsm/cache/block-cache.ts'
import { hasCode } from '../../src/lsm/errors.ts'
import { compareKeys, EntryKind } from '../../src/lsm/format/entry.ts'
import { keyHash } from '../../src/lsm/format/key-filter.ts'
import type { Table } from '../../src/lsm/format/table.ts'
import { seedOfRun } from '../support/values.ts'
import { compareEntries, keys, type TestEntry } from './cursor-cases.ts'
import { BytesFile, buildTable, openTable, tableOptions, usualOptions } from './table-filling.ts'

const seed = seedOfRun()

/** Bytes that compress to about half, determined by the number and the length. */
function contentOf(number: number, length: number): Buffer {
  const value = Buffer.alloc(length)
  for (let i = 0, x = number; i < length; i++) {
    x = (Math.imul(x, 1_664_525) + 1_013_904_223) >>> 0
    value[i] = i % 3 === 0 ? x >>> 24 : number
  }
  return value
}

function bringInto(table: Table, key: Buffer, maxSequence: number, target: Uint8Array, offset: number) {
  return table.valueInto(key, keyHash(key, 0, key.length), maxSequence, target, offset)
}

const largeEntries: fc.Arbitrary<readonly TestEntry[]> = fc
  .array(fc.tuple(keys, fc.constantFrom(-1, 0, 10, 3000, 60_000, 66_000, 300_000)), { minLength: 1, maxLength: 8 })
  .map((pairs) =>
    pairs
      .map(([key, length], sequence) => ({
        key,
        sequence,
        kind: length < 0 ? EntryKind.tombstone : EntryKind.put,
        value: contentOf(sequence, Math.max(0, length))
      }))
      .sort(compareEntries)
  )

test('valueInto() copies the value that get() finds and nothing beyond it, compressed or not, cached or not', () => {
  fc.assert(
    fc.property(largeEntries, tableOptions, keys, fc.boolean(), fc.nat(8), (entries, options, other, isCached, max) => {
      const table = openTable(buildTable(entries, options), new BlockCache(4 << 20))
      if (isCached) for (let block = 0; block < table.blockCount; block++) table.blockCursor(block).close()
      const target = Buffer.alloc(300_010)
      for (const key of [other, ...entries.map((entry) => entry.key)]) {
        const expected = entries.find((entry) => compareKeys(entry.key, key) === 0 && entry.sequence <= max)
        target.fill(0xee)
        const bytes = bringInto(table, key, max, target, 5)
        if (expected === undefined || expected.kind === EntryKind.tombstone) {
          assert.is(bytes, expected && -1)
          continue
        }
        const end = 5 + expected.value.length
        assert.is(bytes, expected.value.length)
        assert.ok(target.subarray(5, end).equals(expected.value))
        assert.equal([target[4], target[end]], [0xee, 0xee])
      }
    }),
    { seed, numRuns: 300 }
  )
})

const large = { key: Buffer.from('large'), sequence: 3, kind: EntryKind.put, value: contentOf(3, 200_000) }
const small = { key: Buffer.from('small'), sequence: 4, kind: EntryKind.put, value: contentOf(4, 100) }

test('valueInto() returns the length of a value that does not fit the target, and writes nothing', () => {
  const table = openTable(buildTable([large, small]))
  const target = Buffer.alloc(200_004, 0xee)
  assert.is(bringInto(table, large.key, 9, target, 5), 200_000)
  assert.is(bringInto(table, small.key, 9, target, 200_000), 100)
  assert.ok(target.equals(Buffer.alloc(200_004, 0xee)))
})

test('a large value has a block of its own, which is read without being cached', () => {
  const built = buildTable([large, small], { ...usualOptions, codec: 'none' })
  const cache = new BlockCache(4 << 20)
  const table = openTable(built, cache)
  assert.is(table.blockCount, 2)
  built.file.reads = 0
  assert.is(bringInto(table, large.key, 9, Buffer.alloc(200_000), 0), 200_000)
  assert.ok(built.file.reads <= 3)
  assert.is(cache.blocks, 0)
})

test('a changed byte anywhere in the block of a large value is LEVEL_CORRUPTION', () => {
  const built = buildTable([large], { ...usualOptions, codec: 'none' })
  const blockEnd = openTable(built).approximateOffset(Buffer.from('zzz'))
  for (const at of [0, 1, 2, 4, 6, 10, 11, 100, 100_000, blockEnd - 14, blockEnd - 13, blockEnd - 5, blockEnd - 1]) {
    const bytes = Buffer.from(built.file.bytes)
    bytes[at] = (bytes[at] ?? 0) ^ 0x10
    const table = openTable({ file: new BytesFile(bytes), meta: built.meta })
    const read = () => bringInto(table, large.key, 9, Buffer.alloc(300_000), 0)
    assert.throws(read, (error: unknown) => hasCode(error, 'LEVEL_CORRUPTION'), `byte ${at}`)
  }
})

test.run()
