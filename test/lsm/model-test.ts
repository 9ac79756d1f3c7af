/** One test per option set: random histories on the store and on the model. */
import fc from 'fast-check'
import { test } from 'uvu'
import { histories } from './model-operations.ts'
import { play } from './model-player.ts'
import type { Setting } from './model-subject.ts'

const seed = Number(process.env.PETALDB_SEED ?? Date.now() % 1_000_000)
/** More of it: PETALDB_RUNS=1000. */
const runsAsked = process.env.PETALDB_RUNS === undefined ? undefined : Number(process.env.PETALDB_RUNS)
/** Whoever only wants to know whether it fails, sets PETALDB_SHRINK=0. */
const endOnFailure = process.env.PETALDB_SHRINK === '0'
const maxMilliseconds = 60_000

export function testSettings(settings: Readonly<Record<string, Setting>>, numRuns: number): void {
  console.log(`seed ${seed}`)
  for (const [i, [name, setting]] of Object.entries(settings).entries()) {
    test(`${name}: the store is a sorted map with frozen snapshots, and lookups are full scans`, async () => {
      const property = fc.asyncProperty(histories, (history) => play(setting, history))
      await fc.assert(property, {
        // Every option set has histories of its own.
        seed: seed + i,
        numRuns: runsAsked ?? numRuns,
        timeout: maxMilliseconds,
        endOnFailure,
        includeErrorInReport: true,
        // The lengths of histories are uniform: 120 operations on average.
        unbiased: true
      })
    })
  }
}
