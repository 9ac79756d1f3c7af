/** Which keys a clear may delete: those without a version newer than the clear, wherever it is. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Engine } from '../../src/lsm/engine/engine.ts'
import { isUnchangedSince } from '../../src/lsm/engine/point-reads.ts'
import { LsmLevel, MemoryFileSystem } from '../../src/lsm/index.ts'
import type { TableCache } from '../../src/lsm/version/table-cache.ts'
import { Version } from '../../src/lsm/version/version.ts'
import { closeAll, closeLater } from '../support/temporary-directory.ts'
import { tablesByLevel } from './ingest-helpers.ts'
import { tableOf } from './version-helpers.ts'

test.after(closeAll)

test('a newer version is found in the memtable, in level 0 and below, and nothing else is taken for one', async () => {
  const db = closeLater(
    new LsmLevel<string, string>('/db', { autoCompaction: false, fileSystem: new MemoryFileSystem() })
  )
  await db.open()
  const engine = (db as unknown as { readonly _engine: Engine })._engine
  const old = ['b', 'd', 'f', 'h', 'x']
  for (const key of old) await db.put(key, 'old')
  const { sequence } = engine
  await db.batch().put('a', 'new').put('b', 'new').put('c', 'new').write()
  await db.compactRange('', '~')
  await db.batch().put('c', 'newer').put('d', 'new').del('e').write()
  await db.flush()
  await db.batch().put('d', 'newer').put('f', 'new').del('g').write()
  assert.is(tablesByLevel(db), '1 0 0 0 0 0 1')
  const isUnchanged = isUnchangedSince(engine, sequence)
  const keys = [...'abcdefghixyz']
  assert.equal(
    keys.filter((key) => !isUnchanged(Buffer.from(key))),
    [...'abcdefg']
  )
  assert.equal(
    keys.filter((key) => !isUnchangedSince(engine, engine.sequence)(Buffer.from(key))),
    []
  )
})

test('of thousands of newer tables only those are looked at that may have the key', () => {
  let looks = 0
  const tables = Array.from({ length: 4096 }, (_, n) => {
    const meta = tableOf(n + 1, `k${10_000 + n}`, `k${10_000 + n}x`)
    const key = (name: 'smallest' | 'largest') => ({
      get: () => {
        looks++
        return meta[name]
      }
    })
    return Object.defineProperties({ ...meta }, { smallest: key('smallest'), largest: key('largest') })
  })
  const cache = { table: () => assert.unreachable() } as unknown as TableCache
  const version = new Version([[], [], [], [], [], [], tables])
  const isUnchanged = isUnchangedSince({ buffers: [], version, tables: cache, sequence: 1000 }, 0)
  assert.ok(isUnchanged(Buffer.from('k10000y')), 'also prepares the search')
  looks = 0
  for (let n = 10; n < 20; n++) assert.ok(isUnchanged(Buffer.from(`k${n}123y`)))
  assert.ok(looks < 300, `${looks} looks`)
})

test.run()
