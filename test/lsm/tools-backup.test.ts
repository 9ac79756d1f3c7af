import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { FileSystem } from '../../src/lsm/fs/file-system.ts'
import { systemError } from '../../src/lsm/fs/system-error.ts'
import { LsmLevel, MemoryFileSystem, type StoreOptions } from '../../src/lsm/index.ts'
import { FaultyFileSystem } from '../support/faulty-file-system.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { smallOptions } from './tools-content.ts'
import { filledStore, fillLevel, openLevel, rejection } from './tools-stores.ts'

const target = '/copies/copy'

async function readBack(fileSystem: FileSystem, path = target, options: StoreOptions = smallOptions) {
  const copy = new LsmLevel<string, string>(path, { ...options, fileSystem, createIfMissing: false })
  try {
    assert.equal((await copy.verify()).problems, [])
    return new Map(await copy.iterator().all())
  } finally {
    await copy.close()
  }
}

test('a backup has the content at the call of backup(), and nothing that is written meanwhile', async () => {
  const fileSystem = new MemoryFileSystem()
  const db = await openLevel(fileSystem)
  const content = await fillLevel(db)
  const backup = db.backup(target)
  for (let i = 0; i < 300; i++) await db.put(`later ${i}`, 'x'.repeat(1000))
  await db.del([...content.keys()][0] ?? '')
  await db.flush()
  const { bytes, linkedBytes } = await backup
  assert.ok(linkedBytes > 0 && linkedBytes < bytes, 'tables are linked, what was in memory is written')
  await db.close()
  assert.equal(await readBack(fileSystem), content)
})

test('changes of the original do not affect the backup, nor the other way round', async () => {
  const { fileSystem, content } = await filledStore()
  const db = await openLevel(fileSystem)
  await db.backup(target)
  await db.clear()
  await db.compactRange('', '\xff')
  await db.close()
  const copy = new LsmLevel<string, string>(target, { ...smallOptions, fileSystem })
  await copy.put('new', 'x')
  await copy.compactRange('', '\xff')
  await copy.close()
  assert.equal(await readBack(fileSystem), new Map([...content, ['new', 'x']]))
  const again = await openLevel(fileSystem)
  assert.equal(await again.iterator().all(), [])
  await again.close()
})

test('an empty store, and one without tables, can be backed up and remain writable', async () => {
  const fileSystem = new MemoryFileSystem()
  const db = await openLevel(fileSystem)
  await db.backup('/empty')
  await db.put('k', 'v')
  await db.backup('/one')
  await db.close()
  assert.is((await readBack(fileSystem, '/empty')).size, 0)
  assert.equal(await readBack(fileSystem, '/one'), new Map([['k', 'v']]))
})

test('tables are copied where hard links fail', async () => {
  const { fileSystem: inner, content } = await filledStore()
  const fileSystem = new FaultyFileSystem(inner, {
    before: ({ operation, to = '' }) => {
      if (operation === 'link' && to.startsWith(target)) throw systemError('EXDEV', 'link', to)
    }
  })
  const db = await openLevel(fileSystem)
  const { linkedBytes, bytes } = await db.backup(target)
  assert.is(linkedBytes, 0)
  assert.ok(bytes > 0)
  await db.close()
  assert.equal(fileSystem.openFiles, [])
  assert.equal(await readBack(inner), content)
})

test('on a full disk, whichever call fails, backup() leaves nothing at the target and the store unchanged', async () => {
  const { fileSystem: inner, content } = await filledStore()
  let calls = Number.POSITIVE_INFINITY
  for (let at = 1; at <= calls; at++) {
    const fileSystem = new FaultyFileSystem(inner.snapshot())
    const db = await openLevel(fileSystem)
    await db.put('in memory', 'x')
    fileSystem.fail({
      at,
      code: 'ENOSPC',
      operations: ['open', 'write', 'sync', 'rename', 'makeDirectory', 'link', 'syncDirectory'],
      path: /copies/
    })
    const backup = await db.backup(target).then(
      () => undefined,
      (error: Error & { code?: string }) => error
    )
    if (fileSystem.matches < at) calls = 0
    else {
      assert.is(backup?.code, 'LEVEL_IO_ERROR', `call ${at}: ${backup}`)
      assert.equal(directoryOf(fileSystem, '/copies'), [], `call ${at}`)
    }
    fileSystem.heal()
    assert.is((await db.iterator().all()).length, content.size + 1)
    await db.close()
    assert.equal(fileSystem.openFiles, [])
  }
})

test('if the directory of the store cannot be read, backup() and verify() reject with LEVEL_IO_ERROR', async () => {
  const { fileSystem: inner } = await filledStore()
  for (const call of [(db: LsmLevel) => db.backup(target), (db: LsmLevel) => db.verify()]) {
    const fileSystem = new FaultyFileSystem(inner.snapshot())
    const db = await openLevel(fileSystem)
    fileSystem.fail({ at: 1, code: 'EIO', operations: ['list'] })
    assert.is((await rejection(call(db))).code, 'LEVEL_IO_ERROR')
    fileSystem.heal()
    await call(db)
    await db.close()
  }
})

