import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { open } from '../../src/index.ts'
import { inTemporaryDirectory, interruptWhileFilling, readAll, runCli } from './run-cli.ts'

async function fill(location: string, count: number, store: 'lsm' | 'level' = 'level'): Promise<void> {
  await using db = await open(location, { store })
  await db.insertMany(Array.from({ length: count }, (_, i) => ({ _id: i, n: i % 10, text: `number ${i}` })))
}

const storeOf = (location: string): string => JSON.parse(readFileSync(join(location, 'PETALDB'), 'utf8')).store

test('copy converts a database from one engine to the other and back, and verify finds no problem', () =>
  inTemporaryDirectory(async (path) => {
    await fill(path('old'), 2000)
    const there = await runCli(['copy', path('old'), path('new')])
    assert.is(there.code, 0, there.stderr)
    assert.match(there.stdout, /^copied 2,000 documents from 1 collection to .*new in /)
    assert.is(storeOf(path('new')), 'lsm')
    const back = await runCli(['copy', path('new'), path('back'), '--store', 'level', '--json'])
    assert.is(back.code, 0, back.stderr)
    const { seconds: _, ...outcome } = JSON.parse(back.stdout)
    assert.equal(outcome, { collections: 1, documents: 2000 })
    assert.is(storeOf(path('back')), 'level')
    assert.equal(await readAll(path('back')), await readAll(path('old')))
    const verified = await runCli(['verify', path('new')])
    assert.is(verified.code, 0, verified.stdout)
    assert.match(verified.stdout, /^no problems in 2,000 documents, in /)
    assert.equal(readdirSync(path('.')).sort(), ['back', 'new', 'old'])
  }))

test('copy refuses a target that exists and a source that does not, and creates no files', () =>
  inTemporaryDirectory(async (path) => {
    await fill(path('old'), 10)
    mkdirSync(path('empty'))
    writeFileSync(path('file'), 'mine')
    for (const target of ['old', 'file']) {
      const { code, stderr } = await runCli(['copy', path('old'), path(target)])
      assert.is(code, 1)
      assert.match(stderr, /already exists/)
    }
    assert.is((await runCli(['copy', path('nowhere'), path('new')])).code, 1)
    assert.is((await runCli(['copy', path('old'), path('new'), '--store', 'memory'])).code, 2)
    assert.is((await runCli(['copy', path('old'), path('empty')])).code, 0)
    assert.equal(readdirSync(path('.')).sort(), ['empty', 'file', 'old'])
    assert.is((await readAll(path('empty'))).length, 10)
  }))

for (const signal of ['SIGINT', 'SIGKILL'] as const) {
  test(`${signal} during a copy leaves no copy and an unchanged source, and the next copy leaves no other file`, () =>
    inTemporaryDirectory(async (path) => {
      await fill(path('old'), 12_000)
      const interrupted = await interruptWhileFilling(['copy', path('old'), path('new')], path('new'), signal)
      assert.not(existsSync(path('new')))
      if (signal === 'SIGINT') {
        assert.is(interrupted.code, 130, interrupted.stderr)
        assert.match(interrupted.stderr, /interrupted; .*new was not created/)
        assert.equal(readdirSync(path('.')), ['old'])
      }
      assert.is((await readAll(path('old'))).length, 12_000)
      const { code, stderr } = await runCli(['copy', path('old'), path('new')])
      assert.is(code, 0, stderr)
      assert.equal(readdirSync(path('.')).sort(), ['new', 'old'])
      assert.is((await readAll(path('new'))).length, 12_000)
    }))
}

test('verify prints the problems and fails', () =>
  inTemporaryDirectory(async (path) => {
    await fill(path('db'), 8000, 'lsm')
    const [table = ''] = readdirSync(path('db')).filter((name) => name.endsWith('.sst'))
    const bytes = readFileSync(path(join('db', table)))
    bytes[100] = (bytes[100] ?? 0) ^ 1
    writeFileSync(path(join('db', table)), bytes)
    const { code, stdout } = await runCli(['verify', path('db')])
    assert.is(code, 1, stdout)
    assert.match(stdout, new RegExp(`^store: .*${table}`, 'm'))
    const json = JSON.parse((await runCli(['verify', path('db'), '--json'])).stdout)
    assert.ok(json.problemCount > 0)
  }))

test.run()
