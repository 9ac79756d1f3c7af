import type { AbstractSnapshot } from 'abstract-level'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { LsmLevel, MemoryFileSystem, type StoreOptions } from '../../src/lsm/index.ts'
import { type Call, FaultyFileSystem } from '../support/faulty-file-system.ts'
import { closeAll, closeLater, temporaryDirectory } from '../support/temporary-directory.ts'

/** Thousands of keys exceed a memtable and fill many tables. */
const small: StoreOptions = { writeBufferSize: 30_000, maxFileSize: 10_000, level1Bytes: 40_000, blockSize: 1000 }

const count = 3000

async function openSmall(options: StoreOptions = {}, after?: (call: Call) => void) {
  const fileSystem = new FaultyFileSystem(new MemoryFileSystem(), after === undefined ? {} : { after })
  const db = closeLater(new LsmLevel<string, string>('/db', { ...small, ...options, fileSystem }))
  await db.open()
  return { db, fileSystem }
}

type Level = Pick<LsmLevel<string, string>, 'batch'>

const keyOf = (n: number): string => `key${String(n).padStart(6, '0')}`

async function fill(level: Level, value: string, step = 1): Promise<void> {
  for (let from = 0; from < count; from += 100) {
    const numbers = Array.from({ length: 100 }, (_, i) => from + i).filter((n) => n % step === 0)
    await level.batch(numbers.map((n) => ({ type: 'put', key: keyOf(n), value: `${value} ${n}` })))
  }
}

const logged = (db: LsmLevel<string, string>): number => db.stats().writes.loggedBytes

test('clear() of a sublevel writes no tombstones and affects no other sublevel', async () => {
  const { db } = await openSmall({ partitionDepth: 1 })
  const [a, b, c] = ['a', 'b', 'c'].map((name) => db.sublevel(name))
  for (const level of [a, b, c]) await fill(level as unknown as Level, 'value')
  const before = logged(db)
  await b!.clear()
  assert.is(logged(db), before)
  assert.ok(db.stats().writes.droppedTables > 3)
  assert.equal(
    [await a!.keys().all(), await b!.keys().all()].map((keys) => keys.length),
    [count, 0]
  )
  assert.is((await c!.keys().all()).length, count)
  assert.equal((await db.verify()).problems, [])
})

test('clear() of everything leaves no tables and no table files', async () => {
  const { db, fileSystem } = await openSmall()
  await fill(db, 'value')
  await db.clear()
  assert.is(
    db.stats().levels.reduce((sum, { tables }) => sum + tables, 0),
    0
  )
  await db.close()
  assert.equal(
    fileSystem.list('/db').filter((name) => name.endsWith('.sst')),
    []
  )
  await db.open()
  assert.equal(await db.keys().all(), [])
})

test('clear() writes tombstones only for keys in tables across the borders, and no older version comes back', async () => {
  const { db } = await openSmall()
  await fill(db, 'oldest')
  await db.compactRange('', '~')
  await fill(db, 'older', 2)
  await fill(db, 'newest', 3)
  const before = logged(db)
  await db.clear({ gt: keyOf(100), lte: keyOf(2800) })
  assert.ok(logged(db) - before < 20_000, `${logged(db) - before} bytes`)
  assert.ok(db.stats().writes.droppedTables > 3)
  const expected = Array.from({ length: count }, (_, n) => keyOf(n)).filter((_, n) => n <= 100 || n > 2800)
  assert.equal(await db.keys().all(), expected)
  await db.compactRange('', '~')
  assert.equal(await db.keys().all(), expected)
  assert.equal((await db.verify()).problems, [])
})

