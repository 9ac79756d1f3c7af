/** The threads of bulk loads are this library's alone. */
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { loader, program } from '../support/program.ts'
import { unitLines } from './load-cases.ts'
import { scratchPath } from './scratch.ts'

const script = program('test/docstore/import-until-killed.ts')

/** How often what a process is told to load before anything else was loaded, in whatever thread of it. */
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
  test(`they load nothing that the process loads before anything else, told ${how}`, () => {
    assert.ok(preloads(0, told) >= 1)
    // This thread, and perhaps the one that merges tables, which may have the application's extractors to load.
    const count = preloads(3, told)
    assert.ok(count <= 2, `${count} threads`)
  })
}

test.run()
