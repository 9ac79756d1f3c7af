import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { LsmLevel, MemoryFileSystem } from '../../src/lsm/index.ts'
import { closeAll, closeLater } from '../support/temporary-directory.ts'

const value = 'value '.repeat(20)

test('who writes into the bytes of an answer changes no other answer', async () => {
  const options = { fileSystem: new MemoryFileSystem(), keyEncoding: 'buffer', valueEncoding: 'buffer' } as const
  const db = closeLater(new LsmLevel<Buffer, Buffer>('/db', options))
  const key = Buffer.from('key')
  await db.put(key, Buffer.from(value))
  // In the memtable, then in a table: read from the file first, from the cache then.
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

test('who changes bytes that were written changes nothing written', async () => {
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
