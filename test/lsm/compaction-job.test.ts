import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { partitionName } from '../../src/lsm/compaction/partition.ts'
import { MemoryFileSystem } from '../../src/lsm/fs/memory-file-system.ts'
import type { TableMeta } from '../../src/lsm/version/table-meta.ts'
import { seedOfRun } from '../support/values.ts'
import {
  directory,
  entriesOf,
  jobOf,
  memtableOf,
  type Operation,
  partitionsOf,
  runInline,
  type Version,
  visibleAt
} from './compaction-helpers.ts'

const seed = seedOfRun()

const key = fc.constantFrom('a', 'b', 'ba', 'c', '!x!1', '!x!2', '!x!', '!y!1', '!y!1!', '', '~')
const value = fc.option(fc.string({ maxLength: 40 }), { nil: undefined, freq: 3 })
const operations = fc.array(fc.record({ key, value }), { minLength: 1, maxLength: 60 })

function memoryFileSystem(): MemoryFileSystem {
  const fileSystem = new MemoryFileSystem()
  fileSystem.makeDirectory(directory)
  return fileSystem
}

/** Flushes each part into tables of its own; returns them and all versions written. */
async function flushAll(fileSystem: MemoryFileSystem, parts: readonly (readonly Operation[])[]) {
  const runs: (readonly TableMeta[])[] = []
  const written: Version[] = []
  for (const [i, part] of parts.entries()) {
    const first = written.length + 1
    const snapshots = part.map((_, at) => first + at)
    const memtables = [memtableOf(part, first)]
    written.push(...part.map((operation, at) => ({ ...operation, sequence: first + at })))
    runs.push((await runInline(fileSystem, jobOf({ firstNumber: 1 + i * 100, memtables, snapshots }))).tables)
  }
  return { runs, written }
}

test('reads at every live snapshot, and without one, return the same before and after a merge', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(operations, { minLength: 1, maxLength: 5 }), fc.array(fc.nat(200)), async (parts, at) => {
      const fileSystem = memoryFileSystem()
      const { runs, written } = await flushAll(fileSystem, parts)
      const snapshots = [...new Set(at.filter((sequence) => sequence <= written.length))].sort((a, b) => a - b)
      const job = jobOf({ firstNumber: 10_000, runs, snapshots, deeper: [], maxFileBytes: 300 })
      const { tables } = await runInline(fileSystem, job)
      const kept = tables.flatMap((table) => entriesOf(fileSystem, table))
      for (const reader of [...snapshots, Number.MAX_SAFE_INTEGER]) {
        assert.equal(visibleAt(kept, reader), visibleAt(written, reader), `at ${reader}`)
      }
      for (let i = 0; i < kept.length; i++) {
        const [entry, older] = kept.slice(i, i + 2)
        if (entry === undefined) continue
        // No needless version is kept: each but the newest is seen at some snapshot.
        const newer = kept[i - 1]?.key === entry.key ? kept[i - 1]?.sequence : undefined
        const isSeen = newer === undefined || snapshots.some((reader) => reader >= entry.sequence && reader < newer)
        assert.ok(isSeen, `${entry.key}@${entry.sequence}`)
        const oldest = snapshots[0] ?? Number.MAX_SAFE_INTEGER
        if (entry.value === undefined) assert.ok(entry.sequence > oldest, 'a tombstone that hides nothing')
        if (older?.key === entry.key) assert.ok(older.sequence < entry.sequence)
      }
    }),
    { seed, numRuns: 300 }
  )
})

test('a tombstone is kept only if a deeper level may hold its key', async () => {
  const fileSystem = memoryFileSystem()
  const memtables = [
    memtableOf(
      [
        { key: 'a', value: undefined },
        { key: 'm', value: undefined }
      ],
      1
    )
  ]
  const deeper = [[{ smallest: Buffer.from('k'), largest: Buffer.from('n'), bytes: 1 }]]
  const { tables } = await runInline(fileSystem, jobOf({ firstNumber: 1, memtables, deeper }))
  assert.equal(
    tables.flatMap((table) => entriesOf(fileSystem, table)),
    [{ key: 'm', sequence: 2, value: undefined }]
  )
})

test('tables of a merge do not overlap, share no key, and hold one partition each', async () => {
  await fc.assert(
    fc.asyncProperty(operations, fc.constantFrom(0, 1, 2), async (part, depth) => {
      const fileSystem = memoryFileSystem()
      const { runs, written } = await flushAll(fileSystem, [part])
      const snapshots = written.map(({ sequence }) => sequence)
      const job = jobOf({ firstNumber: 500, runs, snapshots, maxFileBytes: 1, partitions: partitionsOf(depth) })
      const { tables } = await runInline(fileSystem, job)
      const lists = tables.map((table) => entriesOf(fileSystem, table))
      assert.is(lists.flat().length, written.length)
      const keys = lists.map((list) => [...new Set(list.map((entry) => entry.key))])
      assert.is(new Set(keys.flat()).size, keys.flat().length, 'a key is in one table only')
      for (const list of keys) {
        const names = new Set(list.map((name) => partitionName(Buffer.from(name), depth)))
        assert.is(names.size, 1)
      }
      tables.forEach((table, i) => {
        const next = tables[i + 1]
        if (next !== undefined) assert.ok(Buffer.compare(table.largest, next.smallest) < 0)
      })
    }),
    { seed, numRuns: 200 }
  )
})

