/** The faulty file system fails the requested calls, and counts and traces them all. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { MemoryFileSystem } from '../../src/lsm/fs/memory-file-system.ts'
import { type Call, FaultyFileSystem } from '../support/faulty-file-system.ts'
import { bytes, get, put, throwsCode } from './file-system-cases.ts'

test('a fault fails the Nth matching call once', () => {
  const fileSystem = new FaultyFileSystem(new MemoryFileSystem())
  fileSystem.fail({ at: 2, operations: ['write'], path: /\.wal$/, code: 'EIO' })
  put(fileSystem, 'a.wal', '1')
  put(fileSystem, 'a.sst', '1')
  throwsCode(() => put(fileSystem, 'b.wal', '2'), 'EIO')
  put(fileSystem, 'c.wal', '3')
  assert.is(get(fileSystem, 'b.wal'), '')
  assert.is(get(fileSystem, 'c.wal'), '3')
  assert.is(fileSystem.matches, 3)
})

test('a persistent fault fails every call from the Nth on, until healed', () => {
  const fileSystem = new FaultyFileSystem(new MemoryFileSystem())
  fileSystem.fail({ at: 3, isPersistent: true, code: 'ENOSPC' })
  fileSystem.list('/')
  fileSystem.list('/')
  for (let i = 0; i < 3; i++) throwsCode(() => fileSystem.list('/'), 'ENOSPC')
  fileSystem.heal()
  fileSystem.list('/')
  assert.is(fileSystem.calls, 6)
})

test('a failing partial write writes the first half', () => {
  const fileSystem = new FaultyFileSystem(new MemoryFileSystem())
  fileSystem.fail({ at: 1, operations: ['write'], code: 'ENOSPC', isPartial: true })
  throwsCode(() => put(fileSystem, 'a', 'abcdef'), 'ENOSPC')
  assert.is(get(fileSystem, 'a'), 'abc')
})

test('openFiles lists open files by path, and a failing close() closes its file', () => {
  const fileSystem = new FaultyFileSystem(new MemoryFileSystem())
  const [a, b] = [fileSystem.open('a', 'create'), fileSystem.open('b', 'create')]
  throwsCode(() => fileSystem.open('none', 'read'), 'ENOENT')
  assert.equal(fileSystem.openFiles, ['a', 'b'])
  fileSystem.fail({ at: 1, operations: ['close'], code: 'EIO' })
  throwsCode(() => a.close(), 'EIO')
  a.close()
  assert.equal(fileSystem.openFiles, ['b'])
  b.close()
  assert.equal(fileSystem.openFiles, [])
})

test('a failed sync loses unsynced bytes for good: a retry succeeds without making them durable', async () => {
  const memory = new MemoryFileSystem()
  const fileSystem = new FaultyFileSystem(memory)
  const file = fileSystem.open('a', 'create')
  await fileSystem.syncDirectory('/')
  file.write(bytes('kept'), 0)
  await file.sync()
  file.write(bytes('lost'), 4)
  fileSystem.fail({ at: 1, operations: ['sync'], code: 'EIO' })
  let failure: unknown
  await file.sync().catch((error: unknown) => {
    failure = error
  })
  assert.is((failure as NodeJS.ErrnoException).code, 'EIO')
  await file.sync()
  assert.is(get(memory, 'a'), 'keptlost')
  for (const state of memory.crashStates()) assert.is(get(state, 'a'), 'kept')
})

test('calls are traced, and hooks run before and after each', async () => {
  const seen: string[] = []
  const note = (when: string) => (call: Call) => void seen.push(`${when} ${call.operation}`)
  const options = { isTraced: true, before: note('before'), after: note('after') }
  const fileSystem = new FaultyFileSystem(new MemoryFileSystem(), options)
  const file = fileSystem.open('a', 'create')
  file.write(bytes('abc'), 5)
  const sync = file.sync()
  assert.equal(seen, ['before open', 'after open', 'before write', 'after write', 'before sync'])
  await sync
  file.close()
  fileSystem.rename('a', 'b')
  assert.is(seen[5], 'after sync')
  assert.equal(fileSystem.trace, [
    { operation: 'open', path: 'a', mode: 'create' },
    { operation: 'write', path: 'a', position: 5, bytes: 3 },
    { operation: 'sync', path: 'a' },
    { operation: 'close', path: 'a' },
    { operation: 'rename', path: 'a', to: 'b' }
  ])
})

test.run()
