import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { EncodedBatch, jsonExtractor, LsmLevel, type LsmOptions, MemoryFileSystem } from '../../src/lsm/index.ts'
import { loadExtractor } from '../../src/lsm/value/load-extractor.ts'
import { seededRandom } from '../bloom/random.ts'
import { closeAll, closeLater, temporaryDirectory } from '../support/temporary-directory.ts'

interface Tweet {
  readonly user: string
  readonly tags: readonly string[]
}

const extractor = jsonExtractor({ fields: ['user', 'tags'] })
const loaded = await loadExtractor(extractor)
const options: LsmOptions<string, Tweet> = {
  valueEncoding: 'json',
  writeBufferSize: 16 * 1024,
  maxFileSize: 16 * 1024,
  level1Bytes: 64 * 1024,
  values: { extractor, filterBits: 1 << 13, blockFilterBits: 8 }
}

function open(location: string, more: LsmOptions<string, Tweet> = {}): LsmLevel<string, Tweet> {
  return closeLater(new LsmLevel<string, Tweet>(location, { ...options, ...more }))
}

/** The hashes that the extractor emits for a tweet. */
function hashesOf({ user, tags }: Tweet): Int32Array {
  const pairs = [['user', user], ...tags.map((tag) => ['tags', tag])]
  const hashes = new Int32Array(2 * pairs.length)
  for (const [i, pair] of pairs.entries()) loaded.hash(pair, hashes.subarray(2 * i, 2 * i + 2))
  return hashes
}

async function keysWith(db: LsmLevel<string, Tweet>, pair: readonly [string, string]): Promise<string[]> {
  const keys: string[] = []
  for await (const [key] of db.lookup(pair)) keys.push(key)
  return keys.sort()
}

async function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => assert.unreachable('It did not reject'),
    (error: unknown) => error
  )
}

test('put() of an encoded batch accepts hashes', async () => {
  const db = open(temporaryDirectory())
  await db.open()
  const [a, b] = ['ann', 'bob'].map((user) => ({ user, tags: ['all'] }))
  const batch = new EncodedBatch()
  const put = (key: string, tweet: Tweet, hashes?: Int32Array) =>
    batch.put(Buffer.from(key), Buffer.from(JSON.stringify(tweet)), undefined, hashes)
  for (let n = 0; n < 2; n++) {
    put(`${n} plain`, b!)
    batch.del(Buffer.from('none'))
    // Filters take the value for one of ann's, as they trust the hashes; a lookup then reads it and rejects it.
    put(`${n} told`, b!, hashesOf(a!))
    await db.write(batch)
    batch.clear()
  }
  assert.equal(await keysWith(db, ['user', 'bob']), ['0 plain', '1 plain'])
  assert.throws(() => put('wrong', a!, new Int32Array(3)), /hashes/)
  put('right', a!, hashesOf(a!))
  await db.write(batch)
  assert.equal(await keysWith(db, ['user', 'ann']), ['right'])
  await db.flush()
  assert.equal(await keysWith(db, ['tags', 'all']), ['0 plain', '0 told', '1 plain', '1 told', 'right'])
})

test('lookups find what full scans find, with hashes or without: in memtables, tables, after merges and reopening', async () => {
  for (const more of [{}, { fileSystem: new MemoryFileSystem() }]) {
    const random = seededRandom()
    const location = 'fileSystem' in more ? '/db' : temporaryDirectory()
    let db = open(location, more)
    for (let round = 0; round < 4; round++) {
      for (let i = 0; i < 40; i++) {
        const operations = Array.from({ length: 1 + random.below(20) }, () => {
          const key = `tweet ${random.below(800)}`
          const value = { user: `user ${random.below(50)}`, tags: [`tag ${random.below(200)}`, 'all'] }
          const hashes = random.below(2) === 0 ? hashesOf(value) : undefined
          if (random.below(5) === 0) return { type: 'del', key } as const
          return { type: 'put', key, value, hashes } as const
        })
        const [first] = operations
        if (first?.type === 'put') await db.put(first.key, first.value, { hashes: first.hashes })
        await db.batch(operations)
        // The caller may change its arrays.
        for (const operation of operations) if (operation.type === 'put') operation.hashes?.fill(7)
      }
      if (round === 1) await db.compactRange('', '~')
      if (round === 2) {
        await db.close()
        db = open(location, more)
      }
      const tweets = await db.iterator().all()
      for (const user of ['user 3', 'user 30', 'nobody']) {
        const expected = tweets.flatMap(([key, value]) => (value.user === user ? [key] : []))
        assert.equal(await keysWith(db, ['user', user]), expected.sort(), user)
      }
      for (const tag of ['tag 5', 'none']) {
        const expected = tweets.flatMap(([key, value]) => (value.tags.includes(tag) ? [key] : []))
        assert.equal(await keysWith(db, ['tags', tag]), expected.sort(), tag)
      }
    }
    await db.close()
  }
})

test('the extractor does not run for entries with hashes, in memtables and in tables', async () => {
  const db = open('/db', { fileSystem: new MemoryFileSystem() })
  const value = { user: 'one', tags: [] }
  await db.put('with', value, { hashes: new Int32Array(0) })
  await db.sublevel<string, Tweet>('some', { valueEncoding: 'json' }).put('within', value, {
    hashes: new Int32Array(0)
  } as object)
  assert.equal(await keysWith(db, ['user', 'one']), [], 'what is left out is not found')
  await db.flush()
  assert.equal(await keysWith(db, ['user', 'one']), [])
  await db.put('without', value)
  assert.equal(await keysWith(db, ['user', 'one']), ['without'])
  await db.close()
})

test('hashes are ignored without value filters, and if there are zone maps', async () => {
  const zoned = { ...options.values, extractor: jsonExtractor({ fields: ['user'], zones: ['tags'] }) }
  const db = open('/db', { fileSystem: new MemoryFileSystem(), values: zoned })
  await db.put('k', { user: 'one', tags: [] }, { hashes: new Int32Array(0) })
  await db.flush()
  assert.equal(await keysWith(db, ['user', 'one']), ['k'])
  await db.close()
  const plain = new LsmLevel<string, string>('/plain', { fileSystem: new MemoryFileSystem() })
  await plain.put('k', 'v', { hashes: new Int32Array(1) })
  assert.is(await plain.get('k'), 'v')
  await plain.close()
})

test('invalid hashes are rejected, and nothing is written', async () => {
  const db = open('/db', { fileSystem: new MemoryFileSystem() })
  const value = { user: 'one', tags: [] }
  for (const hashes of [new Int32Array(3), [1, 2] as unknown as Int32Array]) {
    assert.instance(await rejection(db.put('k', value, { hashes })), TypeError)
    assert.instance(await rejection(db.batch([{ type: 'put', key: 'k', value, hashes }])), TypeError)
  }
  assert.equal(await db.keys().all(), [])
  await db.close()
})

test.after(closeAll)
test.run()
