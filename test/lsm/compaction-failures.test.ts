import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { InlineRunner } from '../../src/lsm/compaction/inline-runner.ts'
import type { TableJob } from '../../src/lsm/compaction/job.ts'
import { hasCode } from '../../src/lsm/errors.ts'
import { tableName } from '../../src/lsm/fs/file-names.ts'
import { MemoryFileSystem } from '../../src/lsm/fs/memory-file-system.ts'
import { FaultyFileSystem } from '../support/faulty-file-system.ts'
import { directory, entriesOf, jobOf, memtableOf, runInline } from './compaction-helpers.ts'

const letters = Array.from({ length: 400 }, (_, i) => String(i).padStart(5, '0'))

/** Two overlapping runs on disk, and a job that merges them into several tables. */
async function mergeJob(fileSystem: FaultyFileSystem): Promise<TableJob> {
  fileSystem.makeDirectory(directory)
  const runs = []
  for (const [i, first] of [1, 1000].entries()) {
    const memtables = [
      memtableOf(
        letters.map((key) => ({ key, value: key.repeat(20) })),
        first
      )
    ]
    runs.push((await runInline(fileSystem, jobOf({ firstNumber: 1 + i, memtables }))).tables)
  }
  return jobOf({ firstNumber: 100, runs, maxFileBytes: 4000 })
}

function outputs(fileSystem: FaultyFileSystem): string[] {
  return fileSystem.list(directory).filter((name) => name >= tableName(100))
}

test('whichever call fails, a merge rejects with LEVEL_IO_ERROR and leaves no output and no open file', async () => {
  for (const code of ['EIO', 'ENOSPC'] as const) {
    let failed = 0
    for (let at = 1; ; at++) {
      const fileSystem = new FaultyFileSystem(new MemoryFileSystem())
      const job = await mergeJob(fileSystem)
      const operations = ['open', 'read', 'write', 'sync', 'close'] as const
      fileSystem.fail({ at, code, operations, isPartial: at % 2 === 0 })
      try {
        await runInline(fileSystem, job)
      } catch (error) {
        failed++
        assert.ok(hasCode(error, 'LEVEL_IO_ERROR'), String(error))
        assert.is((error as { cause?: { code?: string } }).cause?.code, code)
        assert.equal(outputs(fileSystem), [])
      }
      assert.equal(fileSystem.openFiles, [])
      if (fileSystem.matches < at) break
    }
    assert.ok(failed > 20, `${failed} calls failed`)
  }
})

test('a job that failed on a full disk can be run again', async () => {
  const fileSystem = new FaultyFileSystem(new MemoryFileSystem())
  const job = await mergeJob(fileSystem)
  fileSystem.fail({ at: 3, code: 'ENOSPC', operations: ['write'], isPersistent: true })
  const error = await runInline(fileSystem, job).then(
    () => undefined,
    (reason) => reason
  )
  assert.ok(hasCode(error, 'LEVEL_IO_ERROR'))
  fileSystem.heal()
  const { tables } = await runInline(fileSystem, { ...job, firstNumber: 200 })
  const keys = tables.flatMap((table) => entriesOf(fileSystem, table).map((entry) => entry.key))
  assert.equal(keys, letters)
})

test('an aborted job rejects with LEVEL_ABORTED and leaves no files', async () => {
  const fileSystem = new FaultyFileSystem(new MemoryFileSystem())
  const job = await mergeJob(fileSystem)
  const controller = new AbortController()
  const running = new FaultyFileSystem(fileSystem, {
    after: (call) => {
      if (call.operation === 'sync') controller.abort(new Error('closing'))
    }
  })
  const error = await runInline(running, job, controller.signal).then(
    () => undefined,
    (reason) => reason
  )
  assert.ok(hasCode(error, 'LEVEL_ABORTED'), String(error))
  assert.is((error as { cause?: Error }).cause?.message, 'closing')
  assert.equal(outputs(fileSystem), [])
  assert.equal(fileSystem.openFiles, [])
})

test('a job aborted before it starts makes no file system call', async () => {
  const fileSystem = new FaultyFileSystem(new MemoryFileSystem())
  const job = await mergeJob(fileSystem)
  const { calls } = fileSystem
  const error = await runInline(fileSystem, job, AbortSignal.abort()).then(
    () => undefined,
    (reason) => reason
  )
  assert.ok(hasCode(error, 'LEVEL_ABORTED'))
  assert.is(fileSystem.calls, calls)
})

test('a damaged input is reported as LEVEL_CORRUPTION with path and offset', async () => {
  const fileSystem = new FaultyFileSystem(new MemoryFileSystem())
  const job = await mergeJob(fileSystem)
  const path = `${directory}/${tableName(2)}`
  const file = fileSystem.open(path, 'update')
  file.write(Buffer.from([255, 255, 255]), 40)
  file.close()
  const error = await runInline(fileSystem, job).then(
    () => undefined,
    (reason) => reason
  )
  assert.ok(hasCode(error, 'LEVEL_CORRUPTION'), String(error))
  assert.is((error as { path?: string }).path, path)
  assert.type((error as { offset?: number }).offset, 'number')
  assert.equal(outputs(fileSystem), [])
})

test('a missing input is reported as LEVEL_IO_ERROR', async () => {
  const fileSystem = new FaultyFileSystem(new MemoryFileSystem())
  const job = await mergeJob(fileSystem)
  fileSystem.remove(`${directory}/${tableName(2)}`)
  const error = await runInline(fileSystem, job).then(
    () => undefined,
    (reason) => reason
  )
  assert.ok(hasCode(error, 'LEVEL_IO_ERROR'), String(error))
})

test('a flush overtakes a running compaction', async () => {
  const fileSystem = new FaultyFileSystem(new MemoryFileSystem())
  const runner = new InlineRunner(fileSystem)
  const job = await mergeJob(fileSystem)
  const order: string[] = []
  const many = Array.from({ length: 30_000 }, (_, i) => ({ key: String(i).padStart(8, '0'), value: 'x'.repeat(50) }))
  const { tables } = await runInline(fileSystem, jobOf({ firstNumber: 50, memtables: [memtableOf(many, 5000)] }))
  const compaction = runner.run({ ...job, runs: [tables] }).then(() => order.push('compaction'))
  while (outputs(fileSystem).length === 0) await new Promise((resolve) => setImmediate(resolve))
  const memtables = [
    memtableOf(
      letters.map((key) => ({ key, value: key })),
      50_000
    )
  ]
  const flush = runner.run(jobOf({ firstNumber: 60, memtables })).then(() => order.push('flush'))
  await Promise.all([compaction, flush])
  assert.equal(order, ['flush', 'compaction'])
})

test.run()
