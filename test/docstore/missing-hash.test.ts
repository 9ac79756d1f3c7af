/** Where npm farmhash cannot be loaded, an index made with it is neither discarded nor rebuilt unless requested. */
import '../support/without-farmhash.mjs'
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Database, type IndexOptions, type OpenOptions, open, PetalError } from '../../src/index.ts'
import { inTemporaryDirectory, type Outcome, startCli } from '../cli/run-cli.ts'
import { loader, program } from '../support/program.ts'
import { rejects, scratchPath } from './scratch.ts'

const withoutFarmhash = fileURLToPath(new URL('../support/without-farmhash.mjs', import.meta.url))

/** 1,800 documents in each collection, 36 of them with n = 3. */
function make(location: string, options: OpenOptions = {}, ...collections: readonly string[]): string {
  const names = collections.length === 0 ? ['default'] : collections
  execFileSync(process.execPath, [
    ...loader,
    program('test/docstore/make-with-farmhash.ts'),
    location,
    JSON.stringify(options),
    ...names
  ])
  return location
}

function assertSaysWhat(error: PetalError, collection: string): void {
  assert.match(error.message, `The index of the collection '${collection}' was built with hash: 'farmhash'`)
  assert.match(error.message, "the package farmhash cannot be loaded: Cannot find package 'farmhash'")
  assert.match(error.message, "install it, or open with index: { hash: 'murmur' }, which rebuilds the index")
  assert.equal(error.details, { option: 'hash', stored: 'farmhash', collection })
  assert.ok(error.cause instanceof Error)
}

/** Opens it in a process that has farmhash. @returns how many documents opening indexed again */
function recoveredWithFarmhash(location: string): number {
  const script = `
    import { open } from ${JSON.stringify(program('src/index.ts'))}
    const db = await open(${JSON.stringify(location)}, { index: { hash: 'farmhash' } })
    console.log((await db.index.stats()).recovered)
    await db.close()`
  return Number(execFileSync(process.execPath, [...loader, '--input-type=module', '-e', script]))
}

for (const options of [{}, { store: 'level' }, { ids: 'reversible' }] as const satisfies readonly OpenOptions[]) {
  test(`opening fails, says what to do, and leaves the index unchanged: ${JSON.stringify(options)}`, async () => {
    const location = make(scratchPath(), options)
    for (const given of [{}, { readOnly: true }, { index: 'sharded' }, { index: { segmentBits: 1024 } }] as const) {
      assertSaysWhat(await rejects(open(location, given), 'CommandNotSupported'), 'default')
    }
    assert.is(recoveredWithFarmhash(location), 0)
    await using db = await open(location, { index: { hash: 'murmur' } })
    const { recovered, damage } = await db.index.stats()
    assert.equal([recovered, damage], [1800, []])
    assert.is(await db.countDocuments({ n: 3 }, { hint: 'index' }), 36)
  })
}

test('another collection fails when it is used, and the rest of the database works', async () => {
  const location = make(scratchPath(), {}, 'other')
  {
    await using db = await open(location)
    await db.insertOne({ _id: 1 })
    for (const refused of [
      () => db.collection('other').countDocuments({ n: 3 }),
      () => db.collection('other').insertOne({ n: 3 }),
      () => db.collection('other').find().toArray()
    ]) {
      assertSaysWhat(await rejects(refused(), 'CommandNotSupported'), 'other')
    }
    assert.is(await db.countDocuments(), 1)
    assert.is(await db.collection('other', { index: { hash: 'murmur' } }).countDocuments({ n: 3 }), 36)
  }
  await using db = await open(location)
  assert.is(await db.collection('other').countDocuments({ n: 3 }), 36)
})

