import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { EntryKind, EntryRecord } from '../../src/lsm/format/entry.ts'
import { Found } from '../../src/lsm/format/found.ts'
import { seedOfRun } from '../support/values.ts'
import { allOf, assertSameWalk, compareEntries, keys, operations, steps } from './cursor-cases.ts'
import { FilledMemtable } from './memtable-filling.ts'

const seed = seedOfRun()

test('a cursor walks all versions of all keys in order, in any direction', () => {
  fc.assert(
    fc.property(operations, steps, (added, walk) => {
      const filled = new FilledMemtable()
      for (const operation of added) filled.add(operation)
      assertSameWalk(filled.memtable.cursor(), filled.sorted, walk)
    }),
    { seed, numRuns: 1000 }
  )
})

test('cursors opened between inserts yield all earlier entries, and later ones only with higher sequence numbers', () => {
  fc.assert(
    fc.property(fc.array(operations, { maxLength: 8 }), (batches) => {
      const filled = new FilledMemtable()
      const made = batches.map((batch) => {
        for (const operation of batch) filled.add(operation)
        const { largestSequence } = filled.memtable
        return { cursor: filled.memtable.cursor(), sorted: filled.sorted, largestSequence }
      })
      for (const { cursor, sorted, largestSequence } of made) {
        assert.equal(
          allOf(cursor).filter((entry) => entry.sequence <= largestSequence),
          sorted
        )
      }
    }),
    { seed, numRuns: 300 }
  )
})

test('a cursor stays correct while entries are added', () => {
  const filled = new FilledMemtable()
  for (const key of ['a', 'c', 'e']) filled.put(key, 'old')
  const cursor = filled.memtable.cursor()
  const seen: string[] = []
  for (cursor.seekToFirst(); cursor.isValid; cursor.next()) {
    if (cursor.sequence <= 3) seen.push(String.fromCharCode(cursor.keyBytes[cursor.keyStart] ?? 0))
    if (filled.entries.length < 2000) for (const key of ['a', 'b', 'c', 'd', 'e', 'f']) filled.put(key, 'new')
  }
  assert.equal(seen, ['a', 'c', 'e'])
})

test('after sortSome() in slices, keys are walked in order, including those added meanwhile', () => {
  const filled = new FilledMemtable()
  let slices = 0
  for (let i = 0; i < 5000; i++) filled.put(`key ${(i * 7919) % 5003}`, '')
  while (filled.memtable.sortSlice()) {
    slices++
    filled.put(`added ${slices}`, '')
  }
  assert.ok(slices > 2)
  assert.equal(allOf(filled.memtable.cursor()), filled.sorted)
  assert.not.ok(filled.memtable.sortSlice())
})

test('get() finds the newest version that is not too new', () => {
  fc.assert(
    fc.property(operations, keys, fc.nat(45), (added, key, maxSequence) => {
      const filled = new FilledMemtable()
      for (const operation of added) filled.add(operation)
      const found = new Found()
      const [expected] = filled.sorted.filter((entry) => entry.key.equals(key) && entry.sequence <= maxSequence)
      assert.is(filled.memtable.get(key, maxSequence, found), expected !== undefined)
      if (expected === undefined) return
      assert.is(found.sequence, expected.sequence)
      assert.is(found.kind, expected.kind)
      assert.equal(Buffer.from(found.valueBytes.subarray(found.valueStart, found.valueEnd)), expected.value)
    }),
    { seed, numRuns: 1000 }
  )
})

test('entryAt() numbers entries in the order they were added', () => {
  const filled = new FilledMemtable()
  filled.put('b', '1')
  filled.put('a', '2')
  filled.delete('b')
  const entry = new EntryRecord()
  const read = Array.from({ length: filled.memtable.entryCount }, (_, number) => {
    filled.memtable.entryAt(number, entry)
    const key = Buffer.from(entry.keyBytes.subarray(entry.keyStart, entry.keyEnd)).toString()
    const value = Buffer.from(entry.valueBytes.subarray(entry.valueStart, entry.valueEnd)).toString()
    return [key, value, entry.sequence, entry.kind]
  })
  assert.equal(read, [
    ['b', '1', 1, EntryKind.put],
    ['a', '2', 2, EntryKind.put],
    ['b', '', 3, EntryKind.tombstone]
  ])
})

test('a memtable counts entries, keys, tombstones and bytes, and knows its sequence numbers', () => {
  const filled = new FilledMemtable()
  assert.ok(filled.memtable.isEmpty)
  assert.is(filled.memtable.bytes, 0)
  filled.add({ key: Buffer.from('a'), value: Buffer.from('12'), kind: EntryKind.put }, 2 ** 50)
  filled.delete('a')
  filled.put('b', '')
  const { memtable } = filled
  assert.not.ok(memtable.isEmpty)
  assert.is(memtable.entryCount, 3)
  assert.is(memtable.keyCount, 2)
  assert.is(memtable.tombstones, 1)
  assert.is(memtable.smallestSequence, 2 ** 50)
  assert.is(memtable.largestSequence, 2 ** 50 + 2)
  assert.ok(memtable.bytes >= 5)
  assert.ok(memtable.memoryBytes >= memtable.bytes)
  assert.is(allOf(memtable.cursor())[0]?.sequence, 2 ** 50 + 1)
})

test('a cursor opened after every write sees all entries, however many sorted runs there are', () => {
  const filled = new FilledMemtable()
  for (let i = 0; i < 700; i++) {
    filled.put(`key ${(i * 389) % 701}`, String(i))
    if (i % 7 === 0) filled.put('hot', String(i))
    const cursor = filled.memtable.cursor()
    if (i % 50 === 0) assert.equal(allOf(cursor), [...filled.entries].sort(compareEntries))
  }
})

test('a memtable that reuses the memory of a released one has exactly its own entries', () => {
  const fill = (count: number, value: string): FilledMemtable => {
    const filled = new FilledMemtable()
    for (let i = 0; i < count; i++) filled.put(`key ${(i * 7919) % count}`, value)
    return filled
  }
  const least = fill(10, 'of none').memtable.memoryBytes
  const past = fill(3000, 'past')
  const { memoryBytes } = past.memtable
  past.memtable.release()
  assert.ok(past.memtable.memoryBytes < memoryBytes)
  past.memtable.release()
  // The second reuses all memory of the past one, and puts the same keys into the same places; the small one must not
  // hold what it does not need.
  for (const count of [10, 3000, 5000]) {
    const filled = fill(count, 'next')
    if (count === 10) assert.is(filled.memtable.memoryBytes, least)
    assert.equal(allOf(filled.memtable.cursor()), filled.sorted)
  }
})

test.run()
