/** Nothing is kept of who watched a collection that is gone, or has gone himself. */
import v8 from 'node:v8'
import { runInNewContext } from 'node:vm'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type ChangeFeed, ChangeFeeds } from '../../src/docstore/watch/change-feed.ts'
import { watchFeed } from '../../src/docstore/watch/change-stream.ts'

test('a collection that was dropped leaves no feed, and one of its name begins anew', () => {
  const feeds = new ChangeFeeds()
  const feed = feeds.of('passing')
  assert.is(feeds.of('passing'), feed)
  feeds.dropped('passing')
  assert.is.not(feeds.of('passing'), feed)
})

function watchAndForget(feed: ChangeFeed): void {
  assert.not(watchFeed(feed, [], {}).closed)
}

test('a stream that was dropped without being closed is told of nothing any more', async () => {
  v8.setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const feed = new ChangeFeeds().of('watched')
  watchAndForget(feed)
  assert.is(feed.streams.length, 1)
  for (let i = 0; i < 100 && feed.streams.length > 0; i++) {
    // What was just referred to stays until the end of the turn, and callbacks of the collector come in a later one.
    await new Promise((resolve) => setImmediate(resolve))
    collect()
  }
  assert.is(feed.streams.length, 0)
})

test.run()
