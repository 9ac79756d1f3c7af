import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { LsmLevel, MemoryFileSystem, type StoreOptions } from '../../src/lsm/index.ts'
import { jsonExtractor } from '../../src/lsm/value/json-extractor.ts'
import { closeAll, closeLater } from '../support/temporary-directory.ts'
import { ingestAll, ingestTables, put, range, tableNames, tablesByLevel } from './ingest-helpers.ts'

test.after.each(closeAll)

async function openStore(options: StoreOptions = {}, fileSystem = new MemoryFileSystem()) {
  const db = closeLater(new LsmLevel<string, string>('/db', { ...options, fileSystem }))
  await db.open()
  return { db, fileSystem }
}

async function contentOf(db: LsmLevel<string, string>) {
  assert.equal((await db.verify()).problems, [])
  return db.iterator().all()
}

async function hasLevels(db: LsmLevel<string, string>, levels: string): Promise<void> {
  assert.is(tablesByLevel(db), levels)
  assert.equal((await db.verify()).problems, [])
}

test('entries ingested into an empty store are found, also after writes, merges and a reopen', async () => {
  const { db, fileSystem } = await openStore()
  const expected = new Map(range(0, 300, 'ingested'))
  const check = async () => {
    assert.equal(await contentOf(db), [...expected].sort())
    assert.is(await db.get('k0007'), expected.get('k0007'))
    assert.equal(
      await db.getMany(['k0008', 'k0299', 'x']),
      ['k0008', 'k0299', 'x'].map((key) => expected.get(key))
    )
  }
  assert.ok(await ingestAll(db, fileSystem, [range(0, 300, 'ingested')]))
  await check()
  await db.close()
  await db.open()
  await check()
  await db.batch([
    { type: 'put', key: 'k0007', value: 'later' },
    { type: 'del', key: 'k0008' }
  ])
  expected.set('k0007', 'later').delete('k0008')
  await check()
  await db.flush()
  await check()
  await db.compactRange('', '~')
  await check()
  await db.close()
  await db.open()
  await check()
})

test('putRun() equals single puts, and tables end at the keys passed to finish()', async () => {
  const { db, fileSystem } = await openStore()
  const ingest = await db.beginIngest()
  const tables = ingestTables(ingest, fileSystem)
  const values = Buffer.from('--one--two-three')
  tables.putRun({
    count: 2,
    keys: Buffer.from('abbb'),
    keyEnds: Uint32Array.of(1, 4),
    values,
    valuePlaces: Uint32Array.of(0, 1, 2, 5, 7, 10, 11, 16),
    firstPlace: 1
  })
  put(tables, ['c', 'put'])
  const empty = { keys: Buffer.from('d'), keyEnds: Uint32Array.of(1), values, firstPlace: 0 }
  tables.putRun({ ...empty, count: 1, valuePlaces: Uint32Array.of(3, 3) })
  const made = await tables.finish([Buffer.from('a'), Buffer.from('bbz')])
  assert.equal(
    made.map(({ smallest, largest }) => [Buffer.from(smallest).toString(), Buffer.from(largest).toString()]),
    [
      ['a', 'a'],
      ['bbb', 'bbb'],
      ['c', 'd']
    ]
  )
  assert.ok(await ingest.install(made))
  assert.equal(await contentOf(db), [
    ['a', 'one'],
    ['bbb', 'two'],
    ['c', 'put'],
    ['d', '']
  ])
})

test('snapshots and iterators see what is ingested only if opened after install()', async () => {
  const { db, fileSystem } = await openStore()
  await db.put('a', '1')
  const before = db.snapshot()
  const iterator = db.iterator()
  const ingest = await db.beginIngest()
  const tables = ingestTables(ingest, fileSystem)
  put(tables, ['b', '2'])
  const metas = await tables.finish()
  await db.put('c', '3')
  const meanwhile = db.snapshot()
  assert.ok(await ingest.install(metas))
  const after = db.snapshot()
  await db.batch([
    { type: 'del', key: 'b' },
    { type: 'put', key: 'a', value: '4' }
  ])
  // Drops the versions that no snapshot needs.
  await db.compactRange('', '~')
  assert.equal(await iterator.all(), [['a', '1']])
  assert.equal(await db.iterator({ snapshot: before }).all(), [['a', '1']])
  const abc = { snapshot: meanwhile }
  assert.equal(await db.getMany(['a', 'b', 'c'], abc), ['1', undefined, '3'])
  assert.is(db.getSync('b', abc), undefined)
  assert.equal(await db.getMany(['a', 'b', 'c'], { snapshot: after }), ['1', '2', '3'])
  assert.equal(await contentOf(db), [
    ['a', '4'],
    ['c', '3']
  ])
  for (const snapshot of [before, meanwhile, after]) await snapshot.close()
})

