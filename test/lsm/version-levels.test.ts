import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { compareKeys } from '../../src/lsm/format/entry.ts'
import type { TableMeta } from '../../src/lsm/version/table-meta.ts'
import { Version } from '../../src/lsm/version/version.ts'
import { testSeed } from '../support/arbitraries.ts'
import { numbersOf, tableOf } from './version-helpers.ts'

const seed = testSeed()

/** Short keys of a small alphabet: they are often borders of tables. */
const key = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'd', 'e'), maxLength: 2 })

/** A level of ascending tables that do not overlap. */
const sortedLevel = fc.uniqueArray(key, { maxLength: 16 }).map((keys) => {
  const sorted = [...keys].sort()
  const tables: TableMeta[] = []
  // Now and then a table has only one key.
  for (let i = 0; i < sorted.length; ) {
    const first = sorted[i] ?? ''
    const last = sorted[i + 1]
    const isSingle = last === undefined || sorted.length % 3 === tables.length % 3
    tables.push(tableOf(i + 1, first, isSingle ? first : last))
    i += isSingle ? 1 : 2
  }
  return tables
})

function holds(table: TableMeta, wanted: Uint8Array): boolean {
  return compareKeys(table.smallest, wanted) <= 0 && compareKeys(wanted, table.largest) <= 0
}

/** Whether keys in [smallest, largest] may be in the table; undefined is unbounded. */
function reaches(table: TableMeta, smallest: Uint8Array | undefined, largest: Uint8Array | undefined): boolean {
  return (
    (smallest === undefined || compareKeys(table.largest, smallest) >= 0) &&
    (largest === undefined || compareKeys(table.smallest, largest) <= 0)
  )
}

test('tableFor() finds the table whose range contains the key', () => {
  fc.assert(
    fc.property(sortedLevel, key, (tables, text) => {
      const version = new Version([[], tables])
      const wanted = Buffer.from(text)
      assert.is(
        version.tableFor(1, wanted),
        tables.find((table) => holds(table, wanted))
      )
      assert.is(version.tableFor(2, wanted), undefined)
    }),
    { seed, numRuns: 500 }
  )
})

test('overlapping() finds the tables that overlap a range, in sorted levels and in level 0', () => {
  const bound = fc.option(key, { nil: undefined })
  fc.assert(
    fc.property(sortedLevel, bound, bound, (tables, from, to) => {
      const version = new Version([tables, tables])
      const smallest = from === undefined ? undefined : Buffer.from(from)
      const largest = to === undefined ? undefined : Buffer.from(to)
      // A range that ends before it begins has a test of its own.
      if (smallest !== undefined && largest !== undefined && compareKeys(smallest, largest) > 0) return
      const expected = tables.filter((table) => reaches(table, smallest, largest))
      assert.equal(numbersOf(version.overlapping(0, smallest, largest)), numbersOf(expected))
      assert.equal(numbersOf(version.overlapping(1, smallest, largest)), numbersOf(expected))
    }),
    { seed, numRuns: 500 }
  )
})

test('overlapping() finds nothing in a range that ends before it begins', () => {
  const version = new Version([[], [tableOf(1, 'a', 'c'), tableOf(2, 'd', 'f'), tableOf(3, 'g', 'i')]])
  assert.equal(version.overlapping(1, Buffer.from('h'), Buffer.from('b')), [])
})

test('a version has seven levels, and counts their bytes and tables', () => {
  const version = new Version([[tableOf(3, 'a', 'z')], [tableOf(1, 'a', 'c'), tableOf(2, 'd', 'f')]])
  assert.is(version.levels.length, 7)
  assert.equal(version.levelBytes, [103, 203, 0, 0, 0, 0, 0])
  assert.is(version.bytes, 306)
  assert.is(version.tableCount, 3)
  assert.equal(numbersOf([...version.allTables()]), [3, 1, 2])
})

test('a version reports once, after its last release, that it is unused', () => {
  const unused: Version[] = []
  const version = new Version([], (which) => unused.push(which))
  assert.is(version.retain(), version)
  version.release()
  assert.ok(version.isUsed)
  assert.equal(unused, [])
  version.release()
  assert.not.ok(version.isUsed)
  assert.is(unused.length, 1)
  assert.is(unused[0], version)
})

/** A level 0 of few or many tables that overlap at random, newest first. */
const level0 = fc.array(fc.tuple(key, key), { maxLength: 60, size: 'max' }).map((ranges) =>
  ranges.map(([a, b], i) => {
    const [first, last] = a < b ? [a, b] : [b, a]
    return tableOf(ranges.length - i, first, last)
  })
)

test('youngTablesFor() and overlapping() find tables of level 0, newest first, however many there are', () => {
  const bound = fc.option(key, { nil: undefined })
  let large = 0
  fc.assert(
    fc.property(level0, bound, bound, key, (tables, from, to, text) => {
      if (tables.length > 30) large++
      const version = new Version([tables])
      const smallest = from === undefined ? undefined : Buffer.from(from)
      const largest = to === undefined ? undefined : Buffer.from(to)
      const wanted = Buffer.from(text)
      const young = version.level0TablesFor(wanted).filter((table) => holds(table, wanted))
      assert.equal(numbersOf(young), numbersOf(tables.filter((table) => holds(table, wanted))))
      if (smallest !== undefined && largest !== undefined && compareKeys(smallest, largest) > 0) return
      const expected = tables.filter((table) => reaches(table, smallest, largest))
      assert.equal(numbersOf(version.overlapping(0, smallest, largest)), numbersOf(expected))
    }),
    { seed, numRuns: 1000 }
  )
  assert.ok(large > 100, `${large} large levels`)
})

test.run()
