/** An index keeps its segment size and hash when opened without them, and is rebuilt only if others are requested. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Database, type IndexOptions, type OpenOptions, open } from '../../src/index.ts'
import { inTemporaryDirectory, runCli } from '../cli/run-cli.ts'
import { scratchPath } from './scratch.ts'

const made = { segmentBits: 512, hash: 'farmhash' } as const
const documents = Array.from({ length: 1800 }, (_, i) => ({ _id: i, n: i % 50, text: `number ${i}` }))

/** Stores 1,800 documents in segments of 512 and deletes 36 of them. */
async function make(location: string, options: OpenOptions = {}): Promise<void> {
  await using db = await open(location, { ...options, index: made })
  await db.insertMany(documents)
  await db.deleteMany({ n: 7 })
}

async function assertAnswers(db: Database, count = 1764): Promise<void> {
  for (const filter of [
    { n: 3 },
    { text: 'number 103' },
    { n: { $ne: 4 } },
    { n: { $gt: 40 }, text: { $exists: true } }
  ]) {
    const scanned = await db.find(filter, { hint: 'scan' }).toArray()
    assert.ok(scanned.length > 0)
    assert.equal(await db.find(filter, { hint: 'index' }).toArray(), scanned)
  }
  assert.is(await db.countDocuments(), count)
}

/** What opening did. */
async function opened(db: Database) {
  const { recovered, damage, segments } = await db.index.stats()
  return { recovered, damage, segments }
}

const asMade = { recovered: 0, damage: [], segments: 4 }

for (const store of ['lsm', 'level'] as const) {
  test(`an index is opened and continued as it was made if nothing else is requested (${store})`, async () => {
    const location = scratchPath()
    await make(location, { store })
    const choices = [undefined, 'sharded', {}, { segmentBits: 512 }, { hash: 'farmhash' }, { shards: 128 }] as const
    for (const index of choices) {
      await using db = await open(location, index === undefined ? {} : { index })
      assert.equal(await opened(db), asMade, JSON.stringify(index))
      await assertAnswers(db)
    }
    {
      await using db = await open(location)
      await db.insertMany(documents.map(({ _id, ...rest }) => ({ ...rest, _id: 10_000 + _id })))
    }
    await using db = await open(location, { index: made })
    assert.equal(await opened(db), { ...asMade, segments: 8 })
    await assertAnswers(db, 3564)
  })

  test(`a read-only database needs no index options either (${store})`, async () => {
    const location = scratchPath()
    await make(location, { store })
    await using db = await open(location, { readOnly: true })
    assert.equal(await opened(db), asMade)
    await assertAnswers(db)
  })
}

for (const [index, segments] of [
  [{ segmentBits: 1024 }, 2],
  [{ hash: 'murmur' }, 4],
  [{ segmentBits: 2048, hash: 'murmur' }, 1]
] as const satisfies readonly (readonly [IndexOptions, number])[]) {
  test(`${JSON.stringify(index)} rebuilds the index, once, and keeps what it does not set`, async () => {
    const location = scratchPath()
    await make(location)
    {
      await using db = await open(location, { index })
      assert.equal(await opened(db), { recovered: 1764, damage: [], segments })
      await assertAnswers(db)
    }
    for (const options of [{}, { index }, { index: { ...made, ...index } }]) {
      await using db = await open(location, options)
      assert.equal(await opened(db), { recovered: 0, damage: [], segments })
      await assertAnswers(db)
    }
  })
}

for (const index of [{ segmentBits: 1024 }, { hash: 'murmur' }] as const satisfies readonly IndexOptions[]) {
  test(`the index of computed ids is rebuilt for ${JSON.stringify(index)}, too, without reporting damage`, async () => {
    const location = scratchPath()
    const ids = { codec: 'reversible', from: 0, to: 100_000 } as const
    await make(location, { ids })
    for (const [options, recovered] of [
      [{ index }, 1764],
      [{ index }, 0],
      [{}, 0],
      [{ index: made }, 1764],
      [{ readOnly: true }, 0],
      [{ readOnly: true, index }, 1764],
      [{}, 0]
    ] as const) {
      await using db = await open(location, options)
      const stats = await opened(db)
      assert.equal([stats.recovered, stats.damage], [recovered, []], JSON.stringify(options))
      await assertAnswers(db)
      assert.equal((await db.verify()).problems, [])
    }
  })
}

test('read-only, an index with another segment size is built in memory, and the stored one stays', async () => {
  const location = scratchPath()
  await make(location, { store: 'level' })
  {
    await using db = await open(location, { readOnly: true, index: { segmentBits: 1024 } })
    assert.equal(await opened(db), { recovered: 1764, damage: [], segments: 2 })
    await assertAnswers(db)
  }
  await using db = await open(location, { readOnly: true })
  assert.equal(await opened(db), asMade)
})

test('a collection may have another segment size and hash than the others', async () => {
  const location = scratchPath()
  {
    await using db = await open(location)
    await db.insertMany(documents)
    await db.collection('other', { index: made }).insertMany(documents)
  }
  await using db = await open(location)
  assert.equal(await opened(db), { ...asMade, segments: 1 })
  assert.is((await db.collection('other').index.stats()).recovered, 0)
  assert.is((await db.collection('other').index.stats()).segments, 4)
})

test('the index of computed ids is opened as it was made, and merges into segments of that size', async () => {
  const location = scratchPath()
  const ids = { codec: 'reversible', from: 0, to: 100_000 } as const
  await make(location, { ids })
  const figures = async (options: OpenOptions, more = 0) => {
    await using db = await open(location, { ids, ...options })
    const before = await opened(db)
    await assertAnswers(db)
    if (more > 0) await db.replaceOne({ _id: 3 }, { n: 3, text: 'replaced' })
    return before
  }
  const first = await figures({ index: made })
  assert.equal(first.damage, [])
  assert.ok(first.segments >= 4)
  assert.equal(await figures({}, 1), first)
  // The replaced document is read again, into a segment of recent documents.
  assert.equal(await figures({}), { ...first, recovered: 1, segments: first.segments + 1 })
})

test('no CLI command rebuilds the index of such a database', () =>
  inTemporaryDirectory(async (path) => {
    await make(path('db'))
    assert.is((await runCli(['count', path('db'), '{"n": 3}'])).stdout.trim(), '36')
    assert.match((await runCli(['stats', path('db')])).stdout, /1,764 documents, 4 segments.* 0 reindexed on opening/s)
    assert.is((await runCli(['get', path('db'), '9999'])).code, 1)
    assert.match((await runCli(['verify', path('db')])).stdout, /^no problems/)
    await using db = await open(path('db'), { index: made })
    assert.equal(await opened(db), asMade)
  }))

test.run()
