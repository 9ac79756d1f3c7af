import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { EntryKind } from '../../src/lsm/format/entry.ts'
import { MergingCursor } from '../../src/lsm/read/merging-cursor.ts'
import { VisibleCursor } from '../../src/lsm/read/visible-cursor.ts'
import { seedOfRun } from '../support/values.ts'
import {
  ArrayCursor,
  assertSameWalk,
  compareEntries,
  entryOf,
  operations,
  steps,
  type TestEntry
} from './cursor-cases.ts'

const seed = seedOfRun()

/** What a snapshot sees: per key the newest version that is not too new, unless it is a tombstone. */
function visible(sorted: readonly TestEntry[], snapshot: number): readonly TestEntry[] {
  const newest = new Map<string, TestEntry>()
  for (const entry of sorted) {
    const name = entry.key.toString('latin1')
    if (entry.sequence <= snapshot && !newest.has(name)) newest.set(name, entry)
  }
  return [...newest.values()].filter((entry) => entry.kind === EntryKind.put)
}

test('a snapshot sees the newest version of every key that is not too new and not deleted', () => {
  fc.assert(
    fc.property(operations, fc.nat(45), steps, (added, snapshot, walk) => {
      const sorted = added.map((operation, i) => ({ ...operation, sequence: i + 1 })).sort(compareEntries)
      const runs = [0, 1, 2].map((run) => new ArrayCursor(sorted.filter((entry) => entry.sequence % 3 === run)))
      assertSameWalk(new VisibleCursor(new MergingCursor(runs), snapshot), visible(sorted, snapshot), walk)
    }),
    { seed, numRuns: 3000 }
  )
})

test('a key with many versions costs no more than its versions', () => {
  const versions = Array.from({ length: 100_000 }, (_, i): TestEntry => {
    return { key: Buffer.from('hot'), sequence: 100_000 - i, kind: EntryKind.put, value: Buffer.from(String(i)) }
  })
  const cursor = new VisibleCursor(new ArrayCursor(versions), 5)
  cursor.seekToLast()
  assert.is(entryOf(cursor).sequence, 5)
  cursor.previous()
  assert.not.ok(cursor.isValid)
})

test.run()
