/** A scan of a range opens only the tables that may hold its keys, one at a time. */
import * as fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { LsmLevel, MemoryFileSystem } from '../../src/lsm/index.ts'
import { tablesWithin } from '../../src/lsm/version/level.ts'
import type { TableMeta } from '../../src/lsm/version/table-meta.ts'
import { testSeed } from '../support/arbitraries.ts'
import { closeAll, closeLater } from '../support/temporary-directory.ts'

const keyOf = (area: string, number: number) => `${area}${String(number).padStart(4, '0')}`
const range = (area: string) => ({ gte: area, lt: `${area}~` })

/** Three areas, each with a table in the last level and one in level 0 with newer values of every other key. */
async function filled(fileSystem = new MemoryFileSystem()): Promise<LsmLevel> {
  const options = { fileSystem, level0CompactionTrigger: 50 }
  const db = new LsmLevel('/db', options)
  const areas = ['a', 'm', 'z']
  for (const area of areas) {
    await db.batch(Array.from({ length: 200 }, (_, i) => ({ type: 'put' as const, key: keyOf(area, i), value: 'old' })))
    await db.compactRange(area, `${area}~`)
  }
  for (const area of areas) {
    await db.batch(
      Array.from({ length: 100 }, (_, i) => ({ type: 'put' as const, key: keyOf(area, 2 * i), value: 'new' }))
    )
    await db.flush()
  }
  await db.close()
  return closeLater(new LsmLevel('/db', options))
}

test('a scan opens only the tables of its range', async () => {
  const db = await filled()
  await db.open()
  assert.is(db.stats().openTables, 0)
  for (const [i, area] of ['m', 'z', 'a'].entries()) {
    const values = await db.values(range(area)).all()
    assert.equal([values.length, values.filter((value) => value === 'new').length], [200, 100])
    assert.is(db.stats().openTables, 2 * (i + 1), area)
  }
})

test('bounds at the first or last key of a table include or exclude that key', async () => {
  const db = await filled()
  const keys = async (options: { gte?: string; gt?: string; lt?: string; lte?: string; reverse?: boolean }) =>
    db.keys(options).all()
  assert.equal(await keys({ gte: keyOf('m', 199), lt: keyOf('z', 1) }), [keyOf('m', 199), keyOf('z', 0)])
  assert.equal(await keys({ gt: keyOf('m', 198), lte: keyOf('z', 0), reverse: true }), [keyOf('z', 0), keyOf('m', 199)])
  assert.equal(await keys({ gt: keyOf('m', 199), lt: keyOf('z', 0) }), [])
})

test('prepareSome() opens one table at a time, and only those needed for the first entry', async () => {
  const db = await filled()
  await db.open()
  const scan = db.scanBytes({ gte: Buffer.from('m') })
  const open: number[] = []
  while (scan.prepareSlice()) open.push(db.stats().openTables)
  assert.equal(open, [1, 2])
  assert.ok(scan.next())
  assert.is(db.stats().openTables, 2, 'those further on wait until the scan comes to them')
  await scan.close()
})

test('a reverse scan, and an iterator after seek(), open the tables at their start', async () => {
  const db = await filled()
  await db.open()
  const scan = db.scanBytes({ lt: Buffer.from('n'), reverse: true })
  while (scan.prepareSlice());
  assert.is(db.stats().openTables, 2)
  assert.ok(scan.next())
  assert.is(db.stats().openTables, 2)
  await scan.close()
  const keys = db.keys()
  keys.seek('z')
  assert.is(await keys.next(), keyOf('z', 0))
  assert.is(db.stats().openTables, 4)
  await keys.close()
})

test('a missing table fails only the scans that reach it', async () => {
  const fileSystem = new MemoryFileSystem()
  const db = await filled(fileSystem)
  await db.open()
  const damaged = fileSystem.list('/db').filter((name) => name.endsWith('.sst'))[0]!
  fileSystem.remove(`/db/${damaged}`)
  assert.is((await db.keys(range('z')).all()).length, 200)
  try {
    await db.keys(range('a')).all()
    assert.unreachable()
  } catch (error) {
    assert.is((error as { code: string }).code, 'LEVEL_IO_ERROR')
  }
})

test('tablesWithin() returns exactly the tables that may have keys in the range', () => {
  const key = fc.integer({ min: 0, max: 30 })
  const bytes = (number: number): Uint8Array => Uint8Array.of(number)
  fc.assert(
    fc.property(fc.uniqueArray(key, { maxLength: 12 }), fc.option(key), fc.option(key), (ends, from, to) => {
      const sorted = ends.sort((a, b) => a - b)
      const tables: TableMeta[] = []
      for (let i = 0; i + 1 < sorted.length; i += 2) {
        tables.push({ smallest: bytes(sorted[i]!), largest: bytes(sorted[i + 1]!) } as unknown as TableMeta)
      }
      const bound = (number: number | null) => (number === null ? undefined : bytes(number))
      const within = tablesWithin(tables, { start: bound(from), end: bound(to) })
      const expected = tables.filter(
        ({ smallest, largest }) => (from === null || largest[0]! >= from) && (to === null || smallest[0]! < to)
      )
      assert.equal(within, from !== null && to !== null && from >= to ? within : expected)
    }),
    { seed: testSeed(), numRuns: 2000 }
  )
})

test.after(closeAll)
test.run()
