import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { describeError } from '../../src/cli/errors.ts'
import { type Document, open } from '../../src/index.ts'
import {
  inTemporaryDirectory,
  linesOf,
  type Outcome,
  readAll,
  runCli,
  runCliWithShortFiles,
  startCli
} from './run-cli.ts'

function assertFailed({ code, stdout, stderr }: Outcome, message: RegExp): void {
  assert.is(code, 1, stderr)
  assert.is(stdout, '')
  assert.match(stderr, message)
  assert.is(linesOf(stderr).length, 1, stderr)
}

async function insert(location: string, documents: readonly Document[]): Promise<void> {
  await using db = await open(location)
  await db.insertMany(documents)
}

function assertMisused({ code, stdout, stderr }: Outcome, message: RegExp): void {
  assert.is(code, 2, stderr)
  assert.is(stdout, '')
  assert.match(stderr, message)
  assert.match(stderr, /^usage: petaldb /m)
}

test('help and version are printed to standard output with status 0', async () => {
  const [help, forImport, version] = await Promise.all([
    runCli([]),
    runCli(['import', '--help']),
    runCli(['--version'])
  ])
  assert.is(help.code, 0)
  for (const name of ['import', 'find', 'count', 'get', 'export', 'stats', 'generate']) {
    assert.match(help.stdout, new RegExp(`^ {2}${name} `, 'm'))
  }
  assert.is(forImport.code, 0)
  assert.match(forImport.stdout, /^petaldb import <db> <file\.json\[\.gz\] \| -> \[options\]$/m)
  assert.match(version.stdout, /^\d+\.\d+\.\d+/)
})

test('-h and -v print help and version', async () => {
  const [help, forFind, version] = await Promise.all([runCli(['-h']), runCli(['find', '-h']), runCli(['-v'])])
  assert.match(help.stdout, /^petaldb <command> \[arguments\]\n/)
  assert.match(forFind.stdout, /^petaldb find <db> \[filter\] \[options\]\n/)
  assert.match(version.stdout, /^\d+\.\d+\.\d+\n$/)
})

test('wrong usage fails with status 2 and prints the usage line', () =>
  inTemporaryDirectory(async (path) => {
    const [unknown, json] = await Promise.all([runCli(['frobnicate']), runCli(['find', path('db'), "{lang: 'en'}"])])
    assertMisused(unknown, /^petaldb: there is no command 'frobnicate'$/m)
    assertMisused(json, /the filter is not JSON at position 1:\n {2}\{lang: 'en'\}\n {3}\^$/m)
    assert.equal(readdirSync(path('.')), [], 'nothing was made')
  }))

test('a database or file that cannot be opened or read fails with status 1 and one line, and is left unchanged', () =>
  inTemporaryDirectory(async (path) => {
    mkdirSync(path('other'))
    writeFileSync(path('other/notes.txt'), 'mine')
    const [absent, foreign, noFile] = await Promise.all([
      runCli(['count', path('absent')]),
      runCli(['import', path('other'), '-'], '{"a":1}'),
      runCli(['import', path('new'), path('missing.ndjson')])
    ])
    assertFailed(absent, /There is no database at .*absent \(DatabaseNotFound\)$/m)
    assertFailed(foreign, /is not a PetalDB database: .*notes\.txt.* \(NotADatabase\)$/m)
    assertFailed(noFile, /cannot read .*missing\.ndjson: no such file or directory \(ENOENT\)$/m)
    assert.equal(readdirSync(path('.')).sort(), ['other'])
    assert.equal(readdirSync(path('other')), ['notes.txt'])
  }))

test('a file system error names the path', () => {
  const error = Object.assign(new Error('EACCES: …'), { code: 'EACCES', path: '/srv/db' })
  assert.is(describeError(error), '/srv/db: permission denied (EACCES)')
})

