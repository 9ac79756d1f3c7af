/** Opening a store that was closed with everything in tables writes nothing, and what is written next survives. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { MemoryFileSystem } from '../../src/lsm/fs/memory-file-system.ts'
import { changingOperations, FaultyFileSystem } from '../support/faulty-file-system.ts'
import { contentOf, location, openStore } from '../support/lsm-crash-points.ts'

/** Contents of the worst states that a power failure may leave. */
async function contentsAfterCrash(disk: MemoryFileSystem): Promise<string[]> {
  const contents: string[] = []
  for (const crashed of disk.crashStates()) {
    const db = await openStore(crashed, {})
    contents.push(await contentOf(db))
    await db.close()
  }
  return contents
}

/** Calls that change the disk or make it durable, those of the lock left out. */
function changesOf(fileSystem: FaultyFileSystem): string[] {
  return fileSystem.trace
    .filter(({ operation, mode }) => changingOperations.some((each) => each === operation) && mode !== 'read')
    .filter(({ path }) => !/LOCK/.test(path))
    .map(({ operation, mode, path }) => `${mode ?? operation} ${path.replace(/.*\//, '').replace(/\d+/, 'N')}`)
}

async function closedDisk(): Promise<MemoryFileSystem> {
  const disk = new MemoryFileSystem()
  const db = await openStore(disk, {})
  await db.put('first', '1')
  await db.flush()
  await db.close()
  return disk
}

test('nothing is written or synced by opening, reading and closing', async () => {
  const disk = await closedDisk()
  for (let round = 0; round < 2; round++) {
    const fileSystem = new FaultyFileSystem(disk, { isTraced: true })
    const db = await openStore(fileSystem, {})
    assert.is(await db.get('first'), '1')
    await db.close()
    assert.equal(changesOf(fileSystem), ['update MANIFEST-N', 'create N.wal'])
  }
  assert.is(disk.list(location).filter((name) => name.endsWith('.wal')).length, 1)
})

test('what is written after it survives: kills at any call, and power failures after each step', async () => {
  const disk = new MemoryFileSystem()
  const killed: { readonly disk: MemoryFileSystem; readonly isWritten: boolean }[] = []
  let isWritten = false
  const kill = (): void => void killed.push({ disk: disk.snapshot(), isWritten })
  const fileSystem = new FaultyFileSystem(disk, { after: kill })
  for (let round = 0; round < 3; round++) {
    const db = await openStore(fileSystem, {})
    if (round === 0) {
      await db.put('first', '1', { sync: true })
      isWritten = true
      await db.flush()
    }
    await db.close()
  }
  assert.ok(killed.length > 50)
  for (const { disk: survivor, isWritten: hasFirst } of killed.filter(({ disk }) => disk.list('/').includes('data'))) {
    const first = hasFirst ? 'first=1\n' : ''
    const db = await openStore(survivor, {})
    const found = await contentOf(db)
    if (hasFirst) assert.is(found, first)
    for (const content of await contentsAfterCrash(survivor)) assert.is(content, found)
    await db.put('second', '2', { sync: true })
    for (const content of await contentsAfterCrash(survivor)) assert.is(content, `${found}second=2\n`)
    await db.put('third', '3')
    await db.flush()
    for (const content of await contentsAfterCrash(survivor)) assert.is(content, `${found}second=2\nthird=3\n`)
    await db.close()
    for (const content of await contentsAfterCrash(survivor)) assert.is(content, `${found}second=2\nthird=3\n`)
  }
})

test('what was left behind is removed, and made durable before that', async () => {
  for (const name of ['999999.sst', '999999.vf', '000001.wal', '999999.wal', 'MANIFEST-999999', '000007.tmp']) {
    const disk = await closedDisk()
    disk.open(`${location}/${name}`, 'create').close()
    const fileSystem = new FaultyFileSystem(disk, { isTraced: true })
    const db = await openStore(fileSystem, {})
    assert.is(await db.get('first'), '1')
    const changes = changesOf(fileSystem)
    const removed = changes.findIndex((each) => each.startsWith('remove'))
    for (const made of ['sync MANIFEST-N', 'syncDirectory db']) {
      assert.ok(changes.includes(made) && changes.indexOf(made) < removed, `${made}: ${changes}`)
    }
    await db.close()
    assert.not.ok(disk.list(location).includes(name), name)
  }
})

test.run()
