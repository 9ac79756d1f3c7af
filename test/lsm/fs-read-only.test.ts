/** Stores opened read-only: whatever state they are in, on full or read-only disks, and while others hold the lock. */
import { mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { FileSystem } from '../../src/lsm/fs/file-system.ts'
import { acquireLock } from '../../src/lsm/fs/lock.ts'
import { nodeFileSystem } from '../../src/lsm/fs/node-file-system.ts'
import { openReadOnly, outOfSpaceCode } from '../../src/lsm/fs/read-only.ts'
import { type SystemErrorCode, systemError } from '../../src/lsm/fs/system-error.ts'
import { LsmLevel } from '../../src/lsm/index.ts'
import { type Call, changingOperations, FaultyFileSystem } from '../support/faulty-file-system.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { smallOptions } from './tools-content.ts'
import { filledStore, fillLevel, leftStore, location, openLevel, rejection } from './tools-stores.ts'

const options = { ...smallOptions, autoCompaction: false }

/** Records the calls that change something, and fails them from the `first` on. */
class Watched extends FaultyFileSystem {
  readonly changes: Call[] = []

  constructor(inner: FileSystem, code?: SystemErrorCode, first = 1) {
    let count = 0
    super(inner, {
      before: (call) => {
        const isChange = (changingOperations as readonly string[]).includes(call.operation) && call.mode !== 'read'
        if (!isChange) return
        this.changes.push(call)
        if (code !== undefined && ++count >= first) throw systemError(code, call.operation, call.path)
      }
    })
  }
}

/** Every file's name and bytes. */
function bytesOf(fileSystem: FileSystem): Map<string, string> {
  const names = fileSystem.list(location).sort()
  return new Map(
    names.map((name) => {
      const file = fileSystem.open(`${location}/${name}`, 'read')
      const bytes = Buffer.alloc(file.size())
      file.read(bytes, 0)
      file.close()
      return [name, bytes.toString('latin1')]
    })
  )
}

async function readThrough(below: FileSystem, content: Map<string, string>): Promise<void> {
  const directory = await openReadOnly(below, location)
  const db = await openLevel(directory.fileSystem, options)
  directory.onOpen()
  assert.equal(new Map(await db.iterator().all()), content)
  assert.equal((await db.verify()).problems, [])
  await db.close()
  directory.release()
}

test('a read-only open changes nothing, whatever state the store was left in', async () => {
  const { left, content } = await leftStore()
  const { fileSystem: closed, content: filled } = await filledStore()
  const cases: readonly (readonly [FileSystem, Map<string, string>])[] = [
    [left, content],
    [closed, filled]
  ]
  for (const [fileSystem, expected] of cases) {
    const before = bytesOf(fileSystem)
    const below = new Watched(fileSystem)
    await readThrough(below, expected)
    assert.equal(below.changes, [])
    assert.equal(bytesOf(fileSystem), before)
    assert.equal(below.openFiles, [])
  }
})

test('opening for writing on a full disk rejects with an error that noRoomCode() recognises', async () => {
  const { left } = await leftStore()
  assert.is(outOfSpaceCode(await rejection(openLevel(new Watched(left, 'ENOSPC')))), 'ENOSPC')
  assert.is(outOfSpaceCode(new Error('no such code', { cause: systemError('EIO', 'write', 'file') })), undefined)
  assert.is(outOfSpaceCode('nothing'), undefined)
})

test('whichever call fails, openReadOnly() rejects with LEVEL_IO_ERROR and leaves no file open', async () => {
  const { left } = await leftStore()
  const counted = new FaultyFileSystem(left)
  ;(await openReadOnly(counted, location)).release()
  const calls = counted.calls
  assert.ok(calls > 20, `${calls}`)
  for (let at = 1; at <= calls; at++) {
    const below = new FaultyFileSystem(left, { isTraced: true })
    below.fail({ at, code: 'EIO' })
    const outcome = await openReadOnly(below, location).then(
      (directory) => directory.release(),
      (error: { code?: string }) => error.code
    )
    // A file that cannot be closed has been read all the same.
    assert.ok(outcome === 'LEVEL_IO_ERROR' || below.trace.at(at - 1)?.operation === 'close', `call ${at}: ${outcome}`)
    assert.equal(below.openFiles, [], `call ${at}`)
  }
})

test('what has the name of a manifest or a table, but is none, is ignored; in the place of a log it is an error', async () => {
  const { left, content } = await leftStore()
  for (const name of ['MANIFEST-000099', '900000.sst', '900000.vf']) left.makeDirectory(`${location}/${name}`)
  await readThrough(left, content)
  left.makeDirectory(`${location}/900000.wal`)
  const error = await rejection(openReadOnly(left, location))
  assert.is(error.code, 'LEVEL_IO_ERROR')
  assert.match(error.message, `${location}/900000.wal`)
})

test('on disk, a directory or a link that leads nowhere with the name of a manifest or a table is ignored', async () => {
  const path = join(temporaryDirectory(), 'db')
  const written = new LsmLevel<string, string>(path, options)
  const content = await fillLevel(written)
  await written.close()
  const foreign = ['MANIFEST-000099', '900000.sst', '900000.vf']
  const puts = [mkdirSync, (name: string) => symlinkSync('nowhere', name)]
  for (const put of puts) {
    for (const name of foreign) put(join(path, name))
    const directory = await openReadOnly(nodeFileSystem, path)
    const db = new LsmLevel<string, string>(path, { ...options, fileSystem: directory.fileSystem })
    assert.equal(new Map(await db.iterator().all()), content)
    await db.close()
    directory.release()
    for (const name of foreign) rmSync(join(path, name), { recursive: true })
  }
})

test('readers need no lock and take none', async () => {
  const { left, content } = await leftStore()
  const held = acquireLock(left, location)
  await readThrough(left, content)
  const directory = await openReadOnly(left, location)
  await readThrough(left, content)
  held.release()
  left.open(`${location}/LOCK`, 'create').write(Buffer.from("another engine's"), 0)
  await readThrough(left, content)
  left.remove(`${location}/LOCK`)
  acquireLock(left, location).release()
  directory.release()
  directory.release()
})

test('a backup of a read-only store links the tables that are on the disk', async () => {
  const { left, content } = await leftStore()
  const before = bytesOf(left)
  const directory = await openReadOnly(left, location)
  const db = await openLevel(directory.fileSystem, options)
  const { bytes, linkedBytes } = await db.backup('/copy')
  assert.ok(linkedBytes > 0 && linkedBytes < bytes, `${linkedBytes} of ${bytes}: not what was in the log`)
  await db.close()
  directory.release()
  assert.equal(bytesOf(left), before)
  const copy = left.list('/copy')
  assert.ok(copy.length > 0)
  const reopened = new LsmLevel<string, string>('/copy', { ...smallOptions, fileSystem: left, createIfMissing: false })
  assert.equal(new Map(await reopened.iterator().all()), content)
  assert.equal((await reopened.verify()).problems, [])
  await reopened.close()
})

test.run()
