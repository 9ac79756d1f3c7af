import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { systemError } from '../../src/lsm/fs/system-error.ts'
import { jsonExtractor, LsmLevel, MemoryFileSystem } from '../../src/lsm/index.ts'
import type { StoreOptions } from '../../src/lsm/options.ts'
import { FaultyFileSystem } from '../support/faulty-file-system.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const codeOf = (error: unknown) => (error as { code?: string }).code
const causeOf = (error: unknown) => (error as { cause: Error & { code?: string } }).cause

function store(fileSystem: FaultyFileSystem, options: StoreOptions = {}) {
  return new LsmLevel<string, string>('/db', { ...options, fileSystem })
}

async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise
  } catch (error) {
    return error
  }
  throw new Error('It did not reject')
}

test('after a failed write of the log, writes are rejected and reads continue until the store is reopened', async () => {
  const fileSystem = new FaultyFileSystem(new MemoryFileSystem())
  const db = store(fileSystem)
  await db.put('kept', 'value')
  fileSystem.fail({ at: 1, code: 'EIO', operations: ['write'], path: /\.wal$/, isPartial: true })
  const errors = await Promise.all([rejection(db.put('lost', 'value')), rejection(db.del('kept'))])
  assert.equal(errors.map(codeOf), ['LEVEL_IO_ERROR', 'LEVEL_IO_ERROR'])
  fileSystem.heal()
  assert.is(codeOf(await rejection(db.put('later', 'value'))), 'LEVEL_IO_ERROR')
  assert.is(codeOf(await rejection(db.flush())), 'LEVEL_IO_ERROR')
  assert.equal(await db.iterator().all(), [['kept', 'value']])
  await db.close()
  assert.equal(fileSystem.openFiles, [])
  const again = store(fileSystem)
  assert.equal(await again.iterator().all(), [['kept', 'value']])
  await again.put('later', 'value')
  await again.close()
})

test('a failed sync of the log is not retried, and later writes are rejected', async () => {
  const fileSystem = new FaultyFileSystem(new MemoryFileSystem())
  const db = store(fileSystem)
  await db.open()
  fileSystem.fail({ at: 1, code: 'EIO', operations: ['sync'], path: /\.wal$/ })
  const waiting = [db.put('a', '1', { sync: true }), db.put('b', '2')]
  await undefined
  waiting.push(db.put('c', '3'))
  assert.equal((await Promise.all(waiting.map(rejection))).map(codeOf), Array(3).fill('LEVEL_IO_ERROR'))
  assert.is(fileSystem.matches, 1)
  assert.equal(await db.keys().all(), [])
  await db.close()
})

test('after a failed write of the manifest, writes are rejected and no file is removed', async () => {
  const fileSystem = new FaultyFileSystem(new MemoryFileSystem())
  const db = store(fileSystem)
  await db.put('k', 'v')
  fileSystem.fail({ at: 1, code: 'EIO', operations: ['write', 'sync'], path: /MANIFEST/ })
  assert.is(codeOf(await rejection(db.flush())), 'LEVEL_IO_ERROR')
  const before = fileSystem.list('/db').filter((name) => name !== 'LOCK')
  assert.is(codeOf(await rejection(db.put('k', 'later'))), 'LEVEL_IO_ERROR')
  assert.is(await db.get('k'), 'v')
  await db.close()
  assert.equal(
    fileSystem.list('/db').filter((name) => name !== 'LOCK'),
    before
  )
  const again = store(fileSystem)
  assert.is(await again.get('k'), 'v')
  await again.close()
})

test('if the process runs out of descriptors when an edit is installed, tables are closed and writing goes on', async () => {
  let descriptors = Number.POSITIVE_INFINITY
  const fileSystem: FaultyFileSystem = new FaultyFileSystem(new MemoryFileSystem(), {
    before: ({ operation, path }) => {
      const isOut = operation === 'syncDirectory' && fileSystem.openFiles.length >= descriptors
      if (isOut) throw systemError('EMFILE', 'open', path)
    }
  })
  const db = store(fileSystem, { autoCompaction: false })
  const keys = Array.from('abcdefghij')
  for (const key of keys) {
    await db.put(key, 'value')
    await db.flush()
    assert.is(await db.get(key), 'value')
  }
  descriptors = fileSystem.openFiles.length
  await db.put('k', 'value')
  await db.flush()
  await db.compactRange('a', 'z')
  assert.equal(await db.keys().all(), [...keys, 'k'])
  // No table can be closed: the flush fails, and succeeds later.
  descriptors = 0
  await db.put('l', 'value')
  assert.is(codeOf(await rejection(db.flush())), 'LEVEL_IO_ERROR')
  descriptors = Number.POSITIVE_INFINITY
  await db.put('m', 'value')
  await db.flush()
  assert.equal(await db.keys().all(), [...keys, 'k', 'l', 'm'])
  await db.close()
  assert.equal(fileSystem.openFiles, [])
})

test('a flush that fails on a full disk is retried and loses nothing', async () => {
  const fileSystem = new FaultyFileSystem(new MemoryFileSystem())
  const db = store(fileSystem)
  await db.open()
  fileSystem.fail({ at: 1, code: 'ENOSPC', operations: ['write'], path: /\.sst$/, isPersistent: true })
  for (let i = 0; i < 20; i++) await db.put(`k${i}`, 'x'.repeat(100))
  assert.is(codeOf(await rejection(db.flush())), 'LEVEL_IO_ERROR')
  assert.is((await db.keys().all()).length, 20)
  assert.equal(
    fileSystem.list('/db').filter((name) => name.endsWith('.sst')),
    []
  )
  fileSystem.heal()
  await db.put('room', 'again')
  await db.flush()
  assert.is(db.stats().lastError, undefined)
  assert.is((await db.keys().all()).length, 21)
  await db.close()
  assert.equal(fileSystem.openFiles, [])
})

