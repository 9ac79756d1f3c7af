import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Level } from 'level'
import { MemoryLevel } from 'memory-level'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { AbortedError, type Document, type OpenOptions, open, type VerifyProgress } from '../../src/index.ts'
import { LsmLevel } from '../../src/lsm/index.ts'
import { scratchPath } from './scratch.ts'

const documents = (count: number): Document[] =>
  Array.from({ length: count }, (_, i) => ({ _id: i, n: i % 7, text: `number ${i}`, at: new Date(i) }))

for (const store of ['lsm', 'level'] as const) {
  for (const index of ['sharded', 'none'] as const) {
    test(`a sound database on ${store} with index ${index} has no problem, even during writes`, async () => {
      const db = await open(scratchPath(), { store, index })
      await db.insertMany(documents(3000))
      await db.deleteMany({ n: 3 })
      await db.updateMany({ n: 4 }, { $set: { text: 'changed' } })
      await db.collection('other').insertOne({ _id: 'o' })
      const progress: VerifyProgress[] = []
      const writes = db.insertMany(documents(500).map((document) => ({ ...document, _id: `later ${document._id}` })))
      const report = await db.verify({ onProgress: (each) => progress.push(each) })
      await writes
      assert.equal(report.problems, [])
      assert.is(report.problemCount, 0)
      assert.is(report.hasCheckedStore, store === 'lsm')
      assert.ok(report.documents >= 2571)
      assert.ok(progress.some(({ collection, checked }) => collection === 'default' && checked > 0))
      await db.close()
    })
  }
}

test('documents of the maximum depth are sound', async () => {
  await using db = await open(scratchPath())
  const nested = (levels: number, wrap: (inner: unknown) => unknown): unknown =>
    levels === 0 ? 1 : wrap(nested(levels - 1, wrap))
  await db.insertOne({ _id: 1, a: nested(99, (inner) => [inner]), b: 2 })
  await db.insertOne({ _id: 2, a: nested(99, (inner) => ({ inner })) })
  assert.equal((await db.verify()).problems, [])
})

test('a damaged index that a read-only opening cannot repair is a problem of the index, until it is repaired', async () => {
  const path = scratchPath()
  {
    await using db = await open(path, { index: { segmentBits: 512 } })
    await db.insertMany(documents(3000))
  }
  {
    await using lsm = new LsmLevel<Uint8Array, Uint8Array>(path, { keyEncoding: 'view', valueEncoding: 'view' })
    const index = lsm.sublevel<Uint8Array, Uint8Array>('1.index', { keyEncoding: 'view', valueEncoding: 'view' })
    for await (const key of index.keys({ gte: Uint8Array.of(0x73), lt: Uint8Array.of(0x74), limit: 1 }))
      await index.del(key)
  }
  for (let n = 0; n < 2; n++) {
    await using reader = await open(path, { readOnly: true })
    assert.is(await reader.countDocuments({ n: 3 }), 429)
    const [problem, ...others] = (await reader.verify()).problems
    assert.equal([problem?.collection, problem?.kind, others], ['default', 'index', []])
    assert.match(problem?.what ?? '', /segment/i)
  }
  for (let n = 0; n < 2; n++) {
    await using db = await open(path)
    assert.equal((await db.verify()).problems, [])
  }
  await using reader = await open(path, { readOnly: true })
  assert.equal((await reader.verify()).problems, [])
})

test('damage of the index that is found while it is read is a problem, until the next opening has repaired it', async () => {
  const path = scratchPath()
  const frames = { gte: Buffer.from('r'), lt: Buffer.from('s') }
  {
    await using db = await open(path, { index: { segmentBits: 512 } })
    await db.insertMany(documents(3000))
  }
  {
    await using lsm = new LsmLevel<Uint8Array, Uint8Array>(path, { keyEncoding: 'view', valueEncoding: 'view' })
    const index = lsm.sublevel<Uint8Array, Uint8Array>('1.index', { keyEncoding: 'view', valueEncoding: 'view' })
    for await (const [key, value] of index.iterator(frames))
      await index.put(
        key,
        value.map((byte) => byte ^ 1)
      )
  }
  const problemsOf = async (options: OpenOptions): Promise<string[]> => {
    await using db = await open(path, options)
    const { problems } = await db.verify()
    return problems.map(
      ({ collection, kind, what }) => `${collection} ${kind} ${what.replace(/ of the segment.*;/, '…')}`
    )
  }
  const found = ['default index frame 0… the next opening for writing repairs it']
  assert.equal(await problemsOf({ readOnly: true }), found)
  assert.equal(await problemsOf({}), found)
  const marked = 'default index Damage was found while the index was read; the next opening for writing repairs it'
  assert.equal(await problemsOf({ readOnly: true }), [marked])
  assert.equal(await problemsOf({}), [])
  assert.equal(await problemsOf({ readOnly: true }), [])
})

