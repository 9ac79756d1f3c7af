/** clear() of ranges that are whole tables drops them at once: without a flush, and without tombstones. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { LsmLevel, MemoryFileSystem, type StoreOptions } from '../../src/lsm/index.ts'
import { type Call, FaultyFileSystem } from '../support/faulty-file-system.ts'
import { nextTurn } from '../support/lsm-crash-points.ts'
import { closeAll, closeLater } from '../support/temporary-directory.ts'
import { ingestAll, ingestTables, put, range, tableNames } from './ingest-helpers.ts'

test.after.each(closeAll)

type Store = LsmLevel<string, string>

const middle = { gte: 'k0020', lt: 'k0030' }

/** A store with the keys k0010 to k0039 in three tables of ten, the second of which is the range `middle`. */
async function openStore(options: StoreOptions = {}, after?: (call: Call) => void) {
  const fileSystem = new FaultyFileSystem(new MemoryFileSystem(), after === undefined ? {} : { after })
  const db = closeLater(
    new LsmLevel<string, string>('/db', { blockSize: 100, autoCompaction: false, ...options, fileSystem })
  )
  await db.open()
  for (let from = 10; from < 40; from += 10) await write(db, from, from + 10)
  return { db, fileSystem }
}

async function write(db: Store, from: number, to: number, value = 'value'): Promise<void> {
  await db.batch(range(from, to, value).map(([key, value]) => ({ type: 'put', key, value })))
  await db.flush()
}

/** Tables dropped, memtables flushed and bytes logged meanwhile. */
async function costOf(db: Store, call: () => Promise<unknown>) {
  const before = db.stats().writes
  await call()
  const after = db.stats().writes
  return {
    dropped: after.droppedTables - before.droppedTables,
    flushes: after.flushes - before.flushes,
    logged: after.loggedBytes - before.loggedBytes
  }
}

/** Asserts that these keys are left, also after a reopen and a merge of everything. */
async function hasKeys(db: Store, keys: readonly string[]): Promise<void> {
  const check = async (when: string) => {
    assert.equal(await db.keys().all(), [...keys].sort(), when)
    assert.equal((await db.verify()).problems, [], when)
  }
  await check('at once')
  await db.close()
  await db.open()
  await check('reopened')
  await db.compactRange('', '~')
  await check('merged')
}

const keysOf = (from: number, to: number): string[] => range(from, to, '').map(([key]) => key)
const outside = [...keysOf(10, 20), ...keysOf(30, 40)]

const atOnce: Record<string, (db: Store, fileSystem: FaultyFileSystem) => Promise<string[]>> = {
  'nothing else is there': async () => [],
  'the memtable has keys on both sides of it': async (db) => {
    await db.batch().put('k0019x', 'value').put('k0030', 'newer').del('a').write()
    return ['k0019x']
  },
  'memtables wait for their flush': async (db) => {
    await db.put('k0015x', 'x'.repeat(2000))
    await db.put('k0035x', 'value')
    return ['k0015x', 'k0035x']
  },
  'a table has keys on both sides of it': async (db) => {
    await db.batch().put('k0001', 'value').put('k0019', 'newer').put('k0030', 'newer').del('k0055').write()
    await db.flush()
    return ['k0001']
  },
  'a table begins right after it': async (db) => {
    await db.batch().put('k0030', 'newer').put('k0030x', 'value').write()
    await db.flush()
    return ['k0030x']
  },
  'older and newer versions are in tables within it, too': async (db) => {
    await db.compactRange('k0020', 'k0029')
    await write(db, 22, 25)
    await db.batch().del('k0027').del('k0028x').write()
    await db.flush()
    return []
  },
  'it has ingested tables': async (db, fileSystem) => {
    assert.ok(await ingestAll(db, fileSystem, [[['k0020x', 'ingested']], [['k0021x', 'ingested']]]))
    return []
  }
}

