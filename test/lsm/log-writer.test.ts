import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { recordHeaderBytes } from '../../src/lsm/format/log-record.ts'
import { LogWriter } from '../../src/lsm/format/log-writer.ts'
import { MemoryFileSystem } from '../../src/lsm/fs/memory-file-system.ts'
import { systemError } from '../../src/lsm/fs/system-error.ts'
import { createLog } from '../../src/lsm/version/log-files.ts'
import { type Fault, FaultyFileSystem } from '../support/faulty-file-system.ts'
import { codeOf, readLog, recordOfPut, rejectionCode, sequencesOf } from './log-helpers.ts'

function faulty(): { readonly fileSystem: FaultyFileSystem; readonly memory: MemoryFileSystem } {
  const memory = new MemoryFileSystem()
  return { fileSystem: new FaultyFileSystem(memory), memory }
}

for (const fault of [
  { at: 1, operations: ['write'], code: 'EIO' },
  { at: 1, operations: ['write'], code: 'ENOSPC', isPartial: true }
] satisfies Fault[]) {
  test(`after a write that failed with ${fault.code}, nothing is written or synced`, async () => {
    const { fileSystem, memory } = faulty()
    const log = new LogWriter(fileSystem.open('log', 'create'), 7)
    log.append(recordOfPut(1))
    fileSystem.fail(fault)
    assert.is(
      codeOf(() => log.append(recordOfPut(2))),
      'LEVEL_IO_ERROR'
    )
    fileSystem.heal()
    const { calls } = fileSystem
    assert.is(
      codeOf(() => log.append(recordOfPut(3))),
      'LEVEL_IO_ERROR'
    )
    assert.is(await rejectionCode(log.sync()), 'LEVEL_IO_ERROR')
    assert.is(fileSystem.calls, calls)
    assert.is((log.failure?.cause as NodeJS.ErrnoException | undefined)?.code, fault.code)
    assert.equal(
      readLog(memory, 'log', 7).flatMap(({ payload }) => sequencesOf(payload)),
      [1]
    )
  })
}

test('a failed sync is not retried', async () => {
  const { fileSystem } = faulty()
  const log = new LogWriter(fileSystem.open('log', 'create'), 7)
  log.append(recordOfPut(1))
  fileSystem.fail({ at: 1, operations: ['sync'], code: 'EIO' })
  assert.is(await rejectionCode(log.sync()), 'LEVEL_IO_ERROR')
  assert.is(await rejectionCode(log.sync()), 'LEVEL_IO_ERROR')
  assert.is(
    codeOf(() => log.append(recordOfPut(2))),
    'LEVEL_IO_ERROR'
  )
  assert.is(fileSystem.matches, 1)
  assert.is(log.syncedOffset, 0)
})

test('of two syncs at the same time none succeeds if the device fails, whichever of them is told', async () => {
  for (const told of [0, 1]) {
    const { memory } = faulty()
    const file = memory.open('log', 'create')
    let syncs = 0
    const ended: number[] = []
    file.sync = async () => {
      const number = syncs++
      // The later one returns first.
      await new Promise((resolve) => setTimeout(resolve, number === 0 ? 20 : 1))
      if (number === told) throw systemError('EIO', 'fdatasync', 'log')
      ended.push(number)
    }
    const log = new LogWriter(file, 7)
    log.append(recordOfPut(1))
    const first = rejectionCode(log.sync())
    log.append(recordOfPut(2))
    const codes = await Promise.all([first, rejectionCode(log.sync())])
    // They are made one after the other, so that a failure is that of everything written before.
    assert.equal(ended, told === 0 ? [] : [0])
    assert.equal(codes, told === 0 ? ['LEVEL_IO_ERROR', 'LEVEL_IO_ERROR'] : [undefined, 'LEVEL_IO_ERROR'])
  }
})

test('a log that is closed while a sync waits for another one needs none', async () => {
  const { memory } = faulty()
  const log = new LogWriter(memory.open('log', 'create'), 7)
  log.append(recordOfPut(1))
  const first = log.sync()
  log.append(recordOfPut(2))
  const second = log.sync()
  log.close()
  await Promise.all([first, second])
})