test('a crash at any moment leaves a complete backup or none, and the next backup removes the remains', async () => {
  const { fileSystem: inner, content } = await filledStore()
  const states: MemoryFileSystem[] = []
  const fileSystem = new FaultyFileSystem(inner, {
    after: ({ path, to = '' }) => {
      if (!`${path}${to}`.includes('copies')) return
      let taken = 0
      for (const state of inner.crashStates()) if (taken++ < 3) states.push(state)
    }
  })
  const db = await openLevel(fileSystem)
  await db.backup(target)
  await db.close()
  assert.ok(states.length > 20)
  let whole = 0
  for (const state of states) {
    const names = directoryOf(state, '/copies')
    if (names.includes('copy')) {
      whole++
      assert.equal(await readBack(state), content, state.origin)
      continue
    }
    const again = await openLevel(state)
    await again.backup(target)
    await again.close()
    assert.equal(state.list('/copies'), ['copy'], state.origin)
  }
  assert.ok(whole > 0)
})

function directoryOf(fileSystem: FileSystem, path: string): string[] {
  try {
    return fileSystem.list(path)
  } catch {
    return []
  }
}

test('backup() refuses an existing target, except an empty directory', async () => {
  const directory = temporaryDirectory()
  const db = new LsmLevel(join(directory, 'db'))
  await db.put('k', 'v')
  mkdirSync(join(directory, 'full'))
  writeFileSync(join(directory, 'full', 'mine'), '')
  writeFileSync(join(directory, 'file'), 'mine')
  mkdirSync(join(directory, 'empty'))
  for (const name of ['full', 'file', 'db']) {
    const error = await rejection(db.backup(join(directory, name)))
    assert.is(error.code, 'LEVEL_IO_ERROR')
    assert.is((error.cause as NodeJS.ErrnoException).code, 'EEXIST')
  }
  await db.backup(join(directory, 'empty'))
  await db.close()
  assert.equal(readdirSync(directory).sort(), ['db', 'empty', 'file', 'full'])
  const copy = new LsmLevel(join(directory, 'empty'))
  assert.is(await copy.get('k'), 'v')
  await copy.close()
})

test('an abort signal or close() ends a backup, and nothing is left of it', async () => {
  const directory = temporaryDirectory()
  const db = new LsmLevel(join(directory, 'db'), smallOptions)
  await fillLevel(db as never)
  const ending = new AbortController()
  const aborted = db.backup(join(directory, 'copy'), { signal: ending.signal, onProgress: () => ending.abort() })
  assert.is((await rejection(aborted)).code, 'LEVEL_ABORTED')
  const closed = rejection(db.backup(join(directory, 'copy')))
  await db.close()
  assert.ok(['LEVEL_ABORTED', 'LEVEL_DATABASE_NOT_OPEN'].includes((await closed).code ?? ''))
  assert.equal(readdirSync(directory), ['db'])
})

test('the tables of a backup are hard links', async () => {
  const directory = temporaryDirectory()
  // A merge after the backup would remove the original names of shared tables.
  const db = new LsmLevel(join(directory, 'db'), { ...smallOptions, autoCompaction: false })
  await fillLevel(db as never)
  await db.flush()
  await db.backup(join(directory, 'copy'))
  await db.close()
  const tables = readdirSync(join(directory, 'copy')).filter((name) => name.endsWith('.sst'))
  assert.ok(tables.length > 0)
  for (const name of tables) assert.ok(statSync(join(directory, 'copy', name)).nlink === 2, name)
})

test('a backup removes partial backups of killed processes, but not those of running ones', async () => {
  const directory = temporaryDirectory()
  const db = new LsmLevel(join(directory, 'db'))
  await db.put('k', 'v')
  const script = 'console.log("ready"); setInterval(() => {}, 1000)'
  const child = spawn(process.execPath, ['-e', script])
  await new Promise((resolve) => child.stdout.once('data', resolve))
  const partial = join(directory, `copy.${child.pid}-00c0ffee.partial`)
  mkdirSync(join(partial, 'within'), { recursive: true })
  writeFileSync(join(partial, 'within', '000001.sst'), '')
  await db.backup(join(directory, 'copy'))
  assert.ok(existsSync(partial))
  const exited = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGKILL')
  await exited
  await rejection(db.backup(join(directory, 'copy')))
  await LsmLevel.destroy(join(directory, 'copy'))
  await db.backup(join(directory, 'copy'))
  await db.close()
  assert.equal(readdirSync(directory).sort(), ['copy', 'db'])
})

test.run()