test('small partitions share tables, and those around a large one end beside it', async () => {
  const fileSystem = memoryFileSystem()
  const long = 'x'.repeat(100)
  const part = ['!a!1', '!b!1', '!b!2', '!c!1', '!d!1', '!e!1', '!e!2', '!f!1'].map((name) => ({
    key: name,
    value: name.startsWith('!e') ? long : 'y'
  }))
  const partitions = { depth: 1, minBytes: 200, own: new Set(['!c!']) }
  const { tables } = await runInline(
    fileSystem,
    jobOf({ firstNumber: 1, memtables: [memtableOf(part, 1)], partitions })
  )
  const keys = tables.map((table) => entriesOf(fileSystem, table).map((entry) => entry.key))
  // That a partition is large is either known, or noticed at its end.
  assert.equal(keys, [['!a!1', '!b!1', '!b!2'], ['!c!1'], ['!d!1', '!e!1', '!e!2'], ['!f!1']])
})

test('a partition that fills several tables ends the last of them, however little is in it', async () => {
  const fileSystem = memoryFileSystem()
  const part = ['!a!1', '!a!2', '!a!3', '!b!1', '!c!1'].map((key) => ({
    key,
    value: 'x'.repeat(key < '!a!3' ? 300 : 1)
  }))
  const partitions = { depth: 1, minBytes: 500, own: new Set<string>() }
  const memtables = [memtableOf(part, 1)]
  const job = jobOf({ firstNumber: 1, memtables, partitions, maxFileBytes: 600, kind: 'compaction' })
  const { tables } = await runInline(fileSystem, job)
  const keys = tables.map((table) => entriesOf(fileSystem, table).map((entry) => entry.key))
  assert.equal(keys, [['!a!1', '!a!2'], ['!a!3'], ['!b!1', '!c!1']])
})

test('a flush ends a table at the previous end of the partition', async () => {
  const fileSystem = memoryFileSystem()
  const part = ['1', '3', '5', '6', '7'].map((name) => ({ key: name, value: name < '5' ? undefined : 'new' }))
  const job = jobOf({ firstNumber: 1, memtables: [memtableOf(part, 1)], endAfter: [Buffer.from('4')] })
  const { tables } = await runInline(fileSystem, job)
  const keys = tables.map((table) =>
    entriesOf(fileSystem, table)
      .map((entry) => entry.key)
      .join('')
  )
  assert.equal(keys, ['13', '567'])
})

test('a flush whose keys all come after the previous end of the partition writes one table', async () => {
  const fileSystem = memoryFileSystem()
  const part = ['5', '6', '7'].map((name) => ({ key: name, value: 'new' }))
  const job = jobOf({ firstNumber: 1, memtables: [memtableOf(part, 1)], endAfter: [Buffer.from('4')] })
  assert.is((await runInline(fileSystem, job)).tables.length, 1)
})

test('a table ends when it overlaps too many bytes of the grandparent level', async () => {
  const fileSystem = memoryFileSystem()
  const part = Array.from('abcdefgh', (name) => ({ key: name, value: name }))
  const grandparents = Array.from('abcdefgh', (name) => ({
    smallest: Buffer.from(name),
    largest: Buffer.from(name),
    bytes: 100
  }))
  const memtables = [memtableOf(part, 1)]
  const job = jobOf({ firstNumber: 1, memtables, grandparents, maxGrandparentBytes: 250 })
  const { tables } = await runInline(fileSystem, job)
  const keys = tables.map((table) =>
    entriesOf(fileSystem, table)
      .map((entry) => entry.key)
      .join('')
  )
  assert.equal(keys, ['abc', 'def', 'gh'])
})

test('the last reserved file number takes all remaining entries', async () => {
  const fileSystem = memoryFileSystem()
  const part = Array.from('abcdefgh', (name) => ({ key: name, value: name }))
  const memtables = [memtableOf(part, 1)]
  const job = jobOf({ firstNumber: 7, memtables, maxFileBytes: 1, reservedNumbers: 3 })
  const { tables } = await runInline(fileSystem, job)
  assert.equal(
    tables.map(({ number, entries }) => [number, entries]),
    [
      [7, 1],
      [8, 1],
      [9, 6]
    ]
  )
})

test('a job that drops every entry writes no table', async () => {
  const fileSystem = memoryFileSystem()
  const memtables = [
    memtableOf(
      [
        { key: 'a', value: 'x' },
        { key: 'a', value: undefined }
      ],
      1
    )
  ]
  const result = await runInline(fileSystem, jobOf({ firstNumber: 1, memtables, deeper: [] }))
  assert.equal(result.tables, [])
  assert.equal(fileSystem.list(directory), [])
})

test('several memtables are flushed into one run', async () => {
  const fileSystem = memoryFileSystem()
  const older = memtableOf(
    [
      { key: 'a', value: '1' },
      { key: 'b', value: '1' }
    ],
    1
  )
  const newer = memtableOf(
    [
      { key: 'b', value: '2' },
      { key: 'c', value: '2' }
    ],
    3
  )
  const { tables } = await runInline(fileSystem, jobOf({ firstNumber: 1, memtables: [older, newer] }))
  assert.equal(
    tables.flatMap((table) => entriesOf(fileSystem, table)).map(({ key, value }) => `${key}${value}`),
    ['a1', 'b2', 'c2']
  )
})

test.run()
