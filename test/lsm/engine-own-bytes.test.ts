import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { LsmLevel, MemoryFileSystem } from '../../src/lsm/index.ts'
import { closeAll, closeLater } from '../support/temporary-directory.ts'

const value = 'value '.repeat(20)

test('changing the bytes of a result changes no other result', async () => {
  const options = { fileSystem: new MemoryFileSystem(), keyEncoding: 'buffer', valueEncoding: 'buffer' } as const
  const db = closeLater(new LsmLevel<Buffer, Buffer>('/db', options))
  const key = Buffer.from('key')
  await db.put(key, Buffer.from(value))
  // In the memtable, then in a table: read first from the file, then from the cache.
  for (const isFlushed of [false, true]) {
    if (isFlushed) await db.flush()
    for (let round = 0; round < 3; round++) {
      const [entry] = await db.iterator().all()
      const [many] = await db.getMany([key])
      const answers = [await db.get(key), db.getSync(key), many, entry?.[1]]
      assert.equal(
        answers.map(String),
        answers.map(() => value)
      )
      for (const answer of answers) answer?.fill(0)
      entry?.[0].fill(0)
    }
  }
})

test('changing the key and value after put() was called does not change the entry', async () => {
  const options = { fileSystem: new MemoryFileSystem(), keyEncoding: 'buffer', valueEncoding: 'buffer' } as const
  const db = closeLater(new LsmLevel<Buffer, Buffer>('/db', options))
  await db.open()
  const [key, bytes] = [Buffer.from('key'), Buffer.from(value)]
  const written = db.put(key, bytes)
  key.fill(0)
  bytes.fill(0)
  await written
  assert.is(String(await db.get(Buffer.from('key'))), value)
})

test.after(closeAll)
test.run()
