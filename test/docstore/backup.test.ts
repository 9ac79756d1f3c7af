import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { MemoryLevel } from 'memory-level'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type BackupProgress, copyDatabase, type Database, type Document, open } from '../../src/index.ts'
import { LsmLevel } from '../../src/lsm/index.ts'
import { runCli } from '../cli/run-cli.ts'
import { rejects, scratchPath } from './scratch.ts'

const documents = (count: number): Document[] =>
  Array.from({ length: count }, (_, i) => ({ _id: i, n: i % 7, text: `number ${i}`, at: new Date(i) }))

const storeOf = (location: string): string => JSON.parse(readFileSync(join(location, 'PETALDB'), 'utf8')).store

async function fill(db: Database): Promise<void> {
  await db.insertMany(documents(3000))
  await db.deleteMany({ n: 3 })
  await db.updateMany({ n: 4 }, { $set: { text: 'changed' } })
  await db.createIndex({ text: 1 })
  await db.collection('orders', { ids: 'reversible' }).insertMany(documents(200))
}

const all = (db: Database, name: string): Promise<Document[]> =>
  db.collection(name).find({}, { hint: 'scan' }).toArray()

async function assertIs(location: string, expected: Readonly<Record<string, readonly Document[]>>): Promise<void> {
  await using copy = await open(location, { createIfMissing: false })
  assert.equal((await copy.verify()).problems, [])
  for (const [name, documents] of Object.entries(expected)) {
    assert.equal(await all(copy, name), documents)
    for (const filter of [{ n: 4 }, { text: 'changed', n: { $ne: 2 } }, { _id: { $lt: 100 } }, { n: 3 }]) {
      const found = await copy.collection(name).find(filter).toArray()
      assert.equal(found, await copy.collection(name).find(filter, { hint: 'scan' }).toArray())
    }
  }
  await copy.insertOne({ _id: 'new' })
  assert.is(await copy.countDocuments(), (expected.default?.length ?? 0) + 1)
}

for (const [name, store, kept] of [
  ['lsm', 'lsm', 'lsm'],
  ['level', 'level', 'level'],
  ['memory', 'memory', 'lsm'],
  ["the caller's", undefined, 'lsm']
] as const) {
  test(`a backup is the database as of the call, despite later writes: ${name} store`, async () => {
    const db = store === undefined ? await open(new MemoryLevel()) : await open(scratchPath(), { store })
    await fill(db)
    const expected = { default: await all(db, 'default'), orders: await all(db, 'orders') }
    const target = scratchPath('copy')
    const progress: BackupProgress[] = []
    const backup = db.backup(target, { onProgress: (each) => progress.push(each) })
    await db.insertMany(documents(500).map((document) => ({ ...document, _id: `later ${document._id}` })))
    await db.deleteMany({ n: 5 })
    await db.dropCollection('orders')
    const { bytes } = await backup
    assert.ok(bytes > 0)
    assert.is(progress.at(-1)?.bytes !== undefined, store !== 'lsm' || progress.length > 0)
    assert.is(storeOf(target), kept)
    await db.close()
    await assertIs(target, expected)
    assert.equal(readdirSync(dirname(target)), ['copy'])
  })
}

test('a backup taken during continuous inserts contains complete batches, in their order', async () => {
  const db = await open(scratchPath(), { index: { segmentBits: 512 }, lsm: { writeBufferSize: 65_536 } })
  let isOver = false
  const writing = (async () => {
    for (let batch = 0; !isOver && batch < 300; batch++) {
      await db.insertMany(Array.from({ length: 100 }, (_, i) => ({ _id: 100 * batch + i, batch, text: `text ${i}` })))
    }
  })()
  for (let round = 0; round < 5; round++) {
    while ((await db.estimatedDocumentCount()) < 2000 * (round + 1))
      await new Promise((resolve) => setTimeout(resolve, 5))
    const target = scratchPath('copy')
    const before = await db.estimatedDocumentCount()
    await db.backup(target)
    await using copy = await open(target)
    assert.equal((await copy.verify()).problems, [])
    const count = await copy.countDocuments()
    assert.is(count % 100, 0)
    assert.ok(count >= before, `${count} of ${before}`)
    assert.is(await copy.countDocuments({ batch: { $lt: count / 100 } }), count)
  }
  isOver = true
  await writing
  await db.close()
})

