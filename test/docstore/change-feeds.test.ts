/** Neither dropped collections nor forgotten streams leak memory. */
import v8 from 'node:v8'
import { runInNewContext } from 'node:vm'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type ChangeFeed, ChangeFeeds } from '../../src/docstore/watch/change-feed.ts'
import { watchFeed } from '../../src/docstore/watch/change-stream.ts'

test('a dropped collection leaves no feed, and a new one of the same name gets a new feed', () => {
  const feeds = new ChangeFeeds()
  const feed = feeds.of('passing')
  assert.is(feeds.of('passing'), feed)
  feeds.dropped('passing')
  assert.is.not(feeds.of('passing'), feed)
})

function watchAndForget(feed: ChangeFeed): void {
  assert.not(watchFeed(feed, [], {}).closed)
}

test('a garbage-collected stream that was not closed is removed from its feed', async () => {
  v8.setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const feed = new ChangeFeeds().of('watched')
  watchAndForget(feed)
  assert.is(feed.streams.length, 1)
  for (let i = 0; i < 100 && feed.streams.length > 0; i++) {
    // An object referred to recently stays until the end of the turn, and the collector's callbacks run in a later one.
    await new Promise((resolve) => setImmediate(resolve))
    collect()
  }
  assert.is(feed.streams.length, 0)
})

test.run()
