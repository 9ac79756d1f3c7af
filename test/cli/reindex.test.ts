import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { open } from '../../src/index.ts'
import { inTemporaryDirectory, readAll, runCli, startCli } from './run-cli.ts'

async function fillAndReplace(location: string): Promise<void> {
  await using db = await open(location)
  await db.insertMany(Array.from({ length: 3000 }, (_, i) => ({ _id: i, n: i % 10 })))
  await db.updateMany({ n: { $lt: 5 } }, { $set: { isSmall: true } })
}

async function dead(location: string): Promise<number> {
  await using db = await open(location)
  return (await db.index.stats()).dead
}

test('reindex removes dead documents from the index and changes no document', () =>
  inTemporaryDirectory(async (path) => {
    await fillAndReplace(path('db'))
    const before = await readAll(path('db'))
    assert.is(await dead(path('db')), 1500)
    const { code, stdout, stderr } = await runCli(['reindex', path('db')])
    assert.is(code, 0, stderr)
    assert.match(stdout, /^3,000 documents in 1 segments?, \d+ bytes per document, [\d,]+\/s$/m)
    assert.is(await dead(path('db')), 0)
    assert.equal(await readAll(path('db')), before)
  }))

test('reindex --json prints its outcome as JSON', () =>
  inTemporaryDirectory(async (path) => {
    await fillAndReplace(path('db'))
    const { stdout, stderr } = await runCli(['reindex', path('db'), '--json'])
    assert.is(stderr, '')
    const { seconds, indexBytes, ...outcome } = JSON.parse(stdout)
    assert.equal(outcome, { documents: 3000, segments: 1 })
    assert.ok(seconds > 0 && indexBytes > 0, stdout)
  }))

test('reindex --every runs until Ctrl-C and leaves a rebuilt index', () =>
  inTemporaryDirectory(async (path) => {
    await fillAndReplace(path('db'))
    const { process, outcome } = startCli(['reindex', path('db'), '--every', '1h'])
    process.stdout.once('data', () => process.kill('SIGINT'))
    const { code, stderr } = await outcome
    assert.is(code, 130, stderr)
    assert.is(await dead(path('db')), 0)
  }))

test('reindex refuses a missing database and a malformed --every', () =>
  inTemporaryDirectory(async (path) => {
    assert.is((await runCli(['reindex', path('nowhere')])).code, 1)
    const { code, stderr } = await runCli(['reindex', path('nowhere'), '--every', 'hour'])
    assert.is(code, 2)
    assert.match(stderr, /--every takes a time such as 30s/)
  }))

test.run()