test('a snapshot of an empty store stays empty after an ingest', async () => {
  const { db, fileSystem } = await openStore()
  const snapshot = db.snapshot()
  assert.ok(await ingestAll(db, fileSystem, [range(0, 10, 'ingested')]))
  await db.compactRange('', '~')
  assert.equal(await db.keys({ snapshot }).all(), [])
  assert.is((await db.keys().all()).length, 10)
  await snapshot.close()
})

test('a snapshot taken during install() sees all of the ingest or nothing, and that does not change', async () => {
  const { db, fileSystem } = await openStore()
  await db.put('a', '1')
  const ingest = await db.beginIngest()
  const tables = ingestTables(ingest, fileSystem)
  for (const entry of range(0, 10, 'ingested')) put(tables, entry)
  const metas = await tables.finish()
  let isDone = false
  const done = ingest.install(metas).then((isInstalled) => {
    isDone = true
    return isInstalled
  })
  const seen: { snapshot: ReturnType<typeof db.snapshot>; has: boolean }[] = []
  while (!isDone) {
    const snapshot = db.snapshot()
    seen.push({ snapshot, has: db.getSync('k0003', { snapshot }) !== undefined })
    // Between microtasks, and between turns.
    if (seen.length % 8 === 0) await new Promise((resolve) => setImmediate(resolve))
    else await undefined
  }
  assert.ok(await done)
  assert.not(seen[0]?.has)
  for (const { snapshot, has } of seen) {
    assert.is((await db.keys({ snapshot }).all()).length, has ? 11 : 1)
    await snapshot.close()
  }
})

test('install() resolves to false if a table or memtable may have a tombstone of its keys', async () => {
  const { db, fileSystem } = await openStore()
  for (const [key, value] of range(0, 100, 'old', 10)) await db.put(key, value)
  await db.del('k0050')
  const before = await contentOf(db)
  const isTaken = async (from: number, to: number) => {
    const names = tableNames(fileSystem)
    const isInstalled = await ingestAll(db, fileSystem, [range(from + 1, to, 'ingested', 10)])
    if (!isInstalled) assert.equal(tableNames(fileSystem), names)
    return isInstalled
  }
  assert.not(await isTaken(40, 60))
  assert.not(await ingestAll(db, fileSystem, [[['k0050', 'again']]]))
  assert.equal(await contentOf(db), before)
  // A memtable is searched for the very tombstone; of a table it is only known whether it has any.
  assert.ok(await isTaken(60, 80))
  await db.flush()
  assert.not(await isTaken(40, 60))
  assert.not(await isTaken(20, 40))
  assert.ok(await isTaken(200, 220))
  await db.compactRange('', '~')
  assert.ok(await isTaken(40, 60))
  assert.ok(await ingestAll(db, fileSystem, [[['k0050', 'again']]]))
  assert.is(await db.get('k0050'), 'again')
  assert.equal((await db.verify()).problems, [])
  assert.is(db.stats().writes.ingestedTables, 4)
})

test('install() resolves to false for a tombstone in a memtable that is being flushed', async () => {
  const { db, fileSystem } = await openStore({ autoCompaction: false })
  await db.put('k0001', 'old')
  await db.flush()
  await db.del('k0001')
  const ingest = await db.beginIngest()
  const tables = ingestTables(ingest, fileSystem)
  put(tables, ['k0001', 'again'])
  const metas = await tables.finish()
  const flushed = db.flush()
  assert.not(await ingest.install(metas))
  await flushed
  assert.not(await ingest.install(metas))
  await tables.discard()
  assert.is(await db.get('k0001'), undefined)
})

