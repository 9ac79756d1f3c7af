/** The Nth call to the file system fails. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { testSeed } from '../support/arbitraries.ts'
import { hurryTimers, runFaultCampaign } from '../support/lsm-faults.ts'
import { optionSets } from '../support/lsm-traces.ts'

const seed = testSeed()
const unhandled: unknown[] = []
process.on('unhandledRejection', (reason) => unhandled.push(reason))
hurryTimers()

for (const name of ['tiny memtables and tables', 'value filters in side files', 'two partitions'] as const) {
  test(`${name}: any one call fails: rejected or durable, and the directory opens again`, async () => {
    const options = optionSets[name]
    const calls = await runFaultCampaign({ options, seed, length: 11, isPersistent: false })
    console.log(`${calls} calls`)
    assert.ok(calls > 100)
    assert.equal(unhandled, [])
  })
}

test.run()
