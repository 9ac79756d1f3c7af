/** Databases that are read while another owner writes to them. */
import { readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Database, type Document, open } from '../../src/index.ts'
import { linesOf, runUntilKilled } from '../support/killed-program.ts'
import { program } from '../support/program.ts'
import { numbersBelow } from '../support/random.ts'
import { seedOfRun } from '../support/values.ts'
import { rejects, scratchPath } from './scratch.ts'

const seed = seedOfRun()
const index = { kind: 'sharded', segmentBits: 512 } as const
/** So small that tables are written and merged all the time. */
const smallStores = [{ writeBufferSize: 20_000, maxFileSize: 20_000, level1Bytes: 60_000 }, {}]

for (const [i, lsm] of smallStores.entries()) {
  test(`a reader sees transactions of another process whole, and all that were reported before it came (${i})`, async () => {
    const [location, log] = [scratchPath(), scratchPath('log')]
    const args = [location, log, String(seed % 1000), 'lsm', JSON.stringify(lsm)]
    let isOver = false
    let isWriting = false
    const writer = runUntilKilled(program('test/docstore/transaction-until-killed.ts'), args, 6000).finally(() => {
      isOver = true
    })
    const seen = new Set<number>()
    try {
      while (!isOver) {
        isWriting ||= isThere(log) && linesOf(log).length > 0
        if (!isWriting) {
          await new Promise((resolve) => setTimeout(resolve, 20))
          continue
        }
        const reported = linesOf(log).length
        await using db = await open(location, { readOnly: true, index })
        const logged = await assertWhole(db)
        assert.ok(logged >= reported, `${logged} of ${reported} transactions`)
        if (seen.size % 8 === 0) assert.equal((await db.verify()).problems, [])
        seen.add(logged)
      }
    } finally {
      await writer
    }
    assert.ok(seen.size > 5, `${seen.size} states`)
    await using after = await open(location, { readOnly: true, index })
    assert.ok((await assertWhole(after)) >= linesOf(log).length)
    await using again = await open(location, { index })
    assert.ok((await assertWhole(again)) >= linesOf(log).length)
  })
}

function isThere(path: string): boolean {
  try {
    readFileSync(path)
    return true
  } catch {
    return false
  }
}

/** @returns the number of transactions, all of which are seen in all collections */
async function assertWhole(db: Database): Promise<number> {
  const entries = await db.collection('log').find().sort({ _id: 1 }).toArray()
  assert.equal(
    entries.map(({ _id }) => _id),
    entries.map((_, i) => i)
  )
  for (const side of ['left', 'right']) {
    const balances = new Map<unknown, number>()
    for (const entry of entries) {
      const change = side === 'left' ? -Number(entry.amount) : Number(entry.amount)
      balances.set(entry[side], (balances.get(entry[side]) ?? 100) + change)
    }
    const accounts = db.collection(side)
    assert.is(await accounts.countDocuments(), 50)
    for (const { _id, balance } of await accounts.find().toArray()) {
      assert.is(balance, balances.get(_id) ?? 100, `account ${_id}`)
    }
    const last = entries.at(-1)
    if (last === undefined) continue
    const changed = await accounts.find({ last: last._id }, { hint: 'index' }).toArray()
    assert.equal(
      changed.map(({ _id }) => _id),
      [last[side]]
    )
  }
  return entries.length
}

