/** Crashes at every call of a recovery from a crash, or from a kill. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { MemoryFileSystem } from '../../src/lsm/fs/memory-file-system.ts'
import { testSeed } from '../support/arbitraries.ts'
import { FaultyFileSystem } from '../support/faulty-file-system.ts'
import { runNestedCampaign } from '../support/lsm-crash-campaign.ts'
import { contentOf, openStore } from '../support/lsm-crash-points.ts'
import { optionSets } from '../support/lsm-traces.ts'

const seed = testSeed()

for (const [name, options] of Object.entries(optionSets)) {
  test(`${name}: after a crash during recovery, the next recovery reaches the same state`, async () => {
    const record = await runNestedCampaign({ options, seed, maxStates: 30, randomStates: 0 }, 8)
    assert.ok(record.states > 60, `${record.states} states`)
  })
}

test('a power failure during the recovery from a kill loses nothing that was durable before the kill', async () => {
  const disk = new MemoryFileSystem()
  const killed: { readonly disk: MemoryFileSystem; readonly synced: string }[] = []
  let synced = ''
  const kill = (): void => void killed.push({ disk: disk.snapshot(), synced })
  const db = await openStore(new FaultyFileSystem(disk, { after: kill }), {})
  const put = async (key: string): Promise<void> => {
    await db.put(key, '1', { sync: true })
    synced += `${key}=1\n`
  }
  for (const key of ['a', 'b', 'c']) {
    await put(key)
    await db.flush()
  }
  const merged = db.compactRange('', '~')
  // In the log while the edit of the merge is written.
  for (let i = 0; i < 20; i++) await put(`d${String.fromCharCode(97 + i)}`)
  await merged
  await db.close()
  const merging = killed.filter(({ synced }) => synced.includes('da='))
  let states = 0
  for (const { disk: survivor, synced } of merging) {
    const crashed: MemoryFileSystem[] = []
    const crash = (): void => {
      const [worst] = survivor.crashStates()
      if (worst !== undefined) crashed.push(worst)
    }
    const recovered = await openStore(new FaultyFileSystem(survivor, { after: crash }), {})
    await recovered.close()
    for (const state of crashed) {
      const again = await openStore(state, {})
      assert.ok((await contentOf(again)).startsWith(synced), state.origin)
      await again.close()
      states++
    }
  }
  assert.ok(states > 500, `${states} states`)
})

test.run()
