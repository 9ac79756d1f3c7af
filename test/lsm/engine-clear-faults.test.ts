import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { LsmLevel, MemoryFileSystem } from '../../src/lsm/index.ts'
import { FaultyFileSystem } from '../support/faulty-file-system.ts'
import { hurryTimers } from '../support/lsm-faults.ts'

/** A few keys fill a table. */
const options = { writeBufferSize: 800, maxFileSize: 400, blockSize: 100, level1Bytes: 2000 }
const range = { gte: 'k12', lt: 'k38' }

hurryTimers()

/** Tables across both borders of the range hold older versions of the keys of later tables within it. */
async function filled(fileSystem: FaultyFileSystem) {
  const db = new LsmLevel<string, string>('/db', { ...options, fileSystem })
  await db.open()
  for (let n = 10; n < 40; n++) await db.put(`k${n}`, `old ${n}`, { sync: true })
  await db.compactRange('', '~')
  for (let n = 12; n < 38; n++) await db.put(`k${n}`, `new ${n}`, { sync: true })
  return db
}

for (const isPersistent of [false, true]) {
  const what = isPersistent ? 'all calls from the Nth on fail' : 'the Nth call fails'
  test(`${what} during clear(): each key is as it was or gone, also after a power failure`, async () => {
    let calls = 0
    for (let at = 1; calls === 0; at++) {
      const disk = new MemoryFileSystem()
      const fileSystem = new FaultyFileSystem(disk)
      const db = await filled(fileSystem)
      const before = await db.iterator().all()
      fileSystem.fail({ at, isPersistent, code: 'EIO' })
      const isCleared = await db.clear(range).then(
        () => true,
        () => false
      )
      if (fileSystem.matches < at) calls = at
      const [worst = disk] = disk.crashStates()
      await db.close().catch(() => undefined)
      fileSystem.heal()
      await checkLeft(worst, before, `crash, call ${at}`)
      const left = await checkLeft(disk, before, `call ${at}`)
      if (isCleared) assert.ok(left.every((key) => key < range.gte || key >= range.lt))
    }
    assert.ok(calls > 10, `${calls} calls`)
  })
}

async function checkLeft(fileSystem: MemoryFileSystem, before: readonly [string, string][], where: string) {
  const db = new LsmLevel<string, string>('/db', { ...options, fileSystem })
  const after = new Map(await db.iterator().all())
  for (const [key, value] of before) {
    const isInside = key >= range.gte && key < range.lt
    if (!isInside || after.has(key)) assert.is(after.get(key), value, `${key}, ${where}`)
  }
  assert.is([...after.keys()].filter((key) => !before.some(([known]) => known === key)).length, 0)
  assert.equal((await db.verify()).problems, [])
  await db.close()
  return [...after.keys()]
}

test.run()
