/** A relative path means the place that it named when it was passed, whatever the working directory is later. */
import { existsSync, mkdirSync, readdirSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { copyDatabase, type Document, open } from '../../src/index.ts'
import { dumpFile, LsmLevel } from '../../src/lsm/index.ts'
import { scratchPath } from './scratch.ts'

const documents = (count: number): Document[] =>
  Array.from({ length: count }, (_, i) => ({ _id: i, n: i % 7, text: `number ${i}` }))

const start = process.cwd()

/** Two empty directories; the first is the working directory. */
function places(): { home: string; elsewhere: string } {
  const [home, elsewhere] = [scratchPath('home'), scratchPath('elsewhere')]
  for (const path of [home, elsewhere]) mkdirSync(path)
  process.chdir(home)
  return { home, elsewhere }
}

/** Calls the function in one working directory; by the time anything is awaited, it is another. */
function calledIn<R>(directory: string, then: string, call: () => R): R {
  process.chdir(directory)
  try {
    return call()
  } finally {
    process.chdir(then)
  }
}

test.after.each(() => process.chdir(start))

for (const store of ['lsm', 'level'] as const) {
  test(`a database of store ${store} stays where it was opened`, async () => {
    const { home, elsewhere } = places()
    const db = await calledIn(home, elsewhere, () => open('db', { store, lsm: { writeBufferSize: 64 * 1024 } }))
    await db.insertMany(documents(3000))
    await db.compact()
    await db.index.rebuild()
    await db.updateMany({ n: 3 }, { $set: { n: 30 } })
    const { problems } = await db.verify()
    await calledIn(home, elsewhere, () => db.backup('backup'))
    await calledIn(home, elsewhere, () => copyDatabase(db, 'copy'))
    await db.close()
    assert.equal(problems, [])
    assert.equal(readdirSync(elsewhere), [])
    assert.equal(readdirSync(home).sort(), ['backup', 'copy', 'db'])
    for (const name of ['backup', 'copy', 'db']) {
      await using again = await calledIn(home, elsewhere, () =>
        open(name, { createIfMissing: false, readOnly: store === 'lsm' })
      )
      assert.is(await again.countDocuments({ n: 30 }), 429, name)
    }
  })
}

test('backups and copies of a database in memory appear where the call was made', async () => {
  const { home, elsewhere } = places()
  await using db = await open('any name', { store: 'memory' })
  await db.insertMany(documents(10))
  await calledIn(home, elsewhere, () => db.backup('backup'))
  await calledIn(home, elsewhere, () => copyDatabase(db, 'copy'))
  assert.equal(readdirSync(home).sort(), ['backup', 'copy'])
  assert.equal(readdirSync(elsewhere), [])
})

test('an LsmLevel opens, opens again, is backed up, repaired, dumped and destroyed where its path led at the call', async () => {
  const { home, elsewhere } = places()
  const db = calledIn(home, elsewhere, () => new LsmLevel('db'))
  assert.is(db.location, 'db')
  // Before it is open, the call is deferred.
  const early = calledIn(home, elsewhere, () => db.backup('early'))
  await db.put('key', 'value')
  await db.flush()
  await early
  await db.close()
  await db.open()
  assert.is(await db.get('key'), 'value')
  await calledIn(home, elsewhere, () => db.backup('backup'))
  await db.close()
  assert.is((await calledIn(home, elsewhere, () => LsmLevel.repair('db'))).tables, 1)
  const table = readdirSync(join(home, 'db')).find((name) => name.endsWith('.sst'))
  const lines = calledIn(home, elsewhere, () => dumpFile(join('db', table!)))
  assert.ok([...lines].length > 0)
  await calledIn(home, elsewhere, () => LsmLevel.destroy('db'))
  assert.equal(readdirSync(home).sort(), ['backup', 'early'])
  assert.equal(readdirSync(elsewhere), [])
})

test('an absolute path needs no working directory', async () => {
  const { home, elsewhere } = places()
  const gone = join(home, 'gone')
  mkdirSync(gone)
  process.chdir(gone)
  rmdirSync(gone)
  const db = await open(join(elsewhere, 'db'))
  await db.insertOne({})
  await db.backup(join(elsewhere, 'backup'))
  await db.close()
  assert.ok(existsSync(join(elsewhere, 'backup', 'PETALDB')))
})

test.run()