test('requesting farmhash is refused before anything is created or changed', async () => {
  const index: IndexOptions = { hash: 'farmhash' }
  const location = scratchPath()
  const check = async (promise: Promise<unknown>): Promise<void> => {
    const error = await rejects(promise, 'InvalidOptions')
    assert.match(error.message, "hash: 'farmhash' requires the npm package farmhash")
    assert.equal(error.details, { option: 'hash', value: 'farmhash' })
  }
  await check(open(location, { index }))
  await rejects(open(location, { createIfMissing: false }), 'DatabaseNotFound')
  {
    await using db = await open(location, { index: { segmentBits: 512 } })
    await db.insertMany(Array.from({ length: 900 }, (_, i) => ({ n: i })))
    await db.collection('none', { index: 'none' }).insertOne({ _id: 1 })
  }
  await check(open(location, { index }))
  await check(open(location, { index: { ...index, kind: 'sharded' } }))
  {
    await using db = await open(location)
    await check(db.collection('none', { index: { ...index, kind: 'sharded' } }).countDocuments())
    await check(db.collection('new', { index }).insertOne({ _id: 1 }))
  }
  await using db = await open(location)
  assert.equal(
    db.listCollections().map(({ name }) => name),
    ['default', 'none']
  )
  const stats = await db.stats()
  assert.equal(
    stats.collections.map(({ index: { kind, recovered } }) => [kind, recovered]),
    [
      ['sharded', 0],
      ['none', 1]
    ]
  )
})

test('an unknown hash is refused before anything is created', async () => {
  const location = scratchPath()
  for (const hash of ['sha1', '', 5]) {
    const index = { hash } as unknown as IndexOptions
    const error = await rejects(open(location, { index }), 'InvalidOptions')
    assert.match(error.message, /^hash: expected 'murmur' or 'farmhash', got/)
    assert.equal(error.details, { option: 'hash', value: hash })
  }
  await rejects(open(location, { createIfMissing: false }), 'DatabaseNotFound')
  const db: Database = await open('unused', { store: 'memory' })
  assert.throws(
    () => db.collection('c', { index: { hash: 'sha1' } as unknown as IndexOptions }),
    (error: unknown) => error instanceof PetalError && error.codeName === 'InvalidOptions'
  )
  await db.close()
})

function runWithoutFarmhash(args: readonly string[]): Promise<Outcome> {
  const child = startCli(args, ['--import', withoutFarmhash])
  child.process.stdin.end()
  return child.outcome
}

test('the CLI says what is missing and which command helps; reindex --hash rebuilds the index', () =>
  inTemporaryDirectory(async (path) => {
    const location = make(path('db'), {}, 'default', 'other')
    for (const args of [
      ['count', location],
      ['reindex', location],
      ['count', location, '--collection', 'other']
    ]) {
      const { code, stdout, stderr } = await runWithoutFarmhash(args)
      assert.is(code, 1)
      assert.is(stdout, '')
      assert.match(stderr, "The index of the collection 'default' was built with hash: 'farmhash'")
      assert.match(stderr, '\npetaldb reindex <db> --hash murmur rebuilds the index\n')
    }
    assert.is(recoveredWithFarmhash(location), 0)
    const reindexed = await runWithoutFarmhash(['reindex', location, '--hash', 'murmur'])
    assert.is(reindexed.code, 0, reindexed.stderr)
    assert.match(reindexed.stdout, /^1,800 documents in 4 segments,/)
    assert.is((await runWithoutFarmhash(['count', location, '{"n": 3}'])).stdout, '36\n')
    const other = await runWithoutFarmhash(['count', location, '--collection', 'other'])
    assert.match(other.stderr, '\npetaldb reindex <db> --hash murmur --collection other rebuilds the index\n')
    assert.is((await runWithoutFarmhash(['reindex', location, '--hash', 'murmur', '--collection', 'other'])).code, 0)
    assert.is((await runWithoutFarmhash(['count', location, '{"n": 3}', '--collection', 'other'])).stdout, '36\n')
  }))

test('reindex --hash takes only names of hashes', () =>
  inTemporaryDirectory(async (path) => {
    const { code, stderr } = await runWithoutFarmhash(['reindex', path('db'), '--hash', 'sha1'])
    assert.is(code, 2)
    assert.match(stderr, "--hash takes murmur or farmhash, got 'sha1'")
    assert.match((await runWithoutFarmhash(['reindex', '--help'])).stdout, '--hash murmur|farmhash')
  }))

test.run()
