import { cpSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ClassicLevel } from 'classic-level'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { MemoryFileSystem } from '../../src/lsm/fs/memory-file-system.ts'
import { nodeFileSystem } from '../../src/lsm/fs/node-file-system.ts'
import { readCurrent, writeCurrent } from '../../src/lsm/version/current-file.ts'
import { VersionSet } from '../../src/lsm/version/version-set.ts'
import { FaultyFileSystem } from '../support/faulty-file-system.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { codeOf, readFile, rejectionCode, writeFile } from './log-helpers.ts'

function contents(directory: string): Record<string, string> {
  return Object.fromEntries(readdirSync(directory).map((name) => [name, readFileSync(join(directory, name), 'hex')]))
}

test('CURRENT contains a magic number, the name of the manifest and a checksum', async () => {
  const fileSystem = new MemoryFileSystem()
  assert.is(readCurrent(fileSystem, '/'), undefined)
  await writeCurrent(fileSystem, '/', 12)
  assert.is(readFile(fileSystem, '/CURRENT').toString(), 'petaldb-lsm 1\nMANIFEST-000012\nc41dfc37\n')
  assert.is(readCurrent(fileSystem, '/'), 12)
  assert.equal(fileSystem.list('/'), ['CURRENT'])
})

test('a truncated CURRENT, or one with a flipped bit, is corruption', async () => {
  const fileSystem = new MemoryFileSystem()
  await writeCurrent(fileSystem, '/', 12)
  const bytes = readFile(fileSystem, '/CURRENT')
  for (let at = 0; at < bytes.length; at++) {
    writeFile(fileSystem, '/CURRENT', bytes.subarray(0, at))
    assert.is(
      codeOf(() => readCurrent(fileSystem, '/')),
      'LEVEL_CORRUPTION',
      `${at} bytes`
    )
    for (let bit = 1; bit < 256; bit *= 2) {
      const copy = Buffer.from(bytes)
      copy[at]! ^= bit
      writeFile(fileSystem, '/CURRENT', copy)
      assert.is(
        codeOf(() => readCurrent(fileSystem, '/')),
        'LEVEL_CORRUPTION',
        `bit ${bit} of byte ${at}`
      )
    }
  }
})

test('after a crash during writeCurrent(), CURRENT names the old manifest or the new one', async () => {
  const fileSystem = new MemoryFileSystem()
  await writeCurrent(fileSystem, '/', 1)
  const seen = new Set<number | undefined>()
  const look = () => {
    for (const crashed of fileSystem.crashStates()) seen.add(readCurrent(crashed, '/'))
  }
  await writeCurrent(new FaultyFileSystem(fileSystem, { before: look, after: look }), '/', 2)
  assert.equal([...seen].sort(), [1, 2])
  for (const crashed of fileSystem.crashStates()) assert.is(readCurrent(crashed, '/'), 2)
})

test('a directory of LevelDB is recognised and left unchanged', async () => {
  const directory = temporaryDirectory()
  const level = new ClassicLevel(directory)
  await level.put('a', '1')
  await level.close()
  const before = contents(directory)
  const failed = await rejectionCode(VersionSet.recover(nodeFileSystem, directory))
  assert.is(failed, 'LEVEL_NOT_SUPPORTED')
  assert.throws(() => readCurrent(nodeFileSystem, directory), /LevelDB/)
  assert.equal(contents(directory), before)
})

test("LevelDB refuses the store's directory and changes none of its files", async () => {
  const directory = temporaryDirectory()
  const versions = await VersionSet.create(nodeFileSystem, directory)
  await versions.close()
  const copy = join(temporaryDirectory(), 'copy')
  cpSync(directory, copy, { recursive: true })
  const level = new ClassicLevel(copy)
  assert.ok((await rejectionCode(level.open())) !== undefined)
  const [before, after] = [contents(directory), contents(copy)]
  for (const name of Object.keys(before)) assert.is(after[name], before[name], name)
})

test('a newer format of CURRENT is reported as not supported', async () => {
  const fileSystem = new MemoryFileSystem()
  // In every format the checksum is of the two lines before it.
  writeFile(fileSystem, '/CURRENT', Buffer.from('petaldb-lsm 2\nMANIFEST-000012\n2e9b2155\n'))
  assert.is(
    codeOf(() => readCurrent(fileSystem, '/')),
    'LEVEL_NOT_SUPPORTED'
  )
})

test.run()
