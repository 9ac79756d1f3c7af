/** Plays random histories on the store and on the model: one test per option set. */
import fc from 'fast-check'
import { test } from 'uvu'
import { histories } from './model-operations.ts'
import { play } from './model-player.ts'
import type { Setting } from './model-subject.ts'

const seed = Number(process.env.PETALDB_SEED ?? Date.now() % 1_000_000)
/** PETALDB_RUNS=1000 plays more histories. */
const runsAsked = process.env.PETALDB_RUNS === undefined ? undefined : Number(process.env.PETALDB_RUNS)
/** PETALDB_SHRINK=0 skips shrinking. */
const endOnFailure = process.env.PETALDB_SHRINK === '0'
const maxMilliseconds = 60_000

export function testSettings(settings: Readonly<Record<string, Setting>>, numRuns: number): void {
  console.log(`seed ${seed}`)
  for (const [i, [name, setting]] of Object.entries(settings).entries()) {
    test(`${name}: the store is a sorted map with frozen snapshots, and lookups find what full scans find`, async () => {
      const property = fc.asyncProperty(histories, (history) => play(setting, history))
      await fc.assert(property, {
        // Every option set gets histories of its own.
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
