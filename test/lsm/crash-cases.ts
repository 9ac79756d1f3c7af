/** Crashes at every call of random traces, and checks the state after each: one test per option set. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { testSeed } from '../support/arbitraries.ts'
import { runCrashCampaigns } from '../support/lsm-crash-campaign.ts'
import { optionSets } from '../support/lsm-traces.ts'

const states = 1700

export function testCrashes(...names: readonly (keyof typeof optionSets)[]): void {
  const seed = testSeed()
  for (const name of names) {
    test(`${name}: a crash at any call loses nothing durable and tears no batch`, async () => {
      const record = await runCrashCampaigns({ options: optionSets[name], seed, maxStates: 1000 }, states)
      console.log(JSON.stringify(record))
      assert.is(record.states, states)
    })
  }
}
