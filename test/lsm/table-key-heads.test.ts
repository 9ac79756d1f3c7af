import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { compareKeys } from '../../src/lsm/format/entry.ts'
import { KeyHeads } from '../../src/lsm/format/key-heads.ts'
import { LevelSearch } from '../../src/lsm/version/level.ts'
import type { TableMeta } from '../../src/lsm/version/table-meta.ts'
import { seedOfRun } from '../support/values.ts'

const seed = seedOfRun()

/** Keys with common prefixes, some prefixes of others, with the smallest and greatest bytes. */
const key = fc
  .tuple(
    fc.constantFrom('', 'k', 'key', 'key\0', 'key0000000', '\u00ff\u00ff'),
    fc.array(fc.constantFrom(0, 1, 48, 49, 127, 128, 255), { maxLength: 6 })
  )
  .map(([prefix, rest]) => Buffer.concat([Buffer.from(prefix, 'latin1'), Buffer.from(rest)]))
const sortedKeys = fc.array(key, { maxLength: 40 }).map((keys) => keys.sort(compareKeys))

/** The heads of the keys, made by both factories. */
function headsOf(keys: readonly Uint8Array[]): KeyHeads[] {
  const borders = new Uint32Array(keys.length + 1).fill(2)
  keys.forEach((it, i) => {
    borders[i + 1] = borders[i]! + it.length
  })
  const bytes = Buffer.concat([Buffer.from('<<'), ...keys, Buffer.from('>>')])
  return [KeyHeads.ofKeys(keys), KeyHeads.ofRanges(bytes, borders)]
}

test('after locate(), keys before low are smaller than the target, and keys from high on are greater', () => {
  fc.assert(
    fc.property(sortedKeys, key, (keys, other) => {
      for (const heads of headsOf(keys)) {
        for (const target of [other, ...keys]) {
          heads.locate(target)
          const { low, high } = heads
          assert.ok(0 <= low && low <= high && high <= keys.length)
          keys.forEach((it, i) => {
            if (i < low) assert.ok(compareKeys(it, target) < 0)
            if (i >= high) assert.ok(compareKeys(it, target) > 0)
          })
        }
      }
    }),
    { seed, numRuns: 3000 }
  )
})

test('locate() is exact for keys that differ in the four bytes after their common prefix', () => {
  const keys = Array.from({ length: 500 }, (_, i) => Buffer.from(`key${String(7_000_000 + i * 3).padStart(13, '0')}`))
  for (const heads of headsOf(keys)) {
    keys.forEach((it, i) => {
      heads.locate(it)
      assert.equal([heads.low, heads.high], [i, i + 1])
    })
  }
})

test('tableFor() finds the table whose range contains the key', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(key, { maxLength: 30, comparator: (a, b) => compareKeys(a, b) === 0 }),
      key,
      (ends, other) => {
        ends.sort(compareKeys)
        const tables: Pick<TableMeta, 'smallest' | 'largest'>[] = []
        for (let i = 0; i + 1 < ends.length; i += 2) tables.push({ smallest: ends[i]!, largest: ends[i + 1]! })
        // A search uses no other fields.
        const search = new LevelSearch(tables as TableMeta[])
        for (const target of [other, ...ends]) {
          const expected = tables.find(
            ({ smallest, largest }) => compareKeys(smallest, target) <= 0 && compareKeys(largest, target) >= 0
          )
          assert.is(search.tableFor(target), expected)
        }
      }
    ),
    { seed, numRuns: 2000 }
  )
})

test.run()
