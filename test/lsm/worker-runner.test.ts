import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { TableJob, TableJobResult } from '../../src/lsm/compaction/job.ts'
import { WorkerRunner, workerRunner } from '../../src/lsm/compaction/worker-runner.ts'
import { hasCode } from '../../src/lsm/errors.ts'
import { tableName } from '../../src/lsm/fs/file-names.ts'
import { nodeFileSystem } from '../../src/lsm/fs/node-file-system.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { entriesOf, jobOf, memtableOf, type Operation, runInline } from './compaction-helpers.ts'

function operations(count: number, value: string): Operation[] {
  return Array.from({ length: count }, (_, i) => ({ key: String((i * 7919) % count).padStart(7, '0'), value }))
}

function flushJob(directory: string, firstNumber: number, entries: readonly Operation[], sequence = 1): TableJob {
  return { ...jobOf({ firstNumber, memtables: [memtableOf(entries, sequence)] }), directory }
}

/** A directory with a table, and a job that takes long enough to be interrupted. */
async function longJob(): Promise<{ directory: string; job: TableJob }> {
  const directory = temporaryDirectory()
  const { tables } = await runInline(nodeFileSystem, flushJob(directory, 1, operations(100_000, 'x'.repeat(100))))
  return { directory, job: { ...jobOf({ firstNumber: 100, runs: [tables], maxFileBytes: 1 << 20 }), directory } }
}

function outcome(run: Promise<TableJobResult>): Promise<unknown> {
  return run.then(
    (result) => result,
    (error) => error
  )
}

function isResult(end: unknown): end is TableJobResult {
  return (end as Partial<TableJobResult>).writtenBytes !== undefined
}

function entryCount({ tables }: TableJobResult): number {
  return tables.reduce((sum, { entries }) => sum + entries, 0)
}

function outputs(directory: string): string[] {
  return nodeFileSystem.list(directory).filter((name) => name >= tableName(100))
}

