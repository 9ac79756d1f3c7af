import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync
} from 'node:fs'
import { readFile } from 'node:fs/promises'
import { PassThrough, Writable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { FileError } from '../../src/cli/errors.ts'
import { LineWriter } from '../../src/cli/line-writer.ts'
import { writeFile } from '../../src/cli/output-file.ts'
import { inTemporaryDirectory } from './run-cli.ts'

async function writeTwoLines(writer: LineWriter): Promise<void> {
  await writer.write('one')
  await writer.write('two')
  await writer.flush()
}

test('writeFile() replaces an older file only once the new one is complete', () =>
  inTemporaryDirectory(async (path) => {
    writeFileSync(path('out'), 'old')
    await writeFile(path('out'), async (writer) => {
      await writeTwoLines(writer)
      assert.is(readFileSync(path('out'), 'utf8'), 'old')
    })
    assert.is(readFileSync(path('out'), 'utf8'), 'one\ntwo\n')
    assert.equal(readdirSync(path('.')), ['out'])
  }))

test('a line does not wait long for others', async () => {
  const stream = new PassThrough()
  const writer = new LineWriter(stream, 'a stream')
  await writer.write('one')
  assert.is(stream.read(), null)
  const [piece] = await Promise.race([once(stream, 'readable').then(() => [stream.read()]), setTimeout(10_000, [])])
  assert.is(String(piece), 'one\n')
  await writer.write('two')
  await writer.flush()
  assert.is(String(stream.read()), 'two\n')
})

test('a failed write leaves the older file and no others', () =>
  inTemporaryDirectory(async (path) => {
    for (const name of ['out', 'out.gz']) {
      writeFileSync(path(name), 'old')
      const failing = writeFile(path(name), async (writer) => {
        await writeTwoLines(writer)
        throw new Error('stop')
      })
      assert.is(await failing.catch((error: Error) => error.message), 'stop')
      assert.is(readFileSync(path(name), 'utf8'), 'old')
    }
    assert.equal(readdirSync(path('.')).sort(), ['out', 'out.gz'])
  }))

test('a named pipe is written to and not replaced by a file', () =>
  inTemporaryDirectory(async (path) => {
    execFileSync('mkfifo', [path('pipe')])
    const [text] = await Promise.all([readFile(path('pipe'), 'utf8'), writeFile(path('pipe'), writeTwoLines)])
    assert.is(text, 'one\ntwo\n')
    assert.ok(lstatSync(path('pipe')).isFIFO())
    assert.equal(readdirSync(path('.')), ['pipe'])
  }))

test('a symbolic link stays a link, and its target gets the content', () =>
  inTemporaryDirectory(async (path) => {
    writeFileSync(path('target'), 'old')
    symlinkSync('target', path('link'))
    await writeFile(path('link'), writeTwoLines)
    assert.ok(lstatSync(path('link')).isSymbolicLink())
    assert.is(readFileSync(path('target'), 'utf8'), 'one\ntwo\n')
  }))

test('a directory and a path in a missing folder are refused, and no file is created', () =>
  inTemporaryDirectory(async (path) => {
    mkdirSync(path('folder'))
    for (const name of ['folder', 'no/such/file']) {
      const error = await writeFile(path(name), writeTwoLines).catch((reason: unknown) => reason)
      assert.instance(error, FileError)
    }
    assert.equal(readdirSync(path('.')), ['folder'])
  }))

test('a file that is replaced keeps its permissions', () =>
  inTemporaryDirectory(async (path) => {
    writeFileSync(path('out'), 'old')
    chmodSync(path('out'), 0o600)
    await writeFile(path('out'), writeTwoLines)
    assert.is(readFileSync(path('out'), 'utf8'), 'one\ntwo\n')
    assert.is(statSync(path('out')).mode & 0o777, 0o600)
  }))

test('flush() waits for lines that were on their way already, and fails if they do', async () => {
  const taken: (() => void)[] = []
  const stream = new Writable({
    write: (_chunk, _encoding, done) => void taken.push(() => done(new Error('no space left on device')))
  })
  const writer = new LineWriter(stream, 'a stream')
  await writer.write('one')
  while (taken.length === 0) await setTimeout(10)
  const flushed = writer.flush().then(
    () => 'flushed',
    (error: Error) => error
  )
  assert.is(await Promise.race([flushed, setTimeout(20, 'waiting')]), 'waiting')
  taken[0]?.()
  assert.instance(await flushed, FileError)
})

test.run()
