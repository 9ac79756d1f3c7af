/** Crashes at every call while memtables are written out and tables merged. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { testSeed } from '../support/arbitraries.ts'
import { runCrashCampaigns } from '../support/lsm-crash-campaign.ts'
import { optionSets } from '../support/lsm-traces.ts'

const seed = testSeed()
const states = 1700

for (const name of ['tiny memtables and tables', 'one table starts a compaction, blocks are not compressed'] as const) {
  test(`${name}: a crash at any call loses nothing durable and tears no batch`, async () => {
    const record = await runCrashCampaigns({ options: optionSets[name], seed, maxStates: 1000 }, states)
    console.log(JSON.stringify(record))
    assert.is(record.states, states)
  })
}

test.run()