/** Damages the store of a database by hand. @returns what verify() reports */
async function problemsAfter(damage: (docs: Sublevel, ids: Sublevel) => Promise<unknown>): Promise<string[]> {
  const store = new MemoryLevel<Uint8Array, string>({ keyEncoding: 'view' })
  const db = await open(store)
  await db.insertMany(documents(300))
  await damage(sublevel(store, '1.docs'), sublevel(store, '1.ids'))
  const { problems, problemCount } = await db.verify()
  assert.is(problemCount, problems.length)
  await db.close()
  return problems.map(({ collection, kind, what }) => `${collection} ${kind} ${what}`)
}

type Sublevel = ReturnType<typeof sublevel>

function sublevel(store: MemoryLevel<Uint8Array, string>, name: string) {
  return store.sublevel<Uint8Array, string>(name, { keyEncoding: 'view', valueEncoding: 'utf8' })
}

async function nthKey(area: Sublevel, n: number): Promise<Uint8Array> {
  const keys = await area.keys().all()
  return keys[n] as Uint8Array
}

test('a missing document is reported by the index and by its _id', async () => {
  const problems = await problemsAfter(async (docs) => docs.del(await nthKey(docs, 5)))
  assert.ok(problems.includes('default index contains document 5, which does not exist'), problems.join('\n'))
  assert.ok(problems.includes('default id there are 300 _ids for 299 documents'))
  assert.ok(problems.includes('default document there are 299 documents, but 300 were counted when they were written'))
})

test('a document that cannot be read is reported', async () => {
  const problems = await problemsAfter(async (docs) => docs.put(await nthKey(docs, 7), '{"_id":7,"n'))
  assert.is(problems.length, 1, problems.join('\n'))
  assert.match(problems[0] ?? '', /^default document 7: A stored document is damaged/)
})

test('a document without an _id is reported', async () => {
  const problems = await problemsAfter(async (docs) => docs.put(await nthKey(docs, 8), '{"n":1}'))
  assert.equal(problems, ['default document 8: it has no _id'])
})

test('an _id that leads to another document is reported', async () => {
  const problems = await problemsAfter(async (_, ids) => ids.put(await nthKey(ids, 9), '10'))
  assert.equal(problems, ['default id the _id of document 9 points to document 10'])
})

test('if another document is stored in its place, the index denies it by its own fields', async () => {
  const problems = await problemsAfter(async (docs) =>
    docs.put(await nthKey(docs, 11), '{"_id":11,"n":4,"text":"swapped"}')
  )
  assert.ok(problems.includes('default index does not find document 11 by its own text'), problems.join('\n'))
})

/** Like problemsAfter(), for a database with three declared indexes, whose entries are damaged by hand. */
async function problemsOfEntries(damage: (entries: Record<string, Entries>) => Promise<unknown>): Promise<string[]> {
  const store = new MemoryLevel<Uint8Array, string>({ keyEncoding: 'view' })
  const db = await open(store)
  const names = [
    await db.createIndex({ n: 1 }),
    await db.createIndex({ text: -1 }, { unique: true }),
    await db.createIndex({ tags: 1, n: 1 }, { sparse: true })
  ]
  await db.insertMany(
    documents(300).map((document, i) => (i % 3 === 0 ? { ...document, tags: ['a', i, i] } : document))
  )
  await db.deleteMany({ n: 6 })
  await db.updateMany({ n: 5 }, { $set: { n: 8 } })
  assert.equal((await db.verify()).problems, [])
  const entries = names.map((name, i) => [
    name,
    store.sublevel<Uint8Array, Uint8Array>(`1.x${i + 1}`, { keyEncoding: 'view', valueEncoding: 'view' })
  ])
  await damage(Object.fromEntries(entries))
  const { problems, problemCount } = await db.verify()
  assert.is(problemCount, problems.length)
  await db.close()
  for (const { collection, kind } of problems) assert.equal([collection, kind], ['default', 'index'])
  return problems.map(({ what }) => what)
}

