import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { FlushKernel, kernelMemory } from '../../src/lsm/compaction/flush-kernel/flush-kernel.ts'
import type { TableJob, TableJobResult } from '../../src/lsm/compaction/job.ts'
import { tableName } from '../../src/lsm/fs/file-names.ts'
import { MemoryFileSystem } from '../../src/lsm/fs/memory-file-system.ts'
import { LsmLevel } from '../../src/lsm/index.ts'
import { randomFrom } from '../support/random.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { seedOfRun } from '../support/values.ts'
import { directory, jobOf, memtableOf, type Operation, partitionsOf, runInline } from './compaction-helpers.ts'

const seed = seedOfRun()

/** Returns a function that draws integers below a limit. */
function below(from: number): (limit: number) => number {
  const random = randomFrom(from)
  return (limit) => Math.floor(random() * limit)
}

interface Written {
  readonly result: Omit<TableJobResult, 'milliseconds'>
  readonly files: readonly string[]
}

/** No table reaches this limit, but it is a finite one, and jobs with one do not use the kernel. */
const withoutKernel = { maxFileBytes: Number.MAX_VALUE }

async function run(job: TableJob): Promise<Written> {
  const fileSystem = new MemoryFileSystem()
  fileSystem.makeDirectory(directory)
  const { milliseconds: _, ...result } = await runInline(fileSystem, job)
  const files = result.tables.map(({ number, bytes }) => {
    const target = Buffer.alloc(bytes)
    const file = fileSystem.open(`${directory}/${tableName(number)}`, 'read')
    assert.is(file.size(), bytes)
    file.read(target, 0)
    file.close()
    return target.toString('latin1')
  })
  return { result, files }
}

/** @param parts operations of one memtable each, oldest first */
function flushOf(parts: readonly (readonly Operation[])[], more: Partial<TableJob>): TableJob {
  let first = 1
  const memtables = parts.map((part) => {
    const memtable = memtableOf(part, first)
    first += part.length
    return memtable
  })
  return jobOf({ firstNumber: 7, memtables, maxFileBytes: Number.POSITIVE_INFINITY, ...more })
}

function isForKernel(job: TableJob): boolean {
  const kernel = FlushKernel.take(job)
  kernel?.release()
  return kernel !== undefined
}

async function assertSameTables(job: TableJob): Promise<void> {
  assert.ok(isForKernel(job))
  const [by, without] = [await run(job), await run({ ...job, ...withoutKernel })]
  assert.equal(by.result, without.result)
  assert.ok(by.files.every((file, i) => file === without.files[i]))
}

const group = fc.constantFrom('', '!x!', '!y!', '!y!z!', '!', 'a', '~')
const key = fc.tuple(group, fc.string({ maxLength: 20 })).map((parts) => parts.join(''))
const text = fc.tuple(fc.string({ maxLength: 12 }), fc.nat(400)).map(([part, times]) => part.repeat(times))
const value = fc.option(fc.oneof(fc.string({ maxLength: 30 }), text), { nil: undefined, freq: 4 })
const part = fc
  .integer({ min: 1, max: 20 })
  .chain((keys) =>
    fc
      .array(key, { minLength: keys, maxLength: keys })
      .chain((some) => fc.array(fc.record({ key: fc.constantFrom(...some), value }), { minLength: 1, maxLength: 120 }))
  )
const table = fc.record({
  blockBytes: fc.constantFrom(1, 40, 300, 4096),
  restartInterval: fc.constantFrom(1, 3, 16),
  codec: fc.constantFrom('lz4' as const, 'none' as const),
  keyFilterBits: fc.constantFrom(0, 0.5, 9.5, 24)
})

test('a random flush by the kernel writes the same bytes as one without it', async () => {
  const flushes = fc.record({
    parts: fc.array(part, { minLength: 1, maxLength: 3 }),
    table,
    depth: fc.nat(2),
    minBytes: fc.constantFrom(0, 0, 1, 100, 1000),
    own: fc.array(group, { maxLength: 2 }),
    reservedNumbers: fc.constantFrom(1, 3, 100),
    ends: fc.array(key, { maxLength: 4 }),
    snapshots: fc.array(fc.integer({ min: 1, max: 300 }), { maxLength: 4 })
  })
  await fc.assert(
    fc.asyncProperty(flushes, async ({ parts, table, ends, snapshots, depth, minBytes, own, ...more }) => {
      const endAfter = [...new Set(ends)].map((end) => Buffer.from(end)).sort(Buffer.compare)
      const partitions = { depth, minBytes, own: new Set(own) }
      const live = [...new Set(snapshots)].sort((a, b) => a - b)
      await assertSameTables(
        flushOf(parts, { ...more, partitions, endAfter, snapshots: live, table: { ...table, values: undefined } })
      )
    }),
    { seed, numRuns: 300 }
  )
})

/** The same job, with some of its chunks in a kernel's memory. @param mayMove decides for each chunk */
function inKernelMemory(job: TableJob, mayMove: () => boolean): TableJob {
  const chunks = job.memtables.flatMap((memtable) => memtable.chunks)
  const memory = kernelMemory(chunks.reduce((bytes, { usedBytes }) => bytes + usedBytes, 1))!
  let at = 0
  const memtables = job.memtables.map((memtable) => ({
    ...memtable,
    chunks: memtable.chunks.map((chunk, i) => {
      if (i > 0 && !mayMove()) return chunk
      const { usedBytes } = chunk
      memory.set(new Uint8Array(chunk.buffer, chunk.start, usedBytes), at)
      const buffer = memory.buffer as unknown as SharedArrayBuffer
      const moved = { buffer, start: memory.byteOffset + at, usedBytes }
      at += usedBytes
      return moved
    })
  }))
  return { ...job, memtables }
}

