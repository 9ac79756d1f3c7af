/** The index is rebuilt automatically when that pays, and only then. */
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { AutoRebuild } from '../../src/docstore/jobs/auto-rebuild.ts'
import type { RebuildResult } from '../../src/docstore/jobs/rebuild-job.ts'
import { compileFind } from '../../src/docstore/read/find.ts'
import { Meter } from '../../src/docstore/read/meter.ts'
import { type Database, open } from '../../src/index.ts'
import { scratchPath } from './scratch.ts'

const documents = (count: number) => Array.from({ length: count }, (_, i) => ({ _id: i, n: i, tens: i % 10 }))

async function statsOf(db: Database) {
  const [collection] = (await db.stats()).collections
  if (collection === undefined) throw new Error('there is no collection')
  return collection
}

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  for (let waited = 0; !(await isTrue()); waited += 5) {
    assert.ok(waited < 10_000, 'waited ten seconds')
    await sleep(5)
  }
}

test('many dead documents start a rebuild, and stats() reports it', async () => {
  await using db = await open(scratchPath(), { index: { segmentBits: 512 } })
  await db.insertMany(documents(4000))
  await db.updateMany({ tens: { $lt: 2 } }, { $set: { changed: true } })
  assert.is((await statsOf(db)).autoRebuild.running, undefined, 'a sixth of them is not enough')
  await db.deleteMany({ tens: { $in: [0, 5, 6, 7] } })
  await until(async () => (await statsOf(db)).autoRebuild.rebuilds > 0)
  const { index, autoRebuild } = await statsOf(db)
  assert.is(autoRebuild.last?.reason, 'dead documents')
  assert.is(autoRebuild.error, undefined)
  assert.is(index.dead, 0)
  assert.is(index.documents, 2400)
  assert.is(await db.countDocuments({ tens: 5 }), 0)
  assert.is(await db.countDocuments({ changed: true }), 400)
})

test('documents already dead when a collection is opened count with its first deletion', async () => {
  const path = scratchPath()
  {
    await using db = await open(path, { autoRebuild: false })
    await db.insertMany(documents(3000))
    await db.deleteMany({ n: { $lt: 1500 } })
    await sleep(30)
    const { index, autoRebuild } = await statsOf(db)
    assert.equal([index.dead, autoRebuild.isOn, autoRebuild.rebuilds], [1500, false, 0])
  }
  await using db = await open(path)
  await db.deleteOne({ n: 2000 })
  await until(async () => (await statsOf(db)).index.dead === 0)
  assert.is((await statsOf(db)).documents, 1499)
})

test('limits are checked, set per collection, and fixed while it is open', async () => {
  const codeOf = (error: unknown): unknown => (error as { codeName?: unknown }).codeName
  for (const autoRebuild of [{ deadShare: 0 }, { deadShare: 1.1 }, { excess: 0.5 }, 'often']) {
    await open(scratchPath(), { autoRebuild: autoRebuild as never }).then(
      () => assert.unreachable(),
      (error: unknown) => assert.is(codeOf(error), 'InvalidOptions')
    )
  }
  await using db = await open(scratchPath(), { autoRebuild: false })
  const log = db.collection('log', { autoRebuild: { deadShare: 0.5 } })
  await log.insertMany(documents(3000))
  await log.deleteMany({ n: { $lt: 1400 } })
  await sleep(30)
  const logStats = async () => (await db.stats()).collections.find(({ name }) => name === 'log')
  assert.is((await logStats())?.autoRebuild.rebuilds, 0)
  await log.deleteMany({ n: { $lt: 2600 } })
  await until(async () => (await logStats())?.index.dead === 0)
  db.collection('log', { autoRebuild: { deadShare: 0.5 } })
  db.collection('log', {})
  assert.throws(
    () => db.collection('log', { autoRebuild: true }),
    (error: unknown) => codeOf(error) === 'InvalidOptions'
  )
})

test('closing ends an automatic rebuild, and a requested one takes precedence', async () => {
  const path = scratchPath()
  for (let round = 0; round < 5; round++) {
    const db = await open(path, { index: { segmentBits: 512 } })
    await db.deleteMany({})
    await db.insertMany(documents(4000))
    await db.deleteMany({ n: { $lt: 2500 } })
    if (round % 2 === 0) assert.is((await db.index.rebuild()).documents, 1500)
    await db.close()
  }
  await using db = await open(path, { readOnly: true, index: { segmentBits: 512 } })
  assert.is(await db.countDocuments({ tens: 3 }), 150)
  assert.is((await statsOf(db)).autoRebuild.isOn, false)
  assert.equal((await db.verify()).problems, [])
})

/** One segment in which an equality has 20 predicted false positives. */
function watched(rebuild: () => Promise<RebuildResult | undefined>) {
  const parameters = [{ documents: 2000, density: 0.1, rowsPerPair: 2 }]
  const stats = () => ({ documents: 2000, dead: 0, parameters }) as never
  const auto = new AutoRebuild({ stats, segmentDocuments: 2048, rebuild }, {})
  const read = (falsePositives: number, filter: unknown = { a: 'b' }, limit = 0): void => {
    const meter = new Meter()
    meter.tested = falsePositives + 1
    meter.confirmed = 1
    auto.noteRead(compileFind(filter, { limit }), meter)
  }
  return { auto, read }
}

test('false positives start a rebuild beyond four times the prediction, and again only after they double', async () => {
  let rebuilds = 0
  const { auto, read } = watched(async () => {
    rebuilds++
    return { documents: 2000, milliseconds: 0 }
  })
  for (let i = 0; i < 100; i++) read(79)
  assert.is(rebuilds, 0, 'not quite four times')
  for (let i = 0; i < 100; i++) read(1000, { a: { $gt: 1 } })
  for (let i = 0; i < 100; i++) read(1000, { a: 'b' }, 5)
  assert.is(rebuilds, 0, 'nothing is predicted of those')
  for (let i = 0; i < 100; i++) read(83)
  assert.is(rebuilds, 1)
  await sleep(5)
  for (let i = 0; i < 100; i++) read(150)
  assert.is(rebuilds, 1, 'it did not help, but it is not twice as bad')
  for (let i = 0; i < 100; i++) read(250)
  assert.is(rebuilds, 2)
  await sleep(5)
  auto.close()
  for (let i = 0; i < 100; i++) read(10_000)
  assert.is(rebuilds, 2)
})

test('rebuilds run one at a time, with a pause after each, and a long one after a failure', async () => {
  let begun = 0
  let end: (result: RebuildResult) => void = () => {}
  let fail: (error: Error) => void = () => {}
  const { auto, read } = watched(() => {
    begun++
    return new Promise((resolve, reject) => {
      end = resolve
      fail = reject
    })
  })
  const drift = (excess: number): void => {
    for (let i = 0; i < 60; i++) read(20 * excess)
  }
  drift(5)
  drift(100)
  assert.is(begun, 1, 'while it runs')
  assert.is(auto.stats.running, 'false positives')
  end({ documents: 1, milliseconds: 5 })
  await sleep(0)
  drift(1000)
  assert.is(begun, 1, 'while it rests')
  await sleep(80)
  assert.is(begun, 2, 'it looks again when it has rested')
  fail(new Error('no space'))
  await sleep(0)
  assert.is(auto.stats.error, 'no space')
  drift(100_000)
  assert.equal([begun, auto.stats.rebuilds], [2, 1])
  auto.close()
})

test.run()