test('a database that is open elsewhere is read as it is, and commands that write are refused as in use', () =>
  inTemporaryDirectory(async (path) => {
    await using db = await open(path('db'))
    await db.insertMany([{ _id: 1 }, { _id: 2, n: 1 }])
    const note = `petaldb: ${path('db')} is in use by process ${process.pid}: this is what it holds now\n`
    for (const [args, output] of [
      [['count'], /^2\n$/],
      [['find', '{"n": 1}'], /^\{"_id":2,"n":1\}\n$/],
      [['get', '1'], /^\{"_id":1\}\n$/],
      [['export', '-'], /^\{"_id":1\}\n\{"_id":2,"n":1\}\n$/],
      [['aggregate', '[{"$count": "all"}]'], /^\{"all":2\}\n$/],
      [['paths', '{"n": 1}', '--json'], /^\{"path":"_id".*\n\{"path":"n".*\n$/],
      [['stats'], /^default: 2 documents/],
      [['verify'], /^no problems in 2 documents/]
    ] as const) {
      const [command, ...rest] = args
      const { code, stdout, stderr } = await runCli([command, path('db'), ...rest])
      assert.equal([code, withoutNote(stderr, note)], [0, ''], command)
      assert.match(stdout, output, command)
    }
    const refused = new RegExp(`db is in use by process ${process.pid} \\(DBPathInUse\\)$`, 'm')
    assertFailed(await runCli(['compact', path('db')]), refused)
    assertFailed(await runCli(['reindex', path('db')]), refused)
    assertFailed(await runCli(['tune', path('db')]), refused)
    assertFailed(await runCli(['import', path('db'), '-'], '{}'), refused)
    assert.match((await runCli(['tune', path('db'), '--dry-run'])).stderr, /at least 256 documents/)
    const out = await runCli(['aggregate', path('db'), '[{"$out": "copy"}]'])
    assert.match(out.stderr, /opened read-only \(IllegalOperation\)/)
    await db.insertOne({ _id: 3 })
  }))

/** The rest of what was written to stderr, if the note is in it. */
function withoutNote(stderr: string, note: string): string | undefined {
  return stderr.startsWith(note) ? stderr.slice(note.length).replace(/^exported .*\n$/, '') : undefined
}

test('refused filters, missing collections and missing documents fail with status 1', () =>
  inTemporaryDirectory(async (path) => {
    await insert(path('db'), [{ _id: 1 }])
    assertFailed(await runCli(['find', path('db'), '{"a":{"$foo":1}}']), /\$foo at 'a': .* \(BadValue\)$/m)
    assertFailed(await runCli(['count', path('db'), '--collection', 'x']), /no collection 'x'; it has default/)
    assertFailed(await runCli(['get', path('db'), '2']), /no document with the _id 2$/m)
    assertFailed(await runCli(['export', path('db'), path('no/file')]), /cannot write .*no\/file: no such file/)
    assert.equal(readdirSync(path('.')), ['db'])
  }))

test('a query that fails half-way has printed what it found before', () =>
  inTemporaryDirectory(async (path) => {
    // Several times the documents that a cursor reads at first.
    await insert(
      path('db'),
      Array.from({ length: 300 }, (_, i) => ({ _id: i, n: 299 - i }))
    )
    const inverse = { $divide: [1, '$n'] }
    const finding = await runCli(['find', path('db'), '{}', '--project', JSON.stringify({ inverse })])
    const aggregating = await runCli(['aggregate', path('db'), JSON.stringify([{ $project: { inverse } }])])
    for (const { code, stdout, stderr } of [finding, aggregating]) {
      assert.is(code, 1)
      assert.match(stderr, /division by zero/)
      assert.ok(linesOf(stdout).length >= 32, `${linesOf(stdout).length} lines`)
    }
  }))

test('closing the pipe early causes no error', () =>
  inTemporaryDirectory(async (path) => {
    await insert(
      path('db'),
      Array.from({ length: 5000 }, (_, i) => ({ _id: i, text: 'x'.repeat(200) }))
    )
    const commands = [
      ['find', path('db'), '{}'],
      ['export', path('db')],
      ['generate', 'tweets', '--count', '100000']
    ]
    for (const args of commands) {
      const { process: child, outcome } = startCli(args)
      child.stdout.once('data', () => child.stdout.destroy())
      const { code, stderr } = await outcome
      assert.equal({ code, stderr }, { code: 0, stderr: '' }, args[0])
    }
  }))

test('closing the pipe early turns no failure into a success', () =>
  inTemporaryDirectory(async (path) => {
    writeFileSync(path('bad.ndjson'), '{"a":1}\nnope\n')
    writeFileSync(path('cut.json'), '[{"a":1},{"a":2}')
    await insert(
      path('db'),
      Array.from({ length: 9000 }, (_, i) => ({ _id: i, text: 'x'.repeat(200) }))
    )
    damageTable(path('db'))
    const runs = [
      { args: ['import', path('new'), path('bad.ndjson')], message: /^petaldb import: 1 document was skipped/m },
      { args: ['import', path('new'), path('cut.json')], message: /^petaldb import: .*the array is not closed/m },
      { args: ['verify', path('db')], message: /^$/ }
    ]
    for (const { args, message } of runs) {
      const { process: child, outcome } = startCli(args)
      child.stdout.destroy()
      const { code, stderr } = await outcome
      assert.is(code, 1, args[0])
      assert.match(stderr, message)
    }
  }))

function damageTable(location: string): void {
  const table = join(location, readdirSync(location).find((name) => name.endsWith('.sst')) ?? '')
  const bytes = readFileSync(table)
  bytes[100] = (bytes[100] ?? 0) ^ 1
  writeFileSync(table, bytes)
}

test('a failed write is reported with its reason and, for an import, the number of imported documents', () =>
  inTemporaryDirectory(async (path) => {
    const lines = Array.from({ length: 4000 }, (_, _id) => JSON.stringify({ _id, text: `${_id} `.repeat(200) }))
    writeFileSync(path('lines.ndjson'), lines.join('\n'))
    const imported = await runCliWithShortFiles(2 ** 21, ['import', path('db'), path('lines.ndjson'), '--batch', '100'])
    assert.is(imported.code, 1)
    const count = Number(
      /^imported ([\d,]+) documents, skipped 0, in .*; failed\n$/.exec(imported.stdout)?.[1]?.replace(',', '')
    )
    assert.ok(count > 0 && count < 4000, imported.stdout)
    assert.match(imported.stderr, /^petaldb import: .*EFBIG.* \(StoreFailure\)\n$/)
    assert.ok((await readAll(path('db'))).length >= count)

    const copied = await runCliWithShortFiles(2 ** 18, ['copy', path('db'), path('copy'), '--store', 'lsm'])
    assertFailed(copied, /^petaldb copy: .*EFBIG.* \(StoreFailure\)$/m)
    assert.equal(readdirSync(path('.')).sort(), ['db', 'lines.ndjson'])
  }))

test.run()
