/** Merging small tables of the last level comes to an end, even if some were written before there were partitions. */
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { LsmLevel, MemoryFileSystem } from '../../src/lsm/index.ts'

test('merges of an idle store come to an end, even with a table across all partitions', async () => {
  const fileSystem = new MemoryFileSystem()
  const sessionOf = async (options: object, work: (db: LsmLevel) => Promise<void>): Promise<void> => {
    const db = new LsmLevel('/db', { fileSystem, ...options })
    await work(db)
    await db.close()
  }
  await sessionOf({ partitionDepth: 1 }, async (db) => {
    for (let s = 0; s < 10; s++) {
      const sublevel = db.sublevel(`s${s}`)
      for (let n = 0; n < 20; n++) await sublevel.put(`k${n}`, 'x'.repeat(50))
      await db.flush()
    }
    await db.compactRange('', '~')
  })
  // One table across all partitions.
  await sessionOf({ autoCompaction: false }, async (db) => {
    await db.put('!s0!k0', 'new')
    await db.put('!s9!k5', 'new')
    await db.flush()
  })
  await sessionOf({ partitionDepth: 1 }, async (db) => {
    for (let s = 0; s < 10; s++) await db.sublevel(`s${s}`).put('a', '1')
    await db.flush()
    const merges = (): number => db.stats().levels.reduce((sum, level) => sum + level.merges, 0)
    let before = -1
    for (let looks = 0; merges() !== before; looks++) {
      assert.ok(looks < 20, `${merges()} merges, and no end`)
      before = merges()
      await sleep(50)
    }
    assert.is(await db.sublevel('s9').get('k5'), 'new')
  })
})

test.run()
