/** A byte scan yields what an iterator yields, and ends when the database is closed. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { MemoryFileSystem } from '../../src/lsm/fs/memory-file-system.ts'
import { LsmLevel } from '../../src/lsm/lsm-level.ts'
import { type ByteScan, fillsCache } from '../../src/lsm/read/byte-scan.ts'

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
    const { keyBytes, keyStart, keyEnd, valueBytes, valueStart, valueEnd, block } = scan.entry
    if (block !== undefined) {
      assert.is(block.bytes, valueBytes)
      assert.ok(block.start <= valueStart && valueEnd <= block.entriesEnd, 'the value is in its block')
    }
    const value = Buffer.from(valueBytes.subarray(valueStart, valueEnd)).toString()
    assert.is(scan.valueText(), value)
    entries.push([Buffer.from(keyBytes.subarray(keyStart, keyEnd)).toString(), value])
  }
  return entries
}

test('a byte scan yields what an iterator yields, from tables and memtables, in both directions', async () => {
  const db = await filled()
  for (const reverse of [false, true]) {
    const scan = db.scanBytes({ gte: Buffer.from('k050'), lt: Buffer.from('k250'), reverse })
    assert.equal(entriesOf(scan), await db.iterator({ gte: 'k050', lt: 'k250', reverse }).all())
    await scan.close()
  }
  await db.close()
})

test('a byte scan sees its snapshot, or the state at the call of scanBytes()', async () => {
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

test('next() of a byte scan throws once the database is closed', async () => {
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

test('cached and uncached blocks scan alike, and an entry is valid until the next step despite other reads', async () => {
  for (const [cacheSize, compression] of [
    [0, true],
    [0, false],
    [24 * 1024, true],
    [24 * 1024, false],
    [1 << 20, true]
  ] as const) {
    const db = new LsmLevel('db', { fileSystem: new MemoryFileSystem(), cacheSize, compression, blockSize: 1024 })
    const key = (i: number): string => `k${String(i).padStart(4, '0')}`
    for (let i = 0; i < 1_500; i++) await db.put(key(i), `${i} ${'é'.repeat(i % 97)}`)
    await db.flush()
    for (let i = 0; i < 1_500; i += 7) db.getSync(key(i))
    for (const reverse of [false, true]) {
      const expected = await db.iterator({ reverse }).all()
      const scan = db.scanBytes({ reverse, expectedBytes: 100 * 1024 })
      const other = db.scanBytes({ gt: Buffer.from(key(700)), expectedBytes: 100 * 1024 })
      let step = 0
      for (; scan.next(); step++) {
        const { valueBytes, valueStart, valueEnd, block } = scan.entry
        if (step % 3 === 0) db.getSync(key((step * 37) % 1_500))
        if (step % 2 === 0) other.next()
        assert.is(scan.valueText(), expected[step]?.[1])
        assert.is(Buffer.from(valueBytes.subarray(valueStart, valueEnd)).toString(), expected[step]?.[1])
        assert.is(block?.bytes, valueBytes)
        assert.ok(block !== undefined && block.start <= valueStart && valueEnd <= block.entriesEnd)
      }
      assert.is(step, expected.length)
      await scan.close()
      await other.close()
    }
    await db.close()
  }
})

test('scans that take over the buffers of finished and closed ones share none', async () => {
  const db = new LsmLevel('db', {
    fileSystem: new MemoryFileSystem(),
    cacheSize: 0,
    compression: false,
    maxFileSize: 65_536
  })
  const text = (n: number): string => `${n} `.repeat(80)
  for (let n = 0; n < 600; n++) await db.put(String(n).padStart(4, '0'), text(n))
  await db.flush()
  await db.compactRange('0000', '9999')
  for (let round = 0; round < 3; round++) {
    // Closed within a table, after the last one, and twice.
    const closed = [0, 5, 300, 600].map((steps) => {
      const scan = db.scanBytes({})
      for (let step = 0; step < steps; step++) assert.ok(scan.next())
      if (steps === 600) assert.not(scan.next())
      return scan
    })
    for (const scan of closed) await scan.close()
    await closed[1]!.close()
    const scans = [0, 150, 450, 599].map((from) => ({
      from,
      scan: db.scanBytes({ gte: Buffer.from(`0${from}`.padStart(4, '0')) })
    }))
    for (let step = 0; step < 600; step++) {
      for (const { scan } of scans) scan.next()
      for (const { from, scan } of scans) if (from + step < 600) assert.is(scan.valueText(), text(from + step))
    }
    for (const { scan } of scans) await scan.close()
  }
  await db.close()
})

test('a scan caches its blocks if the cache has room for all of them, unless fillCache says otherwise', () => {
  assert.ok(fillsCache({ expectedBytes: 700 }, 1000))
  assert.not(fillsCache({ expectedBytes: 800 }, 1000))
  assert.not(fillsCache({}, 1000))
  assert.not(fillsCache({ expectedBytes: 1, fillCache: false }, 1000))
  assert.ok(fillsCache({ expectedBytes: 800, fillCache: true }, 1000))
})

test.run()