test('clear() keeps what is ingested meanwhile', async () => {
  const { db, fileSystem } = await openStore({ writeBufferSize: 10_000 })
  const keys = Array.from({ length: 2000 }, (_, i) => `k${String(i).padStart(4, '0')}`)
  await db.batch(keys.map((key) => ({ type: 'put', key, value: 'old' })))
  await db.flush()
  const ingest = await db.beginIngest()
  const tables = ingestTables(ingest, fileSystem)
  for (const key of ['k0500a', 'k0500b']) put(tables, [key, 'ingested'])
  const metas = await tables.finish()
  const clearing = db.clear()
  assert.ok(await ingest.install(metas))
  await clearing
  assert.equal(await db.keys().all(), ['k0500a', 'k0500b'])
  assert.equal((await db.verify()).problems, [])
})

test('tables go to the deepest level where they overlap no other, in spite of overlaps above', async () => {
  const { db, fileSystem } = await openStore({ autoCompaction: false })
  assert.ok(await ingestAll(db, fileSystem, [range(0, 100, 'a', 10), range(200, 300, 'b', 10)]))
  await hasLevels(db, '0 0 0 0 0 0 2')
  // In a chain of overlapping tables, every other one goes to the same level.
  const chain = [1, 52, 103, 154].map((from) => range(from, from + 100, 'c', 10))
  assert.ok(await ingestAll(db, fileSystem, chain))
  await hasLevels(db, '0 0 0 0 1 2 3')
  // Tables above make no difference: none has any of these keys.
  await db.put('k0302', 'above')
  await db.put('k0398', 'above')
  await db.flush()
  assert.ok(await ingestAll(db, fileSystem, [range(303, 400, 'd', 10)]))
  await hasLevels(db, '1 0 0 0 1 2 4')
})

test('tables that overlap others in every level go to level 0, as the oldest ones', async () => {
  const { db, fileSystem } = await openStore({ autoCompaction: false })
  for (const [n, name] of ['older', 'newer'].entries()) {
    for (const [key, value] of range(0, 91, name, 10 + n)) await db.put(key, value)
    await db.flush()
  }
  const lists = Array.from({ length: 8 }, (_, n) => range(n + 1, 90 + n, 'ingested', 10)).filter((_, n) => n !== 0)
  const taken = new Set([...range(0, 100, '', 10), ...range(0, 100, '', 11)].map(([key]) => key))
  assert.ok(
    await ingestAll(
      db,
      fileSystem,
      lists.map((list) => list.filter(([key]) => !taken.has(key)))
    )
  )
  await hasLevels(db, '3 1 1 1 1 1 1')
  const [level0 = ''] = db.getProperty('leveldb.sstables').split('--- level 1 ---')
  const newest = [...level0.matchAll(/@ (\d+)\]/g)].map(([, sequence]) => Number(sequence))
  assert.equal(newest, [19, 10, 0])
  const before = await contentOf(db)
  await db.compactRange('', '~')
  assert.equal(await contentOf(db), before)
})

test('an ingest can install tables several times, with writes in between', async () => {
  const { db, fileSystem } = await openStore({ partitionDepth: 1 })
  const ingest = await db.beginIngest()
  const metas = await Promise.all(
    ['a', 'b'].map(async (name) => {
      const tables = ingestTables(ingest, fileSystem)
      for (const space of ['', '!x!', '!y!']) for (let n = 0; n < 20; n++) put(tables, [`${space}${name}${n}`, name])
      return tables.finish()
    })
  )
  // Each partition has a table of its own.
  assert.equal(
    metas.map(({ length }) => length),
    [3, 3]
  )
  assert.ok(await ingest.install(metas[0] ?? []))
  await db.batch([
    { type: 'put', key: '!x!a3', value: 'later' },
    { type: 'put', key: '!x!c', value: 'c' }
  ])
  await db.flush()
  assert.ok(await ingest.install(metas[1] ?? []))
  assert.is((await contentOf(db)).length, 121)
  assert.is(await db.get('!x!a3'), 'later')
  await db.compactRange('', '~')
  assert.is((await contentOf(db)).length, 121)
  assert.ok(await ingest.install([]))
})

test('large values and keys of any length can be ingested', async () => {
  const { db, fileSystem } = await openStore({ blockSize: 1000 })
  const lengths = [0, 1, 15, 16, 40, 255, 2047, 2048, 5000, 70_000, 1 << 20, 3 << 20]
  const entries = lengths.map(
    (length, n) => [String(n).repeat(n * 7 + 1), 'ä1'.repeat(length).slice(0, length)] as const
  )
  assert.ok(await ingestAll(db, fileSystem, [entries]))
  assert.equal(
    await db.getMany(entries.map(([key]) => key)),
    entries.map(([, value]) => value)
  )
  assert.equal((await db.verify()).problems, [])
})

