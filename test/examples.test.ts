import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { loader, program } from './support/program.ts'
import { withoutProgress } from './support/progress-lines.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const directory = mkdtempSync(join(tmpdir(), 'petaldb-examples-test-'))
/** Directory for temporary files of the examples, to detect what they leave behind. */
const temporary = join(directory, 'tmp')

test.before(() => mkdirSync(temporary))
test.after(() => rmSync(directory, { recursive: true, force: true }))

interface Outcome {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** @param interruptAt sends Ctrl-C when standard output has this text */
function run(example: string, args: readonly string[], interruptAt?: string): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...loader, program(join('examples', example)), ...args], {
      cwd: root,
      env: { ...process.env, TMPDIR: temporary, NO_COLOR: '1' }
    })
    let stdout = ''
    let stderr = ''
    let isInterrupted = false
    child.stdout.setEncoding('utf8').on('data', (text) => {
      stdout += text
      if (isInterrupted || interruptAt === undefined || !stdout.includes(interruptAt)) return
      isInterrupted = child.kill('SIGINT')
    })
    child.stderr.setEncoding('utf8').on('data', (text) => {
      stderr += text
    })
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, stdout, stderr: withoutProgress(stderr) }))
  })
}

function assertNothingLeft(): void {
  const left = readdirSync(temporary).filter((name) => name.startsWith('petaldb'))
  assert.equal(left, [])
}

test('the tweets demo runs its queries, agrees with a scan, and cleans up', async () => {
  const { code, stdout, stderr } = await run('tweets.ts', ['--count', '3000', '--seed', '5'])
  assert.is(code, 0, stderr)
  assert.match(stdout, /^imported 3,000 generated tweets in /m)
  for (const title of [
    'AND of three',
    'NOT',
    '$nin',
    '(A ∨ B) ∧ (C ∨ D) ∧ ¬E',
    'newest 20 of a user',
    'absent value'
  ]) {
    assert.ok(stdout.includes(`\n${title} `), title)
  }
  assert.match(stdout, /times faster, same hits$/m)
  assert.match(stdout, /^index: .* of the JSON$/m)
  assertNothingLeft()
})

test('the tweets demo ends quietly on Ctrl-C and cleans up', async () => {
  const { code, stderr } = await run('tweets.ts', ['--count', '3000'], 'imported')
  assert.is(code, 130, stderr)
  assert.is(stderr, '')
  assertNothingLeft()
})

test('the rebuild job finds that a rebuild pays, and leaves no dead document', async () => {
  const { code, stdout, stderr } = await run('rebuild-job.ts', [])
  assert.is(code, 0, stderr)
  assert.match(stdout, /^3000 readings are old$/m)
  assert.match(stdout, /^dead documents: 6000 documents reindexed/m)
  assert.match(stdout, /^0 dead documents are in the index$/m)
  assertNothingLeft()
})

test('the watch example reports every change, and ends when the database is closed', async () => {
  const { code, stdout, stderr } = await run('watch.ts', [])
  assert.is(code, 0, stderr)
  assert.is(stdout, 'insert 3\nupdate 2\ndelete 1\ntweets by language {"nl":1,"en":1}\n')
  assertNothingLeft()
})

test('the transfer example refuses what cannot be done, and loses nothing', async () => {
  const { code, stdout, stderr } = await run('transfer.ts', [])
  assert.is(code, 0, stderr)
  assert.match(stdout, 'refused: Dan has no account\nAnn 80\nBob 0\nCleo 40\n102 transfers\n')
  assertNothingLeft()
})

test('the examples to copy compile in a project with strict alone', async () => {
  const config = join(directory, 'tsconfig.json')
  const copied = ['app.ts', 'transfer.ts', 'watch.ts', 'rebuild-job.ts']
  writeFileSync(
    config,
    JSON.stringify({
      extends: join(root, 'tsconfig.json'),
      compilerOptions: {
        // Stricter than strict: with it, an optional field that is present is not undefined.
        exactOptionalPropertyTypes: false,
        typeRoots: [join(root, 'node_modules/@types')],
        paths: { petaldb: [join(root, 'src/index.ts')] }
      },
      include: [],
      files: copied.map((name) => join(root, 'examples', name))
    })
  )
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const { error, stdout } = spawnSync(process.execPath, [compiler, '-p', config], { encoding: 'utf8' })
  assert.is(error, undefined)
  assert.is(stdout, '')
})

test('the explore example describes a file of JSON, and evaluates a given filter', async () => {
  const rows = Array.from({ length: 400 }, (_, i) => ({
    name: `n${i}`,
    kind: i % 4 === 0 ? 'rare' : 'plain',
    'key.with.dots': i,
    parts: [{ size: i % 7 }, { size: 'large' }],
    ...(i % 20 === 0 && { note: null })
  }))
  const file = join(directory, 'pile.ndjson.gz')
  writeFileSync(file, gzipSync(rows.map((row) => JSON.stringify(row)).join('\n')))
  const explored = await run('explore-json.ts', [file])
  assert.is(explored.code, 0, explored.stderr)
  assert.match(explored.stdout, /^kind +string +100\.0 % +2 +"plain" ×300 {2}"rare" ×100$/m)
  assert.match(explored.stdout, /^parts\.size +number \| string +100\.0 % +8 +"large" ×400/m)
  assert.match(explored.stdout, /^note +null +5\.0 %/m)
  assert.match(explored.stdout, /^an optional field +20 /m)

  const asked = await run('explore-json.ts', [file, '{"kind":"rare","parts.size":{"$ne":4}}'])
  assert.is(asked.code, 0, asked.stderr)
  const expected = rows.filter(({ kind, parts }) => kind === 'rare' && parts.every(({ size }) => size !== 4)).length
  assert.match(asked.stdout, new RegExp(`^${expected} hits in `, 'm'))
  assertNothingLeft()
})

test('the explore example needs no file, and reports a missing one in one line', async () => {
  const { code, stdout, stderr } = await run('explore-json.ts', ['--count', '1000'])
  assert.is(code, 0, stderr)
  assert.match(stdout, /^user\.screen_name +string +100\.0 %/m)
  const missing = await run('explore-json.ts', [join(directory, 'missing.ndjson')])
  assert.is(missing.code, 1)
  assert.match(missing.stderr, /^ENOENT.*\n$/)
  assertNothingLeft()
})

test.run()