test('writes that wait for a flush that keeps failing are rejected', async () => {
  const fileSystem = new FaultyFileSystem(new MemoryFileSystem())
  const db = store(fileSystem, { writeBufferSize: 500 })
  await db.open()
  fileSystem.fail({ at: 1, code: 'ENOSPC', operations: ['write'], path: /\.sst$/, isPersistent: true })
  const writes = Array.from({ length: 100 }, (_, i) => db.put(`k${i}`, 'x'.repeat(400)))
  const outcomes = await Promise.allSettled(writes)
  const kept = outcomes.filter(({ status }) => status === 'fulfilled').length
  assert.ok(kept < 100, 'some were rejected')
  for (const outcome of outcomes) if (outcome.status === 'rejected') assert.is(codeOf(outcome.reason), 'LEVEL_IO_ERROR')
  await db.close()
  fileSystem.heal()
  const again = store(fileSystem)
  assert.ok((await again.keys().all()).length >= kept)
  await again.close()
})

test('writes continue once the disk has room again, however often the flush has failed', async () => {
  const fileSystem = new FaultyFileSystem(new MemoryFileSystem())
  const db = store(fileSystem, { writeBufferSize: 1000 })
  await db.open()
  fileSystem.fail({ at: 1, code: 'ENOSPC', operations: ['write'], path: /\.sst$/, isPersistent: true })
  let written = 0
  while (db.stats().memtables.pending < 2) await db.put(`k${written++}`, 'x'.repeat(100))
  while (db.stats().writes.failedJobs < 6) await new Promise((resolve) => setTimeout(resolve, 20))
  fileSystem.heal()
  for (let i = 0; i < 50; i++) await db.put(`k${written++}`, 'x'.repeat(100))
  await db.flush()
  assert.is((await db.keys().all()).length, written)
  assert.is(db.stats().lastError, undefined)
  await db.close()
})

test('a failed open() releases the lock and closes all files', async () => {
  const fileSystem = new FaultyFileSystem(new MemoryFileSystem())
  const db = store(fileSystem)
  await db.put('k', 'v')
  await db.close()
  for (let at = 1; ; at++) {
    fileSystem.fail({ at, code: 'EIO', operations: ['open', 'read', 'write', 'sync', 'syncDirectory', 'rename'] })
    const again = store(fileSystem)
    const error = await again.open().then(
      () => undefined,
      (failure: unknown) => failure
    )
    const isOver = fileSystem.matches < at
    fileSystem.heal()
    if (error !== undefined) assert.match(String(codeOf(causeOf(error))), /^LEVEL_(IO_ERROR|CORRUPTION)$/)
    else await again.close()
    assert.equal(fileSystem.openFiles, [], `call ${at}`)
    const checked = store(fileSystem)
    assert.is(await checked.get('k'), 'v', `call ${at}`)
    await checked.close()
    if (isOver) break
  }
})

test('open() rejects if createIfMissing or errorIfExists forbid it', async () => {
  const location = join(temporaryDirectory(), 'deep', 'down')
  const missing = await rejection(new LsmLevel(location, { createIfMissing: false }).open())
  assert.is(codeOf(missing), 'LEVEL_DATABASE_NOT_OPEN')
  assert.match(causeOf(missing).message, /does not exist/)
  const db = new LsmLevel(location)
  await db.open()
  await db.close()
  const existing = await rejection(new LsmLevel(location, { errorIfExists: true }).open())
  assert.match(causeOf(existing).message, /exists/)
})

test('open() of a directory that another instance has open rejects with LEVEL_LOCKED', async () => {
  const location = temporaryDirectory()
  const db = new LsmLevel(location)
  await db.open()
  const error = await rejection(new LsmLevel(location).open())
  assert.is(causeOf(error).code, 'LEVEL_LOCKED')
  await db.close()
  const again = new LsmLevel(location)
  await again.open()
  await again.close()
})

test('open() rejects the directory of another engine and leaves it unchanged', async () => {
  const location = temporaryDirectory()
  mkdirSync(location, { recursive: true })
  writeFileSync(join(location, 'CURRENT'), 'MANIFEST-000004\n')
  writeFileSync(join(location, 'LOCK'), '')
  const error = await rejection(new LsmLevel(location).open())
  assert.is(causeOf(error).code, 'LEVEL_NOT_SUPPORTED')
  assert.equal(readdirSync(location).sort(), ['CURRENT', 'LOCK'])
  assert.is(readFileSync(join(location, 'LOCK'), 'utf8'), '')
})

test('open() rejects invalid and unsupported options', async () => {
  const extractor = jsonExtractor({ fields: ['lang'] })
  const options: StoreOptions[] = [
    { writeBufferSize: 0 },
    { blockSize: 1.5 },
    { keyFilterBits: Number.NaN },
    { values: { extractor, filterBits: 2 ** 30 + 1 } },
    { values: { extractor, filterHashes: 2 ** 32 } }
  ]
  for (const option of options) {
    const error = await rejection(new LsmLevel('/db', { ...option, fileSystem: new MemoryFileSystem() }).open())
    assert.instance(causeOf(error), TypeError)
  }
  const threads = await rejection(new LsmLevel('/db', { multithreading: true }).open())
  assert.is(causeOf(threads).code, 'LEVEL_NOT_SUPPORTED')
})

test.run()