test('sync() extends the file, so that later syncs need not make a new size durable', async () => {
  const { fileSystem } = faulty()
  const log = createLog(fileSystem, '/', 1)
  log.append(recordOfPut(1))
  assert.is(fileSystem.size(log.path), log.bytes, 'none without a sync')
  await log.sync()
  const fileBytes = fileSystem.size(log.path)
  assert.is(fileBytes, 2 * log.bytes)
  log.append(new Uint8Array(recordHeaderBytes))
  await log.sync()
  assert.is(fileSystem.size(log.path), fileBytes, 'none before it is used up')
  for (let i = 2; i < 40; i++) {
    log.append(recordOfPut(i))
    await log.sync()
  }
  assert.is(readLog(fileSystem, log.path, 1).length, 39)
  log.close()
})

test('sync() succeeds without extending the file if the disk is full', async () => {
  const { fileSystem } = faulty()
  const log = createLog(fileSystem, '/', 1)
  log.append(recordOfPut(1))
  fileSystem.fail({ at: 1, operations: ['write'], code: 'ENOSPC', isPartial: true })
  await log.sync()
  log.append(recordOfPut(2))
  await log.sync()
  assert.is(fileSystem.matches, 2)
  assert.is(readLog(fileSystem, log.path, 1).length, 2)
  log.close()
})

test('trim() cuts off the room after the last record, and ignores a failure to do so', async () => {
  const { fileSystem } = faulty()
  const log = createLog(fileSystem, '/', 1)
  log.append(recordOfPut(1))
  await log.sync()
  assert.ok(fileSystem.size(log.path)! > log.bytes)
  fileSystem.fail({ at: 1, operations: ['truncate'], code: 'EIO' })
  log.trim()
  assert.is(fileSystem.size(log.path), 2 * log.bytes)
  fileSystem.heal()
  log.append(recordOfPut(2))
  log.trim()
  assert.is(fileSystem.size(log.path), log.bytes)
  log.close()
  assert.is(readLog(fileSystem, log.path, 1).length, 2)
})

test('sync() also makes the previous log and the names of both files durable, once', async () => {
  const memory = new MemoryFileSystem()
  const fileSystem = new FaultyFileSystem(memory, { isTraced: true })
  const first = createLog(fileSystem, '/', 1)
  first.append(recordOfPut(1))
  const second = createLog(fileSystem, '/', 2, first)
  second.append(recordOfPut(2))
  await second.sync()
  second.append(recordOfPut(3))
  await second.sync()
  const syncs = fileSystem.trace.filter(({ operation }) => /^sync/.test(operation)).map(({ path }) => path)
  assert.equal(syncs.sort(), ['/', '/', '/000001.wal', '/000002.wal', '/000002.wal'])
  const [crashed] = memory.crashStates()
  assert.ok(crashed !== undefined)
  assert.is(readLog(crashed, '/000001.wal', 1).length, 1)
  assert.is(readLog(crashed, '/000002.wal', 2).length, 2)
})

test('sync() fails if the previous log cannot be synced', async () => {
  const { fileSystem } = faulty()
  const first = createLog(fileSystem, '/', 1)
  first.append(recordOfPut(1))
  const second = createLog(fileSystem, '/', 2, first)
  second.append(recordOfPut(2))
  fileSystem.fail({ at: 1, operations: ['sync'], path: /000001/, code: 'EIO' })
  assert.is(await rejectionCode(second.sync()), 'LEVEL_IO_ERROR')
  assert.is(
    codeOf(() => second.append(recordOfPut(3))),
    'LEVEL_IO_ERROR'
  )
  assert.is(second.syncedOffset, 0)
})

test('sync() ignores a previous log that is closed', async () => {
  const { fileSystem } = faulty()
  const first = createLog(fileSystem, '/', 1)
  first.append(recordOfPut(1))
  const second = createLog(fileSystem, '/', 2, first)
  first.close()
  first.close()
  second.append(recordOfPut(2))
  await second.sync()
  second.close()
  assert.equal(fileSystem.openFiles, [])
})

test.run()
