import { createHash } from 'node:crypto'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Census } from '../../src/workload/census.ts'
import { queryClasses, queryClassesOf } from '../../src/workload/query-classes.ts'
import { generateTweets, type Tweet } from '../../src/workload/tweets.ts'
import { cpuMilliseconds } from '../support/cpu-time.ts'

const seed = Number(process.env.PETALDB_SEED ?? 1)
console.log(`seed ${seed}`)

test('the same seed generates the same tweets, another seed others', () => {
  const first = [...generateTweets({ count: 200, seed })]
  assert.equal(first, [...generateTweets({ count: 200, seed })])
  assert.is.not(JSON.stringify(first), JSON.stringify([...generateTweets({ count: 200, seed: seed + 1 })]))
})

test('a slice of the stream equals the stream there', () => {
  const whole = [...generateTweets({ count: 300, seed })]
  assert.equal([...generateTweets({ count: 50, seed, start: 250 })], whole.slice(250))
})

test('the tweets of seed 1 never change, so that measurements stay comparable', () => {
  const hash = createHash('sha256')
  for (const tweet of generateTweets({ count: 1_000, seed: 1 })) hash.update(JSON.stringify(tweet))
  assert.is(hash.digest('hex').slice(0, 16), '1f35df8addb4aaf3')
})

test('ids are growing integers below 2^53, and id_str is the same as a string', () => {
  let previous = 0
  for (const tweet of generateTweets({ count: 20_000, seed })) {
    assert.ok(Number.isSafeInteger(tweet._id) && tweet._id > previous, `${tweet._id} after ${previous}`)
    assert.is(tweet.id_str, String(tweet._id))
    previous = tweet._id
  }
})

test('a tweet has 850 to 950 characters of JSON on average, whatever the seed', () => {
  for (const other of [seed, seed + 1, seed + 2]) {
    const texts = Array.from(generateTweets({ count: 20_000, seed: other }), (tweet) => JSON.stringify(tweet))
    const mean = texts.reduce((sum, text) => sum + text.length, 0) / texts.length
    const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) / texts.length
    console.log(`mean JSON length ${mean.toFixed(0)} characters, ${bytes.toFixed(0)} bytes`)
    assert.ok(mean >= 850 && mean <= 950, `mean ${mean}`)
  }
})

test('a user is equal in all of their tweets, and no two tweets share the object', () => {
  const users = new Map<string, Tweet['user']>()
  for (const tweet of generateTweets({ count: 20_000, seed })) {
    const known = users.get(tweet.user.screen_name)
    if (known === undefined) users.set(tweet.user.screen_name, tweet.user)
    else {
      assert.equal(tweet.user, known)
      assert.is.not(tweet.user, known)
    }
  }
  assert.is(new Set(Array.from(users.values(), (user) => user.id)).size, users.size)
})

test('users, languages and counts are skewed', () => {
  const tweets = [...generateTweets({ count: 50_000, seed })]
  const perUser = new Map<number, number>()
  for (const { user } of tweets) perUser.set(user.id, (perUser.get(user.id) ?? 0) + 1)
  assert.ok(Math.max(...perUser.values()) > 60)
  assert.ok([...perUser.values()].filter((count) => count === 1).length > 5_000)
  const english = tweets.filter((tweet) => tweet.lang === 'en').length / tweets.length
  assert.ok(english > 0.4 && english < 0.55, `${english} English`)
  assert.ok(tweets.filter((tweet) => tweet.retweet_count === 0).length > 20_000)
  // There are 43 on average, and none only once in 10^18 seeds.
  assert.ok(tweets.some((tweet) => tweet.retweet_count > 1_000))
})

test('optional parts are present in the documented cases', () => {
  const tweets = [...generateTweets({ count: 20_000, seed })]
  const share = (has: (tweet: Tweet) => boolean): number => tweets.filter(has).length / tweets.length
  assert.ok(share((tweet) => tweet.place !== null) < 0.06)
  assert.ok(share((tweet) => tweet.coordinates !== undefined) > 0.005)
  for (const tweet of tweets) {
    assert.is('possibly_sensitive' in tweet, tweet.entities.urls.length > 0)
    assert.is('in_reply_to_screen_name' in tweet, tweet.in_reply_to_status_id !== null)
  }
})

test('the indices of an entity point at it in the text', () => {
  for (const { text, entities } of generateTweets({ count: 5_000, seed })) {
    for (const tag of entities.hashtags) assert.is(text.slice(...tag.indices), `#${tag.text}`)
    for (const url of entities.urls) assert.is(text.slice(...url.indices), url.url)
    for (const mention of entities.user_mentions) assert.is(text.slice(...mention.indices), `@${mention.screen_name}`)
  }
})

test('a hundred thousand tweets take about a second', () => {
  const begin = cpuMilliseconds()
  let count = 0
  for (const _ of generateTweets({ count: 100_000, seed })) count++
  const rate = count / (cpuMilliseconds() - begin)
  console.log(`${rate.toFixed(0)} tweets per millisecond`)
  // Machines differ: 100 per millisecond is usual, and the limit detects a change of magnitude.
  assert.ok(rate > 20)
})

test('query parameters occur as often as their class promises', () => {
  const count = 50_000
  const queries = new Map(queryClasses({ count, seed }).map((query) => [query.name, query]))
  const tweets = [...generateTweets({ count, seed })]
  const filterOf = (name: Parameters<typeof queries.get>[0]): Record<string, unknown> => queries.get(name)?.filter ?? {}
  const writtenBy = (name: unknown): number => tweets.filter((tweet) => tweet.user.screen_name === name).length
  assert.is(writtenBy(filterOf('unique')['user.screen_name']), 1)
  assert.is(writtenBy(filterOf('absent')['user.screen_name']), 0)
  assert.is(tweets.filter((tweet) => tweet.user.id === filterOf('ten')['user.id']).length, 10)
  const hundred = writtenBy(filterOf('hundred')['user.screen_name'])
  assert.ok(hundred > 80 && hundred < 120, `${hundred}`)
  const located = tweets.filter((tweet) => tweet.user.location === filterOf('one-percent')['user.location']).length
  assert.ok(located > count / 200 && located < count / 50, `${located}`)
  const tagged = tweets.filter((tweet) =>
    tweet.entities.hashtags.some(({ text }) => text === filterOf('array')['entities.hashtags.text'])
  ).length
  assert.ok(tagged > 35 && tagged < 140, `${tagged}`)
})

test('other ranks give other values of about the same frequency', () => {
  const count = 50_000
  const census = new Census({ count, seed })
  for (const tweet of generateTweets({ count, seed })) census.add(tweet)
  for (const [name, hits] of [
    ['unique', 1],
    ['hundred', 100]
  ] as const) {
    const users = Array.from({ length: 4 }, (_, rank) => {
      return queryClassesOf(census, rank).find((query) => query.name === name)!.filter['user.screen_name'] as string
    })
    assert.is(new Set(users).size, users.length)
    for (const user of users) {
      const found = census.users.get(user)
      assert.ok(found > hits * 0.7 && found < hits * 1.4, `${user} wrote ${found} tweets, expected ${hits}`)
    }
  }
})

test('queryClasses() refuses too small a count', () => {
  assert.throws(() => queryClasses({ count: 5 }), /count must be an integer of at least 100, got 5/)
})

test.run()
