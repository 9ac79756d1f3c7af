import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { hasCode } from '../../src/lsm/errors.ts'
import { MemoryFileSystem } from '../../src/lsm/fs/memory-file-system.ts'
import { location, openStore } from '../support/lsm-crash-points.ts'
import {
  checkDamage,
  createSpecimen,
  cut,
  type Damage,
  filesOf,
  grow,
  remove,
  replace,
  specimens
} from '../support/lsm-damage.ts'

for (const [name, options] of Object.entries(specimens)) {
  test(`${name}: with any file truncated at any length, reads return right answers or LEVEL_CORRUPTION`, async () => {
    const specimen = await createSpecimen(options)
    let noticed = 0
    for (const file of filesOf(specimen)) {
      for (let length = 0; length < file.bytes; length++) {
        if (await checkDamage(specimen, cut(file.name, length))) noticed++
      }
    }
    assert.ok(noticed > 500, `${noticed}`)
  })

  test(`${name}: with a file removed, extended or replaced, reads return right answers or LEVEL_CORRUPTION`, async () => {
    const specimen = await createSpecimen(options)
    const files = filesOf(specimen)
    for (const file of files) {
      await checkDamage(specimen, remove(file.name))
      for (const count of [1, 24, 64, 5000]) await checkDamage(specimen, grow(file.name, count))
      for (const other of files) {
        if (other !== file) await checkDamage(specimen, replace(file.name, other.name))
      }
    }
  })
}

test('a manifest without its end is refused after a clean close, however often the store was opened', async () => {
  const disk = new MemoryFileSystem()
  let refused = 0
  for (let session = 1; session <= 4; session++) {
    const db = await openStore(disk, {})
    for (const n of [0, 1]) {
      await db.put(`key ${session} ${n}`, 'value')
      await db.flush()
    }
    await db.close()
    const name = disk.list(location).find((each) => each.startsWith('MANIFEST'))!
    const bytes = disk.size(`${location}/${name}`)!
    for (let length = 0; length < bytes; length++) {
      for (const damage of [cut(name, length), zeros(name, length, bytes)]) {
        const damaged = disk.snapshot()
        damage.apply(damaged, `${location}/${name}`)
        try {
          const opened = await openStore(damaged, {})
          // What is not part of the only edit says that it was durable.
          assert.is((await opened.keys().all()).length, 2 * session, `${damage.description}, session ${session}`)
          await opened.close()
        } catch (error) {
          if (!hasCode((error as Error).cause, 'LEVEL_CORRUPTION')) throw error
          refused++
        }
      }
    }
  }
  assert.ok(refused > 1000, `${refused}`)
})

function zeros(file: string, from: number, to: number): Damage {
  return {
    file,
    description: `zeros from ${from} on`,
    apply: (disk, path) => {
      const opened = disk.open(path, 'update')
      opened.write(new Uint8Array(to - from), from)
      opened.close()
    }
  }
}

test.run()
