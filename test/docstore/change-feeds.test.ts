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
  feed.hold(true)
  for (let i = 0; i < 2; i++) watchFeed(feed, [], {})
  assert.is(feeds.of('passing'), feed)
  feeds.dropped('passing')
  assert.is.not(feeds.of('passing'), feed)
  assert.is(feeds.size, 0)
})

test('a name is forgotten when its last stream closes, unless the collection is open', async () => {
  const feeds = new ChangeFeeds()
  for (let i = 0; i < 100; i++) {
    const feed = feeds.of(`name ${i}`)
    const [first, second] = [watchFeed(feed, [], {}), watchFeed(feeds.of(`name ${i}`), [], {})]
    await first.close()
    assert.is(feeds.of(`name ${i}`), feed)
    assert.is(feeds.size, 1)
    await second.close()
    assert.is(feeds.size, 0)
  }
  const refused = (): void => void watchFeed(feeds.of('name'), [{ $unknown: 1 }], {})
  assert.throws(refused)
  assert.is(feeds.size, 0)
  const open = feeds.of('open')
  open.hold(true)
  await watchFeed(open, [], {}).close()
  assert.is(feeds.of('open'), open)
  assert.is(feeds.size, 1)
  open.hold(false)
  assert.is(feeds.size, 0)
})

function watchAndForget(feed: ChangeFeed, signal: AbortSignal | undefined): void {
  assert.not(watchFeed(feed, [], signal === undefined ? {} : { signal }).closed)
}

for (const [name, signal] of [
  ['without a signal', undefined],
  ['with a signal that others listen to', new AbortController().signal]
] as const) {
  test(`garbage-collected streams that were not closed are removed from their feed: ${name}`, async () => {
    v8.setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const warnings: Error[] = []
    const note = (warning: Error): void => void warnings.push(warning)
    process.on('warning', note)
    const feed = new ChangeFeeds().of('watched')
    for (let i = 0; i < 20; i++) watchAndForget(feed, signal)
    assert.is(feed.streams.length, 20)
    for (let i = 0; i < 100 && feed.streams.length > 0; i++) {
      // An object referred to recently stays until the end of the turn, and the collector's callbacks run in a later one.
      await new Promise((resolve) => setImmediate(resolve))
      collect()
    }
    assert.is(feed.streams.length, 0)
    process.off('warning', note)
    assert.equal(warnings, [], 'a signal has one listener for all of them')
  })
}

test('a stream ends when its signal fires', async () => {
  const stop = new AbortController()
  const feed = new ChangeFeeds().of('watched')
  const stream = watchFeed(feed, [], { signal: stop.signal })
  stop.abort(new Error('enough'))
  assert.ok(stream.closed)
  assert.is(feed.streams.length, 0)
  assert.is(await stream.hasNext(), false)
  const reason = await stream.next().catch((error: Error) => error.cause ?? error)
  assert.ok(reason instanceof Error)
})

test.run()
