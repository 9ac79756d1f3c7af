// Makes the mistakes listed in test/lsm/mutants/, one at a time, in a copy of the tree, and runs the tests that should
// fail. A mistake in AssemblyScript is compiled into the modules that contain it. Finally lists the mutants that
// survived; the exit status is 1 if there are any.
//
//   npm run test:mutants                    all mutants
//   npm run test:mutants -- tombstone       those whose claim or heading contains a word
//   npm run test:mutants -- --committed     in the committed tree instead of the working tree
//   npm run test:mutants -- --jobs=2        two at a time
//   npm run test:mutants -- --write         … and writes docs/mutants.md
import { execFileSync, spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { mutants } from '../test/lsm/mutants/index.mjs'
import { buildModule, modules, modulesOf } from './kernel-modules.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const withOurUvu = new URL('with-our-uvu.mjs', import.meta.url).href
const flags = process.argv.slice(2).filter((argument) => argument.startsWith('--'))
const jobs = Number(flags.find((flag) => flag.startsWith('--jobs='))?.slice('--jobs='.length) ?? 1)
const words = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
const unknown = flags.find((flag) => !/^--(committed|write|jobs=[1-9]\d*)$/.test(flag))
if (unknown !== undefined) {
  process.stderr.write(`unknown option ${unknown}: there are --committed, --jobs=N and --write\n`)
  process.exit(2)
}
const maxMilliseconds = 180_000
/** Makes random tests do the same in every run, and not shrink counterexamples. */
const settings = { PETALDB_SEED: process.env.PETALDB_SEED ?? '1', PETALDB_SHRINK: '0', FORCE_COLOR: '0' }

const copies = []
process.on('exit', () => {
  for (const copy of copies) rmSync(copy, { recursive: true, force: true })
})
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1))

const names = ['src', 'test', 'package.json', 'tsconfig.json', 'tsconfig.build.json']
for (let job = 0; job < jobs; job++) copies.push(await copyOfTree())

const chosen = Object.entries(mutants).flatMap(([group, list]) =>
  list
    .filter(({ claim }) => words.every((word) => `${group}: ${claim}`.includes(word)))
    .map((mutant) => ({ group, ...mutant }))
)

// A test that fails without a mutant cannot catch any.
const started = Date.now()
const broken = new Set()
await shared([...new Set(chosen.flatMap(({ tests }) => tests))], async (copy, test) => {
  // Retried, because some tests depend on the clock, and the machine may be busy.
  if ((await run(copy, test)).failed && (await run(copy, test)).failed) broken.add(test)
})
for (const test of broken) console.log(`fails without any mutant, and is left out: ${test}`)

const results = await shared(chosen, async (copy, mutant) => {
  const result = await caughtBy(copy, mutant)
  console.log(`${result.test === undefined ? 'SURVIVED' : 'caught  '} ${mutant.claim}`)
  if (result.test !== undefined) console.log(`         ${result.test}: ${result.title}`)
  return { ...mutant, ...result }
})

const survivors = results.filter(({ test }) => test === undefined)
const minutes = ((Date.now() - started) / 60_000).toFixed(1)
console.log(`\n${results.length - survivors.length} of ${results.length} mutants caught in ${minutes} minutes`)
for (const { claim } of survivors) console.log(`survived: ${claim}`)
if (flags.includes('--write')) writeFileSync(join(root, 'docs/mutants.md'), page())
process.exitCode = survivors.length > 0 || broken.size > 0 ? 1 : 0

async function copyOfTree() {
  const copy = mkdtempSync(join(tmpdir(), 'petaldb-mutants-'))
  for (const name of names) cpSync(join(root, name), join(copy, name), { recursive: true })
  if (flags.includes('--committed')) {
    const archive = execFileSync('git', ['archive', 'HEAD', ...names], { cwd: root, maxBuffer: 2 ** 28 })
    execFileSync('tar', ['-x', '-C', copy], { input: archive })
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  // The generated modules may have been built from other sources.
  for (const module of modules) await buildModule(module, copy)
  return copy
}

/** Each copy takes the next item when it has finished one. Results are in the order of the items. */
async function shared(items, work) {
  const done = []
  let next = 0
  const take = async (copy) => {
    while (next < items.length) {
      const i = next++
      done[i] = await work(copy, items[i])
    }
  }
  await Promise.all(copies.map(take))
  return done
}

async function caughtBy(copy, { edits, tests }) {
  // These are rebuilt with the mistake, and restored together with it.
  const generated = modulesOf(
    edits.map(({ file }) => file),
    copy
  )
  const originals = new Map()
  for (const file of [...edits.map(({ file }) => file), ...generated.map(({ target }) => target)]) {
    originals.set(file, readFileSync(join(copy, file), 'utf8'))
  }
  try {
    for (const edit of edits) make(copy, edit)
    for (const module of generated) await buildModule(module, copy)
    for (const test of tests) {
      if (broken.has(test)) continue
      const { failed, title } = await run(copy, test)
      if (failed) return { test, title }
    }
    return { test: undefined, title: undefined }
  } finally {
    for (const [file, text] of originals) writeFileSync(join(copy, file), text)
  }
}

function make(copy, { file, find, replace }) {
  const text = readFileSync(join(copy, file), 'utf8')
  if (text.split(find).length !== 2) throw new Error(`${file} does not have this once:\n${find}`)
  writeFileSync(
    join(copy, file),
    text.replace(find, () => replace)
  )
}

function run(copy, test) {
  return new Promise((resolve) => {
    const options = { cwd: copy, env: { ...process.env, ...settings }, detached: true }
    const child = spawn(process.execPath, ['--import', withOurUvu, '--import', 'tsx', test], options)
    let output = ''
    let isLate = false
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        output += chunk
      })
    }
    // Kills the processes that it has started too.
    const timer = setTimeout(() => {
      isLate = true
      process.kill(-child.pid, 'SIGKILL')
    }, maxMilliseconds)
    child.on('close', (code, signal) => {
      clearTimeout(timer)
      resolve({ failed: code !== 0, title: isLate ? '(does not end)' : titleOf(output, code ?? signal) })
    })
  })
}

function titleOf(output, ending) {
  return /^\s*FAIL\s+(?:\S+\s+)?"(.+)"\s*$/m.exec(output)?.[1] ?? `(ends with ${ending})`
}

function page() {
  const tables = Object.keys(mutants).map((group) => {
    const rows = results
      .filter((result) => result.group === group)
      .map(
        ({ claim, test, title }) =>
          `| ${claim} | ${test === undefined ? '**none**' : `\`${nameOf(test)}\`: ${title}`} |`
      )
    return `## ${group}\n\n| mutant | caught by |\n| --- | --- |\n${rows.join('\n')}\n`
  })
  return `# Do the tests notice?

Each line is a mistake made on purpose in a copy of the source (\`test/lsm/mutants/\`), and the first of the tests named
there that fails because of it. Written by \`npm run test:mutants -- --write\` on ${new Date().toISOString().slice(0, 10)}, Node ${process.version}:
${results.length - survivors.length} of ${results.length} caught. Every test was seen to pass without a mutant first.

${tables.join('\n')}`
}

function nameOf(test) {
  return test.replace(/^test\//, '').replace(/\.test\.ts$/, '')
}
