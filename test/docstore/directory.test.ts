/** What open() does with a directory, and what it leaves alone. */
import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { Level } from 'level'
import { MemoryLevel } from 'memory-level'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { copyDatabase, open } from '../../src/index.ts'
import { loader, program } from '../support/program.ts'
import { rejects, scratchPath } from './scratch.ts'

/** Every file with its contents. */
function contents(directory: string): Record<string, string> {
  const names = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return Object.fromEntries(
    names.map((entry) => {
      const path = join(entry.parentPath, entry.name)
      return [path, readFileSync(path, 'latin1')]
    })
  )
}

test('a missing directory is created with its parents and a marker', async () => {
  const location = join(scratchPath(), 'deep', 'down')
  await (await open(location)).close()
  assert.equal(JSON.parse(readFileSync(join(location, 'PETALDB'), 'utf8')), {
    magic: 'petaldb',
    format: 1,
    store: 'lsm'
  })
})

test('if several calls open a new directory at once, one gets it and the others fail with DBPathInUse', async () => {
  for (let round = 0; round < 20; round++) {
    const location = scratchPath()
    const opened = await Promise.allSettled([
      open(location, { store: round % 2 === 0 ? 'lsm' : 'level' }),
      open(location),
      open(location, { store: 'level' })
    ])
    const winners = opened.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
    const losers = opened.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []))
    assert.equal(
      losers.map(({ codeName }) => codeName),
      ['DBPathInUse', 'DBPathInUse']
    )
    await winners[0]!.insertOne({ _id: 'kept' })
    await winners[0]!.close()
    await using again = await open(location)
    assert.equal(await again.get('kept'), { _id: 'kept' })
    assert.equal(
      readdirSync(location).filter((name) => name.endsWith('.tmp')),
      []
    )
  }
})

test('a missing directory is not created with createIfMissing: false or readOnly', async () => {
  const location = scratchPath()
  await rejects(open(location, { createIfMissing: false }), 'DatabaseNotFound')
  await rejects(open(location, { readOnly: true }), 'DatabaseNotFound')
  assert.throws(() => readdirSync(location), /ENOENT/)
})

test('if a directory cannot be created, the error names it', async () => {
  const file = scratchPath()
  writeFileSync(file, 'no directory')
  const location = join(file, 'below')
  const error = await rejects(open(location), 'StoreFailure')
  assert.match(error.message, location)
})

test('errorIfExists refuses an existing database', async () => {
  const location = scratchPath()
  await (await open(location, { errorIfExists: true })).close()
  await rejects(open(location, { errorIfExists: true }), 'DatabaseExists')
})

test('an empty directory, or one whose creation was interrupted, becomes a database', async () => {
  const location = scratchPath()
  mkdirSync(location)
  writeFileSync(join(location, 'PETALDB.tmp'), '{"mag')
  const db = await open(location)
  await db.insertOne({ _id: 1 })
  await db.close()
})

test('a directory with other files is refused and left unchanged, byte for byte', async () => {
  const location = scratchPath()
  mkdirSync(join(location, 'sub'), { recursive: true })
  writeFileSync(join(location, 'notes.txt'), 'mine')
  writeFileSync(join(location, 'sub', 'more.txt'), 'also mine')
  const before = contents(location)
  const error = await rejects(open(location), 'NotADatabase')
  assert.match(error.message, /notes\.txt/)
  assert.equal(contents(location), before)
})

test("another application's LevelDB is refused and left unchanged, byte for byte", async () => {
  const location = scratchPath()
  const level = new Level(location)
  await level.put('a', '1')
  await level.close()
  const before = contents(location)
  assert.match((await rejects(open(location), 'NotADatabase')).message, /LevelDB/)
  assert.equal(contents(location), before)
})

test('a file and a dangling link are refused', async () => {
  const file = scratchPath()
  writeFileSync(file, 'text')
  await rejects(open(file), 'NotADatabase')
  assert.is(readFileSync(file, 'utf8'), 'text')
  const link = scratchPath()
  symlinkSync('/nowhere/at/all', link)
  await rejects(open(link), 'NotADatabase')
})

