/** A database opened read-only stays the same, byte by byte, in whatever state it was left. */
import { cpSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Level } from 'level'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { open } from '../../src/index.ts'
import { rejects, scratchPath } from './scratch.ts'

const options = { index: { kind: 'sharded', segmentBits: 512 } } as const

/** Every file with its bytes. */
function contents(location: string): Record<string, string> {
  const names = readdirSync(location)
  return Object.fromEntries(names.sort().map((name) => [name, readFileSync(join(location, name), 'latin1')]))
}

/** A directory as kill -9 leaves it: documents, deletions and a second collection, most of them only in the log. */
async function leftDirectory() {
  const location = scratchPath()
  const left = scratchPath()
  const db = await open(location, options)
  await db.insertMany(Array.from({ length: 1500 }, (_, i) => ({ _id: i, n: i % 7, text: `text ${i}` })))
  await db.createIndex('n')
  await db.updateMany({ n: 3 }, { $set: { changed: true } })
  await db.deleteMany({ n: 5 })
  await db.collection('other').insertMany([{ _id: 1 }, { _id: 2 }])
  const all = await db.find().toArray()
  cpSync(location, left, { recursive: true, filter: (source) => !source.endsWith('LOCK') })
  await db.close()
  return { left, all }
}

test('entries of the log are read, and no file is written, renamed or removed', async () => {
  const { left, all } = await leftDirectory()
  const before = contents(left)
  for (let round = 0; round < 2; round++) {
    const db = await open(left, { readOnly: true })
    assert.equal(await db.find().toArray(), all)
    assert.is(await db.countDocuments({ changed: true }), all.filter(({ n }) => n === 3).length)
    assert.is(await db.countDocuments({ n: 1 }, { hint: 'n_1' }), all.filter(({ n }) => n === 1).length)
    assert.is(await db.countDocuments({ text: 'text 701' }, { hint: 'index' }), 1)
    assert.is(await db.collection('other').countDocuments(), 2)
    assert.equal((await db.verify()).problems, [])
    const refused = await rejects(db.insertOne({}), 'IllegalOperation')
    assert.is(refused.message, `The database at ${left} was opened read-only`)
    assert.equal(refused.details, { location: left })
    assert.equal(contents(left), before, 'while it is open')
    await db.close()
    assert.equal(contents(left), before, 'after it was closed')
  }
  const writer = await open(left)
  assert.equal(await writer.find().toArray(), all)
  await writer.insertOne({ _id: 'new' })
  await writer.close()
})

test('documents missing from the index, or all of them for another shape, are indexed in memory', async () => {
  for (const index of [options.index, { ...options.index, segmentBits: 1024 }, undefined]) {
    const { left, all } = await leftDirectory()
    const before = contents(left)
    const db = await open(left, { readOnly: true, ...(index && { index }) })
    for (const hint of ['index', 'scan']) {
      assert.is(await db.countDocuments({ changed: true, text: { $ne: 'text 3' } }, { hint }), 213)
    }
    assert.equal(
      await db.find({ n: 6 }, { hint: 'index' }).toArray(),
      all.filter(({ n }) => n === 6)
    )
    assert.equal((await db.verify()).problems, [])
    await db.close()
    assert.equal(contents(left), before)
  }
})

test('a backup of a read-only database contains everything', async () => {
  const { left, all } = await leftDirectory()
  const before = contents(left)
  const target = scratchPath()
  const db = await open(left, { readOnly: true })
  await db.backup(target)
  await db.close()
  assert.equal(contents(left), before)
  const copy = await open(target)
  assert.equal(await copy.find().toArray(), all)
  await copy.close()
})

test('a database that was closed properly stays unchanged, too', async () => {
  const location = scratchPath()
  await (await open(location, options)).close()
  const before = contents(location)
  const db = await open(location, { readOnly: true })
  assert.is(await db.countDocuments(), 0)
  await db.close()
  assert.equal(contents(location), before)
})

test('no record of a LevelDB database changes, although LevelDB rewrites its files', async () => {
  const location = scratchPath()
  let expected: readonly unknown[]
  {
    await using db = await open(location, { ...options, store: 'level' })
    await db.insertMany(Array.from({ length: 1500 }, (_, i) => ({ _id: i, n: i % 7 })))
    await db.deleteMany({ n: 5 })
    expected = await db.find().toArray()
  }
  const before = await recordsOf(location)
  for (let round = 0; round < 2; round++) {
    await using db = await open(location, { readOnly: true })
    assert.equal(await db.find().toArray(), expected)
    assert.is(await db.countDocuments({ n: 1 }, { hint: 'index' }), 215)
    await rejects(db.insertOne({}), 'IllegalOperation')
    await rejects(db.index.rebuild(), 'IllegalOperation')
    await rejects(db.createIndex('n'), 'IllegalOperation')
  }
  assert.equal(await recordsOf(location), before)
})

for (const [name, settings] of [
  ['a table of ids', {}],
  ['computed ids', { ids: { codec: 'reversible', from: 0, to: 50_000 } }]
] as const) {
  test(`a LevelDB database with ${name} whose writer died is read completely, and no record changes`, async () => {
    const location = scratchPath()
    const died = scratchPath()
    const db = await open(location, { store: 'level', ...settings })
    await db.insertMany(Array.from({ length: 3000 }, (_, i) => ({ _id: i, n: i % 7, t: `t${i}` })))
    const expected = await db.find().sort({ _id: 1 }).toArray()
    cpSync(location, died, { recursive: true })
    await db.close()
    const before = await recordsOf(died)
    for (let round = 0; round < 2; round++) {
      await using read = await open(died, { readOnly: true })
      assert.ok((await read.index.stats()).recovered >= 1024)
      assert.equal(await read.find().sort({ _id: 1 }).toArray(), expected)
      for (const n of [1, 5, 6]) {
        const count = expected.filter((document) => document.n === n).length
        assert.is(await read.countDocuments({ n }, { hint: 'index' }), count)
      }
      for (const id of [0, 1000, 2999]) {
        assert.is((await read.find({ t: `t${id}` }, { hint: 'index' }).toArray()).length, 1)
      }
      assert.equal((await read.verify()).problems, [])
      await rejects(read.index.rebuild(), 'IllegalOperation')
    }
    assert.equal(await recordsOf(died), before)
  })
}

/** Records of the underlying store, in hexadecimal. */
async function recordsOf(location: string): Promise<readonly (readonly [string, string])[]> {
  const level = new Level<string, string>(location, { keyEncoding: 'hex', valueEncoding: 'hex' })
  const records = await level.iterator().all()
  await level.close()
  return records
}

test('a directory in the place of a file that is needed is named', async () => {
  const { left } = await leftDirectory()
  mkdirSync(join(left, 'MANIFEST-900000'))
  await open(left, { readOnly: true }).then((db) => db.close())
  mkdirSync(join(left, '900000.wal'))
  const { message } = await rejects(open(left, { readOnly: true }), 'StoreFailure')
  assert.match(message, `Cannot read ${join(left, '900000.wal')}: EISDIR`)
})

test.run()
