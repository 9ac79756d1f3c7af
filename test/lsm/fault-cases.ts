/** Fails each file system call of a trace in turn: one test per option set. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { testSeed } from '../support/arbitraries.ts'
import { hurryTimers, runFaultCampaign } from '../support/lsm-faults.ts'
import { optionSets } from '../support/lsm-traces.ts'

const names = ['tiny memtables and tables', 'value filters in side files', 'two partitions'] as const

/** @param what fails, for the titles */
export function testFaults(what: string, isPersistent: boolean): void {
  const seed = testSeed()
  const unhandled: unknown[] = []
  process.on('unhandledRejection', (reason) => unhandled.push(reason))
  hurryTimers()
  for (const name of names) {
    test(`${name}, ${what}: each write is rejected or durable, and the directory opens again`, async () => {
      const calls = await runFaultCampaign({ options: optionSets[name], seed, length: 12, isPersistent })
      console.log(`${calls} calls`)
      // Every operation makes several calls.
      assert.ok(calls > 5 * 12)
      assert.equal(unhandled, [])
    })
  }
}
