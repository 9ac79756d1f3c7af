/** `petaldb bench`: its report, the files it leaves, and the arguments it refuses. */
import { readdirSync, writeFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { areSame } from '../../src/cli/bench-queries.ts'
import { type BenchReport, benchText } from '../../src/cli/bench-report.ts'
import type { Document } from '../../src/index.ts'
import { queryClassNames } from '../../src/workload/index.ts'
import { type Child, inTemporaryDirectory, linesOf, readAll, runCli, startCli } from './run-cli.ts'

/** Makes the command create its temporary directory in the given one. */
async function withTemporaryFilesIn(directory: string, work: () => Promise<void>): Promise<void> {
  const before = process.env.TMPDIR
  process.env.TMPDIR = directory
  try {
    await work()
  } finally {
    if (before === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = before
  }
}

/** The directories of the command in `directory`, where tsx has files too. */
function workDirectories(directory: string): readonly string[] {
  return readdirSync(directory).filter((name) => name.startsWith('petaldb-'))
}

test('bench times every class of query with and without the index, and leaves no files', () =>
  inTemporaryDirectory((path) =>
    withTemporaryFilesIn(path('.'), async () => {
      const { code, stdout, stderr } = await runCli(['bench', '--count', '1000', '--rounds', '1', '--json'])
      assert.is(code, 0, stderr)
      const { queries, ...report } = JSON.parse(stdout) as BenchReport
      assert.equal(
        queries.map(({ name }) => name),
        queryClassNames
      )
      for (const { name, hits, firstMilliseconds, warmMilliseconds, scanMilliseconds, isSame } of queries) {
        assert.ok(isSame, name)
        assert.ok(firstMilliseconds > 0 && warmMilliseconds > 0 && scanMilliseconds > 0, name)
        assert.is(hits === 0, name === 'absent', `${name}: ${hits} hits`)
      }
      assert.is(report.count, 1000)
      const { jsonBytes, diskBytes, indexBytes } = report
      assert.ok(jsonBytes > 500_000, `${jsonBytes} bytes of JSON`)
      assert.ok(diskBytes > indexBytes, `${diskBytes} bytes on disk, ${indexBytes} of the index`)
      assert.is(report.indexBytesPerDocument, report.indexBytes / 1000)
      assert.ok(report.indexBytes > 0 && report.documentsPerSecond > 0 && report.openMilliseconds > 0)
      assert.equal(workDirectories(path('.')), [])
    })
  ))

test('bench --keep keeps the tweets and the database, and refuses a directory that is not empty', () =>
  inTemporaryDirectory(async (path) => {
    const args = ['bench', '--count', '200', '--seed', '7', '--rounds', '1', '--keep', path('kept')]
    const { code, stdout, stderr } = await runCli(args)
    assert.is(code, 0, stderr)
    assert.match(stdout, /^200 generated tweets, seed 7$/m)
    assert.match(stdout, /^import {3}[\d,]+ documents\/s, /m)
    assert.match(stdout, /^query +hits +first +warm +scan +faster$/m)
    assert.match(stdout, /^absent value +0( +[\d.,]+){3} +[\d.,]+×$/m)
    assert.match(stdout, /all 20 queries found the same documents\.$/m)
    assert.equal(readdirSync(path('kept')).sort(), ['tweets.db', 'tweets.ndjson'])
    assert.is((await readAll(path('kept/tweets.db'))).length, 200)
    const again = await runCli(args)
    assert.is(again.code, 2)
    assert.match(again.stderr, /^petaldb bench: .*kept is not empty; --keep takes a new or empty directory$/m)
    assert.is((await readAll(path('kept/tweets.db'))).length, 200)
  }))

async function interruptOnce({ process: child, outcome }: Child, isThere: () => boolean) {
  while (!isThere() && child.exitCode === null) await new Promise((resolve) => setTimeout(resolve, 5))
  child.kill('SIGINT')
  return outcome
}

test('Ctrl-C leaves no files, both while tweets are generated and between queries', () =>
  inTemporaryDirectory((path) =>
    withTemporaryFilesIn(path('.'), async () => {
      const making = startCli(['bench', '--count', '1000000'])
      const made = await interruptOnce(making, () => workDirectories(path('.')).length > 0)
      const asking = startCli(['bench', '--count', '500', '--rounds', '1000'])
      let progress = ''
      asking.process.stderr.on('data', (text) => {
        progress += text
      })
      const asked = await interruptOnce(asking, () => progress.includes('queries'))
      for (const { code, stdout, stderr } of [made, asked]) {
        assert.is(code, 130, stderr)
        assert.is(stderr, 'petaldb: interrupted; the report was not created\n')
        assert.is(stdout, '')
      }
      assert.equal(workDirectories(path('.')), [])
    })
  ))

test('SIGTERM right after Ctrl-C leaves no files either', () =>
  inTemporaryDirectory((path) =>
    withTemporaryFilesIn(path('.'), async () => {
      const child = startCli(['bench', '--count', '1000000'])
      while (workDirectories(path('.')).length === 0 && child.process.exitCode === null)
        await new Promise((resolve) => setTimeout(resolve, 5))
      child.process.kill('SIGINT')
      child.process.kill('SIGTERM')
      const { code } = await child.outcome
      assert.ok(code === 130 || code === 143, `${code}`)
      assert.equal(workDirectories(path('.')), [])
    })
  ))

test('bench refuses malformed arguments with one line', () =>
  inTemporaryDirectory(async (path) => {
    writeFileSync(path('file'), '')
    const cases: readonly (readonly [args: readonly string[], code: number, message: RegExp])[] = [
      [['--count', '99'], 2, /--count takes a whole number of at least 100, got '99'/],
      [['--count', '10000001'], 2, /--count takes at most 10000000, got 10000001/],
      [['--rounds', '0'], 2, /--rounds takes a whole number of at least 1, got '0'/],
      [['--seed', 'x'], 2, /--seed takes a whole number, got 'x'/],
      [['tweets.db'], 2, /unexpected argument 'tweets\.db'/],
      [['--keep', path('file')], 1, /cannot write .*file: .*EEXIST/]
    ]
    for (const [args, code, message] of cases) {
      const outcome = await runCli(['bench', ...args])
      assert.is(outcome.code, code, outcome.stderr)
      assert.match(linesOf(outcome.stderr)[0] ?? '', message)
      assert.is(outcome.stdout, '')
    }
  }))

async function* stream(...documents: readonly Document[]): AsyncGenerator<Document> {
  yield* documents
}

test('areSame() is false when a document is changed, missing, added or out of order', async () => {
  const a: Document = { _id: 1 }
  const b: Document = { _id: 2, tags: ['x'] }
  assert.is(await areSame(stream(a, b), stream({ ...a }, { ...b })), true)
  assert.is(await areSame(stream(), stream()), true)
  assert.is(await areSame(stream(a, b), stream(a, { ...b, tags: [] })), false)
  assert.is(await areSame(stream(a, b), stream(a)), false)
  assert.is(await areSame(stream(a), stream(a, b)), false)
  assert.is(await areSame(stream(a, b), stream(b, a)), false)
})

test('the report names the queries that did not find the same documents', () => {
  const query = { name: 'in', title: '$in of ten', hits: 50, firstMilliseconds: 1.25, warmMilliseconds: 0.069 }
  const text = benchText({
    machine: 'abacus',
    count: 100_000,
    seed: 1,
    jsonBytes: 94_300_000,
    importMilliseconds: 1200,
    documentsPerSecond: 83_333.3,
    diskBytes: 60_000_000,
    indexBytes: 11_100_000,
    indexBytesPerDocument: 111,
    openMilliseconds: 12.3,
    queries: [{ ...query, scanMilliseconds: 634, isSame: false }]
  })
  assert.match(text, /^import {3}83,333 documents\/s, 1\.2 s including the close$/m)
  assert.match(text, /^index {4}10\.6 MiB, 111 bytes per document$/m)
  assert.match(text, /^\$in of ten {4}50 {4}1\.3 {2}0\.069 {3}634 {2}9,188×$/m)
  assert.match(text, /THE DOCUMENTS DIFFER: \$in of ten\.$/m)
})

test.run()
