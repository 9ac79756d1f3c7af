/** The job that deletes expired documents: when it runs, what it reports, and how it ends. */
import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Expiry } from '../../src/docstore/jobs/expiry.ts'
import { copyDatabase, type Database, open } from '../../src/index.ts'
import { runUntilKilled } from '../support/killed-program.ts'
import { loader, program } from '../support/program.ts'
import { scratchPath } from './scratch.ts'

const script = program('test/docstore/expire-until-killed.ts')
const long = new Date(0)

async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  for (let waited = 0; !(await isTrue()); waited += 5) {
    assert.ok(waited < 20_000, 'waited twenty seconds')
    await sleep(5)
  }
}

async function expiryOf(db: Database, name = 'default') {
  const collection = (await db.stats()).collections.find((each) => each.name === name)
  if (collection === undefined) throw new Error('there is no collection')
  return collection.expiry
}

test('a sweep uses the given clock; sweeps run one at a time, and again after the interval', async () => {
  const begun: number[] = []
  let isWanted = false
  let end: () => void = () => {}
  let fail: (error: Error) => void = () => {}
  const swept = {
    isWanted: () => isWanted,
    sweep: (now: number, _isOver: () => boolean, onDeleted: (count: number) => void) => {
      begun.push(now)
      onDeleted(3)
      return new Promise<void>((resolve, reject) => {
        end = resolve
        fail = reject
      })
    }
  }
  let now = 5000
  const expiry = new Expiry(swept, 0.01, () => now)
  await sleep(40)
  assert.equal([begun, expiry.stats.isOn], [[], false], 'nothing expires yet')
  isWanted = true
  expiry.noteIndexes()
  await until(() => begun.length === 1)
  expiry.noteIndexes()
  await sleep(40)
  assert.equal([begun, expiry.stats.isRunning, expiry.stats.deleted], [[5000], true, 3])
  now = 6000
  end()
  await until(() => begun.length === 2)
  const { lastSweep, sweeps, deleted, error } = expiry.stats
  assert.equal([lastSweep, sweeps, deleted, error], [new Date(5000), 1, 6, undefined])
  fail(new Error('no space'))
  await until(() => begun.length === 3)
  assert.equal([expiry.stats.error, expiry.stats.sweeps], ['no space', 1])
  end()
  await until(() => begun.length === 4)
  assert.equal([expiry.stats.error, expiry.stats.sweeps], [undefined, 2])
  isWanted = false
  expiry.noteIndexes()
  end()
  await sleep(40)
  assert.is(begun.length, 4, 'the index is gone')
  isWanted = true
  expiry.noteIndexes()
  await until(() => begun.length === 5)
  let isClosed = false
  const closing = expiry.close().then(() => {
    isClosed = true
  })
  await sleep(5)
  assert.not.ok(isClosed, 'it waits for the sweep under way')
  end()
  await closing
  expiry.noteIndexes()
  await sleep(40)
  assert.is(begun.length, 5)
})

test('documents that expired while the database was closed are deleted soon after it is opened', async () => {
  const location = scratchPath()
  {
    await using db = await open(location)
    await db.insertMany([{ _id: 1, at: new Date(Date.now() + 1e9) }, { _id: 2, at: long }, { _id: 3 }])
    await db.collection('other').insertOne({ at: long })
    // Last before closing, so that no sweep comes in between.
    await db.collection('other').createIndex({ at: 1 }, { expireAfterSeconds: 1 })
    await db.createIndex({ at: 1 }, { expireAfterSeconds: 1 })
  }
  {
    await using db = await open(location, { readOnly: true, ttlIntervalSeconds: 0.01 })
    await sleep(60)
    assert.is(await db.countDocuments(), 3, 'nothing of a database that is only read')
  }
  await using db = await open(location, { ttlIntervalSeconds: 0.01 })
  assert.is(await db.estimatedDocumentCount(), 3, 'not while it is opened')
  await until(async () => (await db.estimatedDocumentCount()) === 2)
  assert.equal(
    (await db.find().toArray()).map(({ _id }) => _id),
    [1, 3]
  )
  await until(async () => (await db.collection('other').estimatedDocumentCount()) === 0)
  await db.insertOne({ _id: 4, at: long })
  await until(async () => (await db.get(4)) === undefined)
  const { isOn, deleted, error } = await expiryOf(db)
  assert.equal([isOn, deleted, error], [true, 2, undefined])
  await db.dropIndex('at_1')
  await db.insertOne({ _id: 5, at: long })
  await sleep(60)
  assert.ok(await db.get(5))
  assert.is((await expiryOf(db)).isOn, false)
})

test('drops, closing and writes during sweeps leave nothing behind and never block', async () => {
  const location = scratchPath()
  for (let round = 0; round < 4; round++) {
    const db = await open(location, { ttlIntervalSeconds: 0.002 })
    const log = db.collection('log')
    await log.createIndex({ at: 1 }, { expireAfterSeconds: 0 })
    const batch = () => Array.from({ length: 2000 }, (_, i) => (i % 10 === 0 ? { i } : { i, at: long }))
    await Promise.all([log.insertMany(batch()), log.insertMany(batch()), log.updateMany({ i: 10 }, { $set: { n: 1 } })])
    if (round === 1) await until(async () => (await log.estimatedDocumentCount()) === 800)
    if (round === 2) await db.dropCollection('log')
    if (round === 3) await db.dropCollection('log').then(() => log.insertOne({ at: long }))
    assert.equal((await db.verify()).problems, [])
    await db.close()
    await using again = await open(location, { readOnly: true })
    assert.equal((await again.verify()).problems, [])
    assert.is(await again.collection('log').countDocuments({ at: { $exists: false } }), [400, 800, 0, 0][round])
  }
})

test('a copy contains expired documents too, and they expire in the copy', async () => {
  const location = scratchPath()
  {
    await using db = await open(location)
    await db.insertMany(Array.from({ length: 50 }, (_, i) => ({ _id: i, at: long })))
    await db.createIndex({ at: 1 }, { expireAfterSeconds: 1 })
  }
  await using source = await open(location, { readOnly: true })
  await using copy = await open('unused', { store: 'memory', ttlIntervalSeconds: 0.001 })
  assert.is((await copyDatabase(source, copy)).documents, 50)
  assert.equal([...copy.listIndexes()], [...source.listIndexes()])
  await until(async () => (await copy.countDocuments()) === 0)
})

test('a process ends although its database expires documents', async () => {
  const child = spawn(process.execPath, [...loader, script, scratchPath(), 'leave'])
  const code = await new Promise((resolve) => child.on('close', resolve))
  assert.is(code, 0)
})

test('after kill -9 during sweeps the database is intact, and expired documents are deleted', async () => {
  const location = scratchPath()
  for (let round = 0; round < 2; round++) {
    await runUntilKilled(script, [location, 'expire'], 150)
    {
      // In which nothing expires between two counts.
      await using found = await open(location, { readOnly: true })
      assert.equal((await found.verify()).problems, [])
      assert.is(await found.estimatedDocumentCount(), await found.countDocuments({}, { hint: 'scan' }))
    }
    await using db = await open(location, { ttlIntervalSeconds: 0.01, index: { segmentBits: 512 } })
    await until(async () => (await db.countDocuments({ at: { $lte: new Date() } })) === 0)
    assert.ok((await db.countDocuments({ at: { $exists: false } })) > 0)
    assert.equal((await db.verify()).problems, [])
  }
})

test.run()
