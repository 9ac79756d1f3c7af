/** Nothing is kept of who watched a collection that is gone. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { ChangeFeeds } from '../../src/docstore/watch/change-feed.ts'

test('a collection that was dropped leaves no feed, and one of its name begins anew', () => {
  const feeds = new ChangeFeeds()
  const feed = feeds.of('passing')
  assert.is(feeds.of('passing'), feed)
  feeds.dropped('passing')
  assert.is.not(feeds.of('passing'), feed)
})

test.run()