async function firstOutput(...directories: readonly string[]): Promise<void> {
  while (directories.every((directory) => outputs(directory).length === 0)) {
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}

/** Repeats a test if the worker finished before this thread could act, as happens on busy machines. */
async function untilInTime(isInTime: () => Promise<boolean>): Promise<void> {
  for (let tries = 1; !(await isInTime()); tries++) assert.ok(tries < 20, 'twenty times too late')
}

test('a flush in the worker writes the same tables as one on this thread', async () => {
  const [here, there] = [temporaryDirectory(), temporaryDirectory()]
  const entries = operations(5000, 'value')
  const expected = await runInline(nodeFileSystem, flushJob(here, 3, entries))
  const result = await workerRunner.run(flushJob(there, 3, entries))
  const bytes = (table: { smallest: Uint8Array; largest: Uint8Array }) => ({
    ...table,
    smallest: Buffer.from(table.smallest),
    largest: Buffer.from(table.largest)
  })
  assert.equal(result.tables.map(bytes), expected.tables.map(bytes))
  for (const table of result.tables) {
    assert.equal(entriesOf(nodeFileSystem, table, there), entriesOf(nodeFileSystem, table, here))
  }
})

test('keys that are views of larger buffers are passed to the worker and back', async () => {
  const directory = temporaryDirectory()
  const { tables } = await workerRunner.run(flushJob(directory, 1, operations(100, 'a')))
  const view = (key: Uint8Array) => Buffer.concat([Buffer.from('##'), key, Buffer.from('##')]).subarray(2, -2)
  const runs = [tables.map((table) => ({ ...table, smallest: view(table.smallest), largest: view(table.largest) }))]
  const result = await workerRunner.run({ ...jobOf({ firstNumber: 100, runs }), directory })
  assert.is(entryCount(result), 100)
  for (const table of result.tables) assert.is(table.smallest.byteLength, table.smallest.buffer.byteLength)
})

test('errors of the worker have code, path, offset and cause', async () => {
  const { directory, job } = await longJob()
  const path = `${directory}/${tableName(1)}`
  const file = nodeFileSystem.open(path, 'update')
  file.write(Buffer.from([255, 0, 255]), 5000)
  file.close()
  const damaged = await outcome(workerRunner.run(job))
  assert.ok(hasCode(damaged, 'LEVEL_CORRUPTION'), String(damaged))
  assert.is((damaged as { path?: string }).path, path)
  assert.type((damaged as { offset?: number }).offset, 'number')
  assert.equal(outputs(directory), [])

  nodeFileSystem.remove(path)
  const missing = await outcome(workerRunner.run(job))
  assert.ok(hasCode(missing, 'LEVEL_IO_ERROR'))
  assert.is((missing as { cause?: { code?: string } }).cause?.code, 'ENOENT')
})

test('an aborted job rejects with LEVEL_ABORTED and the reason, and leaves no files', () =>
  untilInTime(async () => {
    const { directory, job } = await longJob()
    const controller = new AbortController()
    const running = outcome(workerRunner.run(job, controller.signal))
    await firstOutput(directory)
    controller.abort(new Error('closing'))
    const error = await running
    if (isResult(error)) return false
    assert.ok(hasCode(error, 'LEVEL_ABORTED'), String(error))
    assert.is((error as { cause?: Error }).cause?.message, 'closing')
    assert.equal(outputs(directory), [])
    return true
  }))

test('when the worker dies, its jobs reject, and the next job gets a new worker', () =>
  untilInTime(async () => {
    const { directory, job } = await longJob()
    const running = [outcome(workerRunner.run(job)), outcome(workerRunner.run({ ...job, firstNumber: 300 }))]
    await firstOutput(directory)
    await workerRunner.terminate()
    const errors = (await Promise.all(running)).filter((end) => !isResult(end))
    for (const error of errors) assert.ok(hasCode(error, 'LEVEL_IO_ERROR'), String(error))
    const result = await workerRunner.run({ ...job, firstNumber: 500 })
    assert.is(entryCount(result), 100_000)
    return errors.length === running.length
  }))

test('an idle worker ends after a while, and the next jobs get a new one', async () => {
  const runner = new WorkerRunner(50)
  const directory = temporaryDirectory()
  const flush = (firstNumber: number) => runner.run(flushJob(directory, firstNumber, operations(100, 'a')))
  await Promise.all([flush(1), flush(100)])
  assert.ok(runner.isStarted)
  while (runner.isStarted) await new Promise((resolve) => setTimeout(resolve, 10))
  const again = await Promise.all([flush(200), flush(300)])
  assert.equal(again.map(entryCount), [100, 100])
  await runner.terminate()
})

test('jobs that start while an idle worker ends succeed', async () => {
  const runner = new WorkerRunner(0)
  const directory = temporaryDirectory()
  for (let round = 0; round < 20; round++) {
    const result = await runner.run(flushJob(directory, 1 + round * 100, operations(10, 'a')))
    assert.is(entryCount(result), 10)
    // Sometimes before the timer, sometimes after it.
    for (let turns = 0; turns < round % 3; turns++) await new Promise((resolve) => setImmediate(resolve))
  }
  await runner.terminate()
})

test('a flush overtakes compactions of other databases', () =>
  untilInTime(async () => {
    const [first, second] = [await longJob(), await longJob()]
    const order: string[] = []
    const compactions = [first, second].map(({ job }) => workerRunner.run(job).then(() => order.push('compaction')))
    await firstOutput(first.directory, second.directory)
    const directory = temporaryDirectory()
    const flush = workerRunner.run(flushJob(directory, 1, operations(100, 'a'))).then(() => order.push('flush'))
    await Promise.all([...compactions, flush])
    return order[0] === 'flush'
  }))

test('a job whose extractor cannot be loaded rejects with LEVEL_NOT_SUPPORTED', async () => {
  const directory = temporaryDirectory()
  const job = flushJob(directory, 1, operations(10, 'a'))
  const extractor = { module: 'no-such-module-of-petaldb', name: 'none', version: 1 }
  const values = { extractor, filterBits: 1024, filterHashes: 4, blockFilterBits: 0, placement: 'table' } as const
  const error = await outcome(workerRunner.run({ ...job, table: { ...job.table, values } }))
  assert.ok(hasCode(error, 'LEVEL_NOT_SUPPORTED'), String(error))
})

test('a running job keeps the process alive, and an idle worker does not', async () => {
  const program = fileURLToPath(new URL('./worker-idle-process.ts', import.meta.url))
  const run = promisify(execFile)
  const { stdout } = await run(process.execPath, ['--import', 'tsx', program, temporaryDirectory()], {
    timeout: 120_000
  })
  assert.is(stdout.trim(), 'tables 1')
})

test.run()
