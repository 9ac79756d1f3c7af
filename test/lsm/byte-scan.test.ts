/** A scan over bytes shows what an iterator shows, and ends with the database. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { MemoryFileSystem } from '../../src/lsm/fs/memory-file-system.ts'
import { LsmLevel } from '../../src/lsm/lsm-level.ts'
import type { ByteScan } from '../../src/lsm/read/byte-scan.ts'

async function filled(): Promise<LsmLevel> {
  const db = new LsmLevel('db', { fileSystem: new MemoryFileSystem() })
  for (let i = 0; i < 300; i++) {
    await db.put(`k${String(i).padStart(3, '0')}`, `value é ${i}`)
    if (i === 200) await db.flush()
  }
  await db.del('k100')
  return db
}

function entriesOf(scan: ByteScan): [string, string][] {
  const entries: [string, string][] = []
  while (scan.next()) {
    const { keyBytes, keyStart, keyEnd, valueBytes, valueStart, valueEnd } = scan.entry
    const value = Buffer.from(valueBytes.subarray(valueStart, valueEnd)).toString()
    assert.is(scan.valueText(), value)
    entries.push([Buffer.from(keyBytes.subarray(keyStart, keyEnd)).toString(), value])
  }
  return entries
}

test('shows what an iterator shows, in tables and memtables, forwards and backwards', async () => {
  const db = await filled()
  for (const reverse of [false, true]) {
    const scan = db.scanBytes({ gte: Buffer.from('k050'), lt: Buffer.from('k250'), reverse })
    assert.equal(entriesOf(scan), await db.iterator({ gte: 'k050', lt: 'k250', reverse }).all())
    await scan.close()
  }
  await db.close()
})

test('sees the snapshot, or what there was when it began', async () => {
  const db = await filled()
  const snapshot = db.snapshot()
  await db.put('k000', 'new')
  const old = db.scanBytes({ snapshot, lt: Buffer.from('k001') })
  const now = db.scanBytes({ lt: Buffer.from('k001') })
  await db.put('k000', 'newer')
  await db.flush()
  assert.equal(entriesOf(old), [['k000', 'value é 0']])
  assert.equal(entriesOf(now), [['k000', 'new']])
  await Promise.all([old.close(), now.close(), snapshot.close()])
  await db.close()
})

test('closing the database ends it', async () => {
  const db = await filled()
  const scan = db.scanBytes({})
  assert.ok(scan.next())
  await db.close()
  assert.throws(
    () => scan.next(),
    (error: { code?: string }) => error.code === 'LEVEL_DATABASE_NOT_OPEN'
  )
  await scan.close()
})

test.run()
