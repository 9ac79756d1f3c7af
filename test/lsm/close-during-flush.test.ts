/** close() while memtables wait for a flush: what is not being flushed by then stays in the logs. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { OpenFile } from '../../src/lsm/fs/file-system.ts'
import { LsmLevel, MemoryFileSystem } from '../../src/lsm/index.ts'

const turns = async (): Promise<void> => {
  for (let i = 0; i < 50; i++) await new Promise((resolve) => setImmediate(resolve))
}

/** A file system on which syncs of tables wait until they are let go, one by one. */
class WaitingFileSystem extends MemoryFileSystem {
  readonly waiting: (() => void)[] = []
  readonly created: string[] = []
  isWaiting = true

  override open(...[path, mode]: Parameters<MemoryFileSystem['open']>): OpenFile {
    const file = super.open(path, mode)
    if (!path.endsWith('.sst') || mode !== 'create') return file
    this.created.push(path)
    const sync = file.sync.bind(file)
    file.sync = async () => {
      if (this.isWaiting) await new Promise<void>((resolve) => this.waiting.push(resolve))
      await sync()
    }
    return file
  }
}

test('close() waits for every flush, and none begins afterwards, although flush() was called', async () => {
  const fileSystem = new WaitingFileSystem()
  const options = { fileSystem, writeBufferSize: 1000, autoCompaction: false }
  const db = new LsmLevel<string, string>('/db', options)
  const value = 'x'.repeat(2000)
  await db.put('a', value)
  const flushed = db.flush().catch((error: { code?: string }) => error.code)
  await turns()
  // The first memtable is being flushed, the second as well from now on, and the third has to wait.
  for (const key of ['b', 'c', 'd']) await db.put(key, value)
  await turns()
  assert.is(fileSystem.waiting.length, 2)
  let isClosed = false
  const closed = db.close().then(() => {
    isClosed = true
  })
  fileSystem.waiting.shift()!()
  await turns()
  assert.not(isClosed)
  fileSystem.waiting.shift()!()
  await closed
  await turns()
  assert.is(fileSystem.created.length, 2)
  assert.is(await flushed, 'LEVEL_ABORTED')

  fileSystem.isWaiting = false
  const again = new LsmLevel<string, string>('/db', options)
  assert.equal(await again.keys().all(), ['a', 'b', 'c', 'd'])
  await again.close()
})

test.run()
