import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { LevelCursor } from '../../src/lsm/read/level-cursor.ts'
import type { TableMeta } from '../../src/lsm/version/table-meta.ts'
import { seedOfRun } from '../support/values.ts'
import {
  ArrayCursor,
  allOf,
  assertSameWalk,
  compareEntries,
  operations,
  steps,
  type TestEntry
} from './cursor-cases.ts'

const seed = seedOfRun()

/** A level of tables that records the opened ones. */
class TestLevel {
  readonly tables: readonly TableMeta[]
  readonly opened: ArrayCursor[] = []
  readonly #contents: readonly (readonly TestEntry[])[]

  constructor(contents: readonly (readonly TestEntry[])[]) {
    this.#contents = contents
    this.tables = contents.map((entries, number) => ({
      number,
      bytes: 0,
      smallest: entries[0]?.key ?? Buffer.alloc(0),
      largest: entries.at(-1)?.key ?? Buffer.alloc(0),
      smallestSequence: 0,
      largestSequence: 0,
      entries: entries.length,
      tombstones: 0,
      rawBytes: 0
    }))
  }

  cursor(): LevelCursor {
    return new LevelCursor(this.tables, (table) => {
      const cursor = new ArrayCursor(this.#contents[table.number] ?? [])
      this.opened.push(cursor)
      return cursor
    })
  }
}

/** Splits sorted entries into tables; the versions of a key stay together. */
function cut(sorted: readonly TestEntry[], sizes: readonly number[]): TestEntry[][] {
  const tables: TestEntry[][] = []
  for (const entry of sorted) {
    const table = tables.at(-1)
    const size = sizes[tables.length % sizes.length] ?? 1
    if (table === undefined || (table.length >= size && !table.at(-1)?.key.equals(entry.key))) tables.push([entry])
    else table.push(entry)
  }
  return tables
}

test('a level is walked like one table, with at most one of its tables open', () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 8 })
  fc.assert(
    fc.property(operations, sizes, steps, (added, cuts, walk) => {
      const sorted = added.map((operation, i) => ({ ...operation, sequence: i + 1 })).sort(compareEntries)
      const level = new TestLevel(cut(sorted, cuts))
      const cursor = level.cursor()
      assertSameWalk(cursor, sorted, walk)
      assert.ok(level.opened.filter((table) => !table.isClosed).length <= 1)
      cursor.close()
      assert.ok(level.opened.every((table) => table.isClosed))
    }),
    { seed, numRuns: 2000 }
  )
})

test('a level cursor opens no table before it is needed', () => {
  const entry = (key: string): TestEntry => ({ key: Buffer.from(key), sequence: 1, kind: 1, value: Buffer.alloc(0) })
  const level = new TestLevel([[entry('a')], [entry('c')], [entry('e')]])
  const cursor = level.cursor()
  assert.is(level.opened.length, 0)
  cursor.seek(Buffer.from('b'))
  assert.is(level.opened.length, 1)
  assert.is(cursor.keyBytes[cursor.keyStart], 'c'.charCodeAt(0))
  cursor.seekBefore(Buffer.from('e'))
  assert.is(level.opened.length, 1)
  cursor.next()
  assert.is(level.opened.length, 2)
})

test('a level without tables has no entries', () => {
  const cursor = new LevelCursor([], () => new ArrayCursor([]))
  assert.equal(allOf(cursor), [])
  cursor.seekToLast()
  assert.not.ok(cursor.isValid)
  cursor.seekBefore(Buffer.from('x'))
  assert.not.ok(cursor.isValid)
})

test.run()
