import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { open } from '../../src/index.ts'
import type { Document } from '../../src/model/types.ts'
import { generateTweets } from '../../src/workload/tweets.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const count = 6_000
const tweets = [...generateTweets({ count, seed: 5 })] as unknown as (Document & { _id: number; text: string })[]

/** Texts of every frequency, some of them in one document alone. */
const fragments = ['thor', 'an', 'zzz', tweets[17]!.text.slice(3, 15), tweets[count - 2]!.text.slice(0, 20), '#', 'a b']

test('a scan over the bytes of many tables finds what is there, in either direction, after updates and reopening', async () => {
  const location = temporaryDirectory()
  for (const round of ['in memory', 'reopened'] as const) {
    await using db = await open(location, { lsm: { writeBufferSize: 256 * 1024, cacheSize: 64 * 1024 } })
    if (round === 'in memory') {
      await db.insertMany(tweets)
      await db.updateMany({ lang: 'ja' }, { $set: { text: 'quite different, thor' } })
      await db.deleteMany({ lang: 'pt' })
    }
    const all = (await db.find({}).toArray()) as typeof tweets
    for (const fragment of fragments) {
      const pattern = fragment.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
      const expected = all.filter(({ text }) => text.includes(fragment)).map(({ _id }) => _id)
      const found = await db.find({ text: { $regex: pattern } }, { hint: 'scan' }).toArray()
      assert.equal(
        found.map(({ _id }) => _id),
        expected,
        `${round}: ${fragment}`
      )
      const newest = await db
        .find({ text: { $regex: pattern } })
        .sort({ $natural: -1 })
        .toArray()
      assert.equal(newest.map(({ _id }) => _id).reverse(), expected, `${round}, newest first: ${fragment}`)
    }
    const user = tweets[100]!.user as { screen_name: string }
    const equal = await db.find({ 'user.screen_name': user.screen_name }, { hint: 'scan' }).toArray()
    assert.equal(
      equal.map(({ _id }) => _id),
      all.filter((tweet) => (tweet.user as typeof user).screen_name === user.screen_name).map(({ _id }) => _id)
    )
  }
})

test.run()
