/** Crashes at every call while most writes are in logs, and with partitions. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { testSeed } from '../support/arbitraries.ts'
import { runCrashCampaigns } from '../support/lsm-crash-campaign.ts'
import { optionSets } from '../support/lsm-traces.ts'

const seed = testSeed()
const states = 1700

for (const name of ['everything stays in the log', 'two partitions'] as const) {
  test(`${name}: a crash at any call loses nothing durable and tears no batch`, async () => {
    const record = await runCrashCampaigns({ options: optionSets[name], seed, maxStates: 1000 }, states)
    console.log(JSON.stringify(record))
    assert.is(record.states, states)
  })
}

test.run()
