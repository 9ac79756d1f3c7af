/** Compaction comes to rest and stays there, whatever the options: an endless merge would occupy processor and disk. */
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { jsonExtractor, LsmLevel } from '../../src/lsm/index.ts'
import type { StoreOptions } from '../../src/lsm/options.ts'
import { randomFrom } from '../support/random.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { seedOfRun } from '../support/values.ts'

const seed = seedOfRun()

type Db = LsmLevel<string, object>

const tiny: StoreOptions = { level0CompactionTrigger: 1, writeBufferSize: 1, maxFileSize: 1, level1Bytes: 1 }
const extractor = jsonExtractor({ fields: ['n'], zones: ['time'] })

const optionSets: Readonly<Record<string, StoreOptions>> = {
  'a trigger of one run': { level0CompactionTrigger: 1 },
  'a trigger of one run and small memtables': { level0CompactionTrigger: 1, writeBufferSize: 2000 },
  'the smallest of everything': { ...tiny, blockSize: 1, blockRestartInterval: 1 },
  'the smallest tables and no filters': { ...tiny, writeBufferSize: 1000, keyFilterBits: 0, compression: false },
  'the smallest levels and large key filters': { ...tiny, maxFileSize: 1000, keyFilterBits: 1000 },
  'value filters larger than a table': { ...tiny, maxFileSize: 1000, values: { extractor } },
  'value filters of one bit': { ...tiny, values: { extractor, filterBits: 1, filterHashes: 1, levels: 'not-last' } },
  'value filters beside their tables': { ...tiny, values: { extractor, filterBits: 64, placement: 'side-file' } },
  'partitions and a trigger of one run': { level0CompactionTrigger: 1, writeBufferSize: 500, partitionDepth: 2 }
}

/** Everything that background work counts. */
function workOf(db: Db): string {
  const { writes, levels } = db.stats()
  const { flushes, movedTables, failedJobs } = writes
  return JSON.stringify({ flushes, movedTables, failedJobs, merges: levels.map(({ merges }) => merges) })
}

/** @param quiet milliseconds without work; after opening, it takes a moment before any is looked for */
async function assertComesToRest(db: Db, quiet = 150): Promise<void> {
  const deadline = performance.now() + 20_000
  let quietSince = performance.now()
  for (let before = workOf(db); performance.now() - quietSince < quiet; await sleep(10)) {
    const now = workOf(db)
    if (now !== before) quietSince = performance.now()
    if (performance.now() > deadline) {
      // Otherwise the process would never end.
      await db.close()
      assert.unreachable(`still at work: ${now}`)
    }
    before = now
  }
  assert.is(db.stats().lastError, undefined)
}

/** Puts, deletes, batches and cleared ranges in several partitions. */
async function writeSome(db: Db, operations: number, random: () => number): Promise<void> {
  const key = () =>
    ['', '!a!', '!b!', '!b!!c!', '!d', '~'][Math.floor(random() * 6)] + String(Math.floor(random() * 200))
  const value = () => ({ n: Math.floor(random() * 9), time: random(), text: 'x'.repeat(random() * 100) })
  for (let i = 0; i < operations; i++) {
    const kind = random()
    if (kind < 0.6) await db.put(key(), value())
    else if (kind < 0.8) await db.del(key())
    else if (kind < 0.95) await db.batch([...'abcd'].map(() => ({ type: 'put' as const, key: key(), value: value() })))
    else await db.clear({ gte: key(), limit: 50 })
  }
}

for (const [name, options] of Object.entries(optionSets)) {
  test(`compaction comes to rest and stays there with ${name}`, async () => {
    const random = randomFrom(seed)
    const location = temporaryDirectory()
    for (const operations of [3, 25]) {
      const db: Db = new LsmLevel(location, { ...options, valueEncoding: 'json' })
      await writeSome(db, operations, random)
      const snapshot = db.snapshot()
      await writeSome(db, operations, random)
      await db.flush()
      await assertComesToRest(db)
      await snapshot.close()
      await db.put('last', {})
      await db.flush()
      await assertComesToRest(db)
      await db.close()
    }
    const reopened: Db = new LsmLevel(location, { ...options, valueEncoding: 'json' })
    await reopened.open()
    await assertComesToRest(reopened, 500)
    await reopened.close()
  })
}

test('tables of a store with other options come to rest, too', async () => {
  const random = randomFrom(seed + 1)
  const location = temporaryDirectory()
  for (const options of [...Object.values(optionSets), {}]) {
    const db: Db = new LsmLevel(location, { ...options, valueEncoding: 'json' })
    await writeSome(db, 20, random)
    await assertComesToRest(db)
    await db.close()
  }
})

test('merges that were left to do at closing are done after opening, without a write', async () => {
  const location = temporaryDirectory()
  const idle: Db = new LsmLevel(location, { autoCompaction: false, valueEncoding: 'json' })
  for (let round = 0; round < 6; round++) {
    await idle.put('key', { round })
    await idle.flush()
  }
  assert.is(idle.stats().levels[0]?.tables, 6)
  await idle.close()
  const db: Db = new LsmLevel(location, { level0CompactionTrigger: 2, valueEncoding: 'json' })
  await db.open()
  assert.is(db.stats().levels[0]?.tables, 6)
  await assertComesToRest(db, 500)
  assert.is(db.stats().levels[0]?.tables, 0)
  assert.equal(await db.get('key'), { round: 5 })
  await db.close()
})

test('a store that is always closed a moment after it was opened does not get more and more tables', async () => {
  const use: Readonly<Record<string, (db: Db) => Promise<unknown>>> = {
    nothing: async () => undefined,
    get: (db) => db.get('key 0'),
    put: (db) => db.put('key 6', {})
  }
  // Only what has been written makes more tables: in a log that is replayed at the next opening, or now.
  for (const [isReplayed, name, left] of [
    [true, 'nothing', 0],
    [false, 'put', 0],
    [false, 'get', 6]
  ] as const) {
    const location = temporaryDirectory()
    const idle: Db = new LsmLevel(location, { autoCompaction: false, valueEncoding: 'json' })
    for (let round = 0; round < 6; round++) {
      await idle.put(`key ${round}`, { round })
      await idle.flush()
    }
    if (isReplayed) await idle.put('last', {})
    await idle.close()
    const db: Db = new LsmLevel(location, { level0CompactionTrigger: 2, valueEncoding: 'json' })
    await db.open()
    await use[name]!(db)
    await db.close()
    const after: Db = new LsmLevel(location, { autoCompaction: false, valueEncoding: 'json' })
    await after.open()
    const added = name === 'put' ? 1 : 0
    assert.is(after.stats().levels[0]?.tables, left + added, `${name} ${isReplayed}`)
    await after.close()
  }
})

test.run()
