import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { LogReader } from '../../src/lsm/format/log-reader.ts'
import { LsmLevel, MemoryFileSystem } from '../../src/lsm/index.ts'
import { FaultyFileSystem } from '../support/faulty-file-system.ts'
import { loader, program } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

test('a process with hundreds of open databases exits by itself', async () => {
  const child = spawn(process.execPath, [...loader, program('test/lsm/idle-process.ts')], {
    env: { ...process.env, LOCATION: temporaryDirectory() },
    timeout: 120_000
  })
  let output = ''
  child.stdout.on('data', (part) => {
    output += part
  })
  child.stderr.on('data', (part) => {
    output += part
  })
  const status = await new Promise((resolve) => child.on('close', resolve))
  assert.is(status, 0, output)
  assert.match(output, /508 are open/)
})

test('an idle database has only its log and its manifest open', async () => {
  const fileSystem = new FaultyFileSystem(new MemoryFileSystem())
  const db = new LsmLevel<string, string>('/db', { fileSystem })
  await db.put('k', 'v')
  assert.equal(fileSystem.openFiles.map((path) => path.replace(/\d+/, 'N')).sort(), ['/db/MANIFEST-N', '/db/N.wal'])
  await db.close()
  assert.equal(fileSystem.openFiles, [])
})

test('the logs of a closed database end with their last record, even in recycled files', async () => {
  const fileSystem = new FaultyFileSystem(new MemoryFileSystem(), { isTraced: true })
  const db = new LsmLevel<string, string>('/db', { fileSystem, writeBufferSize: 20_000 })
  for (let k = 0; k < 300; k++) await db.put(`k${k}`, 'v'.repeat(1000))
  await db.put('last', 'v', { sync: true })
  await db.close()
  assert.ok(
    fileSystem.trace.some(({ operation, path }) => operation === 'rename' && path.endsWith('.wal')),
    'recycled'
  )
  const logs = fileSystem.list('/db').filter((name) => name.endsWith('.wal'))
  assert.ok(logs.length > 0)
  for (const name of logs) {
    const file = fileSystem.open(`/db/${name}`, 'read')
    const reader = new LogReader(file, Number.parseInt(name, 10))
    assert.ok([...reader.records()].length > 0, name)
    assert.is(reader.end, reader.fileBytes, name)
    file.close()
  }
})

test('closing and reopening a database leaks no descriptors', async () => {
  const location = temporaryDirectory()
  const options = { writeBufferSize: 5000, maxFileSize: 5000, level0CompactionTrigger: 2, maxOpenFiles: 3 }
  const round = async (i: number) => {
    const db = new LsmLevel<string, string>(location, options)
    for (let k = 0; k < 200; k++) await db.put(`k${k}`, `${i}`.padEnd(100))
    const iterator = db.iterator()
    await iterator.next()
    await db.compactRange('', '~')
    await db.getMany(['k1', 'k50', 'k199'])
    await db.close()
  }
  await round(0)
  const before = descriptors()
  for (let i = 1; i < 6; i++) await round(i)
  assert.is(descriptors(), before)
})

test('obsolete tables, manifests and logs are removed', async () => {
  const fileSystem = new MemoryFileSystem()
  const db = new LsmLevel<string, string>('/db', { fileSystem, writeBufferSize: 2000, maxFileSize: 2000 })
  for (let i = 0; i < 300; i++) await db.put(`k${i % 50}`, 'x'.repeat(100))
  await db.compactRange('', '~')
  const tables = db.stats().levels.reduce((sum, level) => sum + level.tables, 0)
  await db.close()
  const names = fileSystem.list('/db')
  assert.is(names.filter((name) => name.endsWith('.sst')).length, tables)
  assert.is(names.filter((name) => name.startsWith('MANIFEST')).length, 1)
  assert.is(names.filter((name) => name.endsWith('.wal')).length, 1)
  assert.not.ok(names.includes('LOCK'))
})

/** Number of open descriptors on Linux; 0 elsewhere. */
function descriptors(): number {
  return process.platform === 'linux' ? readdirSync('/proc/self/fd').length : 0
}

test.run()
