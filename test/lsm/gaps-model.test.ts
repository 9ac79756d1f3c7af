/** A store in which long runs of keys are deleted and put again, read by views of all ages, against a sorted map. */
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { LsmLevel, MemoryFileSystem } from '../../src/lsm/index.ts'
import { closeAll, closeLater } from '../support/temporary-directory.ts'
import { seedOfRun } from '../support/values.ts'
import { ingestTables, put, range } from './ingest-helpers.ts'

test.after.each(closeAll)

const seed = seedOfRun()
const keys = 400
const name = (n: number): string => `k${String(n).padStart(4, '0')}`

const span = { from: fc.nat(keys), length: fc.integer({ min: 1, max: 150 }) }
const place = { ...span, isReverse: fc.boolean(), limit: fc.constantFrom(1, 3, -1) }
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('delete' as const), ...span }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('put' as const), from: fc.nat(keys) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('fill' as const), ...span }) },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('read' as const), ...place }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('read the snapshot' as const), ...place }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('snapshot' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('flush' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('compact' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('clear' as const), ...span }) }
)

test('reads that jump over gaps return what reads without them would', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60 }), async (steps) => {
      const db = new LsmLevel<string, string>('/db', { fileSystem: new MemoryFileSystem() })
      await db.open()
      const now = new Map<string, string>()
      const fill = async (from: number, to: number): Promise<void> => {
        for (let n = from; n < to; n++) now.set(name(n), `${n}`)
        await db.batch(
          Array.from({ length: to - from }, (_, i) => ({ type: 'put', key: name(from + i), value: `${from + i}` }))
        )
      }
      await fill(0, keys)
      let snapshot = db.snapshot()
      let then = new Map(now)
      for (const one of steps) {
        if (one.kind === 'delete') {
          for (let n = one.from; n < one.from + one.length; n++) now.delete(name(n))
          await db.batch(Array.from({ length: one.length }, (_, i) => ({ type: 'del', key: name(one.from + i) })))
        } else if (one.kind === 'put') await fill(one.from, one.from + 1)
        else if (one.kind === 'fill') await fill(one.from, one.from + one.length)
        else if (one.kind === 'flush') await db.flush()
        else if (one.kind === 'compact') await db.compactRange('', '~')
        else if (one.kind === 'clear') {
          const limits = { gte: name(one.from), lt: name(one.from + one.length) }
          for (const key of [...now.keys()]) if (key >= limits.gte && key < limits.lt) now.delete(key)
          await db.clear(limits)
        } else if (one.kind === 'snapshot') {
          await snapshot.close()
          snapshot = db.snapshot()
          then = new Map(now)
        } else {
          const { isReverse: reverse, limit } = one
          const limits = { gte: name(one.from), lt: name(one.from + one.length), reverse, limit }
          const isNow = one.kind === 'read'
          const found = await db.iterator(isNow ? limits : { ...limits, snapshot }).all()
          const expected = [...(isNow ? now : then)]
            .filter(([key]) => key >= limits.gte && key < limits.lt)
            .sort(([a], [b]) => (a < b ? -1 : 1))
          if (reverse) expected.reverse()
          assert.equal(found, limit < 0 ? expected : expected.slice(0, limit))
        }
      }
      await snapshot.close()
      await db.close()
    }),
    { seed, numRuns: 150 }
  )
})

async function openStore() {
  const fileSystem = new MemoryFileSystem()
  const db = closeLater(new LsmLevel<string, string>('/db', { fileSystem }))
  await db.open()
  // Tombstones of odd keys, which no table below has.
  await db.batch(range(1, 200, 'gone', 2).map(([key]) => ({ type: 'del', key })))
  const ingestEven = async () => {
    const ingest = await db.beginIngest()
    const tables = ingestTables(ingest, fileSystem)
    for (const entry of range(0, 200, 'ingested', 2)) put(tables, entry)
    assert.ok(await ingest.install(await tables.finish(), () => true))
  }
  return { db, ingestEven }
}

test('tables ingested into a known gap are seen', async () => {
  const { db, ingestEven } = await openStore()
  assert.equal(await db.keys().all(), [])
  assert.equal(await db.keys({ gte: 'k', lt: 'l' }).all(), [])
  await ingestEven()
  assert.is((await db.keys({ gte: 'k', lt: 'l' }).all()).length, 100)
  assert.is((await db.keys({ gte: 'k', lt: 'l', reverse: true }).all()).length, 100)
})

test('a view from before an ingest does not make its tables a gap', async () => {
  const { db, ingestEven } = await openStore()
  const before = db.keys({ gte: 'k', lt: 'l' })
  await ingestEven()
  assert.equal(await before.all(), [])
  assert.is((await db.keys({ gte: 'k', lt: 'l' }).all()).length, 100)
})

test('the first key of a queue of which much has been taken is found again after it was put back', async () => {
  const { db } = await openStore()
  await db.put('l', 'last')
  const first = async () => (await db.keys({ gte: 'k', limit: 1 }).all())[0]
  assert.is(await first(), 'l')
  await db.put('k0050', 'back')
  assert.is(await first(), 'k0050')
  await db.put('k0011', 'back')
  assert.is(await first(), 'k0011')
  await db.batch([
    { type: 'del', key: 'k0011' },
    { type: 'del', key: 'k0050' }
  ])
  assert.is(await first(), 'l')
})

test.run()
