import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { LsmLevel, MemoryFileSystem } from '../../src/lsm/index.ts'
import { closeAll, closeLater } from '../support/temporary-directory.ts'

async function opened(options = {}) {
  const db = closeLater(new LsmLevel<string, string>('/db', { fileSystem: new MemoryFileSystem(), ...options }))
  await db.open()
  return db
}

test('getProperty() supports the properties of LevelDB', async () => {
  const db = await opened()
  assert.is(db.getProperty('leveldb.num-files-at-level0'), '0')
  await db.put('k', 'v')
  await db.flush()
  assert.is(db.getProperty('leveldb.num-files-at-level0'), '1')
  assert.is(db.getProperty('leveldb.num-files-at-level7'), '')
  assert.ok(db.getProperty('leveldb.stats').split('\n').length > 3)
  assert.is(db.getProperty('leveldb.sstables').match(/^--- level \d ---$/gm)?.length, 7)
  assert.match(db.getProperty('leveldb.sstables'), /'k' @ 1/)
  assert.ok(Number(db.getProperty('leveldb.approximate-memory-usage')) > 0)
  assert.is(db.getProperty('something else'), '')
  assert.throws(() => db.getProperty(1 as never), TypeError)
  await db.close()
  assert.throws(
    () => db.getProperty('leveldb.stats'),
    (error: { code?: string }) => error.code === 'LEVEL_DATABASE_NOT_OPEN'
  )
})

test('approximateSize() grows with the range, and works during a deferred open', async () => {
  const db = closeLater(new LsmLevel<string, string>('/db', { fileSystem: new MemoryFileSystem(), compression: false }))
  assert.is(await db.approximateSize('a', 'z'), 0)
  for (let i = 0; i < 100; i++) await db.put(`k${String(i).padStart(3, '0')}`, 'x'.repeat(1000))
  await db.flush()
  const [all, half, none] = await Promise.all([
    db.approximateSize('k', 'l'),
    db.approximateSize('k', 'k050'),
    db.approximateSize('l', 'k')
  ])
  assert.ok(all > 100_000 && all < 120_000, `${all}`)
  assert.ok(half > 40_000 && half < 60_000, `${half}`)
  assert.is(none, 0)
})

test('compactRange() leaves one level without deleted entries', async () => {
  const db = await opened({ writeBufferSize: 5000, maxFileSize: 10_000 })
  for (let i = 0; i < 300; i++) await db.put(`k${String(i % 100).padStart(3, '0')}`, `${i}`.padEnd(100))
  for (let i = 0; i < 50; i++) await db.del(`k${String(i).padStart(3, '0')}`)
  await db.compactRange('', '~')
  const { levels } = db.stats()
  assert.is(levels.filter((level) => level.tables > 0).length, 1)
  assert.is(
    levels.reduce((sum, level) => sum + level.entries, 0),
    50
  )
  assert.is((await db.keys().all()).length, 50)
})

test('each partition has tables of its own', async () => {
  const db = await opened({ partitionDepth: 1, writeBufferSize: 10_000 })
  const [a, b] = [db.sublevel('a'), db.sublevel('b')]
  for (let i = 0; i < 200; i++) await Promise.all([a.put(`k${i}`, 'x'.repeat(100)), b.put(`k${i}`, 'y'.repeat(100))])
  await db.flush()
  for (const line of db.getProperty('leveldb.sstables').split('\n')) {
    const [, first, last] = /'(![ab]!)[^']*' @ \d+ \.\. '(![ab]!)/.exec(line) ?? []
    assert.is(first, last)
  }
  assert.is((await a.keys().all()).length, 200)
})

test.after(closeAll)
test.run()
