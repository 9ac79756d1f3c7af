/** The bundle that `npm run build` makes, which is what the package contains, works as the sources do. */
import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { scratchPath } from './docstore/scratch.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('..', import.meta.url))
/** Inside the repository, where the packages that the bundle imports are found. */
const bundle = join(root, 'tmp', `bundle-${process.pid}`)
const test = suite('bundle')

test.before(async () => {
  await run(process.execPath, [join(root, 'scripts/bundle.mjs'), bundle])
})
test.after(() => rmSync(bundle, { recursive: true, force: true }))

/** Runs a program that imports the bundle as `petaldb/…`, and returns the lines that it prints. */
async function print(program: string): Promise<string[]> {
  const code = program.replaceAll(/'petaldb(\/[a-z-]+)?'/g, (_, entry: string | undefined) =>
    JSON.stringify(join(bundle, `${entry?.slice(1) ?? 'node'}.js`))
  )
  // Where the packages that the program itself imports are found.
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', code], { cwd: root })
  return stdout.trimEnd().split('\n')
}

test('a database is filled, sealed, rebuilt, scanned and opened again, in the threads that this takes', async () => {
  const printed = await print(`
    import { open } from 'petaldb'
    const directory = ${JSON.stringify(scratchPath())}
    const lines = Array.from({ length: 70_000 }, (_, i) => JSON.stringify({ _id: i, n: i % 1000, s: 'text ' + (i % 7) }))
    let db = await open(directory)
    const { insertedCount } = await db.importLines([Buffer.from(lines.join('\\n'))])
    console.log(insertedCount, await db.countDocuments({ n: 7, s: 'text 0' }))
    await db.index.rebuild()
    console.log(await db.countDocuments({ n: { $gte: 10, $lt: 20 } }), await db.countDocuments({ s: /3$/ }, { hint: 'scan' }))
    await db.compact()
    await db.close()
    db = await open(directory)
    console.log((await db.find({ n: 999 }).sort({ _id: -1 }).limit(1).toArray())[0]?._id, (await db.verify()).problems.length)
    await db.close()
  `)
  const all = Array.from({ length: 70_000 }, (_, i) => i)
  const both = all.filter((i) => i % 1000 === 7 && i % 7 === 0).length
  assert.equal(printed, [`70000 ${both}`, '700 10000', '69999 0'])
})

test('LsmLevel extends the AbstractLevel that is installed, and a database can be opened over it', async () => {
  const printed = await print(`
    import { AbstractIterator, AbstractLevel, AbstractSnapshot } from 'abstract-level'
    import { open } from 'petaldb'
    import { EncodedBatch, LsmLevel } from 'petaldb/lsm'
    const level = new LsmLevel(${JSON.stringify(scratchPath())})
    const db = await open(level)
    await db.insertMany([{ _id: 1, a: 'b' }, { _id: 2, a: 'c' }])
    console.log(JSON.stringify(await db.find({ a: 'c' }).toArray()))
    console.log([[level, AbstractLevel], [level.iterator(), AbstractIterator], [level.snapshot(), AbstractSnapshot]].map(
      ([object, of]) => object instanceof of).join())
    await db.close()
    await level.write(new EncodedBatch())
    await level.close()
  `)
  assert.equal(printed, ['[{"_id":2,"a":"c"}]', 'true,true,true'])
})

test('its code is ASCII: one other character would make V8 keep the text of a file in two bytes for each', () => {
  const code = readdirSync(bundle).filter((name) => name.endsWith('.js'))
  assert.ok(code.length > 10)
  for (const name of code) assert.not.match(readFileSync(join(bundle, name), 'latin1'), /[\u0080-\u00ff]/, name)
})

test('a database loads nothing of abstract-level but what is in the bundle, whose licenses are beside it', async () => {
  const loaded = await print(`
    import { createRequire } from 'node:module'
    import { open } from 'petaldb'
    await (await open(${JSON.stringify(scratchPath())})).close()
    const { cache } = createRequire(import.meta.url)
    console.log(Object.keys(cache).filter((path) => /abstract-level|level-transcoder|module-error/.test(path)).join())
  `)
  assert.equal(loaded, [''])
  const licenses = readFileSync(join(bundle, 'third-party-licenses.txt'), 'utf8')
  for (const name of ['abstract-level', 'level-supports', 'level-transcoder', 'maybe-combine-errors', 'module-error']) {
    const { version } = JSON.parse(readFileSync(join(root, `node_modules/${name}/package.json`), 'utf8')) as {
      readonly version: string
    }
    assert.match(licenses, `${name} ${version}\n`)
  }
  assert.is(licenses.match(/Permission is hereby granted/g)?.length, 5)
})

test('the entry for Node exports what the other one does, which imports no part of the store', async () => {
  const [names, others] = await print(`
    import * as node from 'petaldb'
    import * as index from 'petaldb/index'
    for (const entry of [node, index]) console.log(Object.keys(entry).join())
  `)
  assert.is(names, others)
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly exports: Readonly<Record<string, string | { readonly node?: string; readonly default: string }>>
  }
  for (const entry of Object.values(exports)) {
    if (typeof entry === 'string') continue
    for (const file of [entry.node, entry.default])
      assert.ok(file === undefined || existsSync(join(bundle, basename(file))))
  }
  const imports = (file: string): string[] =>
    [...readFileSync(join(bundle, file), 'utf8').matchAll(/(?:from|^import|;import)\s*"\.\/([\w-]+\.js)"/g)].map(
      (found) => found[1]!
    )
  const reached = new Set<string>()
  const visit = (file: string): void => {
    if (reached.has(file)) return
    reached.add(file)
    imports(file).forEach(visit)
  }
  visit('index.js')
  assert.ok([...reached].some((file) => file.startsWith('core-')))
  assert.not.ok([...reached].some((file) => file.startsWith('store-')))
})

test('stack traces name classes and functions', () => {
  const text = readdirSync(bundle)
    .filter((name) => name.endsWith('.js'))
    .map((name) => readFileSync(join(bundle, name), 'utf8'))
    .join('\n')
  for (const name of ['class OpenCollection', 'class LsmLevel', 'function decodeSegmentRecord']) {
    assert.match(text, name)
  }
})

test.run()