test('a damaged or newer marker is refused with a matching error', async () => {
  const location = scratchPath()
  mkdirSync(location)
  const marker = join(location, 'PETALDB')
  for (const [text, codeName] of [
    ['', 'NotADatabase'],
    ['{"magic":"other"}', 'NotADatabase'],
    ['[]', 'NotADatabase'],
    ['x'.repeat(10_000), 'NotADatabase'],
    ['{"magic":"petaldb","format":2,"store":"level"}', 'UnsupportedFormat'],
    ['{"magic":"petaldb","format":1}', 'DataCorruption'],
    ['{"magic":"petaldb","format":1,"store":"future"}', 'BadValue']
  ] as const) {
    writeFileSync(marker, text)
    await rejects(open(location), codeName)
    assert.equal(readdirSync(location), ['PETALDB'])
  }
})

test('a crash between the marker and the store leaves a database that opens', async () => {
  const location = scratchPath()
  mkdirSync(location)
  writeFileSync(join(location, 'PETALDB'), '{"magic":"petaldb","format":1,"store":"lsm"}\n')
  const db = await open(location)
  await db.insertOne({ _id: 1 })
  await db.close()
})

for (const [made, asked] of [
  ['lsm', 'level'],
  ['level', 'lsm'],
  ['lsm', undefined]
] as const) {
  test(`a directory made by ${made} is opened by ${made} when ${asked ?? 'nothing'} is requested`, async () => {
    const location = scratchPath()
    const db = await open(location, { store: made })
    await db.insertMany([{ _id: 1 }, { _id: 2 }])
    await db.close()
    const again = await open(location, asked === undefined ? {} : { store: asked })
    assert.is(await again.countDocuments(), 2)
    await again.insertOne({ _id: 3 })
    await again.close()
    assert.is(JSON.parse(readFileSync(join(location, 'PETALDB'), 'utf8')).store, made)
    assert.is(
      readdirSync(location).some((name) => name.endsWith('.wal')),
      made === 'lsm'
    )
  })
}

test('damage that the store finds when opening is reported as such, with its cause', async () => {
  const location = scratchPath()
  await (await open(location)).close()
  writeFileSync(join(location, 'CURRENT'), 'petaldb-lsm 1\nnonsense\n00000000\n')
  const error = await rejects(open(location), 'DataCorruption')
  assert.is((error.cause as { code?: string }).code, 'LEVEL_CORRUPTION')
})

test('invalid store options are refused, and the directory is closed again', async () => {
  const location = scratchPath()
  await rejects(open(location, { lsm: { cacheSize: -1 } }), 'InvalidOptions')
  await (await open(location)).close()
})

test("a database can only be opened once: the second open() fails, with the store's error as cause", async () => {
  const location = scratchPath()
  const db = await open(location)
  const here = await rejects(open(location), 'DBPathInUse')
  assert.is((here.cause as { code?: string }).code, 'LEVEL_LOCKED')
  const script = program('test/docstore/try-to-open.ts')
  const child = await promisify(execFile)(process.execPath, [...loader, script, location])
  const inUse = `${location} is in use by process ${process.pid}`
  const advice = 'to read it as it is now, open it with { readOnly: true }'
  assert.is(child.stdout.trim(), `DBPathInUse LEVEL_LOCKED\n${inUse}; ${advice}`)
  await db.insertOne({ _id: 1 })
  await db.close()
  await (await open(location)).close()
})

test('one store carries one database at a time', async () => {
  const store = new MemoryLevel()
  const db = await open(store)
  await rejects(open(store), 'DBPathInUse')
  await db.insertOne({ _id: 1 })
  await db.close()
  assert.is(store.status, 'open')
  const again = await open(store)
  assert.is(await again.countDocuments(), 1)
  await again.close()
})

test('a sublevel of an application database is a store like any other', async () => {
  const store = new MemoryLevel()
  await store.put('mine', 'stays')
  const db = await open(store.sublevel('documents'))
  await db.insertMany([
    { _id: 1, a: 1 },
    { _id: 2, a: 2 }
  ])
  await db.updateOne({ _id: 1 }, { $set: { a: 2 } })
  assert.is((await db.find({ a: 2 }).toArray()).length, 2)
  assert.is((await db.find({ a: 2 }, { hint: 'scan' }).toArray()).length, 2)
  await db.close()
  assert.is(await store.get('mine'), 'stays')
})

