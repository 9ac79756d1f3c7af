/** clear() of a range while writes to it wait for the disk: no older value is read, nor comes back after a power failure. */
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { OpenFile, OpenMode } from '../../src/lsm/fs/file-system.ts'
import { LsmLevel, MemoryFileSystem } from '../../src/lsm/index.ts'

/** Reports a sync of a log 5 ms after it has taken effect. */
class SlowDisk extends MemoryFileSystem {
  onSynced: ((path: string) => void) | undefined

  override open(path: string, mode: OpenMode): OpenFile {
    const file = super.open(path, mode)
    const sync = file.sync.bind(file)
    file.sync = async () => {
      await sync()
      if (path.endsWith('.wal')) await sleep(5)
      this.onSynced?.(path)
    }
    return file
  }
}

/** Loses the power while a range is cleared and one of its keys written; returns the number of states it may leave. */
async function statesLeft(): Promise<number> {
  const disk = new SlowDisk()
  const options = { autoCompaction: false, writeBufferSize: 1000 }
  const db = new LsmLevel('/db', { ...options, fileSystem: disk })
  await db.open()
  // One table across the border of the range, and one within it.
  await db.batch().put('a', '-').put('d', 'oldest').write()
  await db.flush()
  await db.batch().put('d', 'old').put('e', 'x'.repeat(200)).put('f', '-').put('g', '-').write()
  await db.flush()
  await db.put('z', '0', { sync: true })
  let isOver = false
  const others = (async () => {
    while (!isOver) await db.put('z', '1', { sync: true })
  })()
  const moments: MemoryFileSystem[] = []
  let late: Promise<void> | undefined
  disk.onSynced = (path) => {
    if (!path.includes('MANIFEST')) return
    late ??= db.put('d', 'new')
    isOver = true
    moments.push(disk.snapshot())
  }
  await db.clear({ gte: 'c', lt: 'm' })
  disk.onSynced = undefined
  assert.ok(db.stats().writes.droppedTables > 0)
  await late
  isOver = true
  await others
  await db.close()
  assert.ok(moments.length > 0)
  let states = 0
  for (const moment of moments) {
    for (const state of moment.crashStates()) {
      const left = new LsmLevel('/db', { ...options, fileSystem: state })
      const value = await left.get('d')
      assert.ok(value === 'new' || value === 'old' || value === undefined, `${value}: ${state.origin}`)
      if (value === 'old') assert.is((await left.get('e'))?.length, 200, 'nothing is cleared yet')
      states++
      await left.close()
    }
  }
  return states
}

test('after a power failure, a key written during clear() is new, gone or not yet cleared, never an older version', async () => {
  // The more of the writes are under way when the power goes, the more states there are.
  let most = 0
  for (let round = 0; round < 50 && most <= 5; round++) most = Math.max(most, await statesLeft())
  assert.ok(most > 5, `${most} states`)
})

test('when clear() resolves, a key with a write that waited for the disk has lost its older value', async () => {
  const db = new LsmLevel('/db', { fileSystem: new SlowDisk() })
  await db.open()
  await db.batch().put('d', 'old').put('e', 'old').write()
  const late = db.put('d', 'new', { sync: true })
  await db.clear({ gte: 'd', lt: 'e' })
  assert.is(await db.get('d'), 'new')
  await late
  assert.is(await db.get('e'), 'old')
  await db.close()
})

test.run()
