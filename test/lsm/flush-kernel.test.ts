import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { FlushKernel } from '../../src/lsm/compaction/flush-kernel/flush-kernel.ts'
import type { TableJob, TableJobResult } from '../../src/lsm/compaction/job.ts'
import { tableName } from '../../src/lsm/fs/file-names.ts'
import { MemoryFileSystem } from '../../src/lsm/fs/memory-file-system.ts'
import { randomFrom } from '../support/random.ts'
import { seedOfRun } from '../support/values.ts'
import { directory, jobOf, memtableOf, type Operation, runInline } from './compaction-helpers.ts'

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
    partitionDepth: fc.nat(2),
    reservedNumbers: fc.constantFrom(1, 3, 100),
    ends: fc.array(key, { maxLength: 4 }),
    snapshots: fc.array(fc.integer({ min: 1, max: 300 }), { maxLength: 4 })
  })
  await fc.assert(
    fc.asyncProperty(flushes, async ({ parts, table, ends, snapshots, ...more }) => {
      const endAfter = [...new Set(ends)].map((end) => Buffer.from(end)).sort(Buffer.compare)
      const live = [...new Set(snapshots)].sort((a, b) => a - b)
      await assertSameTables(
        flushOf(parts, { ...more, endAfter, snapshots: live, table: { ...table, values: undefined } })
      )
    }),
    { seed, numRuns: 300 }
  )
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
  await assertSameTables(flushOf([operations], { partitionDepth: 1, endAfter, table: table4096 }))
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
  assert.is(result.entriesOut, 2)
})

test.run()