test('invalid locations and choices are refused', async () => {
  await rejects(open(''), 'BadValue')
  await rejects(open(undefined as unknown as string), 'BadValue')
  await rejects(open({} as unknown as string), 'BadValue')
  assert.match((await rejects(open(null as unknown as string), 'BadValue')).message, /got null$/)
  await rejects(open(scratchPath(), { store: 'sqlite' as 'level' }), 'BadValue')
  await rejects(open(scratchPath(), { index: 'btree' as 'none' }), 'InvalidOptions')
  await rejects(open(scratchPath(), { signal: AbortSignal.abort() }), 'Aborted')
})

test('a file: URL is a location, also with spaces', async () => {
  const location = scratchPath('a b%20ü.db')
  const made = await open(pathToFileURL(location))
  await made.insertOne({ _id: 1 })
  await made.close()
  await using again = await open(location)
  assert.equal(await again.get(1), { _id: 1 })
  for (const url of ['https://example.org/a.db', 'file:///a%2Fb.db', 'mongodb://me:secret@localhost/a']) {
    assert.not.match((await rejects(open(new URL(url)), 'BadValue')).message, 'secret')
  }
})

test('names of other databases create no directory, and the error says what to use', async () => {
  const directory = dirname(scratchPath())
  const before = process.cwd()
  process.chdir(directory)
  try {
    await using db = await open(':memory:', { store: 'memory' })
    const calls: readonly ((name: string) => Promise<unknown>)[] = [
      open,
      (name) => db.backup(name),
      (name) => copyDatabase(db, name)
    ]
    for (const call of calls) {
      assert.match((await rejects(call(':memory:'), 'BadValue')).message, "{ store: 'memory' }")
      assert.match((await rejects(call('file:///tmp/a.db'), 'BadValue')).message, 'new URL(…)')
      const { message } = await rejects(call('mongodb+srv://me:secret@localhost/a'), 'BadValue')
      assert.match(message, "'mongodb+srv://…'")
      assert.not.match(message, 'secret')
    }
    const url = pathToFileURL(join(directory, 'copy'))
    assert.match((await rejects(db.backup(url as unknown as string), 'BadValue')).message, 'fileURLToPath()')
    assert.match((await rejects(copyDatabase(db, url as unknown as string), 'BadValue')).message, 'fileURLToPath()')
    assert.equal(readdirSync(directory), [])
    // Such a name is possible as a path.
    await (await open('./:memory:')).close()
    assert.equal(readdirSync(directory), [':memory:'])
  } finally {
    process.chdir(before)
  }
})

test('a store that cannot hold binary keys is refused', async () => {
  const store = new MemoryLevel({ storeEncoding: 'utf8' })
  const { message } = await rejects(open(store), 'CommandNotSupported')
  assert.match(message, /'view'/)
  await store.close()
})

test('a store without explicit snapshots is refused', async () => {
  const store = new MemoryLevel()
  Object.assign(store.supports, { explicitSnapshots: false })
  await rejects(open(store), 'CommandNotSupported')
})

test('a read-only database can be read and refuses every write', async () => {
  const location = scratchPath()
  const db = await open(location)
  await db.insertMany([
    { _id: 1, a: 1 },
    { _id: 2, a: 2 }
  ])
  await db.close()
  const reader = await open(location, { readOnly: true })
  assert.equal(await reader.find({ a: 2 }).toArray(), [{ _id: 2, a: 2 }])
  for (const write of [
    () => reader.insertOne({}),
    () => reader.insertMany([{}]),
    () => reader.updateOne({}, { $set: { a: 1 } }),
    () => reader.deleteMany({}),
    () => reader.findOneAndDelete({}),
    () => reader.dropCollection('default')
  ]) {
    await rejects(write(), 'IllegalOperation')
  }
  await reader.close()
})

test('read-only opens with the existing index, whatever kind is requested', async () => {
  for (const [made, asked] of [
    ['sharded', 'none'],
    ['none', 'sharded']
  ] as const) {
    const location = scratchPath()
    const db = await open(location, { index: made })
    await db.insertMany(Array.from({ length: 3000 }, (_, i) => ({ _id: i, a: i % 3 })))
    await db.close()
    const reader = await open(location, { readOnly: true, index: asked })
    assert.is((await reader.index.stats()).kind, made)
    assert.is(await reader.countDocuments({ a: 1 }), 1000)
    await reader.close()
  }
})

test.run()
