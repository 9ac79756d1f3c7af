import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { LsmLevel, MemoryFileSystem, type StoreOptions } from '../../src/lsm/index.ts'
import { closeAll, closeLater } from '../support/temporary-directory.ts'
import { documentOf, keyOf, smallOptions, valueOptions } from './tools-content.ts'
import { fillLevel } from './tools-stores.ts'

async function opened(options: StoreOptions) {
  const db = closeLater(new LsmLevel<string, string>('/db', { fileSystem: new MemoryFileSystem(), ...options }))
  await db.open()
  return db
}

const sumOf = (numbers: readonly number[]) => numbers.reduce((sum, number) => sum + number, 0)

test('statistics of partitions add up to those of levels', async () => {
  const db = await opened({ ...smallOptions, partitionDepth: 1 })
  const sublevels = ['docs', 'ids'].map((name) => db.sublevel(name))
  for (let i = 0; i < 300; i++) {
    await Promise.all([
      ...sublevels.map((sublevel) => sublevel.put(keyOf(i), documentOf(i))),
      db.put(`~${keyOf(i)}`, documentOf(i))
    ])
    if (i % 3 === 0) await db.del(`~${keyOf(i)}`)
  }
  await db.flush()
  const { partitions, levels } = db.stats()
  assert.equal(
    partitions.map(({ name }) => name),
    ['!docs!', '!ids!', '"']
  )
  for (const [level, stats] of levels.entries()) {
    for (const name of ['tables', 'bytes', 'rawBytes', 'entries', 'tombstones'] as const) {
      assert.is(sumOf(partitions.map(({ levels }) => levels[level]?.[name] ?? 0)), stats[name], `${name} of ${level}`)
    }
  }
  assert.is(db.stats().level0Runs, Math.max(...partitions.map(({ level0Runs }) => level0Runs)))
  assert.ok(sumOf(levels.map(({ tombstones }) => tombstones)) > 0)
})

test('statistics have one partition without partitionDepth, and none without tables', async () => {
  const db = await opened(smallOptions)
  assert.equal(db.stats().partitions, [])
  await fillLevel(db)
  assert.equal(
    db.stats().partitions.map(({ name }) => name),
    ['']
  )
})

test('valueFill covers the value filters that have been loaded', async () => {
  const db = await opened(valueOptions)
  await fillLevel(db)
  assert.ok(db.stats().levels.every(({ valueFill }) => valueFill === undefined))
  for await (const _ of db.lookup(['color', 'red'])) break
  const { levels, partitions, values } = db.stats()
  const filled = levels.flatMap(({ tables, valueFill }) => (tables > 0 ? [valueFill] : []))
  assert.ok(filled.length > 1)
  for (const fill of filled) assert.ok(fill !== undefined && fill > 0.01 && fill < 0.5, `${fill}`)
  assert.equal(
    partitions[0]?.levels.map(({ valueFill }) => valueFill),
    levels.map(({ valueFill }) => valueFill)
  )
  assert.is(values?.pending, 0)
  assert.is((await opened(smallOptions)).stats().values, undefined)
})

test('waits are counted for memtables or for the partition that caused them', async () => {
  const db = await opened({ level0CompactionTrigger: 4, level0SlowdownTrigger: 2, level0StopTrigger: 10 })
  // At the rate for two tables in level 0, a put takes 15 ms, more than the 5 ms credited to late writers.
  const value = 'x'.repeat(1_000_000)
  for (let round = 0; round < 4; round++) {
    for (let i = 0; i < 3; i++) await db.put(keyOf(i), value)
    await db.flush()
  }
  const { writes, partitions, memtableWaits } = db.stats()
  assert.ok(writes.slowdowns + writes.stalls > 0)
  assert.ok(partitions.some(({ slowdowns, slowdownMilliseconds }) => slowdowns > 0 && slowdownMilliseconds > 0))
  for (const name of ['slowdowns', 'slowdownMilliseconds', 'stalls'] as const) {
    const sum = memtableWaits[name] + sumOf(partitions.map((partition) => partition[name]))
    assert.ok(Math.abs(sum - writes[name]) < 1e-6, `${name}: ${sum}, ${writes[name]} in all`)
  }
})

test('hits and misses of the block cache are counted', async () => {
  const db = await opened(smallOptions)
  await fillLevel(db)
  await db.get(keyOf(1))
  const before = db.stats().cache
  await db.get(keyOf(1))
  const after = db.stats().cache
  assert.is(after.hits, before.hits + 1)
  assert.is(after.misses, before.misses)
})

test.after(closeAll)
test.run()