function isTakenBy(kernel: FlushKernel | undefined, job: TableJob): boolean {
  return kernel?.bytes.buffer === (job.memtables[0]?.chunks[0]?.buffer as unknown)
}

test('chunks in the memory of a kernel are flushed by it to the same bytes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(part, { minLength: 1, maxLength: 3 }), table, fc.nat(), async (parts, table, draw) => {
      const next = below(draw)
      const job = flushOf(parts, { table: { ...table, values: undefined } })
      const moved = inKernelMemory(job, () => next(3) > 0)
      const kernel = FlushKernel.take(moved)
      assert.ok(isTakenBy(kernel, moved))
      kernel!.release()
      // The memory is used again and again.
      for (let times = 0; times < 2; times++) {
        const [by, without] = [await run(moved), await run({ ...job, ...withoutKernel })]
        assert.equal(by.files, without.files)
        assert.equal(by.result.tables, without.result.tables)
      }
    }),
    { seed, numRuns: 100 }
  )
})

test('chunks in the memory of a kernel that is busy or has no room are flushed by another one', async () => {
  const job = inKernelMemory(flushOf([[{ key: 'a', value: '1' }]], {}), () => true)
  const kernel = FlushKernel.take(job)
  assert.ok(isTakenBy(kernel, job))
  const other = FlushKernel.take(job)
  assert.ok(other)
  assert.not.ok(isTakenBy(other, job))
  other!.release()
  kernel!.release()
  assert.ok(isTakenBy(FlushKernel.take(job), job))
  const many = Array.from({ length: 250_000 }, (_, i) => ({ key: String(i), value: '' }))
  const large = inKernelMemory(flushOf([many], {}), () => true)
  assert.ok(isForKernel(large))
  assert.not.ok(isTakenBy(FlushKernel.take(large), large))
})

const table4096 = { blockBytes: 4096, restartInterval: 16, codec: 'lz4', keyFilterBits: 24, values: undefined } as const

test('the kernel flushes documents, ids and rows of an import to the same bytes', async () => {
  const next = below(seed)
  const operations: Operation[] = []
  for (let i = 0; i < 6000; i++) {
    const ordinal = String(i).padStart(8, '0')
    operations.push({ key: `!docs!${ordinal}`, value: `{"id":${next(1e9)},"text":"${ordinal.repeat(next(20))}"}` })
    operations.push({ key: `!ids!${(next(2 ** 31) * 2 ** 22).toString(16)}`, value: ordinal })
    if (i % 500 === 499) operations.push({ key: `!index!${i}`, value: String(next(1e9)).repeat(5000) })
  }
  const endAfter = [Buffer.from('!docs!00000100')]
  await assertSameTables(flushOf([operations], { partitions: partitionsOf(1), endAfter, table: table4096 }))
})

test('the kernel flushes unordered keys, some with a hundred versions, to the same bytes', async () => {
  const next = below(seed + 1)
  const operations = Array.from({ length: 40_000 }, (_, i) => ({
    key: next(4) === 0 ? `hot ${next(100)}` : String(next(1e9)),
    value: next(10) === 0 ? undefined : `value ${i}`
  }))
  await assertSameTables(flushOf([operations.slice(0, 25_000), operations.slice(25_000)], { table: table4096 }))
})

test('the kernel flushes descending keys to the same bytes', async () => {
  const operations = Array.from({ length: 5000 }, (_, i) => ({ key: String(99_999 - i), value: '' }))
  await assertSameTables(flushOf([operations], { table: table4096 }))
})

test('the kernel flushes incompressible blocks and keys longer than blocks to the same bytes', async () => {
  const next = below(seed + 2)
  const noise = (bytes: number) => Array.from({ length: bytes }, () => String.fromCharCode(next(128))).join('')
  const operations = Array.from({ length: 300 }, (_, i) => ({
    key: i % 50 === 0 ? String(i).repeat(3000) : String(i),
    value: noise(i % 40 === 0 ? 100_000 : next(3000))
  }))
  await assertSameTables(flushOf([operations], { table: table4096 }))
})

test('jobs with a file size limit or a very large value are flushed without the kernel', async () => {
  const part = [{ key: 'a', value: '1' }]
  assert.not(isForKernel(flushOf([part], withoutKernel)))
  const large = flushOf([[...part, { key: 'b', value: 'b'.repeat(300_000) }]], { table: table4096 })
  assert.not(isForKernel(large))
  const { result } = await run(large)
  assert.equal(
    result.tables.map(({ entries }) => entries),
    [2]
  )
})

test('opening a store keeps no kernel for flushes, which other threads do', async () => {
  const location = temporaryDirectory()
  const db = new LsmLevel(location)
  await db.put('a', '1')
  // Leaves its log behind.
  await db.close()
  assert.ok(isForKernel(flushOf([[{ key: 'a', value: '1' }]], {})))
  const kept = FlushKernel.idleBytes
  assert.ok(kept > 0)
  const again = new LsmLevel(location)
  assert.is(await again.get('a'), '1')
  assert.is(FlushKernel.idleBytes, 0)
  await again.close()
})

test.run()
