import { execFileSync, spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { AbortedError, BadLine, open } from '../../src/index.ts'
import { isOpen } from '../support/open-files.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { openCounted, tweet, tweetLines } from './load-cases.ts'
import { rejects } from './scratch.ts'

const directory = temporaryDirectory()

function fileOf(name: string, content: string | Uint8Array): string {
  const path = join(directory, name)
  writeFileSync(path, content)
  return path
}

test('a file is imported by its path or URL, blank and bad lines, a byte order mark and all', async () => {
  const path = fileOf('small.ndjson', '\ufeff{"_id":1}\r\n\nnot json\n{"_id":2,"text":"é日本"}')
  for (const source of [path, pathToFileURL(path)]) {
    await using db = await open('unused', { store: 'memory' })
    const skipped: number[] = []
    const result = await db.importLines(source, { onSkipped: ({ line }) => skipped.push(line) })
    assert.equal(result, { insertedCount: 2, skippedCount: 1 })
    assert.equal(skipped, [3])
    assert.equal(await db.find({}, { sort: { _id: 1 } }).toArray(), [{ _id: 1 }, { _id: 2, text: 'é日本' }])
  }
})

for (const threads of [0, 2]) {
  test(`a file of many chunks, some of them in the same memory, is imported whole: threads: ${threads}`, async () => {
    const count = 30_000
    const path = fileOf('large.ndjson', tweetLines(0, count))
    await using loaded = await openCounted()
    const { db } = loaded
    assert.equal(await db.importLines(path, { threads }), { insertedCount: count, skippedCount: 0 })
    let n = 0
    for await (const document of db.find({}, { sort: { _id: 1 } })) {
      assert.equal(document, tweet(n, n))
      n++
    }
    assert.is(n, count)
    assert.is(loaded.ingestedTables > 0, threads > 0)
  })
}

test('a pipe, whose size is unknown, is read to its end', async () => {
  if (process.platform === 'win32') return
  const path = join(directory, 'pipe')
  execFileSync('mkfifo', [path])
  const content = fileOf('content.ndjson', tweetLines(0, 5000))
  const writer = spawn('sh', ['-c', 'cat "$1" > "$2"', 'sh', content, path])
  await using db = await open('unused', { store: 'memory' })
  assert.is((await db.importLines(path)).insertedCount, 5000)
  writer.kill()
})

test('a file that cannot be read is named, and no collection is created', async () => {
  await using db = await open('unused', { store: 'memory' })
  const missing = join(directory, 'missing.ndjson')
  const error = await rejects(db.collection('new').importLines(missing), 'FileStreamFailed')
  assert.match(error.message, /^importLines cannot read .*missing\.ndjson: ENOENT: no such file/)
  assert.equal(error.details, { file: missing })
  assert.match((await rejects(db.importLines(directory), 'FileStreamFailed')).message, /EISDIR/)
  assert.match((await rejects(db.importLines(new URL('https://a.b/c')), 'FileStreamFailed')).message, /scheme file/)
  assert.equal(await db.listCollections(), [])
})

test('a compressed file is refused with advice', async () => {
  await using db = await open('unused', { store: 'memory' })
  const path = fileOf('tweets.ndjson.gz', gzipSync('{"_id":1}\n'))
  const error = await rejects(db.importLines(path), 'BadValue')
  assert.match(error.message, /is compressed by gzip; use createReadStream\(path\)\.pipe\(createGunzip\(\)\)$/)
  assert.equal(await db.find({}).toArray(), [])
})

test('however an import ends, the file is closed', async () => {
  const path = fileOf('many.ndjson', '{"a":1}\n'.repeat(200_000))
  const signals = [AbortSignal.abort(), AbortSignal.timeout(20)]
  for (const signal of signals) {
    await using db = await open('unused', { store: 'memory' })
    const error: unknown = await db.importLines(path, { signal }).catch((reason: unknown) => reason)
    assert.instance(error, AbortedError)
    await new Promise((resolve) => setTimeout(resolve, 50))
    assert.not(isOpen(path))
  }
  await using db = await open('unused', { store: 'memory' })
  const bad = fileOf('bad.ndjson', 'bad\n'.repeat(200_000))
  const error: unknown = await db.importLines(bad, { strict: true }).catch((reason: unknown) => reason)
  assert.instance(error, BadLine)
  await new Promise((resolve) => setTimeout(resolve, 50))
  assert.not(isOpen(bad))
})

test.run()
