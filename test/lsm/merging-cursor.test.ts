import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { MergingCursor, mergeCursors } from '../../src/lsm/read/merging-cursor.ts'
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

/** Distributes entries over sorted runs. */
function deal(added: readonly Omit<TestEntry, 'sequence'>[], choices: readonly number[], runs: number): TestEntry[][] {
  const dealt: TestEntry[][] = Array.from({ length: runs }, () => [])
  added.forEach((operation, i) => {
    dealt[(choices[i % choices.length] ?? 0) % runs]?.push({ ...operation, sequence: i + 1 })
  })
  return dealt.map((run) => run.sort(compareEntries))
}

const choices = fc.array(fc.nat(40), { minLength: 1, maxLength: 40 })

test('a merging cursor walks the entries of all children in order, and can change direction anywhere', () => {
  fc.assert(
    fc.property(operations, choices, fc.integer({ min: 1, max: 41 }), steps, (added, dealing, count, walk) => {
      const runs = deal(added, dealing, count)
      const cursor = new MergingCursor(runs.map((run) => new ArrayCursor(run)))
      assertSameWalk(cursor, runs.flat().sort(compareEntries), walk)
    }),
    { seed, numRuns: 3000 }
  )
})

test('merging cursors can be merged', () => {
  fc.assert(
    fc.property(operations, choices, steps, (added, dealing, walk) => {
      const runs = deal(added, dealing, 6)
      const children = runs.map((run) => new ArrayCursor(run))
      const cursor = new MergingCursor([
        mergeCursors(children.slice(0, 3)),
        mergeCursors(children.slice(3, 5)),
        mergeCursors(children.slice(5))
      ])
      assertSameWalk(cursor, runs.flat().sort(compareEntries), walk)
    }),
    { seed, numRuns: 500 }
  )
})

test('a merge of no cursors, or of empty ones, has no entries', () => {
  const cursor = mergeCursors([])
  cursor.seekToFirst()
  assert.not.ok(cursor.isValid)
  cursor.seekBefore(Buffer.from('x'))
  assert.not.ok(cursor.isValid)
  assert.equal(allOf(new MergingCursor([new ArrayCursor([]), new ArrayCursor([])])), [])
})

test('mergeCursors() returns a single child itself', () => {
  const child = new ArrayCursor([])
  assert.is(mergeCursors([child]), child)
})

test('closing a merging cursor closes its children', () => {
  const children = [new ArrayCursor([]), new ArrayCursor([])]
  const cursor = mergeCursors(children)
  cursor.close()
  cursor.close()
  assert.ok(children.every((child) => child.isClosed))
  assert.not.ok(cursor.isValid)
})

test.run()
