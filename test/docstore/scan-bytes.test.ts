import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { ReadView } from '../../src/docstore/read/read-view.ts'
import { open } from '../../src/index.ts'
import type { Document } from '../../src/model/types.ts'
import { generateTweets } from '../../src/workload/tweets.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const count = 6_000

interface StoredTweet extends Document {
  readonly _id: number
  readonly text: string
  readonly lang: string
  readonly user: { readonly screen_name: string }
}

const tweets = [...generateTweets({ count, seed: 5 })] as unknown as StoredTweet[]
const changed = 'quite different, thor'
/** The stored documents in natural order: updated ones come last. */
const stored: readonly StoredTweet[] = [
  ...tweets.filter(({ lang }) => lang !== 'ja' && lang !== 'pt'),
  ...tweets.filter(({ lang }) => lang === 'ja').map((tweet) => ({ ...tweet, text: changed }))
]

/** Texts of various frequencies, some of them in only one document. */
const fragments = ['thor', 'an', 'zzz', tweets[17]!.text.slice(3, 15), tweets[count - 2]!.text.slice(0, 20), '#', 'a b']

test('a scan over the bytes of many tables is right in both directions, after updates and reopening', async () => {
  const location = temporaryDirectory()
  for (const round of ['in memory', 'reopened'] as const) {
    await using db = await open(location, { lsm: { writeBufferSize: 256 * 1024, cacheSize: 64 * 1024 } })
    if (round === 'in memory') {
      await db.insertMany(tweets)
      await db.updateMany({ lang: 'ja' }, { $set: { text: changed } })
      await db.deleteMany({ lang: 'pt' })
    }
    assert.equal(await db.find({}).toArray(), stored, round)
    for (const fragment of fragments) {
      const pattern = fragment.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
      const expected = stored.filter(({ text }) => text.includes(fragment)).map(({ _id }) => _id)
      const found = await db.find({ text: { $regex: pattern } }, { hint: 'scan' }).toArray()
      assert.equal(
        found.map(({ _id }) => _id),
        expected,
        `${round}: ${fragment}`
      )
      // Documents in skipped blocks count as examined, too.
      const { executionStats } = await db.find({ text: { $regex: pattern } }, { hint: 'scan' }).explain()
      assert.is(executionStats.totalDocsExamined, stored.length, `${round}: ${fragment}`)
      const newest = await db
        .find({ text: { $regex: pattern } })
        .sort({ $natural: -1 })
        .toArray()
      assert.equal(newest.map(({ _id }) => _id).reverse(), expected, `${round}, newest first: ${fragment}`)
    }
    const name = tweets[100]!.user.screen_name
    const equal = await db.find({ 'user.screen_name': name }, { hint: 'scan' }).toArray()
    assert.equal(
      equal.map(({ _id }) => _id),
      stored.filter(({ user }) => user.screen_name === name).map(({ _id }) => _id)
    )
  }
})

test('words at either end of short records, many in a block, are found in the right records only', async () => {
  const words = ['quartz', 'jab', 'theater', 'zz', 'a"b', 'tail\\', 'éclair', 'x']
  const documents = Array.from({ length: 3_000 }, (_, _id) => ({
    ...(_id % 5 === 0 ? { [`k${words[_id % 7]}`]: 1 } : {}),
    _id,
    list: _id % 11 === 0 ? [words[_id % 8]] : [],
    s: _id % 3 === 0 ? '' : `${words[(_id * 7) % 8]}${_id % 4 === 0 ? words[_id % 6] : ''}`
  }))
  for (const blockSize of [256, 4096]) {
    await using db = await open(temporaryDirectory(), { lsm: { writeBufferSize: 64 * 1024, blockSize } })
    await db.insertMany(documents)
    for (const word of words) {
      for (const [filter, isMatch] of [
        [{ s: { $regex: word.replace(/\\/g, '\\\\') } }, (one: Document) => String(one.s).includes(word)],
        [{ s: word }, (one: Document) => one.s === word],
        [{ list: word }, (one: Document) => (one.list as string[]).includes(word)]
      ] as const) {
        const found = await db.find(filter, { hint: 'scan' }).toArray()
        const expected = documents.filter(isMatch).map(({ _id }) => _id)
        assert.equal(
          found.map(({ _id }) => _id),
          expected,
          `${JSON.stringify(filter)} in blocks of ${blockSize}`
        )
      }
    }
  }
})

test('a limit that few candidates satisfy is reached by scanning, not by reading them one by one', async () => {
  await using db = await open(temporaryDirectory(), { documentCacheBytes: 0 })
  await db.insertMany(Array.from({ length: 5_000 }, (_, i) => ({ _id: i, text: `number ${i}.`, n: i })))
  const { record } = ReadView.prototype
  let reads = 0
  ReadView.prototype.record = function (ordinal) {
    reads++
    return record.call(this, ordinal)
  }
  try {
    for (const [filter, limit, most] of [
      [{ text: /7\.$/ }, 5, 256],
      [{ text: /99\.$/ }, 20, 256],
      [{ n: { $mod: [1000, 999] } }, 3, 256],
      [{}, 20, 20]
    ] as const) {
      for (const sort of [{ $natural: 1 }, { $natural: -1 }] as const) {
        const all = (await db.find(filter, { sort }).toArray()).map(({ _id }) => _id)
        reads = 0
        const found = (await db.find(filter, { sort, limit }).toArray()).map(({ _id }) => _id)
        assert.equal(found, all.slice(0, limit))
        assert.ok(reads <= most, `${reads} documents read one by one`)
      }
    }
  } finally {
    ReadView.prototype.record = record
  }
})

test.run()