for (const [where, prepare] of Object.entries(atOnce)) {
  test(`a clear of whole tables neither flushes nor writes, where ${where}`, async () => {
    const { db, fileSystem } = await openStore({ writeBufferSize: 1000, maxFileSize: 1 << 20 })
    const added = await prepare(db, fileSystem)
    const { flushes, logged, dropped } = await costOf(db, () => db.clear(middle))
    // A memtable that was full before may be flushed meanwhile.
    assert.ok(flushes === 0 || where.includes('wait'), `${flushes} flushes`)
    assert.is(logged, 0)
    assert.ok(dropped > 0)
    await hasKeys(db, [...outside, ...added])
  })
}

const notAtOnce: Record<string, (db: Store) => Promise<unknown>> = {
  'a key is in the memtable': (db) => db.put('k0025', 'newer'),
  'a deleted key is in the memtable': (db) => db.del('k0025'),
  'a deleted key that never existed is in the memtable': (db) => db.del('k0025x'),
  'a table across its border has a key': async (db) => {
    await db.batch().put('k0005', 'value').put('k0029', 'newer').write()
    await db.flush()
    await db.del('k0005')
  },
  'a table across both borders has a deleted key': async (db) => {
    await db.batch().del('k0005').del('k0025').del('k0050').write()
    await db.flush()
  }
}

for (const [where, prepare] of Object.entries(notAtOnce)) {
  for (const writeBufferSize of [1000, 1 << 20]) {
    test(`with memtables of ${writeBufferSize} bytes, a clear leaves no key and none comes back, where ${where}`, async () => {
      const { db } = await openStore({ writeBufferSize, maxFileSize: 1 << 20 })
      await prepare(db)
      await db.clear(middle)
      await hasKeys(db, outside)
    })
  }
}

test('all forms of the same range are cleared at once; part of a table is not', async () => {
  const forms = [
    middle,
    { gt: 'k0019', lte: 'k0029' },
    { gt: 'k0019x', lt: 'k0029x' },
    { ...middle, reverse: true },
    { ...middle, limit: -1 }
  ]
  for (const form of forms) {
    const { db } = await openStore()
    assert.equal(await costOf(db, () => db.clear(form)), { dropped: 1, flushes: 0, logged: 0 }, JSON.stringify(form))
    await hasKeys(db, outside)
  }
  const { db } = await openStore()
  const { dropped } = await costOf(db, () => db.clear({ gt: 'k0020', lt: 'k0030' }))
  assert.is(dropped, 0)
  await hasKeys(db, [...outside, 'k0020'])
})

test('with a limit, as many keys go as it says, from the end where the range begins', async () => {
  for (const reverse of [false, true]) {
    const { db } = await openStore()
    const { dropped } = await costOf(db, () => db.clear({ gte: 'k0015', lt: 'k0035', limit: 10, reverse }))
    assert.is(dropped, 0)
    await hasKeys(db, reverse ? [...keysOf(10, 25), ...keysOf(35, 40)] : [...keysOf(10, 15), ...keysOf(25, 40)])
  }
})

test('with a snapshot, its keys go, even if they were written again since', async () => {
  const { db } = await openStore()
  const snapshot = db.snapshot()
  await db.batch().put('k0025', 'newer').put('k0025x', 'new').write()
  const { dropped } = await costOf(db, () => db.clear({ ...middle, snapshot }))
  assert.is(dropped, 0)
  await snapshot.close()
  await hasKeys(db, [...outside, 'k0025x'])
})

test('of clears of the same range at the same time, none writes tombstones', async () => {
  const { db } = await openStore()
  const cost = await costOf(db, () => Promise.all([1, 2, 3].map(() => db.clear(middle))))
  assert.equal(cost, { dropped: 1, flushes: 0, logged: 0 })
  await hasKeys(db, outside)
})

