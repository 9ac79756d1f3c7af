/** The next open does not take data for durable that a failed sync left in the page cache. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { MemoryFileSystem } from '../../src/lsm/fs/memory-file-system.ts'
import { FaultyFileSystem, type Operation } from '../support/faulty-file-system.ts'
import { contentOf, location, openStore } from '../support/lsm-crash-points.ts'

/** The content after a failed open(), another open(), a synced write, a power failure and recovery. */
async function contentAfter(disk: MemoryFileSystem, operation: Operation, path: RegExp): Promise<string> {
  const fileSystem = new FaultyFileSystem(disk)
  fileSystem.fail({ at: 1, operations: [operation], path, code: 'EIO' })
  await openStore(fileSystem, {}).then(
    () => assert.unreachable('the open fails'),
    () => {}
  )
  const db = await openStore(fileSystem, {})
  await db.put('second', '2', { sync: true })
  const [worst = disk] = disk.crashStates()
  await db.close()
  const recovered = await openStore(worst, {})
  const content = await contentOf(recovered)
  await recovered.close()
  return content
}

/** Of a process that was killed. */
async function diskWithStore(): Promise<MemoryFileSystem> {
  const disk = new MemoryFileSystem()
  const db = await openStore(disk, {})
  await db.put('first', '1')
  await db.flush()
  const killed = disk.snapshot()
  await db.close()
  return killed
}

test('open() rewrites a manifest whose sync failed, as its data may never have reached the disk', async () => {
  assert.is(await contentAfter(await diskWithStore(), 'sync', /MANIFEST/), 'first=1\nsecond=2\n')
})

test('open() syncs names whose sync failed before, including those of parent directories', async () => {
  for (const path of [/^\/$/, /^\/data$/, /^\/data\/db$/]) {
    assert.is(await contentAfter(new MemoryFileSystem(), 'syncDirectory', path), 'second=2\n', String(path))
  }
  assert.is(await contentAfter(await diskWithStore(), 'syncDirectory', /db$/), 'first=1\nsecond=2\n')
})

test('open() makes an existing directory durable whose name was never synced', async () => {
  const disk = new MemoryFileSystem()
  disk.makeDirectory(location)
  const db = await openStore(disk, {})
  await db.put('first', '1', { sync: true })
  const [worst = disk] = disk.crashStates()
  await db.close()
  const recovered = await openStore(worst, {})
  assert.is(await contentOf(recovered), 'first=1\n')
  await recovered.close()
})

test.run()
