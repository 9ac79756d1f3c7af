/** Crashes at every call of a recovery from a crash. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { testSeed } from '../support/arbitraries.ts'
import { runNestedCampaign } from '../support/lsm-crash-campaign.ts'
import { optionSets } from '../support/lsm-traces.ts'

const seed = testSeed()

for (const [name, options] of Object.entries(optionSets)) {
  test(`${name}: after a crash during recovery, the next recovery reaches the same state`, async () => {
    const record = await runNestedCampaign({ options, seed, maxStates: 30, randomStates: 0 }, 8)
    assert.ok(record.states > 60, `${record.states} states`)
  })
}

test.run()