test('an iterator and a snapshot from before keep their tables, whose files go with them', async () => {
  const { db, fileSystem } = await openStore({ maxOpenFiles: 1 })
  const iterator = db.keys()
  const snapshot = db.snapshot()
  await db.clear(middle)
  assert.is(tableNames(fileSystem).length, 3)
  assert.equal(await iterator.all(), keysOf(10, 40))
  assert.is(await db.get('k0025', { snapshot }), 'value 25')
  await iterator.close()
  assert.is(tableNames(fileSystem).length, 3)
  assert.equal(await db.keys({ snapshot }).all(), keysOf(10, 40))
  await snapshot.close()
  for (let turn = 0; turn < 100 && tableNames(fileSystem).length > 2; turn++) await nextTurn()
  assert.is(tableNames(fileSystem).length, 2)
  await hasKeys(db, outside)
})

for (const moment of ['sync of the log', 'edit of the manifest']) {
  test(`what is put, flushed or ingested at the ${moment} of a clear is kept`, async () => {
    for (const isFlushed of [false, true]) {
      const during: Promise<unknown>[] = []
      let isClearing = false
      const { db, fileSystem } = await openStore({}, ({ operation, path }) => {
        if (!isClearing || operation !== (moment.startsWith('sync') ? 'sync' : 'write')) return
        if (path.includes('MANIFEST') !== moment.includes('manifest')) return
        isClearing = false
        during.push(db.put('k0025', 'newer'), db.put('k0025x', 'new'))
        if (isFlushed) during.push(db.flush())
        during.push(ingestAll(db, fileSystem, [[['k0026x', 'ingested']], [['k0045x', 'ingested']]]))
      })
      // Unsynced, so that the clear has something to sync.
      await db.put('a', 'value')
      isClearing = true
      await db.clear(middle)
      assert.is(during.length, isFlushed ? 4 : 3)
      assert.is((await Promise.all(during)).at(-1), true)
      assert.equal(await db.getMany(['k0025', 'k0025x', 'k0026x']), ['newer', 'new', 'ingested'])
      await hasKeys(db, [...outside, 'a', 'k0025', 'k0025x', 'k0026x', 'k0045x'])
    }
  })
}

test('a small range is cleared without waiting for a merge of other tables', async () => {
  const { db } = await openStore()
  await write(db, 100, 5_000, 'x'.repeat(500))
  let isMerged = false
  const merged = db.compactRange('k0100', 'k4999').then(() => {
    isMerged = true
  })
  await nextTurn()
  await db.clear(middle)
  assert.not.ok(isMerged)
  await merged
  await hasKeys(db, [...outside, ...keysOf(100, 5_000)])
})

/** As openStore(), but what is in the range `middle` is worth waiting for a merge, which takes many turns. */
async function openLarge() {
  const { db } = await openStore({ compression: false })
  await write(db, 20, 30, 'x'.repeat(5000))
  await write(db, 100, 5_000, 'x'.repeat(500))
  return db
}

test('while a clear waits for a merge of other tables, a table of newer entries in the range is kept', async () => {
  const db = await openLarge()
  const merged = db.compactRange('k0100', 'k4999')
  await nextTurn()
  const cost = await costOf(db, async () => {
    const done = db.clear(middle)
    for (let turn = 0; turn < 4; turn++) await nextTurn()
    await db.put('k0025', 'newer')
    await Promise.all([done, merged, db.flush()])
  })
  assert.equal([cost.dropped, cost.flushes], [2, 1])
  assert.is(await db.get('k0025'), 'newer')
  await hasKeys(db, [...outside, 'k0025', ...keysOf(100, 5_000)])
})

test('a clear that waits for a merge of its tables with others deletes the keys in the result', async () => {
  const db = await openLarge()
  const merged = db.compactRange('', '~')
  await nextTurn()
  await db.clear(middle)
  await merged
  await hasKeys(db, [...outside, ...keysOf(100, 5_000)])
})

test('tables whose ingest began before a clear, and ends after its beginning, are kept', async () => {
  const { db, fileSystem } = await openStore()
  const ingest = await db.beginIngest()
  const tables = ingestTables(ingest, fileSystem)
  put(tables, ['k0025x', 'ingested'])
  const metas = await tables.finish()
  const [isInstalled] = await Promise.all([ingest.install(metas), db.clear(middle)])
  assert.ok(isInstalled)
  await hasKeys(db, [...outside, 'k0025x'])
})

test.run()
