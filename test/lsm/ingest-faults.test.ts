import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { LsmLevel, MemoryFileSystem } from '../../src/lsm/index.ts'
import { FaultyFileSystem } from '../support/faulty-file-system.ts'
import { ingestTables, put, range, tableNames } from './ingest-helpers.ts'

const entries = range(0, 40, 'ingested')

async function openStore() {
  const disk = new MemoryFileSystem()
  const fileSystem = new FaultyFileSystem(disk)
  const db = new LsmLevel<string, string>('/db', { fileSystem, blockSize: 200 })
  await db.open()
  await db.put('a', 'before')
  return { db, disk, fileSystem }
}

async function codeOf(work: Promise<unknown>): Promise<string | undefined> {
  return work.then(
    () => undefined,
    ({ code }) => code
  )
}

for (const isPersistent of [false, true]) {
  const what = isPersistent ? 'all calls from the Nth on fail' : 'the Nth call fails'
  test(`${what} while tables are written: the ingest rejects, discard() removes them, and the store goes on`, async () => {
    let calls = 0
    for (let at = 1; calls === 0; at++) {
      const { db, fileSystem } = await openStore()
      const ingest = await db.beginIngest()
      const tables = ingestTables(ingest, fileSystem)
      const write = async () => {
        for (const [n, entry] of entries.entries()) {
          put(tables, entry)
          if (n % 9 === 8) await tables.flush()
        }
        await tables.finish()
      }
      fileSystem.fail({ at, isPersistent, code: 'EIO', operations: ['open', 'write', 'sync'], path: /\.sst$/ })
      const code = await codeOf(write())
      if (fileSystem.matches < at) calls = at
      else assert.is(code, 'LEVEL_IO_ERROR', `call ${at}`)
      await tables.discard()
      assert.equal(tableNames(fileSystem), [], `call ${at}`)
      assert.equal(
        fileSystem.openFiles.filter((path) => path.endsWith('.sst')),
        []
      )
      fileSystem.heal()
      await db.put('b', 'after')
      assert.equal(await db.keys().all(), ['a', 'b'])
      await db.close()
    }
    assert.ok(calls > 10, `${calls} calls`)
  })
}

test('if a write or sync fails during install(), it rejects, writing ends, and a reopen finds all or nothing', async () => {
  let calls = 0
  for (let at = 1; calls === 0; at++) {
    const { db, disk, fileSystem } = await openStore()
    const ingest = await db.beginIngest()
    const tables = ingestTables(ingest, fileSystem)
    for (const entry of entries) put(tables, entry)
    const metas = await tables.finish()
    fileSystem.fail({ at, isPersistent: true, code: 'EIO', operations: ['write', 'sync', 'syncDirectory'] })
    const code = await codeOf(ingest.install(metas))
    if (fileSystem.matches < at) calls = at
    else assert.is(code, 'LEVEL_IO_ERROR', `call ${at}`)
    const isInstalled = code === undefined
    assert.is((await db.keys().all()).length, isInstalled ? 41 : 1)
    if (!isInstalled) assert.is(await codeOf(db.put('b', 'after')), 'LEVEL_IO_ERROR')
    fileSystem.heal()
    if (!isInstalled) assert.is(await codeOf(db.put('b', 'after')), 'LEVEL_IO_ERROR')
    await db.close()
    for (const left of [...disk.crashStates(), disk]) {
      const again = new LsmLevel<string, string>('/db', { fileSystem: left })
      const keys = await again.keys().all()
      assert.ok(isInstalled ? keys.length === 41 : [0, 1, 41].includes(keys.length), `call ${at}: ${keys.length} keys`)
      assert.equal((await again.verify()).problems, [])
      await again.close()
    }
  }
  assert.ok(calls > 3, `${calls} calls`)
})

test('if the log cannot be synced, install() rejects and installs nothing', async () => {
  const { db, disk, fileSystem } = await openStore()
  const ingest = await db.beginIngest()
  const tables = ingestTables(ingest, fileSystem)
  for (const entry of entries) put(tables, entry)
  const metas = await tables.finish()
  fileSystem.fail({ at: 1, code: 'EIO', operations: ['sync'], path: /\.wal$/ })
  assert.is(await codeOf(ingest.install(metas)), 'LEVEL_IO_ERROR')
  assert.equal(await db.keys().all(), ['a'])
  await db.close()
  const again = new LsmLevel<string, string>('/db', { fileSystem: disk })
  assert.ok((await again.keys().all()).length < 2)
  assert.equal(
    tableNames(disk).length,
    (await again.stats()).levels.reduce((sum, { tables }) => sum + tables, 0)
  )
  await again.close()
})

test.run()