test('a reader goes on seeing what it saw, whatever the writer does; later readers see later states', async () => {
  const location = scratchPath()
  const below = numbersBelow(seed)
  const lsm = smallStores[0]!
  let writer = await open(location, { index, lsm })
  await writer.createIndex({ n: 1 })
  const readers: { readonly db: Database; readonly documents: readonly Document[] }[] = []
  let next = 0
  for (let round = 0; round < 12; round++) {
    const many = Array.from({ length: 400 }, () => ({ _id: next++, n: below(10), text: 'x'.repeat(below(90)) }))
    await writer.insertMany(many)
    await writer.updateMany({ n: round % 10 }, { $set: { round } })
    await writer.deleteMany({ n: (round + 3) % 10, _id: { $lt: next - 300 } })
    if (round % 4 === 1) await writer.compact()
    if (round % 4 === 2) await writer.index.rebuild()
    if (round % 4 === 3) {
      await writer.close()
      writer = await open(location, { index, lsm })
    }
    const documents = await writer.find().toArray()
    readers.push({ db: await open(location, { readOnly: true, index }), documents })
    for (const reader of readers) await assertHolds(reader.db, reader.documents)
  }
  await writer.collection('other').insertOne({ _id: 1 })
  await writer.dropCollection('default')
  await writer.compact()
  for (const { db, documents } of readers) {
    await assertHolds(db, documents)
    assert.equal((await db.verify()).problems, [])
    assert.equal(
      db.listCollections().map(({ name }) => name),
      ['default']
    )
    await rejects(db.insertOne({}), 'IllegalOperation')
  }
  // Their tables are gone below.
  const { db, documents } = readers[5]!
  const copy = scratchPath()
  await db.backup(copy)
  await using copied = await open(copy, { index })
  await assertHolds(copied, documents)
  for (const reader of readers) await reader.db.close()
  await writer.close()
  const kinds = new Set(readdirSync(location).map((name) => name.replace(/\d+/, '')))
  assert.equal([...kinds].sort(), ['.sst', '.wal', 'CURRENT', 'MANIFEST-', 'PETALDB'])
})

async function assertHolds(
  db: Database,
  documents: readonly Document[],
  hints = ['index', 'scan', 'n_1']
): Promise<void> {
  assert.equal(await db.find().toArray(), documents)
  for (const hint of hints) {
    const expected = documents.filter(({ n }) => n === 4)
    assert.is(await db.countDocuments({ n: 4 }, { hint }), expected.length, hint)
  }
  const [first] = documents
  if (first !== undefined) assert.equal(await db.get(first._id as number), first)
}

test('a reader whose directory is replaced or removed holds what it held, and so do its backups', async () => {
  const [location, other, moved] = [scratchPath(), scratchPath(), scratchPath()]
  for (const [path, name] of [
    [location, 'one'],
    [other, 'two']
  ] as const) {
    await using db = await open(path, { index })
    await db.insertMany(Array.from({ length: 2000 }, (_, i) => ({ _id: i, n: i % 10, name })))
    await db.compact()
  }
  const db = await open(location, { readOnly: true, index })
  const documents = await db.find().toArray()
  assert.is(documents[0]?.name, 'one')
  const assertSame = async (): Promise<void> => {
    await assertHolds(db, documents, ['index', 'scan'])
    assert.equal((await db.verify()).problems, [])
    const copy = scratchPath()
    await db.backup(copy)
    await using copied = await open(copy, { index })
    await assertHolds(copied, documents, ['index', 'scan'])
    assert.equal((await copied.verify()).problems, [])
  }
  // The other database has tables of the same names.
  renameSync(location, moved)
  renameSync(other, location)
  await assertSame()
  rmSync(location, { recursive: true })
  await assertSame()
  rmSync(moved, { recursive: true })
  await assertSame()
  await db.close()
})

test('another thread can read a database that this one has open', async () => {
  const location = scratchPath()
  await using db = await open(location)
  await db.insertMany([{ _id: 1 }, { _id: 2 }])
  const code = `
    const { parentPort, workerData } = require('node:worker_threads')
    import(workerData.module).then(async ({ open }) => {
      const refused = await open(workerData.location).catch((error) => error.codeName)
      const db = await open(workerData.location, { readOnly: true })
      parentPort.postMessage([refused, await db.countDocuments()])
      await db.close()
    })`
  const thread = new Worker(code, { eval: true, workerData: { module: program('src/index.ts'), location } })
  const [refused, count] = await new Promise<unknown[]>((resolve, reject) => {
    thread.once('message', resolve).once('error', reject)
  })
  await thread.terminate()
  assert.equal([refused, count], ['DBPathInUse', 2])
  await db.insertOne({ _id: 3 })
})

test('a LevelDB database that is open cannot be read beside its owner', async () => {
  const location = scratchPath()
  await using db = await open(location, { store: 'level' })
  await db.insertOne({ _id: 1 })
  const error = await rejects(open(location, { readOnly: true }), 'DBPathInUse')
  assert.not.match(error.message, 'readOnly')
})

test.run()
