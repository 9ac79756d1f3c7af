import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { jsonExtractor, LsmLevel, type LsmOptions, MemoryFileSystem } from '../../src/lsm/index.ts'
import { seededRandom } from '../bloom/random.ts'
import { closeAll, closeLater, temporaryDirectory } from '../support/temporary-directory.ts'

interface Tweet {
  readonly user: string
  readonly time: number
  readonly tags: readonly string[]
}

const extractor = jsonExtractor({ fields: ['user', 'tags'], zones: ['time'] })
const options: LsmOptions<string, Tweet> = {
  valueEncoding: 'json',
  writeBufferSize: 16 * 1024,
  maxFileSize: 16 * 1024,
  level1Bytes: 64 * 1024,
  values: { extractor, filterBits: 1 << 13, blockFilterBits: 8 }
}

function open(location = temporaryDirectory(), more: LsmOptions<string, Tweet> = {}): LsmLevel<string, Tweet> {
  return closeLater(new LsmLevel<string, Tweet>(location, { ...options, ...more }))
}

const keyOf = (n: number): string => `tweet ${String(n).padStart(5, '0')}`
const tweetOf = (n: number, random: { below(n: number): number }): Tweet => ({
  user: `user ${random.below(50)}`,
  time: n,
  tags: [`tag ${random.below(200)}`, 'all']
})

async function all<T>(entries: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = []
  for await (const entry of entries) list.push(entry)
  return list
}

/** Keys of a full scan, newest write first. */
async function scan(
  db: LsmLevel<string, Tweet>,
  order: ReadonlyMap<string, number>,
  matches: (tweet: Tweet) => boolean
): Promise<string[]> {
  const keys = (await db.iterator().all()).filter(([, tweet]) => matches(tweet)).map(([key]) => key)
  return keys.sort((a, b) => (order.get(b) ?? 0) - (order.get(a) ?? 0))
}

test('lookups find what full scans find, through flushes, merges, deletions and reopening, on disk and in memory', async () => {
  for (const more of [
    {},
    { fileSystem: new MemoryFileSystem() },
    { values: { extractor, placement: 'side-file' } }
  ] as const) {
    const random = seededRandom()
    const location = 'fileSystem' in more ? '/db' : temporaryDirectory()
    let db = open(location, more)
    const order = new Map<string, number>()
    let writes = 0
    for (let round = 0; round < 4; round++) {
      for (let i = 0; i < 60; i++) {
        const batch = Array.from({ length: 20 }, () => {
          const key = keyOf(random.below(1500))
          order.set(key, ++writes)
          return random.below(4) === 0
            ? ({ type: 'del', key } as const)
            : ({ type: 'put', key, value: tweetOf(writes, random) } as const)
        })
        await db.batch(batch)
      }
      if (round === 1) await db.compactRange('', '~')
      if (round === 2) {
        await db.close()
        db = open(location, more)
      }
      for (const user of ['user 3', 'user 30', 'nobody']) {
        const expected = await scan(db, order, (tweet) => tweet.user === user)
        assert.equal(
          (await all(db.lookup(['user', user]))).map(([key]) => key),
          expected
        )
        assert.equal(
          (await all(db.lookup(['user', user], { limit: 3 }))).map(([key]) => key),
          expected.slice(0, 3)
        )
      }
      const [low, high] = [writes - 300, writes - 200]
      assert.equal(
        (await all(db.rangeLookup('time', low, high))).map(([key]) => key),
        await scan(db, order, ({ time }) => time >= low && time <= high)
      )
      const { ranges, tables, pruned } = await db.keyRanges([['tags', 'tag 7']])
      for (const key of await scan(db, order, ({ tags }) => tags.includes('tag 7'))) {
        assert.ok(
          ranges.some(({ smallest, largest }) => `${Buffer.from(smallest)}` <= key && key <= `${Buffer.from(largest)}`)
        )
      }
      assert.ok(pruned <= tables)
    }
    const stats = db.valueStats()
    assert.ok((stats?.tables ?? 0) > 0)
    assert.is(stats?.withoutFilter, 0, JSON.stringify(stats))
  }
})

test('a lookup sees the state at its first step, or its snapshot', async () => {
  const db = open()
  const random = seededRandom()
  await db.put('a', { ...tweetOf(1, random), user: 'x' })
  const snapshot = db.snapshot()
  await db.put('a', { ...tweetOf(2, random), user: 'y' })
  await db.put('b', { ...tweetOf(3, random), user: 'x' })
  const entries = db.lookup(['user', 'x'])
  const first = await entries.next()
  assert.is(first.value?.[0], 'b')
  await db.put('c', { ...tweetOf(4, random), user: 'x' })
  assert.equal(await all(entries), [])
  assert.equal(
    (await all(db.lookup(['user', 'x'], { snapshot }))).map(([key, { time }]) => [key, time]),
    [['a', 1]]
  )
  await snapshot.close()
  try {
    await all(db.lookup(['user', 'x'], { snapshot }))
    assert.unreachable()
  } catch (error) {
    assert.is((error as { code?: string }).code, 'LEVEL_SNAPSHOT_NOT_OPEN')
  }
})

