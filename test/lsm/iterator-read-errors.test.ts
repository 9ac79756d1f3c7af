/** A read fails once while an iterator scans tables of several levels: later steps are right, or reject. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { LsmLevel, MemoryFileSystem } from '../../src/lsm/index.ts'
import { FaultyFileSystem } from '../support/faulty-file-system.ts'
import { rejection } from './tools-stores.ts'

const count = 200
const keyOf = (n: number): string => `k${String(n).padStart(4, '0')}`
const storedAt = (n: number): string => (n % 2 === 0 ? 'new' : `old ${'x'.repeat(100)}`)

async function filled(fileSystem: FaultyFileSystem): Promise<LsmLevel> {
  const options = { cacheSize: 0, maxFileSize: 4000, blockSize: 1000, compression: false, maxOpenFiles: 1 }
  const db = new LsmLevel('/db', { fileSystem, ...options })
  for (let n = 0; n < count; n++) await db.put(keyOf(n), `old ${'x'.repeat(100)}`)
  await db.compactRange('', '~')
  for (let n = 0; n < count; n += 2) await db.put(keyOf(n), 'new')
  await db.flush()
  return db
}

test('after a failed step an iterator fails until seek(), and continues from there', async () => {
  let failures = 0
  for (const reverse of [false, true]) {
    for (let at = 1; at < 30; at++) {
      const fileSystem = new FaultyFileSystem(new MemoryFileSystem())
      const db = await filled(fileSystem)
      fileSystem.fail({ at, operations: ['read', 'open'], path: /sst$/, code: 'EIO' })
      const iterator = db.iterator({ reverse })
      const expected = Array.from({ length: count }, (_, i) => (reverse ? count - 1 - i : i))
      let found = 0
      for (let turn = 0; turn < 2 * count && found < count; turn++) {
        const next = await iterator.next().catch(() => 'failed' as const)
        if (next === 'failed') {
          failures++
          assert.is((await rejection(iterator.next())).code, 'LEVEL_IO_ERROR')
          iterator.seek(keyOf(expected[found]!))
          continue
        }
        const n = expected[found++]!
        assert.equal(next, [keyOf(n), storedAt(n)], `call ${at}`)
      }
      assert.is(found, count)
      assert.is(await iterator.next(), undefined)
      await iterator.close()
      await db.close()
    }
  }
  assert.ok(failures > 20, `${failures} steps failed`)
})

test.run()
