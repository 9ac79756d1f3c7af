/** Processes that are killed while they write, flush, merge, close and open. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { createRandom } from '../bloom/random.ts'
import { testSeed } from '../support/arbitraries.ts'
import { compileWriter, runKillRounds } from '../support/lsm-kill-rounds.ts'

const seed = testSeed()
const rounds = 52

test('after kill -9 every acknowledged write is kept, batches are whole, and the next open() succeeds at once', async () => {
  const program = compileWriter()
  const lanes = [seed, seed + 1].map((laneSeed) => runKillRounds(program, rounds, createRandom(laneSeed)))
  for (const record of await Promise.all(lanes)) {
    console.log(JSON.stringify(record))
    assert.is(record.rounds, rounds)
    // Usually tens of milliseconds; seconds on a busy machine. It must not wait for the dead process.
    assert.ok(record.slowestOpenMilliseconds < 30_000)
  }
})

test.run()
