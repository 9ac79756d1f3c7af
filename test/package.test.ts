/** The package can be installed from a clone, is complete, and explains how it cannot be bundled. */
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import * as bson from 'bson'
import { build } from 'esbuild'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import * as library from '../src/index.ts'
import { scratchPath } from './docstore/scratch.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('..', import.meta.url))

interface Output {
  readonly stdout: string
  readonly stderr: string
}

interface Locked {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

const lock = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8')) as {
  readonly packages: Readonly<Record<string, Locked>>
}

/** Looks for a package as Node does: next to `from`, or next to a package that contains it. */
function isLocked(name: string, from: string): boolean {
  for (let place = from; ; place = place.slice(0, Math.max(0, place.lastIndexOf('/node_modules/')))) {
    if (`${place === '' ? '' : `${place}/`}node_modules/${name}` in lock.packages) return true
    if (place === '') return false
  }
}

test('the lock file contains the dependencies of every package, including those for other platforms', () => {
  for (const [place, { dependencies, optionalDependencies }] of Object.entries(lock.packages)) {
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      assert.ok(isLocked(name, place), `${place} needs ${name}`)
    }
  }
})

test('the sources import only packages listed as dependencies', () => {
  const text = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8')
  const { dependencies } = JSON.parse(text('../package.json')) as {
    readonly dependencies: Readonly<Record<string, string>>
  }
  const files = readdirSync(new URL('../src', import.meta.url), { recursive: true }).map(String)
  for (const file of files.filter((each) => each.endsWith('.ts') && !each.includes('assembly'))) {
    const imports = text(`../src/${file}`).matchAll(/^(?!\s*\*).*?(?:\bfrom |\bimport\(|^import )'([\w@][^']*)'/gm)
    for (const [, specifier = ''] of imports) {
      const name = specifier
        .split('/')
        .slice(0, specifier.startsWith('@') ? 2 : 1)
        .join('/')
      assert.ok(isBuiltin(specifier) || name in dependencies, `${file} imports ${specifier}`)
    }
  }
})

test('the exported classes of values are those that the library itself uses', async () => {
  const { Binary, BSONRegExp, Code, Decimal128, Double, Int32, Long, MaxKey, MinKey, ObjectId, Timestamp, UUID } =
    library
  await using db = await library.open('unused', { store: 'memory' })
  const hex = '0123456789abcdef01234567'
  const values = {
    binary: new Binary(Buffer.from('b')),
    decimal: Decimal128.fromString('1.5'),
    timestamp: new Timestamp({ t: 1, i: 2 }),
    code: new Code('f()'),
    least: new MinKey(),
    most: new MaxKey(),
    uuid: new UUID('01234567-89ab-4def-8123-456789abcdef')
  }
  await db.insertOne({
    _id: new ObjectId(hex),
    ...values,
    double: new Double(2),
    int: new Int32(3),
    long: Long.fromInt(4)
  })
  const found = await db.get(new ObjectId(hex))
  assert.instance(found?._id, ObjectId)
  for (const [name, value] of Object.entries(values)) assert.instance(found?.[name], value.constructor as never, name)
  assert.is(await db.countDocuments({ ...values, double: 2, int: 3, long: new Long(4) }), 1)
  assert.is(await db.countDocuments({ double: { $gt: new MinKey(), $lt: new MaxKey() } }), 1)
  assert.is(await db.countDocuments({ _id: { $ne: 1 }, none: { $not: new BSONRegExp('^x', 'i') } }), 1)
  // Applications that depend on the same version of npm bson have the same classes.
  assert.is(ObjectId, bson.ObjectId)
})

for (const format of ['esm', 'cjs'] as const) {
  test(`a bundle that lacks the library's files fails at once with an explanation, as ${format}`, async () => {
    const directory = scratchPath()
    const program = `import { open } from './index.ts'
      open(${JSON.stringify(join(directory, 'db'))}).then(() => console.log('opened'), ({ codeName, message }) => console.log(codeName, message))`
    const outfile = join(root, 'tmp', `bundle-${process.pid}.${format === 'esm' ? 'mjs' : 'cjs'}`)
    await build({
      stdin: { contents: program, resolveDir: join(root, 'src'), loader: 'ts' },
      bundle: true,
      packages: 'external',
      platform: 'node',
      format,
      outfile,
      logLevel: 'silent'
    })
    try {
      const { stdout, stderr } = await run(process.execPath, [outfile]).catch((failed: unknown) => failed as Output)
      assert.match(`${stdout}${stderr}`, 'a bundler must treat the package as external')
      if (format === 'esm') assert.match(stdout, /^StoreFailure .*db cannot be opened: Threads cannot be started: /)
    } finally {
      rmSync(outfile)
    }
  })
}

test('everything that packaged docs link to is in the package', () => {
  const text = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')
  const { files } = JSON.parse(text('package.json')) as { readonly files: readonly string[] }
  const docs = readdirSync(new URL('../docs', import.meta.url)).filter((name) => name.endsWith('.md'))
  for (const file of ['README.md', 'CHANGELOG.md', ...docs.map((name) => `docs/${name}`)]) {
    for (const [, target = ''] of text(file).matchAll(/\]\(([^)\s#]+)[^)]*\)/g)) {
      if (/^https?:/.test(target)) continue
      const linked = posix.join(posix.dirname(file), target)
      const isPacked = files.some((packed) => linked === packed || linked.startsWith(`${packed}/`))
      assert.ok(isPacked, `${file} links to ${linked}`)
    }
  }
})

test.run()
