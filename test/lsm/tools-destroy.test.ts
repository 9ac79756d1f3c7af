import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { LsmLevel, MemoryFileSystem } from '../../src/lsm/index.ts'
import { FaultyFileSystem } from '../support/faulty-file-system.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { flip, namesOf } from './tools-damage.ts'
import { filledStore, location, openLevel, rejection } from './tools-stores.ts'

test('destroy() removes the directory, and a new database can be created in its place', async () => {
  const directory = join(temporaryDirectory(), 'db')
  const db = new LsmLevel(directory)
  await db.put('k', 'v')
  await db.flush()
  await db.close()
  await LsmLevel.destroy(directory)
  assert.not(existsSync(directory))
  const again = new LsmLevel(directory)
  assert.is(await again.get('k'), undefined)
  await again.close()
})

test('destroy() accepts a missing directory and removes an empty one', async () => {
  const directory = temporaryDirectory()
  await LsmLevel.destroy(join(directory, 'none'))
  const empty = join(directory, 'empty')
  mkdirSync(empty)
  await LsmLevel.destroy(empty)
  assert.equal(readdirSync(directory), [])
})

test("destroy() keeps files that are not the store's, and then the directory too", async () => {
  const directory = temporaryDirectory()
  const db = new LsmLevel(directory)
  await db.put('k', 'v')
  await db.close()
  const foreign = ['notes.txt', '12.sst', '000014.sst.bak', 'MANIFEST', 'lost']
  for (const name of foreign) writeFileSync(join(directory, name), 'mine')
  await LsmLevel.destroy(directory)
  assert.equal(readdirSync(directory).sort(), [...foreign].sort())
})

test('destroy() and repair() refuse the directory of another program and leave it unchanged', async () => {
  const directory = temporaryDirectory()
  const cases: Record<string, Record<string, string>> = {
    leveldb: { CURRENT: 'MANIFEST-000004\n', 'MANIFEST-000004': 'x', '000005.log': 'x', LOCK: '' },
    names: { '000005.sst': 'a table of somebody else', '000006.wal': 'a log of somebody else' },
    files: { 'a.txt': 'a', 'b.txt': 'b' }
  }
  for (const [name, files] of Object.entries(cases)) {
    const path = join(directory, name)
    mkdirSync(path)
    for (const [file, text] of Object.entries(files)) writeFileSync(join(path, file), text)
    for (const run of [LsmLevel.destroy(path), LsmLevel.repair(path)]) {
      assert.is((await rejection(run)).code, 'LEVEL_NOT_SUPPORTED', name)
      assert.equal(readdirSync(path).sort(), Object.keys(files).sort(), name)
    }
  }
  writeFileSync(join(directory, 'file'), '')
  assert.is((await rejection(LsmLevel.destroy(join(directory, 'file')))).code, 'LEVEL_NOT_SUPPORTED')
})

test('destroy() of an open database rejects with LEVEL_LOCKED', async () => {
  const directory = temporaryDirectory()
  const db = new LsmLevel(directory)
  await db.put('k', 'v')
  assert.is((await rejection(LsmLevel.destroy(directory))).code, 'LEVEL_LOCKED')
  assert.is(await db.get('k'), 'v')
  await db.close()
})

test('destroy() also removes the files that repair() has put aside', async () => {
  const { fileSystem } = await filledStore()
  const [table = ''] = namesOf(fileSystem, /\.sst$/)
  flip(fileSystem, table, 20)
  await LsmLevel.repair(location, { fileSystem })
  assert.equal(namesOf(fileSystem, /^lost$/), ['lost'])
  await LsmLevel.destroy(location, { fileSystem })
  assert.not(fileSystem.list('/').includes('db'))
})

test('destroy() removes a damaged database', async () => {
  for (const pattern of [/CURRENT/, /MANIFEST/, /\.sst$/, /\.wal$/]) {
    const { fileSystem } = await filledStore()
    for (const name of namesOf(fileSystem, pattern)) flip(fileSystem, name, 3)
    await LsmLevel.destroy(location, { fileSystem })
    assert.not(fileSystem.list('/').includes('db'), String(pattern))
  }
})

test('destroy() can be repeated after a failure at any call', async () => {
  const { fileSystem: original } = await filledStore()
  for (let at = 1; ; at++) {
    const memory = original.snapshot()
    const fileSystem = new FaultyFileSystem(memory)
    fileSystem.fail({ at, isPersistent: true, code: 'EIO', operations: ['remove', 'removeDirectory'] })
    const error = await LsmLevel.destroy(location, { fileSystem }).then(
      () => undefined,
      (failure: { code?: string }) => failure
    )
    const isOver = fileSystem.matches < at
    fileSystem.heal()
    if (error !== undefined) assert.is(error.code, 'LEVEL_IO_ERROR')
    await LsmLevel.destroy(location, { fileSystem })
    assert.not(memory.list('/').includes('db'), `call ${at}`)
    assert.equal(fileSystem.openFiles, [])
    if (isOver) break
  }
})

test('destroy() and repair() require a location; repair() rejects if it does not exist or is locked', async () => {
  for (const run of [() => LsmLevel.destroy(''), () => LsmLevel.repair(undefined as never)]) {
    assert.throws(run, TypeError)
  }
  const fileSystem = new MemoryFileSystem()
  assert.match(String((await rejection(LsmLevel.repair('/none', { fileSystem }))).cause), /does not exist/)
  assert.match(String(await rejection(LsmLevel.repair('/none', { fileSystem }))), /does not exist/)
  const db = await openLevel(fileSystem)
  assert.is((await rejection(LsmLevel.repair(location, { fileSystem }))).code, 'LEVEL_LOCKED')
  await db.close()
})

test.run()