test('discard() removes all files of an ingest', async () => {
  const { db, fileSystem } = await openStore()
  const names = fileSystem.list('/db')
  const ingest = await db.beginIngest()
  const tables = ingestTables(ingest, fileSystem)
  assert.is(tables.bytes, 0)
  for (const list of [range(0, 100, 'a'), range(100, 200, 'b')]) {
    for (const entry of list) put(tables, entry)
    assert.ok(tables.bytes > 1000)
    await tables.flush()
    assert.is(tables.bytes, 0)
  }
  put(tables, ['in memory', ''])
  assert.ok(tableNames(fileSystem).length > 0)
  await tables.discard()
  assert.equal(fileSystem.list('/db'), names)
  assert.is(await db.get('k0007'), undefined)
})

test('open() removes tables that were never installed, and their file numbers are not reused', async () => {
  const { db, fileSystem } = await openStore()
  const ingest = await db.beginIngest()
  const tables = ingestTables(ingest, fileSystem)
  for (const entry of range(0, 100, 'a')) put(tables, entry)
  await tables.finish()
  await db.put('k0001', 'other')
  await db.flush()
  await db.compactRange('', '~')
  assert.is(tableNames(fileSystem).length, 2)
  await db.close()
  await db.open()
  assert.is(tableNames(fileSystem).length, 1)
  assert.equal(await contentOf(db), [['k0001', 'other']])
  const again = (await db.beginIngest()).takeNumbers(1)
  assert.ok(again > ingest.takeNumbers(1) - 64)
})

test('finish() rejects when the file numbers are used up', async () => {
  const { db, fileSystem } = await openStore()
  const { IngestTables } = await import('../../src/lsm/ingest/ingest-tables.ts')
  const ingest = await db.beginIngest()
  const tables = new IngestTables(ingest.plan, ingest.takeNumbers(1), 1, fileSystem)
  put(tables, ['a', '1'])
  await tables.flush()
  put(tables, ['b', '2'])
  const error = await tables.finish().then(
    () => undefined,
    (reason) => reason
  )
  assert.is(error?.code, 'LEVEL_NOT_SUPPORTED')
  await tables.discard()
  assert.equal(tableNames(fileSystem), [])
})

test('a store with value filters refuses ingests, and its lookups find what was ingested before', async () => {
  const { db, fileSystem } = await openStore()
  assert.ok(db.canIngest)
  assert.ok(db.supports.additionalMethods.beginIngest)
  const entries = Array.from({ length: 50 }, (_, n) => [`k${n}`, JSON.stringify({ color: n % 2 })] as const)
  assert.ok(await ingestAll(db, fileSystem, [entries.slice(0, 20), entries.slice(20)]))
  await db.close()
  const values = { extractor: jsonExtractor({ fields: ['color'] }) }
  const { db: other } = await openStore({ values }, fileSystem)
  assert.not(other.canIngest)
  const error = await other.beginIngest().then(
    () => undefined,
    (reason) => reason
  )
  assert.is(error?.code, 'LEVEL_NOT_SUPPORTED')
  for (const reverse of [false, true]) {
    const keys: string[] = []
    for await (const [key] of other.lookup(['color', 1], { reverse })) keys.push(key)
    assert.equal(keys.sort(), entries.flatMap(([key], n) => (n % 2 === 1 ? [key] : [])).sort())
  }
  const some: string[] = []
  for await (const [key] of other.lookup(['color', 0], { limit: 5 })) some.push(key)
  assert.is(new Set(some).size, 5)
})

test('a closed store refuses ingests', async () => {
  const { db } = await openStore()
  const ingest = await db.beginIngest()
  await db.close()
  assert.is(await ingest.install([]).catch(({ code }) => code), 'LEVEL_ABORTED')
  assert.is(await db.beginIngest().catch(({ code }) => code), 'LEVEL_DATABASE_NOT_OPEN')
  assert.throws(
    () => db.canIngest,
    (error: { code?: string }) => error.code === 'LEVEL_DATABASE_NOT_OPEN'
  )
})

test.run()
