import { existsSync, readdirSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { open } from '../../src/index.ts'
import { inTemporaryDirectory, interruptWhileFilling, readAll, runCli } from './run-cli.ts'

async function fill(location: string, count: number, store: 'lsm' | 'level'): Promise<void> {
  await using db = await open(location, { store })
  await db.insertMany(Array.from({ length: count }, (_, i) => ({ _id: i, n: i % 10, text: `number ${i}` })))
}

for (const store of ['lsm', 'level'] as const) {
  test(`backup copies a database on ${store}, and refuses a target that exists`, () =>
    inTemporaryDirectory(async (path) => {
      await fill(path('db'), 3000, store)
      const { code, stdout, stderr } = await runCli(['backup', path('db'), path('copy')])
      assert.is(code, 0, stderr)
      assert.match(stdout, /^backed up [\d.]+ [KM]iB to .*copy(, [\d.]+ [KM]iB of it shared with the database)?, in /)
      assert.equal(await readAll(path('copy')), await readAll(path('db')))
      const again = await runCli(['backup', path('db'), path('copy'), '--json'])
      assert.is(again.code, 1)
      assert.match(again.stderr, /^petaldb backup: .*copy already exists; .*\(DatabaseExists\)\n$/)
      assert.is((await runCli(['backup', path('none'), path('more')])).code, 1)
      assert.equal(readdirSync(path('.')).sort(), ['copy', 'db'])
    }))
}

for (const signal of ['SIGINT', 'SIGKILL'] as const) {
  test(`${signal} during a backup leaves no backup, and the next backup leaves no other file`, () =>
    inTemporaryDirectory(async (path) => {
      // On level, where every entry is read: with lsm it ends too soon.
      await fill(path('db'), 12_000, 'level')
      const interrupted = await interruptWhileFilling(['backup', path('db'), path('copy')], path('copy'), signal)
      assert.not(existsSync(path('copy')))
      if (signal === 'SIGINT') {
        assert.is(interrupted.code, 130, interrupted.stderr)
        assert.match(interrupted.stderr, /interrupted; .*copy was not created/)
        assert.equal(readdirSync(path('.')), ['db'])
      }
      const { code, stderr } = await runCli(['backup', path('db'), path('copy')])
      assert.is(code, 0, stderr)
      assert.equal(readdirSync(path('.')).sort(), ['copy', 'db'])
      assert.is((await readAll(path('copy'))).length, 12_000)
    }))
}

test.run()
