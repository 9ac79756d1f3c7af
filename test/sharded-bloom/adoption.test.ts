/** When an index may adopt segments that were built elsewhere. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { generateTweets } from '../../src/workload/index.ts'
import { IndexHarness } from '../support/index-harness.ts'

const tweets = [...generateTweets({ count: 600 })]
const segmentDocuments = 512

test('ordinals are reserved and segments adopted only at the end of a segment, and not during a rebuild', async () => {
  const harness = await IndexHarness.open({ segmentDocuments })
  const { index } = harness
  const bulk = index.bulk!
  assert.is(bulk.room, 0, 'nothing is open')
  assert.ok(bulk.mayReserve)
  await harness.insert(tweets.slice(0, 500))
  assert.is(bulk.room, 12)
  assert.not(bulk.mayReserve)
  await harness.insert(tweets.slice(500, 512))
  await index.maintain(512)
  assert.is(bulk.room, 0)
  assert.ok(bulk.mayReserve)
  assert.ok(bulk.mayAdopt({ from: 512, to: 1024 }))
  assert.not(bulk.mayAdopt({ from: 511, to: 1024 }), 'a document is there')
  const rebuild = await index.beginRebuild!(512)
  assert.not(bulk.mayReserve)
  assert.not(bulk.mayAdopt({ from: 512, to: 1024 }))
  await rebuild.end()
  assert.ok(bulk.mayAdopt({ from: 512, to: 1024 }))
  await harness.close()
})

test.run()
