import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { CompactionLimits, Pick } from '../../src/lsm/compaction/pick.ts'
import { pickCompaction } from '../../src/lsm/compaction/picker.ts'
import { LsmLevel, MemoryFileSystem } from '../../src/lsm/index.ts'
import { tableOf } from './version-helpers.ts'

const limits: CompactionLimits = {
  level0Trigger: 1,
  level1Bytes: 1000,
  maxFileBytes: 100,
  level0FileBytes: Number.POSITIVE_INFINITY,
  partitionDepth: 1,
  minPartitionSize: 0
}

const idle = { running: [], pointer: () => undefined }

function level0Of(picked: Pick | undefined): readonly number[] {
  if (picked === undefined) return []
  const tables = picked.kind === 'move' ? picked.tables : picked.inputs.flatMap((input) => input.tables)
  return tables.map(({ number }) => number)
}

test('a table does not move below an older one that spans several partitions', () => {
  // Written before there were partitions: it belongs to the first one, but has keys of all.
  const older = tableOf(1, '!a!1', '!c!1')
  const newer = tableOf(2, '!b!1', '!b!2')
  const picked = pickCompaction({ levels: [[newer, older], [], [], [], [], [], []] }, limits, idle)
  assert.equal([...level0Of(picked)].sort(), [1, 2])
})

test('after partitionDepth was raised, reads return the newest values', async () => {
  const fileSystem = new MemoryFileSystem()
  const open = async (partitionDepth: number) => {
    const db = new LsmLevel('/db', { fileSystem, partitionDepth, level0CompactionTrigger: 2 })
    await db.open()
    return db
  }
  let db = await open(0)
  const keys = ['!a!1', '!b!1', '!c!1']
  await db.batch(keys.map((key) => ({ type: 'put', key, value: 'old' })))
  await db.flush()
  await db.close()

  db = await open(1)
  for (const value of ['new', 'newer']) {
    await db.put('!b!1', value)
    await db.flush()
    // Turns of the event loop, in which merges and moves proceed.
    for (let i = 0; i < 50; i++) await new Promise((resolve) => setImmediate(resolve))
  }
  assert.equal(await db.getMany(keys), ['old', 'newer', 'old'])
  assert.equal(
    (await db.verify()).problems.map(({ what }) => what),
    []
  )
  await db.close()
})

test.run()