test('iterators and snapshots opened before or during a clear() still see the dropped tables', async () => {
  let isClearing = false
  const snapshots: AbstractSnapshot[] = []
  const { db } = await openSmall({ maxOpenFiles: 2 }, ({ operation }) => {
    if (isClearing && (operation === 'write' || operation === 'sync')) snapshots.push(db.snapshot())
  })
  await fill(db, 'value')
  const expected = await db.iterator().all()
  const iterator = db.iterator()
  snapshots.push(db.snapshot())
  isClearing = true
  await db.clear()
  isClearing = false
  assert.ok(db.stats().writes.droppedTables > 0)
  const late = db.snapshot()
  await fill(db, 'new')
  await db.compactRange('', '~')
  assert.equal(await iterator.all(), expected)
  assert.ok(snapshots.length > 2)
  for (const snapshot of snapshots) {
    assert.equal(await db.iterator({ snapshot }).all(), expected)
    assert.equal(await db.get(keyOf(7), { snapshot }), 'value 7')
    assert.equal(await db.getMany([keyOf(8)], { snapshot }), ['value 8'])
    await snapshot.close()
  }
  assert.equal(await db.keys({ snapshot: late }).all(), [])
  assert.is(await db.get(keyOf(7), { snapshot: late }), undefined)
  await Promise.all([iterator.close(), late.close()])
})

test('entries put during a clear() are kept', async () => {
  const { db } = await openSmall()
  await fill(db, 'old')
  // The first put is under way already: it will be in a table.
  const puts = [db.put(keyOf(0), 'new')]
  const cleared = db.clear()
  for (let n = 500; n < count; n += 500) puts.push(db.put(keyOf(n), 'new'))
  await Promise.all([cleared, ...puts])
  assert.ok(db.stats().writes.droppedTables > 0)
  assert.equal(
    await db.values().all(),
    puts.map(() => 'new')
  )
})

test('a synced put during a clear() is kept even if its key is deleted while it waits for the disk', async () => {
  const db = closeLater(new LsmLevel<string, string>(temporaryDirectory()))
  await db.open()
  const written = Array.from({ length: count / 10 }, (_, i) => keyOf(i * 10))
  for (let round = 0; round < 5; round++) {
    await fill(db, 'old')
    const cleared = db.clear()
    // By now some keys are deleted; others will be before the disk has synced.
    for (let turn = 0; turn < round; turn++) await new Promise(setImmediate)
    const puts = written.map((key) => db.put(key, 'new', { sync: true }))
    await Promise.all([cleared, ...puts])
    assert.equal(await db.keys().all(), written)
  }
})

test('clear() completes while writers wait for merges', async () => {
  const { db } = await openSmall({ level0CompactionTrigger: 1, level0SlowdownTrigger: 2, level0StopTrigger: 2 })
  await fill(db, 'old')
  await fill(db, 'newer', 2)
  const cleared = db.clear({ gte: keyOf(5), lt: keyOf(count - 5) })
  await Promise.all([cleared, fill(db, 'new', 7)])
  const values = await db.getMany([keyOf(0), keyOf(7), keyOf(8)])
  assert.equal(values, ['new 0', 'new 7', undefined])
})

test('entries put while clear() deletes keys one by one are kept, under old keys and new ones', async () => {
  for (const limit of [-1, count]) {
    const { db } = await openSmall({ writeBufferSize: 1 << 24 })
    await fill(db, 'old')
    const clearing = db.clear({ limit })
    await Promise.all([db.put(keyOf(0), 'new'), db.put(keyOf(count), 'new')])
    // clear() deletes some hundreds of keys per turn.
    await new Promise((resolve) => setImmediate(resolve))
    await db.put(keyOf(count - 1), 'new')
    await clearing
    const left = [0, count - 1, count].map((n) => [keyOf(n), 'new'])
    assert.equal(await db.iterator().all(), left, `limit ${limit}`)
  }
})

test.after(closeAll)
test('short-lived sublevels, written and cleared in one memtable or in several, leave no table', async () => {
  const { db } = await openSmall({ partitionDepth: 1 })
  for (let i = 0; i < 20; i++) {
    const passing = db.sublevel(`passing${i}`)
    await passing.batch([1, 2, 3].map((n) => ({ type: 'put', key: keyOf(n), value: 'value' })))
    if (i % 2 === 0) await db.flush()
    await passing.clear()
    await db.flush()
  }
  const tables = (): number => db.stats().levels.reduce((sum, level) => sum + level.tables, 0)
  for (let turns = 0; tables() > 0 && turns < 10_000; turns++) await new Promise((resolve) => setImmediate(resolve))
  assert.is(tables(), 0)
  assert.equal(await db.keys().all(), [])
})

test.run()
