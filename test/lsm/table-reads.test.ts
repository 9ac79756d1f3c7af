import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { BlockCache } from '../../src/lsm/cache/block-cache.ts'
import { ReadSpace } from '../../src/lsm/format/block-source.ts'
import { compareKeys } from '../../src/lsm/format/entry.ts'
import { Found } from '../../src/lsm/format/found.ts'
import { keyHash } from '../../src/lsm/format/key-filter.ts'
import { summarizeTable } from '../../src/lsm/format/table-summary.ts'
import { seedOfRun } from '../support/values.ts'
import { allOf, assertSameWalk, currentKey, keys, steps } from './cursor-cases.ts'
import { buildTable, openTable, tableEntries, tableOptions } from './table-filling.ts'

const seed = seedOfRun()
/** Reused by the cursors that have it, one after another. */
const space = ReadSpace.acquire()
const readOptions = fc.record({
  fillCache: fc.constantFrom('none' as const, 'sought' as const, 'all' as const),
  readahead: fc.boolean(),
  space: fc.constantFrom(undefined, space)
})
const cacheBytes = fc.constantFrom(0, 1, 3000, 1 << 20)

test('a table is walked like the sorted array it was made from, in any direction', () => {
  fc.assert(
    fc.property(tableEntries, tableOptions, steps, readOptions, cacheBytes, (entries, options, walk, read, bytes) => {
      const table = openTable(buildTable(entries, options), new BlockCache(bytes))
      assertSameWalk(table.cursor(read), entries, walk)
      assert.equal(allOf(table.cursor(read)), entries)
    }),
    { seed, numRuns: 1500 }
  )
})

test('a cursor with an end has every entry before it, in any walk that does not reach it', () => {
  fc.assert(
    fc.property(tableEntries, tableOptions, keys, keys, readOptions, (entries, options, target, end, read) => {
      const table = openTable(buildTable(entries, options))
      const within = entries.filter(({ key }) => compareKeys(key, target) >= 0 && compareKeys(key, end) < 0)
      const cursor = table.cursor(read, end)
      const readOn = (): void => {
        for (const entry of within) {
          assert.ok(cursor.isValid)
          assert.equal([Buffer.from(currentKey(cursor)), cursor.sequence], [entry.key, entry.sequence])
          cursor.next()
        }
        assert.ok(!cursor.isValid || compareKeys(currentKey(cursor), end) >= 0)
      }
      cursor.seek(target)
      readOn()
      cursor.seekBefore(end)
      const last = entries.filter(({ key }) => compareKeys(key, end) < 0).at(-1)
      assert.is(cursor.isValid, last !== undefined)
      if (last !== undefined) assert.equal(Buffer.from(currentKey(cursor)), last.key)
      cursor.seek(target)
      readOn()
      cursor.close()
    }),
    { seed, numRuns: 1000 }
  )
})

test('get() finds the newest version that is not too new, and nothing else', () => {
  fc.assert(
    fc.property(tableEntries, tableOptions, keys, fc.nat(50), (entries, options, other, back) => {
      const table = openTable(buildTable(entries, options))
      const newest = Math.max(...entries.map((entry) => entry.sequence))
      const found = new Found()
      for (const key of [other, ...entries.map((entry) => entry.key)]) {
        for (const maxSequence of [newest, newest - back, newest - 1]) {
          const expected = entries.find((entry) => compareKeys(entry.key, key) === 0 && entry.sequence <= maxSequence)
          const isFound = table.get(key, keyHash(key, 0, key.length), maxSequence, found)
          assert.is(isFound, expected !== undefined)
          if (expected === undefined) continue
          assert.is(found.sequence, expected.sequence)
          assert.is(found.kind, expected.kind)
          assert.equal(Buffer.from(found.valueBytes.subarray(found.valueStart, found.valueEnd)), expected.value)
        }
      }
    }),
    { seed, numRuns: 400 }
  )
})

test("a builder's TableMeta is correct, and summarizeTable() recomputes it from the file", () => {
  fc.assert(
    fc.property(tableEntries, tableOptions, (entries, options) => {
      const { meta, file } = buildTable(entries, options)
      const sequences = entries.map((entry) => entry.sequence)
      assert.is(meta.bytes, file.bytes.length)
      assert.equal(meta.smallest, entries[0]?.key)
      assert.equal(meta.largest, entries.at(-1)?.key)
      assert.is(meta.smallestSequence, Math.min(...sequences))
      assert.is(meta.largestSequence, Math.max(...sequences))
      assert.is(meta.entries, entries.length)
      assert.is(meta.tombstones, entries.filter((entry) => entry.kind === 0).length)
      assert.is(
        meta.rawBytes,
        entries.reduce((sum, entry) => sum + entry.key.length + entry.value.length, 0)
      )
      assert.equal(summarizeTable(file, 7), meta)
      assert.ok(file.isClosed)
    }),
    { seed, numRuns: 200 }
  )
})

test.run()
