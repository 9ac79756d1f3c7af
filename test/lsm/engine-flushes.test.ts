import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { TableJobResult } from '../../src/lsm/compaction/job.ts'
import { Flushes, type FlushesHost, type FrozenBuffer } from '../../src/lsm/engine/flushes.ts'
import { resolveOptions } from '../../src/lsm/engine/resolve-options.ts'
import type { PlannedJob } from '../../src/lsm/engine/table-jobs.ts'
import { WriteBuffer } from '../../src/lsm/engine/write-buffer.ts'
import type { VersionEdit } from '../../src/lsm/format/version-edit.ts'
import { tableName } from '../../src/lsm/fs/file-names.ts'
import { MemoryFileSystem } from '../../src/lsm/fs/memory-file-system.ts'
import { ArenaPool } from '../../src/lsm/memtable/arena.ts'
import type { TableMeta } from '../../src/lsm/version/table-meta.ts'
import { VersionSet } from '../../src/lsm/version/version-set.ts'

interface StartedJob {
  readonly job: PlannedJob
  succeed(table: number): void
  fail(error: Error): void
}

/** Flushes whose jobs the test completes by hand. */
class Harness {
  readonly fileSystem = new MemoryFileSystem()
  readonly jobs: StartedJob[] = []
  readonly installed: VersionEdit[] = []
  readonly failures: string[] = []
  frozen: readonly FrozenBuffer[] = []
  readonly flushes: Flushes
  #lastSequence = 0

  constructor(versions: VersionSet) {
    this.fileSystem.makeDirectory('/db')
    const host: FlushesHost = {
      fileSystem: this.fileSystem,
      directory: '/db',
      options: resolveOptions({}),
      versions,
      snapshots: { live: () => [] },
      frozen: () => this.frozen,
      run: (plan) => new Promise((resolve, reject) => this.jobs.push(this.#started(plan(), resolve, reject))),
      install: async (edit) => {
        this.installed.push(edit)
      },
      onFlushed: (buffers) => {
        this.frozen = this.frozen.filter((buffer) => !buffers.includes(buffer))
      },
      onFailed: (error) => this.failures.push(error.message)
    }
    this.flushes = new Flushes(host, () => this.flushes.schedule())
  }

  static async create(): Promise<Harness> {
    const fileSystem = new MemoryFileSystem()
    fileSystem.makeDirectory('/db')
    return new Harness(await VersionSet.create(fileSystem, '/db'))
  }

  setAside(): void {
    const lastSequence = ++this.#lastSequence
    this.frozen = [...this.frozen, { buffer: new WriteBuffer(new ArenaPool(0)), lastSequence, nextLog: lastSequence }]
    this.flushes.schedule()
  }

  get tables(): string[] {
    return this.fileSystem.list('/db')
  }

  #started(job: PlannedJob, resolve: (result: TableJobResult) => void, reject: (error: Error) => void): StartedJob {
    return {
      job,
      succeed: (number) => {
        this.fileSystem.open(`/db/${tableName(number)}`, 'create').close()
        const tables = [{ number, entries: 1, tombstones: 0 } as TableMeta]
        resolve({ tables, readBytes: 0, writtenBytes: 0, milliseconds: 1 })
      },
      fail: reject
    }
  }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

test('two memtables are flushed at a time, each in a job of its own', async () => {
  const harness = await Harness.create()
  for (let i = 0; i < 3; i++) harness.setAside()
  assert.is(harness.jobs.length, 2, 'two at a time')
  harness.jobs[0]?.succeed(10)
  await settled()
  assert.is(harness.jobs.length, 3)
  assert.equal(
    harness.jobs.map(({ job }) => job.memtables.length),
    [1, 1, 1],
    'each memtable is in one job'
  )
})

test('tables are installed in the order of the memtables, whichever job finishes first', async () => {
  const harness = await Harness.create()
  for (let i = 0; i < 2; i++) harness.setAside()
  harness.jobs[1]?.succeed(11)
  await settled()
  assert.equal(harness.installed, [])
  harness.jobs[0]?.succeed(10)
  await harness.flushes.whenDone()
  assert.equal(
    harness.installed.map(({ lastSequence, newTables }) => [lastSequence, newTables?.[0]?.table.number]),
    [
      [1, 10],
      [2, 11]
    ]
  )
  assert.equal(harness.frozen, [])
})

for (const isSecondReady of [true, false]) {
  const when = isSecondReady ? 'was ready' : 'was not ready'
  test(`after a failed flush the next one starts with the oldest memtable; the job after the failed one ${when}`, async () => {
    const harness = await Harness.create()
    for (let i = 0; i < 2; i++) harness.setAside()
    if (isSecondReady) harness.jobs[1]?.succeed(11)
    harness.jobs[0]?.fail(new Error('no space'))
    await settled()
    if (!isSecondReady) {
      harness.flushes.schedule()
      assert.is(harness.jobs.length, 2, 'the job that still runs is waited for')
      harness.jobs[1]?.succeed(11)
      await settled()
    }
    assert.equal(harness.failures, ['no space'])
    assert.equal(harness.tables, [], 'nothing is left of the job behind')
    assert.equal(harness.installed, [])
    const last = harness.jobs.at(-1)
    assert.is(harness.jobs.length, 3)
    assert.is(last?.job.memtables.length, 2)
    last?.succeed(12)
    await harness.flushes.whenDone()
    assert.equal(
      harness.installed.map(({ lastSequence, logNumber }) => [lastSequence, logNumber]),
      [[2, 2]]
    )
    assert.is(harness.flushes.error, undefined)
  })
}

test('a failed flush does not undo that of an older memtable', async () => {
  const harness = await Harness.create()
  for (let i = 0; i < 2; i++) harness.setAside()
  harness.jobs[1]?.fail(new Error('no space'))
  await settled()
  assert.equal(harness.failures, [], 'it waits for its turn')
  harness.jobs[0]?.succeed(10)
  await settled()
  assert.equal(harness.failures, ['no space'])
  harness.jobs[2]?.succeed(12)
  await harness.flushes.whenDone()
  assert.equal(
    harness.installed.map(({ lastSequence }) => lastSequence),
    [1, 2]
  )
})

test.run()
