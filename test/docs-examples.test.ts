/** Runs the examples of README, docs and public docstrings one after the other, each with its own database. */
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { test } from 'uvu'
import * as assert from 'uvu/assert'

const root = fileURLToPath(new URL('..', import.meta.url))
const sources = [
  'src/docstore/open.ts',
  'src/docstore/database.ts',
  'src/docstore/collection.ts',
  'src/docstore/changeable-collection.ts',
  'src/docstore/collection-index.ts',
  'src/docstore/errors.ts',
  'src/docstore/aggregate/cursor.ts',
  'src/docstore/read/cursor.ts',
  'src/docstore/transaction/transaction-cursor.ts',
  'src/docstore/watch/change-stream.ts',
  'src/docstore/jobs/copy.ts',
  'src/model/errors.ts',
  'src/sharded-bloom/standalone/sharded-bloom.ts'
]
/** Files whose examples have a store named `db`. */
const storeSources = [
  'src/lsm/lsm-level.ts',
  'src/lsm/encoded-batch.ts',
  'src/lsm/tools/dump/dump-file.ts',
  'src/lsm/value/json-extractor.ts'
]
const entries: Readonly<Record<string, string>> = {
  petaldb: 'src/index.ts',
  'petaldb/lsm': 'src/lsm/index.ts',
  'petaldb/sharded-bloom': 'src/sharded-bloom/standalone/index.ts'
}

interface Example {
  readonly place: string
  readonly code: string
  /** What `db` is in the example. */
  readonly on: 'database' | 'store'
}

function examples(): Example[] {
  return [
    ...blocksOf('README.md', 'database'),
    ...blocksOf('docs/aggregation.md', 'database'),
    ...blocksOf('docs/change-streams.md', 'database'),
    ...blocksOf('docs/expiry.md', 'database'),
    ...blocksOf('docs/exploring.md', 'database'),
    ...blocksOf('docs/query-semantics.md', 'database'),
    ...blocksOf('docs/transactions.md', 'database'),
    ...sources.flatMap((file) => docstringsOf(file, 'database')),
    ...blocksOf('docs/lsm-level.md', 'store'),
    ...storeSources.flatMap((file) => docstringsOf(file, 'store'))
  ]
}

function blocksOf(file: string, on: Example['on']): Example[] {
  const text = readFileSync(join(root, file), 'utf8')
  return [...text.matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(({ index, 1: code = '' }) => ({
    place: placeIn(file, text, index),
    code,
    on
  }))
}

function docstringsOf(file: string, on: Example['on']): Example[] {
  const text = readFileSync(join(root, file), 'utf8')
  return [...text.matchAll(/@example\n([\s\S]*?)\n *(?:\* @|\*\/)/g)].map(({ index, 1: code = '' }) => ({
    place: placeIn(file, text, index),
    code: code.replace(/^ *\* ?/gm, ''),
    on
  }))
}

function placeIn(file: string, text: string, index: number): string {
  return `${file}:${text.slice(0, index).split('\n').length}`
}

/** Imports modules by path, so that examples do not need the installed package. */
function withEntries(code: string): string {
  return code.replace(/^import (\{.*\}) from '(petaldb.*)'$/gm, (_, names: string, entry: string) => {
    const url = pathToFileURL(join(root, entries[entry] ?? entry)).href
    return `const ${names} = await import('${url}')`
  })
}

/** A program with all examples and what they may rely on: some names, and a database with generated tweets. */
function program(all: readonly Example[], directory: string): string {
  const url = (path: string): string => JSON.stringify(pathToFileURL(join(root, path)).href)
  const runs = all.map(
    ({
      place,
      code,
      on
    }) => `await run(${JSON.stringify(place)}, ${on === 'store' ? 'withStore' : 'withDatabase'}, async (db) => {
      const console = { log() {}, error() {} }
      {
        ${withEntries(code)}
      }
    })`
  )
  return `
    import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs'
    import { join } from 'node:path'
    import { AbortedError, BulkWriteError, copyDatabase, open, PetalError } from ${url('src/index.ts')}
    import { dumpFile, EncodedBatch, jsonExtractor, LsmLevel } from ${url('src/lsm/index.ts')}
    import { generateTweets } from ${url('src/workload/index.ts')}
    const tweets = [...generateTweets({ count: 300 })]
    const documents = tweets.slice(0, 3)
    async function withDatabase(example) {
      await (await open('tweets.db')).close()
      await using db = await open('none', { store: 'memory' })
      await db.insertMany(structuredClone(tweets))
      await example(db)
    }
    async function withStore(example) {
      const extractor = jsonExtractor({ fields: ['user.lang'], zones: ['time'] })
      const db = new LsmLevel('store', { values: { extractor } })
      await db.put('1', JSON.stringify({ user: { lang: 'de' }, time: 1 }))
      await db.flush()
      await example(db)
      await db.close()
    }
    async function run(place, given, example) {
      process.chdir(mkdtempSync(join(${JSON.stringify(directory)}, 'example-')))
      writeFileSync('tweets.ndjson', '{"lang":"en"}\\nno line\\n')
      try {
        await given(example)
      } catch (error) {
        globalThis.console.log(place + ': ' + (error?.stack ?? error))
      }
    }
    ${runs.join('\n')}
    globalThis.console.log('end')`
}

test('every example runs without an error', async () => {
  const all = examples()
  assert.ok(all.length >= 23, `${all.length} examples`)
  const directory = mkdtempSync(join(tmpdir(), 'petaldb-examples-'))
  try {
    const file = join(directory, 'examples.mts')
    writeFileSync(file, program(all, directory))
    const tsx = pathToFileURL(join(root, 'node_modules/tsx/dist/esm/index.mjs')).href
    const { stdout } = await promisify(execFile)(process.execPath, ['--import', tsx, file], { cwd: root })
    assert.is(stdout, 'end\n')
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
})

test.run()
