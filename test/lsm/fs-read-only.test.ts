/** Stores opened read-only: on full or read-only disks, and while others hold or want the lock. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Call, changingOperations, FaultyFileSystem } from '../../src/lsm/fs/faulty-file-system.ts'
import type { FileSystem } from '../../src/lsm/fs/file-system.ts'
import { acquireLock } from '../../src/lsm/fs/lock.ts'
import { openReadOnly, outOfSpaceCode } from '../../src/lsm/fs/read-only.ts'
import { type SystemErrorCode, systemError } from '../../src/lsm/fs/system-error.ts'
import { smallOptions } from './tools-content.ts'
import { leftStore, location, openLevel, rejection } from './tools-stores.ts'

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

function withoutLock(files: Map<string, string>): Map<string, string> {
  files.delete('LOCK')
  return files
}

async function readThrough(below: FileSystem, content: Map<string, string>): Promise<void> {
  const directory = openReadOnly(below, location)
  const db = await openLevel(directory.fileSystem, options)
  assert.equal(new Map(await db.iterator().all()), content)
  assert.equal((await db.verify()).problems, [])
  await db.close()
  directory.release()
}

test('a read-only open changes no file but LOCK', async () => {
  const { left, content } = await leftStore()
  const before = withoutLock(bytesOf(left))
  const below = new Watched(left)
  await readThrough(below, content)
  const others = below.changes.filter(
    ({ path, to = path }) => !/LOCK|lock/.test(`${path}${to}`) && !/\.tmp$/.test(path)
  )
  assert.equal(
    others.filter(({ operation }) => operation !== 'write' && operation !== 'sync'),
    []
  )
  assert.equal(bytesOf(left), before)
  assert.equal(below.openFiles, [])
})

for (const code of ['ENOSPC', 'EROFS', 'EPERM'] as const) {
  test(`with ${code} from any changing call on, a store opens read-only and has its content`, async () => {
    const { left, content } = await leftStore()
    const before = withoutLock(bytesOf(left))
    const changes = new Watched(left.snapshot())
    await readThrough(changes, content)
    assert.ok(changes.changes.length >= 4, `${changes.changes.length}`)
    for (let first = 1; first <= changes.changes.length; first++) {
      const fileSystem = left.snapshot()
      const below = new Watched(fileSystem, code, first)
      await readThrough(below, content)
      // It opens again, whether or not it was closed cleanly.
      await readThrough(below, content)
      const after = withoutLock(bytesOf(fileSystem))
      for (const name of after.keys()) if (/lock|tmp/i.test(name)) after.delete(name)
      assert.equal(after, before, `failing from change ${first}`)
      assert.equal(below.openFiles, [])
    }
  })
}

test('opening for writing on a full disk rejects with an error that noRoomCode() recognises', async () => {
  const { left } = await leftStore()
  assert.is(outOfSpaceCode(await rejection(openLevel(new Watched(left, 'ENOSPC')))), 'ENOSPC')
  assert.is(outOfSpaceCode(new Error('no such code', { cause: systemError('EIO', 'write', 'file') })), undefined)
  assert.is(outOfSpaceCode('nothing'), undefined)
})

test('openReadOnly() throws errors other than lack of space or permission', async () => {
  const { left } = await leftStore()
  assert.throws(() => openReadOnly(new Watched(left, 'EIO'), location), /Cannot lock \/db: EIO/)
})

test('openReadOnly() respects a held lock, whether or not it could write one itself', async () => {
  const { left } = await leftStore()
  left
    .open(`${location}/LOCK`, 'create')
    .write(Buffer.from(JSON.stringify({ pid: process.ppid, nonce: 'f'.repeat(32) })), 0)
  assert.throws(() => openReadOnly(left, location), /locked by process/)
  assert.throws(() => openReadOnly(new Watched(left, 'ENOSPC'), location), /locked by process/)
  left.open(`${location}/LOCK`, 'create').write(Buffer.from("another engine's"), 0)
  assert.throws(() => openReadOnly(new Watched(left, 'EROFS'), location), /locked by an unknown owner/)
})

test('a directory that is open read-only stays locked until it is released', async () => {
  const { left } = await leftStore()
  const directory = openReadOnly(left, location)
  assert.throws(() => openReadOnly(left, location), /locked by this process/)
  assert.throws(() => acquireLock(left, location), /locked by this process/)
  directory.release()
  directory.release()
  acquireLock(left, location).release()
})

test('a backup of a read-only store links the tables that are on the disk', async () => {
  const { left, content } = await leftStore()
  const before = withoutLock(bytesOf(left))
  const directory = openReadOnly(left, location)
  const db = await openLevel(directory.fileSystem, options)
  const { bytes, linkedBytes } = await db.backup('/copy')
  assert.ok(linkedBytes > 0 && linkedBytes < bytes, `${linkedBytes} of ${bytes}: not what was in the log`)
  await db.close()
  directory.release()
  assert.equal(bytesOf(left), before)
  const copy = left.list('/copy')
  assert.ok(copy.length > 0)
  const { LsmLevel } = await import('../../src/lsm/index.ts')
  const reopened = new LsmLevel<string, string>('/copy', { ...smallOptions, fileSystem: left, createIfMissing: false })
  assert.equal(new Map(await reopened.iterator().all()), content)
  assert.equal((await reopened.verify()).problems, [])
  await reopened.close()
})

test.run()