test('an error thrown by onProgress ends a backup or copy, is passed on, and nothing is left over', async () => {
  for (const store of ['lsm', 'level', 'memory'] as const) {
    await using db = await open(scratchPath(), { store })
    await db.insertMany(documents(3000))
    if (store === 'lsm') await db.compact()
    const target = scratchPath('copy')
    for (const code of [undefined, 'LEVEL_CORRUPTION', 'EEXIST']) {
      const mine = Object.assign(new Error('mine'), { code })
      const onProgress = () => {
        throw mine
      }
      for (const make of [() => db.backup(target, { onProgress }), () => copyDatabase(db, target, { onProgress })]) {
        assert.is(await make().catch((error: unknown) => error), mine, `${store} ${code}`)
        assert.equal(readdirSync(dirname(target)), [])
      }
    }
    await db.backup(target)
    await assertIs(target, { default: await all(db, 'default') })
  }
})

test('a backup or copy to a path inside a database is refused, and creates nothing there', async () => {
  for (const store of ['lsm', 'level'] as const) {
    const location = scratchPath()
    const db = await open(location, { store })
    await db.insertMany(documents(100))
    const link = scratchPath('link')
    symlinkSync(location, link)
    const before = readdirSync(location)
    const within = [
      join(location, 'inside'),
      join(location, 'a', 'b'),
      join(link, 'inside'),
      relative('.', join(location, 'c'))
    ]
    for (const target of within) {
      const error = await rejects(db.backup(target), 'BadValue')
      assert.match(error.message, 'is inside the database at')
      await rejects(copyDatabase(db, target), 'BadValue')
    }
    assert.equal(readdirSync(location), before)
    await db.backup(`${location}-beside`)
    await db.close()
    const { code, stderr } = await runCli(['backup', location, join(location, 'inside')])
    assert.is(code, 1)
    assert.match(stderr, /is inside the database at/)
  }
})

test("a backup to a path inside the directory of the caller's store is refused", async () => {
  const location = scratchPath()
  const db = await open(new LsmLevel(location))
  await db.insertOne({ _id: 1 })
  await rejects(db.backup(join(location, 'inside')), 'BadValue')
  await db.close()
})

test('value filters are backed up', async () => {
  const db = await open(scratchPath(), { index: 'embedded' })
  await db.insertMany(documents(3000))
  const target = scratchPath('copy')
  await db.backup(target)
  await db.close()
  await using copy = await open(target)
  assert.equal((await copy.verify()).problems, [])
  assert.is((await copy.find({ text: 'number 17' }).toArray()).length, 1)
})

for (const store of ['lsm', 'level'] as const) {
  test(`an existing target is refused and kept; a failed backup of ${store} leaves nothing`, async () => {
    const db = await open(scratchPath(), { store })
    await db.insertMany(documents(3000))
    const target = scratchPath('full')
    mkdirSync(target)
    writeFileSync(join(target, 'mine'), '')
    await rejects(db.backup(target), 'DatabaseExists')
    await rejects(db.backup(join(target, 'mine')), 'DatabaseExists')
    await rejects(db.backup(join(target, 'mine', 'below')), 'StoreFailure')
    await rejects(db.backup(''), 'BadValue')
    await rejects(db.backup(join(target, 'never'), { signal: AbortSignal.abort() }), 'Aborted')
    const ending = new AbortController()
    const aborted = db.backup(join(target, 'aborted'), { signal: ending.signal })
    ending.abort()
    await rejects(aborted, 'Aborted')
    const closing = db.backup(join(target, 'closing')).then(
      () => existsSync(join(target, 'closing')),
      (error: { codeName?: string }) => error.codeName === 'DatabaseNotOpen'
    )
    await db.close()
    assert.ok(await closing)
    await rejects(db.backup(join(target, 'closed')), 'DatabaseNotOpen')
    assert.equal(
      readdirSync(target).filter((name) => name !== 'closing'),
      ['mine']
    )
  })
}

test.run()
