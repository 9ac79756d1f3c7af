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
  CountingCursor,
  compareEntries,
  entryOf,
  operations,
  steps,
  type TestEntry
} from './cursor-cases.ts'

const seed = seedOfRun()

const upTo = (sequence: number) => ({ sequence, epoch: undefined, gaps: undefined })

/** The entries a snapshot sees: per key the newest version that is not too new, unless it is a tombstone. */
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
      assertSameWalk(new VisibleCursor(new MergingCursor(runs), upTo(snapshot)), visible(sorted, snapshot), walk)
    }),
    { seed, numRuns: 3000 }
  )
})

test('previous() finds the visible one of 100,000 versions of a key', () => {
  const versions = Array.from({ length: 100_000 }, (_, i): TestEntry => {
    return { key: Buffer.from('hot'), sequence: 100_000 - i, kind: EntryKind.put, value: Buffer.from(String(i)) }
  })
  const cursor = new VisibleCursor(new ArrayCursor(versions), upTo(5))
  cursor.seekToLast()
  assert.is(entryOf(cursor).sequence, 5)
  cursor.previous()
  assert.not.ok(cursor.isValid)
})

test('deleted and too new entries outside the range are not walked over', () => {
  const entries: TestEntry[] = []
  const add = (name: string, kind: EntryKind, sequence: number) =>
    entries.push({ key: Buffer.from(name), sequence, kind, value: Buffer.from(name) })
  for (let i = 1000; i < 2000; i++) add(`a${i}`, EntryKind.tombstone, 5)
  add('b0', EntryKind.tombstone, 5)
  add('b1', EntryKind.put, 5)
  for (let i = 1000; i < 2000; i++)
    add(`c${i}`, i % 2 === 0 ? EntryKind.tombstone : EntryKind.put, i % 2 === 0 ? 5 : 50)
  add('d', EntryKind.put, 5)
  const range = { start: Buffer.from('b'), end: Buffer.from('c') }
  const forwards = new CountingCursor(entries)
  const ascending = new VisibleCursor(forwards, upTo(10), range)
  ascending.seek(range.start)
  assert.is(entryOf(ascending).key.toString(), 'b1')
  ascending.next()
  assert.not.ok(ascending.isValid)
  assert.ok(forwards.steps < 10, `${forwards.steps} steps`)

  const backwards = new CountingCursor(entries)
  const descending = new VisibleCursor(backwards, upTo(10), range)
  descending.seekBefore(range.end)
  assert.is(entryOf(descending).key.toString(), 'b1')
  descending.previous()
  assert.not.ok(descending.isValid)
  assert.ok(backwards.steps < 10, `${backwards.steps} steps`)
})

test.run()
