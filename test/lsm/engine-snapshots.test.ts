import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { LsmLevel, MemoryFileSystem } from '../../src/lsm/index.ts'
import { FaultyFileSystem } from '../support/faulty-file-system.ts'
import { closeAll, closeLater } from '../support/temporary-directory.ts'

/** So small that entries move through all levels. */
const tiny = { writeBufferSize: 500, blockSize: 100, maxFileSize: 500, level0CompactionTrigger: 1, level1Bytes: 1000 }

async function openTiny() {
  const db = closeLater(new LsmLevel<string, string>('/db', { ...tiny, fileSystem: new MemoryFileSystem() }))
  await db.open()
  return db
}

/** Overwrites and deletes keys, often enough to cause compactions. */
async function churn(db: LsmLevel<string, string>, round: string): Promise<void> {
  for (let i = 0; i < 60; i++) {
    await db.put(`k${i % 10}`, `${round}-${i}`)
    if (i % 7 === 0) await db.del(`k${(i + 3) % 10}`)
  }
}

function entriesIn(db: LsmLevel<string, string>): number {
  return db.stats().levels.reduce((sum, level) => sum + level.entries, 0)
}

test('a read sees the state at its call, whatever is written before it resolves', async () => {
  const db = await openTiny()
  await db.put('k', 'old')
  const reads = [db.get('k'), db.getMany(['k']), db.iterator().all(), db.has('k'), db.hasMany(['k'])]
  const written = db.put('k', 'new')
  const deleted = db.del('k')
  assert.equal(await Promise.all(reads), ['old', ['old'], [['k', 'old']], true, [true]])
  await Promise.all([written, deleted])
  assert.is(await db.get('k'), undefined)
})

test('an iterator sees the state at its creation through flushes and compactions', async () => {
  const db = await openTiny()
  await churn(db, 'before')
  const expected = await db.iterator().all()
  const iterator = db.iterator()
  const begun = db.iterator()
  const first = await begun.next()
  await churn(db, 'during')
  await db.compactRange('', '~')
  assert.equal(await iterator.all(), expected)
  assert.equal([first, ...(await begun.all())], expected)
  await Promise.all([iterator.close(), begun.close()])
})

test('explicit snapshots keep their states through compactions', async () => {
  const db = await openTiny()
  const taken = []
  for (let round = 0; round < 5; round++) {
    await churn(db, `round ${round}`)
    taken.push({ snapshot: db.snapshot(), expected: await db.iterator().all(), k1: await db.get('k1') })
  }
  await churn(db, 'after')
  await db.compactRange('', '~')
  for (const { snapshot, expected, k1 } of taken) {
    assert.equal(await db.iterator({ snapshot }).all(), expected)
    assert.is(await db.get('k1', { snapshot }), k1)
    await snapshot.close()
  }
  assert.is(db.stats().snapshots, 0)
})

test('a compaction drops the versions that no snapshot sees', async () => {
  const db = await openTiny()
  for (let i = 0; i < 100; i++) await db.put('k', `value ${i}`)
  const snapshot = db.snapshot()
  await db.del('k')
  await db.compactRange('', '~')
  assert.is(entriesIn(db), 2)
  await snapshot.close()
  await db.put('other', 'value')
  await db.compactRange('', '~')
  assert.is(entriesIn(db), 1)
})

test('clear() with a snapshot deletes only the keys that the snapshot has', async () => {
  const db = await openTiny()
  await db.batch(['a', 'b', 'c', 'd'].map((key) => ({ type: 'put', key, value: key })))
  const snapshot = db.snapshot()
  await db.put('bb', 'new')
  await db.clear({ gte: 'b', lt: 'd', snapshot })
  assert.equal(await db.keys().all(), ['a', 'bb', 'd'])
  assert.equal(await db.keys({ snapshot }).all(), ['a', 'b', 'c', 'd'])
  await snapshot.close()
})

test('close() waits for a getMany() and a clear() in progress', async () => {
  const fileSystem = new FaultyFileSystem(new MemoryFileSystem())
  const options = { ...tiny, fileSystem, maxOpenFiles: 2 }
  const db = new LsmLevel<string, string>('/db', options)
  await db.open()
  const keys = Array.from({ length: 3000 }, (_, i) => `k${i}`)
  await db.batch(keys.map((key) => ({ type: 'put', key, value: `value of ${key}` })))
  await db.flush()
  const read = db.getMany([...keys, ...keys, ...keys])
  const cleared = db.clear({ gte: 'k2' })
  const closed = db.close()
  assert.equal(
    (await read).slice(6000),
    keys.map((key) => `value of ${key}`)
  )
  await Promise.all([cleared, closed])
  assert.equal(fileSystem.openFiles, [])
  const again = new LsmLevel<string, string>('/db', options)
  assert.is((await again.keys({ gte: 'k2' }).all()).length, 0)
  await again.close()
})

test('memory of memtables is not reused while an iterator holds it', async () => {
  const db = await openTiny()
  await db.put('held', 'first value')
  const iterator = db.iterator()
  for (let i = 0; i < 200; i++) await db.put(`other${i}`, 'x'.repeat(100))
  await db.flush()
  assert.equal(await iterator.all(), [['held', 'first value']])
  await iterator.close()
})

test.after(closeAll)
test.run()
