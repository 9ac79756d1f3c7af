import { spawn } from 'node:child_process'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { loader, program } from '../support/program.ts'

test('the published suite of abstract-level passes completely, on the store and on a sublevel', async () => {
  const { status, output } = await run()
  const failures = output.split('\n').filter((line) => line.startsWith('not ok'))
  for (const line of failures) console.log(line)
  const passed = Number(/^# pass\s+(\d+)/m.exec(output)?.[1] ?? 0)
  assert.is(failures.length, 0)
  assert.is(status, 0, output.slice(-2000))
  assert.ok(passed >= 5100, `only ${passed} assertions passed`)
})

/** The suite leaves hundreds of instances open; the process must end by itself nevertheless. */
function run(): Promise<{ readonly status: number | null; readonly output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...loader, program('test/lsm/conformance.tape.ts')], { timeout: 120_000 })
    let output = ''
    const keep = (part: Buffer): void => {
      output += part.toString()
    }
    child.stdout.on('data', keep)
    child.stderr.on('data', keep)
    child.on('error', reject)
    child.on('close', (status) => resolve({ status, output }))
  })
}

test.run()
