/** After kill -9, a rebuild by a thread has left the old index or the new one, whole, and nothing else. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { lsmOptions } from '../../src/docstore/store/lsm-store.ts'
import { open } from '../../src/index.ts'
import { LsmLevel } from '../../src/lsm/lsm-level.ts'
import { generateTweets } from '../../src/workload/index.ts'
import { testSeed } from '../support/arbitraries.ts'
import { runUntilKilled } from '../support/killed-program.ts'
import { program } from '../support/program.ts'
import { randomFrom } from '../support/random.ts'
import { assertNoTableIsLeft } from './load-cases.ts'
import { scratchPath } from './scratch.ts'

const random = randomFrom(testSeed())
const rounds = Number(process.env.PETALDB_RUNS ?? 5)
const script = program('test/docstore/rebuild-until-killed.ts')
const segmentBits = 16_384
const options = { index: { segmentBits }, autoRebuild: false }
const count = segmentBits + 2000

/** @param milliseconds from the end of the first rebuild to the kill */
function runChild(location: string, milliseconds: number): Promise<void> {
  return runUntilKilled(script, [location, String(segmentBits)], milliseconds)
}

/** Numbers of the segments that have private rows in the store. REQUIRES: it is closed. */
async function storedSegments(location: string): Promise<Set<bigint>> {
  const store = new LsmLevel<Uint8Array, Uint8Array>(location, {
    ...lsmOptions(),
    keyEncoding: 'view',
    valueEncoding: 'view'
  })
  const prefix = '!1.index!p'
  const numbers = new Set<bigint>()
  for await (const key of store.keys({ gte: Buffer.from(prefix), lt: Buffer.from('!1.index!q') })) {
    numbers.add(Buffer.from(key).readBigUInt64BE(prefix.length))
  }
  await store.close()
  return numbers
}

test('after kill -9 the index is whole, and no segment and no table is left over', async () => {
  const location = scratchPath()
  const first = await open(location, options)
  await first.insertMany(generateTweets({ count }), { threads: 0 })
  await first.deleteMany({ 'user.followers_count': { $mod: [10, 1] } })
  const size = await first.countDocuments()
  await first.close()
  for (let round = 0; round < rounds; round++) {
    await runChild(location, random() * 400)
    const db = await open(location, options)
    assert.is(await db.countDocuments(), size)
    const { segments, dead, recovered } = await db.index.stats()
    assert.equal({ dead, recovered }, { dead: 0, recovered: 0 })
    await db.close()
    assert.is((await storedSegments(location)).size, segments)
    await assertNoTableIsLeft(location, options)
  }
})

test.run()
