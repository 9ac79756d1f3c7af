import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  mayRotate,
  nextFlushRate,
  type PressureLimits,
  WritePacer,
  writeRate
} from '../../src/lsm/engine/back-pressure.ts'
import { resolveOptions } from '../../src/lsm/engine/resolve-options.ts'
import { LsmLevel, MemoryFileSystem } from '../../src/lsm/index.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const limits: PressureLimits = { maxPendingMemtables: 2, level0SlowdownTrigger: 20, level0StopTrigger: 36 }

test('a full memtable may be frozen while fewer than two wait and level 0 is below the stop trigger', () => {
  const cases: [pendingMemtables: number, level0Runs: number, expected: boolean][] = [
    [0, 0, true],
    [1, 35, true],
    [2, 0, false],
    [0, 36, false]
  ]
  for (const [pendingMemtables, level0Runs, expected] of cases) {
    assert.is(
      mayRotate({ pendingMemtables, level0Runs, flushRate: 1 }, limits),
      expected,
      `${pendingMemtables}, ${level0Runs}`
    )
  }
})

test('writers are slowed down gradually between the slowdown and the stop trigger', () => {
  const rates = Array.from({ length: 40 }, (_, level0Runs) =>
    writeRate({ pendingMemtables: 0, level0Runs, flushRate: 1 }, limits)
  )
  assert.ok(rates.slice(0, 20).every((rate) => rate === Number.POSITIVE_INFINITY))
  assert.ok(rates[20]! < Number.POSITIVE_INFINITY)
  for (let i = 21; i < 40; i++) assert.ok(rates[i]! <= rates[i - 1]! && rates[i]! > 0)
  assert.ok(rates[21]! > rates[20]! * 0.8)
})

test('while as many memtables wait as may wait, writers are held to the flush rate', () => {
  const load = { pendingMemtables: 2, level0Runs: 0, flushRate: 1234 }
  assert.is(writeRate(load, limits), 1234)
  assert.is(writeRate({ ...load, pendingMemtables: 1 }, limits), Number.POSITIVE_INFINITY)
  assert.ok(writeRate({ ...load, level0Runs: 35 }, limits) <= 1234)
  assert.is(nextFlushRate(Number.POSITIVE_INFINITY, 1000, 10), 100)
  assert.is(nextFlushRate(100, 2000, 10), 130)
})

test('paced writes keep to the rate, whatever their size', () => {
  for (const bytes of [100, 5_000, 1_000_000]) {
    const pacer = new WritePacer()
    let now = 1000
    let written = 0
    while (written < 10_000_000) {
      now += pacer.delay(bytes, 10_000, now)
      written += bytes
    }
    const expected = written / 10_000
    assert.ok(Math.abs(now - 1000 - expected) <= 6 + 1e-6, `${bytes}: ${now - 1000} of ${expected} ms`)
  }
})

test('a pacer forgets its debt once there is no limit', () => {
  const pacer = new WritePacer()
  assert.ok(pacer.delay(1_000_000, 1000, 0) > 0)
  assert.is(pacer.delay(1_000_000, Number.POSITIVE_INFINITY, 1), 0)
  assert.is(pacer.delay(10, 1000, 2), 0)
})

for (const [name, fileSystem] of [
  ['in memory', new MemoryFileSystem()],
  ['on disk', undefined]
] as const) {
  test(`all writes called before close() are acknowledged and kept, ${name}`, async () => {
    const location = temporaryDirectory()
    const options = {
      writeBufferSize: 20_000,
      level0CompactionTrigger: 2,
      level0SlowdownTrigger: 3,
      level0StopTrigger: 4,
      ...(fileSystem === undefined ? {} : { fileSystem })
    }
    const db = new LsmLevel<string, string>(location, options)
    await db.open()
    const writes = Array.from({ length: 3000 }, (_, i) => db.put(`k${(i * 7919) % 3000}`, 'x'.repeat(200)))
    const closed = db.close()
    await Promise.all(writes)
    await closed
    const again = new LsmLevel<string, string>(location, options)
    assert.is((await again.keys().all()).length, 3000)
    assert.ok(db !== again)
    await again.close()
  })
}

test('resolved options never stop writers before a merge is due', () => {
  const options = resolveOptions({ level0CompactionTrigger: 10, level0SlowdownTrigger: 2, level0StopTrigger: 3 })
  assert.is(options.level0StopTrigger, 30)
  assert.is(resolveOptions({ level0StopTrigger: 14 }).level0SlowdownTrigger, 14)
})

test('writers that outrun flushes wait, so that at most three memtables are pending', async () => {
  const db = new LsmLevel<string, string>('/db', { writeBufferSize: 50_000, fileSystem: new MemoryFileSystem() })
  await db.open()
  let most = 0
  for (let i = 0; i < 2000; i++) {
    await db.put(`k${i}`, 'x'.repeat(1000))
    most = Math.max(most, db.stats().memtables.pending)
  }
  assert.ok(most <= 3, `${most} memtables were waiting`)
  await db.close()
})

test('without automatic merges, any number of tables in level 0 stops no writer, nor compactRange() and close()', async () => {
  const fileSystem = new MemoryFileSystem()
  const options = {
    fileSystem,
    autoCompaction: false,
    writeBufferSize: 500,
    level0SlowdownTrigger: 2,
    level0StopTrigger: 3
  }
  const db = new LsmLevel<string, string>('/db', options)
  for (let i = 0; i < 100; i++) await db.put(`k${i % 7}`, 'x'.repeat(300))
  assert.ok(db.stats().level0Runs > 12)
  await db.compactRange('', '~')
  assert.is(db.stats().level0Runs, 0)
  assert.is((await db.keys().all()).length, 7)
  await db.close()
})

test.run()
