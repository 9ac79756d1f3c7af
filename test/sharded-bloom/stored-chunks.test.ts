/** The hashed rows of an open segment are read chunk by chunk, when a query first needs them. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { rowMemory } from '../../src/bloom/kernels/index.ts'
import { compileFilter } from '../../src/query/filter.ts'
import { IndexArea, indexKey } from '../../src/sharded-bloom/records/index-keys.ts'
import { generateTweets } from '../../src/workload/index.ts'
import { IndexHarness } from '../support/index-harness.ts'

const tweets = [...generateTweets({ count: 16_000 })]
const before = rowMemory().freeFrames

const byId = (n: number) => compileFilter({ id_str: tweets[n]!.id_str })
/** Answered without hashed rows. */
const english = compileFilter({ lang: 'en' })
/** Documents of all four chunks, the last of which is incomplete; and one that nobody has. */
const filters = [
  ...[0, 4095, 4096, 9000, 12_287, 12_288, 13_100].map(byId),
  compileFilter({ id_str: 'nobody' }),
  compileFilter({ $and: [{ 'user.screen_name': tweets[5000]!.user.screen_name }, { id_str: tweets[5000]!.id_str }] }),
  compileFilter({ lang: 'en', 'user.screen_name': { $ne: tweets[3]!.user.screen_name } })
]

const stored = await IndexHarness.open({ segmentDocuments: 16_384 })
await stored.insert(tweets.slice(0, 13_200), 1000)
const expected = await candidates(stored)
await stored.close()
const rowKeys = stored.records.keysOf(IndexArea.chunkRows)

/** A harness over a copy of the stored index, and the chunks whose rows are read. */
function copied(): { readonly harness: IndexHarness; readonly read: number[] } {
  const harness = stored.crashed()
  const read: number[] = []
  const { records } = harness
  const scan = records.scan.bind(records)
  records.scan = (from, to) => {
    if (from[0] === IndexArea.chunkRows && from.length > 9) read.push(Buffer.from(from).readUInt32BE(9))
    return scan(from, to)
  }
  return { harness, read }
}

/** How many candidates each filter has. */
async function candidates(harness: IndexHarness): Promise<number[]> {
  const { view } = harness.snapshot()
  const counts: number[] = []
  for (const { bounds } of filters) {
    view.skip?.(0, bounds, 1)
    counts.push((await view.evaluate(0, bounds)).upperCount)
  }
  view.close()
  return counts
}

function deleteChunk(harness: IndexHarness, chunk: number): void {
  const from = Buffer.from(indexKey(IndexArea.chunkRows, 0, chunk)).toString('hex')
  const keys = harness.records.keysOf(IndexArea.chunkRows).filter((key) => key.startsWith(from))
  assert.ok(keys.length > 1)
  harness.records.records.delete(keys[1]!)
}

test('there are four chunks of hashed rows', () => {
  assert.is(new Set(rowKeys.map((key) => key.slice(18, 26))).size, 4)
})

test('a query reads the chunks of the documents it may find, each once', async () => {
  let fewest = 4
  for (let n = 0; n < 20; n++) {
    const { harness, read } = copied()
    await harness.open()
    const { view } = harness.snapshot()
    for (let time = 0; time < 2; time++) {
      const { upperCount } = await view.evaluate(0, byId(n).bounds)
      assert.ok(upperCount >= 1 && upperCount <= 10, `${upperCount} candidates`)
      assert.equal([...read].sort(), [...new Set(read)].sort())
      assert.ok(read.includes(0) && read.includes(3), `chunks ${read}`)
    }
    // A group of documents is found in vain now and then.
    fewest = Math.min(fewest, read.length)
    view.close()
    await harness.close()
  }
  assert.is(fewest, 2)
})

test('candidates are those of a segment that was never closed, whatever was read before', async () => {
  for (const isAsync of [false, true]) {
    const { harness, read } = copied()
    harness.records.isAsync = isAsync
    await harness.open()
    assert.equal(await candidates(harness), expected)
    assert.equal(await candidates(harness), expected)
    assert.is(read.length, new Set(read).size)
    await harness.check(filters)
    await harness.close()
  }
})

test('evaluations at the same time read a chunk once', async () => {
  const { harness, read } = copied()
  await harness.open()
  const snapshot = harness.snapshot()
  await Promise.all(filters.map((filter) => snapshot.check([filter])))
  assert.equal([...read].sort(), [0, 1, 2, 3])
  snapshot.view.close()
  await harness.close()
})

test('documents can be added, the segment sealed and the index reopened while chunks are missing', async () => {
  const { harness, read } = copied()
  await harness.open()
  await harness.insert(tweets.slice(13_200, 13_400))
  assert.equal(read, [3], 'only the chunk that documents are added to')
  await harness.check([byId(13_300)])
  await harness.reopen()
  await harness.check(filters)
  await harness.reopen()
  await harness.insert([...tweets.slice(13_400), ...tweets.slice(0, 1000)])
  assert.equal(
    harness.index.stats().parameters.map(({ sealed }) => sealed),
    [true, false]
  )
  assert.equal(harness.damage, [])
  await harness.check(filters)
  await harness.close()
})

test('of a damaged chunk nothing is known: it is reported when it is needed, and the next open rebuilds the index', async () => {
  for (const mustSeal of [false, true]) {
    const { harness } = copied()
    deleteChunk(harness, 1)
    await harness.open()
    assert.equal(harness.damage, [])
    if (mustSeal) await harness.insert([...tweets.slice(13_200), ...tweets.slice(0, 1000)])
    await harness.check(filters)
    await harness.check(filters)
    assert.is(harness.damage.length, 1)
    assert.match(harness.damage[0]!, /segment at ordinal 0 .*frame 1 of chunk 1 is missing/)
    const { view } = harness.snapshot()
    assert.ok((await view.evaluate(0, byId(4096).bounds)).upperCount > 100)
    view.close()
    await harness.reopen()
    assert.is(harness.index.stats().recovered, harness.documents.size)
    await harness.check(filters)
    assert.is(harness.damage.length, 1)
    await harness.close()
  }
})

test('a damaged last chunk is noticed at once, and the segment rebuilt from its documents', async () => {
  const { harness } = copied()
  deleteChunk(harness, 3)
  await harness.open()
  await harness.check(filters)
  assert.is(harness.damage.length, 1)
  assert.match(harness.damage[0]!, /chunk 3/)
  await harness.close()
})

test('an index that is closed while a chunk is being read releases its memory', async () => {
  const { harness } = copied()
  await harness.open()
  const snapshot = harness.snapshot()
  await snapshot.check([english])
  const asked = Promise.resolve(snapshot.view.evaluate(0, byId(1).bounds)).then(
    () => 'answered',
    (error: { codeName?: string }) => error.codeName
  )
  await harness.close()
  assert.is(await asked, 'DatabaseNotOpen')
})

test('without memory for a chunk, all of its documents are candidates', async () => {
  const memory = rowMemory()
  const { harness } = copied()
  await harness.open()
  const { view } = harness.snapshot()
  await view.evaluate(0, english.bounds)
  const taken: number[] = []
  while (memory.freeFrames > 0) taken.push(memory.allocate())
  try {
    const { upperCount } = await view.evaluate(0, byId(1).bounds)
    assert.ok(upperCount > 100, `${upperCount} candidates`)
  } finally {
    for (const address of taken) memory.free(address)
  }
  assert.ok((await view.evaluate(0, byId(1).bounds)).upperCount <= 10)
  view.close()
  await harness.close()
})

test('all memory has been given back', () => {
  assert.is(rowMemory().freeFrames, before)
})

test.run()
