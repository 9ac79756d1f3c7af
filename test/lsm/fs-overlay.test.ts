import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { FileSystem } from '../../src/lsm/fs/file-system.ts'
import { OverlayFileSystem } from '../../src/lsm/fs/overlay-file-system.ts'
import { systemError } from '../../src/lsm/fs/system-error.ts'
import { LsmLevel, MemoryFileSystem } from '../../src/lsm/index.ts'
import { type Call, changingOperations, FaultyFileSystem } from '../support/faulty-file-system.ts'
import { smallOptions } from './tools-content.ts'
import { fillLevel, leftStore, location, openLevel, rejection } from './tools-stores.ts'

/** A read-only store directory: only files elsewhere can be changed. */
function readOnly(inner: FileSystem): FaultyFileSystem {
  return new FaultyFileSystem(inner, {
    before: ({ operation, path, mode, to = '' }: Call) => {
      const isChange = (changingOperations as readonly string[]).includes(operation) && mode !== 'read'
      if (isChange && `${path}${to}`.includes(location)) throw systemError('EROFS', operation, path)
    }
  })
}

const options = { ...smallOptions, autoCompaction: false }

test('through an overlay, a store in a read-only directory opens and reads, and its files do not change', async () => {
  const { left, content } = await leftStore()
  const before = left.list(location).map((name) => [name, left.size(`${location}/${name}`)])
  const below = readOnly(left)
  assert.match(String((await rejection(openLevel(below))).cause), /EROFS/)
  for (let round = 0; round < 2; round++) {
    const db = await openLevel(new OverlayFileSystem(below, location), options)
    assert.equal(new Map(await db.iterator().all()), content)
    assert.equal((await db.verify()).problems, [])
    // Its writes last until it is closed.
    await db.put('new', 'x')
    await db.flush()
    assert.is(await db.get('new'), 'x')
    await db.close()
  }
  assert.equal(below.openFiles, [])
  assert.equal(
    left.list(location).map((name) => [name, left.size(`${location}/${name}`)]),
    before
  )
})

test('a backup through an overlay copies all files', async () => {
  const { left, content } = await leftStore()
  const db = await openLevel(new OverlayFileSystem(readOnly(left), location), options)
  assert.is((await db.backup('/copy')).linkedBytes, 0)
  await db.close()
  const copy = new LsmLevel<string, string>('/copy', { ...smallOptions, fileSystem: left, createIfMissing: false })
  assert.equal(new Map(await copy.iterator().all()), content)
  assert.equal((await copy.verify()).problems, [])
  await copy.close()
})

test('without autoCompaction only compactRange() merges tables', async () => {
  const db = await openLevel(new MemoryFileSystem(), { ...options, level0CompactionTrigger: 1 })
  await fillLevel(db)
  await db.flush()
  const level0 = (): number => db.stats().levels[0]?.tables ?? 0
  assert.ok(level0() > 3, `${level0()} tables`)
  await db.compactRange('', '\xff')
  assert.is(level0(), 0)
  await db.close()
})

test.run()
