/** After kill -9, a transaction over three collections is there as a whole or not at all; acknowledged ones are there. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { open } from '../../src/index.ts'
import { testSeed } from '../support/arbitraries.ts'
import { linesOf, runUntilKilled } from '../support/killed-program.ts'
import { program } from '../support/program.ts'
import { randomFrom } from '../support/random.ts'
import { scratchPath } from './scratch.ts'

const random = randomFrom(testSeed())
const script = program('test/docstore/transaction-until-killed.ts')

/** @returns the number of the last transfer that was acknowledged */
async function transferAndKill(location: string, store: string, milliseconds: number): Promise<number> {
  const log = `${location}.log`
  const seed = String(Math.floor(random() * 2 ** 31))
  await runUntilKilled(script, [location, log, seed, store], milliseconds)
  return Number(linesOf(log).at(-1))
}

for (const store of ['lsm', 'level'] as const) {
  test(`${store}: after kill -9 the transfers that are logged, and no others, are in both accounts`, async () => {
    const location = scratchPath()
    for (let round = 0; round < 4; round++) {
      const acknowledged = await transferAndKill(location, store, 50 + random() * 300)
      const db = await open(location, { store, index: { segmentBits: 512 } })
      const log = await db.collection('log').find().sort({ _id: 1 }).toArray()
      assert.ok(log.length > acknowledged, `${log.length} are logged, ${acknowledged} was acknowledged`)
      assert.equal(
        log.map(({ _id }) => _id),
        Array.from(log.keys())
      )
      for (const [name, sign] of [
        ['left', -1],
        ['right', 1]
      ] as const) {
        const balances = Array.from({ length: 50 }, () => 100)
        const last = new Map<unknown, unknown>()
        for (const { _id, [name]: account, amount } of log) {
          balances[Number(account)]! += sign * Number(amount)
          last.set(account, _id)
        }
        const accounts = await db.collection(name).find().sort({ _id: 1 }).toArray()
        assert.equal(
          accounts.map(({ balance }) => balance),
          balances
        )
        assert.equal(
          accounts.map((account) => account.last),
          accounts.map(({ _id }) => last.get(_id))
        )
        const some = { balance: { $gte: 100 } }
        assert.is(await db.collection(name).countDocuments(some), balances.filter((balance) => balance >= 100).length)
      }
      assert.equal((await db.verify()).problems, [])
      await db.close()
    }
  })
}

test.run()
