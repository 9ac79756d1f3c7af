/** A flush leaves out tombstones of partitions in which they hide nothing. */
import { readdirSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { open } from '../../src/index.ts'
import { parseFileName } from '../../src/lsm/fs/file-names.ts'
import { LsmLevel } from '../../src/lsm/index.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

function tablesIn(path: string): number {
  return readdirSync(path).filter((name) => parseFileName(name)?.kind === 'table').length
}

async function opened(path: string): Promise<LsmLevel<string, string>> {
  const db = new LsmLevel<string, string>(path, { partitionDepth: 1, autoCompaction: false })
  await db.open()
  return db
}

const keys = Array.from({ length: 100 }, (_, i) => `!a!${i}`)

async function putAll(db: LsmLevel<string, string>): Promise<void> {
  await db.batch(keys.map((key) => ({ type: 'put', key, value: 'old' })))
}

async function deleteAll(db: LsmLevel<string, string>): Promise<void> {
  await db.batch(keys.map((key) => ({ type: 'del', key })))
}

test('what is put and deleted before a flush leaves nothing, beside what stays', async () => {
  const path = temporaryDirectory()
  const db = await opened(path)
  await putAll(db)
  await deleteAll(db)
  await db.put('!b!x', 'stays')
  await db.flush()
  assert.is(tablesIn(path), 1)
  await putAll(db)
  await deleteAll(db)
  await db.flush()
  assert.is(tablesIn(path), 1)
  await db.close()
  const again = await opened(path)
  assert.equal(await again.iterator().all(), [['!b!x', 'stays']])
  await again.close()
})

test('tombstones stay above what they hide: in tables, and in memtables that are being flushed', async () => {
  for (const isFlushedBefore of [true, false]) {
    const path = temporaryDirectory()
    const db = await opened(path)
    await putAll(db)
    const flushing = isFlushedBefore ? await db.flush() : db.flush()
    await deleteAll(db)
    await db.flush()
    await flushing
    assert.equal(await db.keys().all(), [])
    assert.is(await db.get('!a!5'), undefined)
    await db.close()
    const again = await opened(path)
    assert.equal(await again.keys().all(), [])
    await again.put('!a!5', 'new')
    assert.equal(await again.iterator().all(), [['!a!5', 'new']])
    await again.close()
  }
})

test('a snapshot still sees what was deleted after it, and older tombstones hide what a newer flush brings', async () => {
  const path = temporaryDirectory()
  const db = await opened(path)
  await putAll(db)
  const snapshot = db.snapshot()
  await deleteAll(db)
  await db.flush()
  assert.is((await db.keys({ snapshot }).all()).length, 100)
  assert.is(await db.get('!a!7', { snapshot }), 'old')
  assert.equal(await db.keys().all(), [])
  await snapshot.close()
  await db.close()
})

test('collections that were created and dropped leave no tables', async () => {
  const path = temporaryDirectory()
  const db = await open(path, { lsm: { writeBufferSize: 2 ** 20 } })
  await db.insertOne({ _id: 1 })
  for (let i = 0; i < 200; i++) {
    const collection = db.collection(`temporary ${i}`)
    await collection.insertOne({ n: i })
    await collection.drop()
  }
  // Fills the memtable.
  await db.insertMany(Array.from({ length: 8 }, (_, i) => ({ _id: 2 + i, text: 'x'.repeat(200_000) })))
  await db.deleteMany({ _id: { $gt: 1 } })
  await db.close()
  assert.ok(tablesIn(path) < 100, `${tablesIn(path)} tables`)
  const again = await open(path)
  assert.equal(
    again.listCollections().map(({ name }) => name),
    ['default']
  )
  assert.equal(await again.find().toArray(), [{ _id: 1 }])
  assert.equal((await again.verify()).problems, [])
  await again.close()
})

test.run()
