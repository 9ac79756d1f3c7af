/** hasNothingIn() tells whether the store has, or had and may still hide, any key of some ranges. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Ingest } from '../../src/lsm/engine/ingest.ts'
import { LsmLevel, MemoryFileSystem, type StoreOptions } from '../../src/lsm/index.ts'
import { createRandom } from '../bloom/random.ts'
import { testSeed } from '../support/arbitraries.ts'
import { closeAll, closeLater } from '../support/temporary-directory.ts'
import { ingestAll, ingestTables, put, tableNames } from './ingest-helpers.ts'

test.after.each(closeAll)

async function openStore(options: StoreOptions = {}, fileSystem = new MemoryFileSystem()) {
  const db = closeLater(new LsmLevel<string, string>('/db', { autoCompaction: false, ...options, fileSystem }))
  await db.open()
  return { db, fileSystem, ingest: await db.beginIngest() }
}

type Interval = readonly [from: string, to: string]

function hasNothingIn(ingest: Ingest, ...intervals: Interval[]): Promise<boolean> {
  return ingest.hasNothingIn(intervals.map(([from, to]) => [Buffer.from(from), Buffer.from(to)]))
}

test('an empty store has nothing in any range, and every store in no range or an empty one', async () => {
  const { db, ingest } = await openStore()
  assert.is(await hasNothingIn(ingest, ['', '~']), true)
  await db.put('k', 'value')
  assert.is(await hasNothingIn(ingest), true)
  assert.is(await hasNothingIn(ingest, ['k', 'k'], ['l', 'j'], ['~', '']), true)
})

for (const isFlushed of [false, true]) {
  const where = isFlushed ? 'tables' : 'memtables'
  test(`a range begins with its first border and ends before the second, in ${where}`, async () => {
    const { db, ingest } = await openStore()
    await db.batch().put('k1', 'value').put('k3', 'value').write()
    if (isFlushed) await db.flush()
    const cases: [Interval, boolean][] = [
      [['k1', 'k2'], false],
      [['k0', 'k1'], true],
      [['k0', 'k1\0'], false],
      [['k1\0', 'k3'], true],
      [['k2', 'k3'], true],
      [['k2', 'k3\0'], false],
      [['k3', 'k4'], false],
      [['k3\0', '~'], true],
      [['', 'k'], true],
      [['', '~'], false]
    ]
    for (const [interval, expected] of cases) {
      assert.is(await hasNothingIn(ingest, interval), expected, JSON.stringify(interval))
    }
    assert.is(await hasNothingIn(ingest, ['', 'k1'], ['k2', 'k3'], ['k4', '~']), true)
    assert.is(await hasNothingIn(ingest, ['', 'k1'], ['k2', 'k3'], ['k3', '~']), false)
  })
}

test('a deleted key counts until nothing of it is left', async () => {
  const { db, ingest } = await openStore()
  await db.batch().put('a', 'value').put('k', 'value').put('z', 'value').write()
  await db.flush()
  await db.del('k')
  assert.is(await hasNothingIn(ingest, ['k', 'l']), false, 'a tombstone in the memtable')
  await db.flush()
  assert.is(await hasNothingIn(ingest, ['k', 'l']), false, 'a tombstone in a table')
  await db.compactRange('', '~')
  assert.is(await hasNothingIn(ingest, ['k', 'l']), true, 'merged')
  await db.del('never')
  assert.is(await hasNothingIn(ingest, ['n', 'o']), false, 'a tombstone of a key that never existed')
  await db.compactRange('', '~')
  assert.is(await hasNothingIn(ingest, ['n', 'o']), true)
})

test('a version that only a snapshot needs counts', async () => {
  const { db, ingest } = await openStore()
  await db.put('k', 'value')
  const snapshot = db.snapshot()
  await db.del('k')
  await db.compactRange('', '~')
  assert.is(await hasNothingIn(ingest, ['k', 'l']), false)
  assert.is(await db.get('k', { snapshot }), 'value')
  await snapshot.close()
  await db.put('k', 'again')
  await db.del('k')
  await db.compactRange('', '~')
  assert.is(await hasNothingIn(ingest, ['k', 'l']), true)
})

test('nothing is left of a range cleared at once, and it can be ingested anew', async () => {
  const { db, fileSystem, ingest } = await openStore({ partitionDepth: 1 })
  const entries = [...Array(20).keys()].map((n) => [`!a!${n}`, 'old'] as const)
  assert.ok(await ingestAll(db, fileSystem, [entries]))
  const snapshot = db.snapshot()
  assert.is(await hasNothingIn(ingest, ['!a!', '!a"']), false)
  await db.clear({ gte: '!a!', lt: '!a"' })
  assert.is(await hasNothingIn(ingest, ['!a!', '!a"']), true)
  const tables = ingestTables(ingest, fileSystem)
  for (const [key] of entries) put(tables, [key, 'new'])
  assert.ok(await ingest.install(await tables.finish(), () => true))
  assert.equal(new Set(await db.values().all()), new Set(['new']))
  assert.equal(new Set(await db.values({ snapshot }).all()), new Set(['old']))
  await snapshot.close()
  await db.close()
  await db.open()
  assert.equal(new Set(await db.values().all()), new Set(['new']))
  assert.is(tableNames(fileSystem).length, 1)
})

test('it opens few tables, and leaves none pinned', async () => {
  const { db, ingest } = await openStore({ maxOpenFiles: 2 })
  for (let n = 100; n < 160; n++) {
    await db.put(`k${n}`, 'value')
    await db.flush()
  }
  for (let n = 100; n < 160; n++) {
    assert.is(await hasNothingIn(ingest, [`k${n}`, `k${n}x`]), false)
    assert.is(await hasNothingIn(ingest, [`k${n}x`, `k${n}y`]), true)
  }
  assert.is(await hasNothingIn(ingest, ['', '~']), false)
  await db.clear({ gte: 'k110', lt: 'k150' })
  for await (const key of db.keys()) if (key > 'k152') break
  await db.get('k100')
  await db.get('k159')
  assert.ok(db.stats().openTables <= 2, `${db.stats().openTables} open tables`)
})

test('in random histories it says yes only of ranges without any entry, and always once these are merged away', async () => {
  const seed = testSeed()
  const random = createRandom(seed)
  const keyOf = (n: number): string => `k${10 + n}`
  let merged = 0
  for (let history = 0; history < 30; history++) {
    const { db, ingest } = await openStore({
      writeBufferSize: 300 + random.below(2000),
      maxFileSize: 500,
      level1Bytes: 1000,
      level0CompactionTrigger: 2,
      autoCompaction: random.below(2) === 0,
      level0StopTrigger: 1000
    })
    const written = new Set<string>()
    const live = new Set<string>()
    for (let step = 0; step < 40; step++) {
      const where = `seed ${seed}, history ${history}, step ${step}`
      const key = keyOf(random.below(60))
      const dice = random.below(10)
      if (dice < 4) {
        written.add(key)
        live.add(key)
        await db.put(key, 'x'.repeat(random.below(100)))
      } else if (dice < 6) {
        written.add(key)
        live.delete(key)
        await db.del(key)
      } else if (dice < 7) {
        await db.flush()
      } else if (dice < 8) {
        await db.compactRange('', '~')
        merged++
        for (let n = 0; n < 60; n++) {
          const isNew = await hasNothingIn(ingest, [keyOf(n), `${keyOf(n)}\0`])
          assert.is(isNew, !live.has(keyOf(n)), `${where}: ${keyOf(n)}`)
        }
        for (const known of written) if (!live.has(known)) written.delete(known)
      } else {
        const [from = 0, to = 0] = [random.below(60), random.below(60)].sort((a, b) => a - b)
        const isNew = await hasNothingIn(ingest, [keyOf(from), keyOf(to)])
        const has = (set: ReadonlySet<string>) => [...set].some((each) => each >= keyOf(from) && each < keyOf(to))
        if (isNew) assert.not.ok(has(live), where)
        else assert.ok(has(written), where)
        if (!has(written)) assert.ok(isNew, where)
      }
    }
    await db.close()
  }
  assert.ok(merged > 30)
})

test('after close() nothing is read', async () => {
  const { db, ingest } = await openStore()
  await db.put('k', 'value')
  await db.close()
  const isClosed = (error: Error & { code?: string }): boolean => error.code === 'LEVEL_DATABASE_NOT_OPEN'
  await hasNothingIn(ingest, ['k', 'l']).then(
    () => assert.unreachable(),
    (error) => assert.ok(isClosed(error), error)
  )
  assert.throws(() => ingest.shareView(Buffer.from('k'), Buffer.from('l')), isClosed)
})

test.run()