test('a lookup may begin before the database is open, and rejects once it is closed', async () => {
  const location = temporaryDirectory()
  const first = open(location)
  for (let i = 0; i < 50; i++) await first.put(keyOf(i), { user: 'x', time: i, tags: [] })
  await first.close()

  const db = open(location)
  const entries = db.lookup(['user', 'x'])
  assert.is((await entries.next()).value?.[0], keyOf(49))
  const pending = db.lookup(['user', 'x'])
  await pending.next()
  await db.close()
  for (const ended of [entries, pending]) {
    try {
      await ended.next()
      assert.unreachable()
    } catch (error) {
      assert.is((error as { code?: string }).code, 'LEVEL_DATABASE_NOT_OPEN')
    }
  }
})

test('lookups use the requested encodings, and a prefix restricts them to a sublevel', async () => {
  const db = open()
  const sublevel = db.sublevel<string, Tweet>('inner', { valueEncoding: 'json' })
  await db.put('outer', { user: 'x', time: 1, tags: [] })
  await sublevel.put('in', { user: 'x', time: 2, tags: [] })
  assert.equal(
    (await all(db.lookup(['user', 'x'], { prefix: sublevel.prefix }))).map(([key]) => key),
    ['!inner!in']
  )
  const [entry] = await all(db.lookup(['user', 'x'], { limit: 1, keyEncoding: 'buffer', valueEncoding: 'utf8' }))
  assert.equal(entry as unknown, [Buffer.from('!inner!in'), '{"user":"x","time":2,"tags":[]}'])
  const { ranges } = await db.keyRanges([['user', 'x']], { prefix: '!inner!' })
  assert.equal(
    ranges.map(({ smallest }) => Buffer.from(smallest).toString()),
    ['!inner!in']
  )
})

test('limits of lookups mean what those of iterators mean: Infinity and -1 are none', async () => {
  const db = open()
  for (let n = 0; n < 5; n++) await db.put(keyOf(n), { user: 'x', time: n, tags: [] })
  for (const limit of [undefined, -1, Number.POSITIVE_INFINITY, 0, 3]) {
    const expected = (await db.keys(limit === undefined ? {} : { limit }).all()).length
    assert.is((await all(db.lookup(['user', 'x'], { limit }))).length, expected, `lookup, ${limit}`)
    assert.is((await all(db.rangeLookup('time', 0, 9, { limit }))).length, expected, `rangeLookup, ${limit}`)
  }
})

test('lookup() rejects without the option values; if it is set later, rebuildFilters() makes the filters', async () => {
  const location = temporaryDirectory()
  const plain = closeLater(new LsmLevel<string, Tweet>(location, { valueEncoding: 'json' }))
  for (let i = 0; i < 500; i++) await plain.put(keyOf(i), { user: `user ${i}`, time: i, tags: [] })
  await plain.flush()
  try {
    await plain.lookup(['user', 'user 7']).next()
    assert.unreachable()
  } catch (error) {
    assert.is((error as { code?: string }).code, 'LEVEL_NOT_SUPPORTED')
  }
  await plain.close()

  const db = open(location)
  assert.is((await all(db.lookup(['user', 'user 7']))).length, 1)
  assert.is(db.valueStats()?.withoutFilter, 1)
  assert.equal(await db.rebuildFilters(), { tables: 1, rebuilt: 1 })
  assert.is((await all(db.lookup(['user', 'user 7']))).length, 1)
  assert.equal(await all(db.lookup(['user', 'nobody'])), [])
  assert.is(db.valueStats()?.withoutFilter, 0)
  assert.equal(await db.rebuildFilters(), { tables: 1, rebuilt: 0 })
})

test('open() rejects if the extractor cannot be loaded', async () => {
  const location = temporaryDirectory()
  const db = new LsmLevel(location, { values: { extractor: { module: 'file:///nowhere.js', name: 'n', version: 1 } } })
  try {
    await db.open()
    assert.unreachable()
  } catch (error) {
    assert.is((error as { cause?: { code?: string } }).cause?.code, 'LEVEL_NOT_SUPPORTED')
  }
})

test.after(closeAll)
test.run()
