// Runs every test file (or those whose path contains one of the arguments) as its own process, two at a time, and ends
// with one line `N passed, N failed`. A file that dies without a summary counts as one failure, and so does one that has
// not ended after PETALDB_TEST_LIMIT seconds: it is asked where it stands (Node's report: stacks and open handles of all
// threads), then killed, and what it said is printed.
//
// All sources are compiled once at the start: later edits take effect in the next run.
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { compile } from './compile.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const wanted = process.argv.slice(2)
const files = readdirSync(join(root, 'test'), { recursive: true })
  .map((name) => join('test', String(name)))
  .filter((name) => name.endsWith('.test.ts'))
  .filter((name) => wanted.length === 0 || wanted.some((part) => name.includes(part)))
  .sort()

const limitSeconds = Number(process.env.PETALDB_TEST_LIMIT ?? 300)
/** Signal that makes Node write its report, and how long it gets to do so before it is killed, in milliseconds. */
const reportSignal = 'SIGUSR2'
const reportTime = 10_000

let passed = 0
let failed = 0
let skipped = 0
const queue = [...files]
const started = Date.now()
mkdirSync(join(root, 'tmp'), { recursive: true })
// Inside the repository, so that packages are found.
const compiled = mkdtempSync(join(root, 'tmp/test-'))
process.on('exit', () => rmSync(compiled, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1))
await compile(compiled)

await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, worker))
console.log(`\n${files.length} files in ${((Date.now() - started) / 1000).toFixed(1)} s`)
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
process.exitCode = failed > 0 || passed === 0 ? 1 : 0

async function worker() {
  for (let file = queue.shift(); file !== undefined; file = queue.shift()) report(file, await run(file))
}

function run(file) {
  return new Promise((resolve) => {
    const begin = Date.now()
    const program = join(compiled, file.replace(/\.ts$/, '.js'))
    const reportFile = `${program}.report.json`
    const reports = ['--report-on-signal', `--report-signal=${reportSignal}`, `--report-filename=${reportFile}`]
    const child = spawn(process.execPath, ['--enable-source-maps', ...reports, program], {
      cwd: root,
      env: { ...process.env, FORCE_COLOR: '0', PETALDB_COMPILED: compiled }
    })
    let output = ''
    const keep = (chunk) => {
      output += chunk
    }
    child.stdout.on('data', keep)
    child.stderr.on('data', keep)
    let late = false
    let timer = setTimeout(() => {
      late = true
      child.kill(reportSignal)
      timer = setTimeout(() => {
        output += whereItStands(reportFile)
        child.kill('SIGKILL')
        // Programs that it started may hold its pipes open.
        child.stdout.destroy()
        child.stderr.destroy()
      }, reportTime)
    }, limitSeconds * 1000)
    child.on('close', (code, signal) => {
      clearTimeout(timer)
      resolve({ output, code, signal, late, seconds: (Date.now() - begin) / 1000 })
    })
  })
}

/** Stacks and what is waited for, of each thread: the rest of Node's report tells of the machine. */
function whereItStands(reportFile) {
  try {
    const { javascriptStack, libuv, workers = [] } = JSON.parse(readFileSync(reportFile, 'utf8'))
    const threads = [{ javascriptStack, libuv }, ...workers].map((thread) => ({
      stack: thread.javascriptStack,
      waitsFor: thread.libuv.filter((handle) => handle.is_active && handle.is_referenced)
    }))
    return `\n${JSON.stringify(threads, null, 1)}\n`
  } catch (error) {
    return `\nNo report, the program runs neither its event loop nor JavaScript: ${error.message}\n`
  }
}

function report(file, { output, code, signal, late, seconds }) {
  const count = (label) => Number(new RegExp(`^\\s*${label}:\\s+(\\d+)`, 'm').exec(output)?.[1] ?? Number.NaN)
  const total = count('Total')
  const good = count('Passed')
  const complete = Number.isFinite(total) && Number.isFinite(good)
  const bad = complete ? total - good : 0
  const crashed = !complete || late || (code !== 0 && bad === 0)
  passed += complete ? good : 0
  failed += bad + (crashed ? 1 : 0)
  skipped += complete ? count('Skipped') : 0
  const mark = bad > 0 || crashed ? 'FAIL' : 'ok  '
  console.log(
    `${mark} ${relative('test', file)}  ${complete ? `${good}/${total}` : `no summary (${late ? 'did not end' : (signal ?? code)})`}  ${seconds.toFixed(1)} s`
  )
  if (bad > 0 || crashed) console.log(output)
  else for (const line of output.split('\n')) if (/^seed /i.test(line)) console.log(`     ${line}`)
}
