/** Building threads run only this library's code. */
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { loader, program } from '../support/program.ts'
import { unitLines } from './load-cases.ts'
import { scratchPath } from './scratch.ts'

const script = program('test/docstore/import-until-killed.ts')

/** How often a process and its threads load a module that is to be preloaded. */
function preloads(
  threads: number,
  told: (preload: string) => { readonly flags: string[]; readonly env: object }
): number {
  const preload = `${scratchPath('preload')}.mjs`
  const log = `${preload}.log`
  writeFileSync(preload, `import { appendFileSync } from 'node:fs'\nappendFileSync(${JSON.stringify(log)}, 'x')\n`)
  const { flags, env } = told(pathToFileURL(preload).href)
  const location = scratchPath()
  const { status, stderr } = spawnSync(
    process.execPath,
    [...loader, ...flags, script, location, `${location}.log`, String(6 * unitLines), String(threads)],
    { env: { ...process.env, ...env }, encoding: 'utf8' }
  )
  assert.is(status, 0, stderr)
  return readFileSync(log, 'utf8').length
}

for (const [how, told] of [
  ['by a flag', (preload: string) => ({ flags: ['--import', preload], env: {} })],
  ['by NODE_OPTIONS', (preload: string) => ({ flags: [], env: { NODE_OPTIONS: `--import ${preload}` } })]
] as const) {
  test(`import threads do not load modules that the process preloads ${how}`, () => {
    assert.ok(preloads(0, told) >= 1)
    // The main thread, and perhaps the compaction thread, which may have to load the application's extractors.
    const count = preloads(3, told)
    assert.ok(count <= 2, `${count} threads`)
  })
}

test.run()
