import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { open } from '../../src/index.ts'
import { inTemporaryDirectory, readAll, runCli } from './run-cli.ts'

async function fill(location: string, count: number): Promise<void> {
  await using db = await open(location, { lsm: { writeBufferSize: 64 * 1024 } })
  await db.insertMany(Array.from({ length: count }, (_, i) => ({ _id: i, n: i % 10, text: `number ${i}` })))
}

test('what verify finds damaged, repair saves into a new database, which has no problem', () =>
  inTemporaryDirectory(async (path) => {
    await fill(path('old'), 5000)
    const [table = ''] = readdirSync(path('old')).filter((name) => name.endsWith('.sst'))
    const bytes = readFileSync(join(path('old'), table))
    bytes.fill(0xee, 100, 300)
    writeFileSync(join(path('old'), table), bytes)
    const damaged = await runCli(['verify', path('old')])
    assert.is(damaged.code, 1, damaged.stdout)
    const repaired = await runCli(['repair', path('old'), path('new')])
    assert.is(repaired.code, 0, repaired.stderr)
    assert.match(repaired.stdout, new RegExp(`^store: lost: .*${table}: .*\n`))
    assert.match(repaired.stdout, /\nsaved [\d,]+ documents from 1 collection to .*new in .*; \d+ problems?\n$/)
    const verified = await runCli(['verify', path('new')])
    assert.is(verified.code, 0, verified.stdout)
    assert.ok((await readAll(path('new'))).length > 3000)
    const again = await runCli(['repair', path('old'), path('other'), '--json'])
    const { seconds: _, ...outcome } = JSON.parse(again.stdout)
    assert.equal(outcome.problems, [])
    assert.is(outcome.documents, (await readAll(path('new'))).length)
  }))

test('repair refuses a target that exists and a database that is missing or in use', () =>
  inTemporaryDirectory(async (path) => {
    await fill(path('old'), 10)
    const missing = await runCli(['repair', path('nowhere'), path('new')])
    assert.equal(
      [missing.code, missing.stderr],
      [1, `petaldb repair: There is no database at ${path('nowhere')} (DatabaseNotFound)\n`]
    )
    assert.match((await runCli(['repair', path('old'), path('old')])).stderr, /already exists/)
    assert.is((await runCli(['repair', path('old')])).code, 2)
    await using db = await open(path('old'))
    const inUse = await runCli(['repair', path('old'), path('new')])
    assert.is(inUse.code, 1)
    assert.match(inUse.stderr, /old is in use by process \d+/)
    assert.not(existsSync(path('new')))
    assert.is(await db.countDocuments(), 10)
  }))

test.run()