interface Entries {
  keys(): { all(): Promise<Uint8Array[]> }
  put(key: Uint8Array, value: Uint8Array): Promise<void>
  del(key: Uint8Array): Promise<void>
}

test('a missing entry of a declared index is reported, and so is a surplus one', async () => {
  const gone = await problemsOfEntries(async ({ n_1 }) => n_1?.del((await n_1.keys().all())[0] as Uint8Array))
  assert.equal(gone, [
    "the declared index 'n_1' has no entry for document 0",
    "the declared index 'n_1' has 257 entries, but the documents need 258"
  ])
  const more = await problemsOfEntries(async (entries) => {
    const { tags_1_n_1: both } = entries
    const [, first = new Uint8Array()] = (await both?.keys().all()) ?? []
    await both?.put(new Uint8Array([...first.subarray(0, -1), 255]), new Uint8Array())
  })
  assert.is(more.length, 1)
  assert.is(more[0], "the declared index 'tags_1_n_1' has 345 entries, but the documents need 344")
})

test('an entry of a unique index that leads to another document is reported', async () => {
  const problems = await problemsOfEntries(async (entries) => {
    const { 'text_-1': texts } = entries
    const [first = new Uint8Array()] = (await texts?.keys().all()) ?? []
    await texts?.put(first, new Uint8Array([0, 0, 0, 0, 0, 0, 0, 7]))
  })
  assert.equal(problems, ["the declared index 'text_-1' points to document 7 instead of 99"])
})

test('a declared index whose record of arrays is wrong is reported', async () => {
  const location = scratchPath()
  let db = await open(location, { store: 'level' })
  await db.createIndex({ tags: 1 })
  await db.insertMany([
    { _id: 1, tags: [1, 2] },
    { _id: 2, tags: 3 }
  ])
  await db.close()
  const store = new Level<Uint8Array, Uint8Array>(location, { keyEncoding: 'view', valueEncoding: 'view' })
  await store
    .sublevel<Uint8Array, Uint8Array>('1.x1', { keyEncoding: 'view', valueEncoding: 'view' })
    .put(new Uint8Array([0]), new Uint8Array(4))
  await store.close()
  db = await open(location)
  const { problems } = await db.verify()
  assert.equal(
    problems.map(({ what }) => what),
    ["the declared index 'tags_1' has no record of the arrays in document 0"]
  )
  await db.close()
})

test('declared indexes created and dropped during verify() are no problem', async () => {
  const db = await open(scratchPath())
  await db.insertMany(documents(3000))
  await db.createIndex({ n: 1 })
  const report = db.verify()
  const changes = (async () => {
    await db.dropIndex('n_1')
    await db.createIndex({ at: 1, n: -1 })
    await db.updateMany({ n: 2 }, { $set: { n: 3 } })
    await db.deleteMany({ n: 1 })
  })()
  assert.equal((await report).problems, [])
  await changes
  assert.equal((await db.verify()).problems, [])
  await db.close()
})

test('a damaged table is reported with its file, and the rest is checked', async () => {
  const location = scratchPath()
  let db = await open(location, { lsm: { writeBufferSize: 64 * 1024 } })
  await db.insertMany(documents(5000))
  await db.close()
  const [table = ''] = readdirSync(location).filter((name) => name.endsWith('.sst'))
  const path = join(location, table)
  const bytes = readFileSync(path)
  bytes[200] = (bytes[200] ?? 0) ^ 0xff
  writeFileSync(path, bytes)
  db = await open(location)
  const { problems } = await db.verify()
  assert.ok(
    problems.some(({ collection, what }) => collection === undefined && what.includes(table)),
    JSON.stringify(problems)
  )
  await db.close().catch(() => undefined)
})

test('an aborted verify() fails with AbortedError, even while it checks the store', async () => {
  for (const store of ['memory', 'level', 'lsm'] as const) {
    const db = await open(scratchPath(), { store })
    await db.insertMany(documents(5000))
    if (store === 'lsm') await db.compact()
    const reason = new Error('mine')
    await db.verify({ signal: AbortSignal.abort(reason) }).then(
      () => assert.unreachable(),
      (error) => {
        assert.instance(error, AbortedError)
        assert.is((error as AbortedError).cause, reason, store)
      }
    )
    await db.close()
  }
})

test.run()
