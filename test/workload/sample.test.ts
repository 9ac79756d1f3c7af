import { writeFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { TweetSample } from '../../src/workload/sample.ts'
import { generateTweets, type Tweet } from '../../src/workload/tweets.ts'
import { inTemporaryDirectory, linesOf, runCli } from '../cli/run-cli.ts'

const given = [
  {
    text: 'apple apple pear #fruit @bob https://s.example/x',
    lang: 'en',
    user: { screen_name: 'ann', id: 7, followers_count: 5 }
  },
  {
    full_text: 'apple plum',
    lang: 'en',
    entities: { hashtags: [{ text: 'tree' }] },
    user: { screen_name: 'ann', id: 7 }
  },
  { text: 'Birne', lang: 'de', user: { screen_name: 'bob', id: 2 ** 60, name: 'Bob', verified: 'no' } }
]

function sampled(tweets: readonly object[], count = 500): Tweet[] {
  const sample = new TweetSample()
  for (const tweet of tweets) sample.add(tweet as never)
  return [...generateTweets({ count, sample })]
}

const wordsOf = ({ text }: Tweet): string[] => text.split(' ').filter((word) => !/^(?:[#@]|https:)/.test(word))

test('words, hashtags and users come from the sample, with the same frequencies', () => {
  const tweets = sampled(given)
  const english = tweets.filter(({ lang }) => lang === 'en').flatMap(wordsOf)
  assert.equal([...new Set(english)].sort(), ['apple', 'pear', 'plum'])
  const apples = english.filter((word) => word === 'apple').length / english.length
  assert.ok(Math.abs(apples - 0.6) < 0.03, `${apples}`)
  assert.equal([...new Set(tweets.filter(({ lang }) => lang === 'de').flatMap(wordsOf))], ['Birne'])
  const hashtags = tweets.flatMap(({ entities }) => entities.hashtags.map(({ text }) => text))
  assert.equal([...new Set(hashtags)].sort(), ['fruit', 'tree'])
  for (const { user } of tweets) {
    assert.ok(Number.isSafeInteger(user.id) && user.id_str === String(user.id))
    assert.type(user.verified, 'boolean')
    if (user.screen_name === 'ann') assert.is(user.id, 7)
    else assert.is(user.name, 'Bob')
  }
  const byAnn = tweets.filter(({ user }) => user.screen_name === 'ann').length / tweets.length
  assert.ok(Math.abs(byAnn - 2 / 3) < 0.08, `${byAnn}`)
  for (const { text, entities } of tweets) {
    for (const { text: hashtag, indices } of entities.hashtags) assert.is(text.slice(...indices), `#${hashtag}`)
  }
})

test('values that a sample lacks are invented, and a slice of the stream equals the stream there', () => {
  const sample = new TweetSample()
  assert.not(sample.add({ lang: 'en' }))
  assert.ok(sample.add({ text: '#only' }))
  const tweets = [...generateTweets({ count: 50, sample })]
  assert.ok(new Set(tweets.map(({ user }) => user.screen_name)).size > 10)
  assert.ok(tweets.flatMap(wordsOf).length > 50)
  assert.equal([...generateTweets({ count: 10, start: 40, sample })], tweets.slice(40))
})

test('the generate command accepts a sample, compressed or not, and refuses one without tweets', () =>
  inTemporaryDirectory(async (path) => {
    writeFileSync(path('sample.gz'), gzipSync(`${given.map((tweet) => JSON.stringify(tweet)).join('\n')}\nno JSON\n`))
    const run = (sample: string) => runCli(['generate', 'tweets', '--count', '20', '--sample', path(sample)])
    const { code, stdout, stderr } = await run('sample.gz')
    assert.is(code, 0, stderr)
    const tweets: Tweet[] = linesOf(stdout).map((line) => JSON.parse(line))
    assert.equal(tweets, JSON.parse(JSON.stringify(sampled(given, 20))))
    writeFileSync(path('none'), '{"a":1}\n')
    const none = await run('none')
    assert.is(none.code, 1)
    assert.match(none.stderr, /none contains no tweets, that is, lines of JSON with a 'text' \(FailedToParse\)/)
    assert.is((await run('missing')).code, 1)
  }))

test.run()
