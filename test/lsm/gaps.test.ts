import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { EntryKind } from '../../src/lsm/format/entry.ts'
import { Gaps } from '../../src/lsm/read/gaps.ts'
import { VisibleCursor } from '../../src/lsm/read/visible-cursor.ts'
import { seedOfRun } from '../support/values.ts'
import { CountingCursor, type TestEntry } from './cursor-cases.ts'

const seed = seedOfRun()
const many = 1000
const key = (n: number): Buffer => Buffer.from(String(n).padStart(4, '0'))

function storeOf(sequence: number) {
  const now: { sequence: number; epoch: number | undefined } = { sequence, epoch: 0 }
  return { now, gaps: new Gaps(now) }
}

/** Whether a view may skip the key. */
function skips(gaps: Gaps, n: number, view: { sequence: number; epoch: number | undefined }): boolean {
  return gaps.around(key(n), 0, 4, view) !== undefined
}

test('a gap holds nothing that was put since, and everything else that was noted', () => {
  const step = fc.record({
    isPut: fc.boolean(),
    from: fc.nat(60),
    length: fc.integer({ min: 1, max: 20 })
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const { now, gaps } = storeOf(1)
      // Of the keys, and of what lies between two of them.
      const empty = new Set<number>()
      for (const { isPut, from, length } of steps) {
        now.sequence++
        if (isPut) {
          gaps.onPut(key(from), 0, 4)
          empty.delete(from)
        } else {
          // So many that no part of it is forgotten.
          gaps.note(key(from), key(from + length), 1e30, { ...now })
          for (let n = from; n < from + length; n += 0.5) empty.add(n)
        }
        for (let n = 0; n < 90; n++) {
          assert.is(skips(gaps, n, now), empty.has(n), `${n}`)
          assert.is(gaps.below(key(n), now) !== undefined, empty.has(n - 0.5), `below ${n}`)
        }
      }
    }),
    { seed, numRuns: 500 }
  )
})

test('a gap serves no view that is older than it', () => {
  const { now, gaps } = storeOf(7)
  gaps.note(key(1), key(5), many, { ...now })
  assert.not.ok(skips(gaps, 3, { sequence: 6, epoch: 0 }))
  assert.ok(skips(gaps, 3, { sequence: 7, epoch: 0 }))
  assert.ok(skips(gaps, 3, { sequence: 9, epoch: 0 }))
})

test('a view that is not the newest state notes nothing', () => {
  const { now, gaps } = storeOf(7)
  gaps.note(key(1), key(5), many, { sequence: 6, epoch: 0 })
  assert.ok(gaps.isEmpty)
  now.epoch = 1
  gaps.note(key(1), key(5), many, { sequence: 7, epoch: 0 })
  assert.ok(gaps.isEmpty)
})

test('while tables are added or dropped whole, and after it, nothing known before counts', () => {
  const { now, gaps } = storeOf(7)
  gaps.note(key(1), key(5), many, { ...now })
  now.epoch = undefined
  assert.not.ok(skips(gaps, 3, { ...now }))
  assert.not.ok(skips(gaps, 3, { sequence: 7, epoch: 0 }))
  gaps.note(key(6), key(8), many, { ...now })
  now.epoch = 1
  assert.not.ok(skips(gaps, 3, { ...now }))
  assert.not.ok(skips(gaps, 7, { ...now }))
  gaps.note(key(6), key(8), many, { ...now })
  assert.ok(skips(gaps, 7, { ...now }))
  assert.not.ok(skips(gaps, 3, { ...now }))
})

test('no more than 64 gaps are remembered, those of the most tombstones', () => {
  const { now, gaps } = storeOf(7)
  for (let n = 0; n < 100; n++) gaps.note(key(2 * n), key(2 * n + 1), n < 40 ? many : 100 + n, { ...now })
  const known = Array.from({ length: 100 }, (_, n) => n).filter((n) => skips(gaps, 2 * n, now))
  assert.is(known.length, 64)
  assert.equal(known.slice(0, 40), [...Array(40).keys()])
})

/** Tombstones from 0 to `tombstones`, values from there. */
function deleted(tombstones: number, sequence: number): TestEntry[] {
  return Array.from({ length: 2000 }, (_, n) => {
    return { key: key(n), sequence, kind: n < tombstones ? EntryKind.tombstone : EntryKind.put, value: key(n) }
  })
}

test('what was taken from the front of a queue is walked over once', () => {
  const { now, gaps } = storeOf(1)
  let steps = 0
  for (let front = 1000; front < 1500; front++) {
    now.sequence++
    const entries = new CountingCursor(deleted(front, now.sequence))
    const cursor = new VisibleCursor(entries, { ...now, gaps }, { start: key(0), end: key(3000) })
    cursor.seek(key(0))
    assert.equal(Buffer.from(cursor.keyBytes.subarray(cursor.keyStart, cursor.keyEnd)), key(front))
    cursor.close()
    if (front > 1000) steps += entries.steps
  }
  assert.ok(steps < 10 * 499, `${steps} steps for 499 reads`)
})

test('what was taken from the end, read backwards, is walked over once', () => {
  const { now, gaps } = storeOf(1)
  let steps = 0
  for (let end = 1500; end > 1000; end--) {
    now.sequence++
    const entries = new CountingCursor(
      deleted(2000, now.sequence).map((entry, n) => (n < end ? { ...entry, kind: EntryKind.put } : entry))
    )
    const cursor = new VisibleCursor(entries, { ...now, gaps }, { start: key(0), end: key(3000) })
    cursor.seekBefore(key(3000))
    assert.equal(Buffer.from(cursor.keyBytes.subarray(cursor.keyStart, cursor.keyEnd)), key(end - 1))
    cursor.close()
    if (end < 1500) steps += entries.steps
  }
  assert.ok(steps < 10 * 499, `${steps} steps for 499 reads`)
})

test('a range in which all is deleted is walked over once, and only it is a gap', () => {
  for (const isReverse of [false, true]) {
    const { now, gaps } = storeOf(1)
    const steps: number[] = []
    for (let turn = 0; turn < 2; turn++) {
      const entries = new CountingCursor(deleted(2000, 1))
      const cursor = new VisibleCursor(entries, { ...now, gaps }, { start: key(500), end: key(900) })
      if (isReverse) cursor.seekBefore(key(900))
      else cursor.seek(key(500))
      assert.not.ok(cursor.isValid)
      steps.push(entries.steps)
    }
    assert.ok(steps[0]! >= 400 && steps[1]! < 3, `${steps} steps`)
    assert.equal(
      [499, 500, 899, 900].map((n) => skips(gaps, n, now)),
      [false, true, true, false]
    )
  }
})

test.run()
