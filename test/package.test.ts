/** The package as it is installed: files made of the sources, found by the names that package.json gives them. */
import { execFile } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { test } from 'uvu'
import * as assert from 'uvu/assert'

const root = fileURLToPath(new URL('..', import.meta.url))
const directory = realpathSync(mkdtempSync(join(tmpdir(), 'petaldb-package-test-')))
const installed = join(directory, 'node_modules/petaldb')
const run = promisify(execFile)

interface PackageDescription {
  readonly version: string
  readonly bin: { readonly petaldb: string }
  readonly dependencies: Readonly<Record<string, string>>
  readonly exports: Readonly<Record<string, string | { readonly types: string; readonly default: string }>>
}

const description = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as PackageDescription

test.before(async () => {
  mkdirSync(installed, { recursive: true })
  copyFileSync(join(root, 'package.json'), join(installed, 'package.json'))
  for (const name of Object.keys(description.dependencies)) {
    symlinkSync(join(root, 'node_modules', name), join(directory, 'node_modules', name))
  }
  await run(process.execPath, ['scripts/bundle.mjs', join(installed, 'dist')], { cwd: root })
})

test.after(() => rmSync(directory, { recursive: true, force: true }))

async function consumer(code: string): Promise<unknown> {
  const file = join(directory, 'consumer.mjs')
  writeFileSync(file, code)
  const { stdout, stderr } = await run(process.execPath, [file], { cwd: directory })
  assert.is(stderr, '')
  return JSON.parse(stdout)
}

test('whatever package.json names is there, and its types are those of a source', () => {
  for (const target of Object.values(description.exports)) {
    if (typeof target === 'string') {
      assert.ok(existsSync(join(installed, target)), target)
      continue
    }
    assert.ok(existsSync(join(installed, target.default)), target.default)
    const source = target.types.replace('./dist/types/', 'src/').replace(/\.d\.ts$/, '.ts')
    assert.ok(existsSync(join(root, source)), source)
  }
})

test('a database of the package writes tables in its worker and answers', async () => {
  const found = await consumer(`
    import { open } from 'petaldb'
    const documents = Array.from({ length: 9000 }, (_, i) => ({ _id: i, even: i % 2 === 0, text: 'x'.repeat(900) }))
    const counts = []
    for (const index of ['sharded', 'embedded']) {
      const db = await open('./' + index, { index })
      await db.insertMany(documents)
      counts.push((await db.find({ _id: { $lt: 10 }, even: true }).toArray()).length, await db.countDocuments({ even: false }))
      await db.importLines([Buffer.from('{"even":"no"}\\n')])
      counts.push(await db.countDocuments({ even: 'no' }), (await db.verify()).problems.length)
      await db.close()
    }
    console.log(JSON.stringify(counts))`)
  assert.equal(found, [5, 4500, 1, 0, 5, 4500, 1, 0])
})

test('a store of the package finds entries by value', async () => {
  const found = await consumer(`
    import { jsonExtractor, LsmLevel } from 'petaldb/lsm'
    const db = new LsmLevel('./store', { values: { extractor: jsonExtractor({ fields: ['n'] }) }, valueEncoding: 'json' })
    await db.batch(Array.from({ length: 3000 }, (_, n) => ({ type: 'put', key: String(n), value: { n } })))
    await db.compactRange('', '~')
    const keys = []
    for await (const [key] of db.lookup(['n', 1234])) keys.push(key)
    const { filtered } = db.valueStats()
    await db.close()
    console.log(JSON.stringify({ keys, filtered }))`)
  assert.equal(found, { keys: ['1234'], filtered: 1 })
})

test('the structure of the package stands alone', async () => {
  const found = await consumer(`
    import { ShardedBloom } from 'petaldb/sharded-bloom'
    const structure = new ShardedBloom({ bits: 100, shards: 64 })
    structure.add('a', [['lang', 'de']])
    console.log(JSON.stringify(structure.query(['lang', 'de']).candidates()))`)
  assert.equal(found, ['a'])
})

test('the command of the package says its version', async () => {
  const { stdout } = await run(process.execPath, [join(installed, description.bin.petaldb), '--version'])
  assert.is(stdout, `${description.version}\n`)
})

test.run()
