/** What commands that only read do to a database, and to others that want it: nothing. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { open } from '../../src/index.ts'
import { loader, program } from '../support/program.ts'
import { inTemporaryDirectory, linesOf, runCli } from './run-cli.ts'

/** Names, sizes and times of the files of a directory. */
function filesOf(directory: string): readonly string[] {
  return readdirSync(directory).map((name) => {
    const { size, mtimeMs } = statSync(join(directory, name))
    return `${name} ${size} ${mtimeMs}`
  })
}

test('commands that only read change no file', () =>
  inTemporaryDirectory(async (path) => {
    {
      await using db = await open(path('db'))
      await db.insertMany(Array.from({ length: 3000 }, (_, i) => ({ _id: i, n: i % 10 })))
    }
    const before = filesOf(path('db'))
    for (const [command, ...rest] of [
      ['count', '{"n": 1}'],
      ['find', '{"n": 1}'],
      ['get', '1'],
      ['export', '-'],
      ['aggregate', '[{"$count": "all"}]'],
      ['paths'],
      ['stats'],
      ['verify'],
      ['backup', path('backup')],
      ['copy', path('copy')],
      ['tune', '--dry-run']
    ]) {
      const { code, stderr } = await runCli([command!, path('db'), ...rest])
      assert.is(code, 0, `${command}: ${stderr}`)
      assert.equal(filesOf(path('db')), before, command)
    }
  }))

test('an application can open a database while a command reads it', () =>
  inTemporaryDirectory(async (path) => {
    const count = 20_000
    {
      await using db = await open(path('db'))
      await db.insertMany(Array.from({ length: count }, (_, i) => ({ _id: i, text: 'a text of some length' })))
    }
    // Nobody reads what it prints, more than a pipe holds, so that it goes on for as long as this test likes.
    const child = spawn(process.execPath, [...loader, program('src/cli/main.ts'), 'export', path('db'), '-'])
    try {
      await once(child.stdout, 'readable')
      await using db = await open(path('db'))
      await db.deleteMany({})
      await db.insertOne({ _id: 'later' })
      assert.is(linesOf(await text(child.stdout)).length, count, 'as it was when the command began')
    } finally {
      child.kill('SIGKILL')
    }
  }))

test('a database whose lock cannot be read can be read', () =>
  inTemporaryDirectory(async (path) => {
    {
      await using db = await open(path('db'))
      await db.insertOne({ _id: 1 })
    }
    // Permissions do not stop root.
    mkdirSync(path('db/LOCK'))
    const { code, stdout, stderr } = await runCli(['count', path('db')])
    assert.equal([code, stdout, stderr], [0, '1\n', ''])
  }))

test('a pipeline that ends with $out or $merge writes', () =>
  inTemporaryDirectory(async (path) => {
    {
      await using db = await open(path('db'))
      await db.insertMany([{ _id: 1 }, { _id: 2 }])
    }
    for (const stage of ['{"$out": "out"}', '{"$merge": {"into": "merged"}}']) {
      assert.is((await runCli(['aggregate', path('db'), `[${stage}]`])).code, 0)
    }
    await using db = await open(path('db'))
    assert.is(await db.collection('out').countDocuments(), 2)
    assert.is(await db.collection('merged').countDocuments(), 2)
  }))

test.run()
