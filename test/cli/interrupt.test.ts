import { readdirSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { generateTweets } from '../../src/workload/index.ts'
import { type Child, inTemporaryDirectory, type Outcome, readAll, startCli } from './run-cli.ts'

function importedCount({ stdout, stderr }: Outcome): number {
  const printed = /^imported ([\d,]+) documents, skipped 0, .*; interrupted$/m.exec(stdout)
  assert.ok(printed, stdout + stderr)
  return Number(printed[1]?.replaceAll(',', ''))
}

/** Writes `count` documents at the child's pace; stops if the child has ended. */
async function feed({ process: child }: Child, count: number, start = 0): Promise<void> {
  for (const tweet of generateTweets({ count, start })) {
    const failure = await new Promise((resolve) => child.stdin.write(`${JSON.stringify(tweet)}\n`, resolve))
    if (failure instanceof Error) return
  }
}

test('Ctrl-C during an import keeps exactly as many documents as are reported', () =>
  inTemporaryDirectory(async (path) => {
    const child = startCli(['import', path('db'), '-', '--batch', '200'])
    await feed(child, 3000)
    child.process.kill('SIGINT')
    const rest = feed(child, 100_000, 3000)
    const outcome = await child.outcome
    await rest
    assert.is(outcome.code, 130, outcome.stderr)
    const imported = importedCount(outcome)
    assert.ok(imported > 2000, `${imported} documents`)
    assert.is((await readAll(path('db'))).length, imported)
  }))

test('Ctrl-C ends an import that waits for input, and half a line is not reported as bad', () =>
  inTemporaryDirectory(async (path) => {
    const child = startCli(['import', path('db'), '-'])
    await feed(child, 1500)
    await new Promise((resolve) => child.process.stdin.write('{"_id":1,"half', resolve))
    child.process.kill('SIGINT')
    const outcome = await child.outcome
    assert.is(outcome.code, 130, outcome.stderr)
    assert.is(outcome.stderr, '')
    assert.is((await readAll(path('db'))).length, importedCount(outcome))
  }))

for (const [title, signal, status] of [
  ['Ctrl-C', 'SIGINT', 130],
  ['a closed terminal', 'SIGHUP', 129]
] as const) {
  test(`${title} leaves no incomplete generated file`, () =>
    inTemporaryDirectory(async (path) => {
      const child = startCli(['generate', 'tweets', '--count', '10000000', '--out', path('tweets.ndjson')])
      while (readdirSync(path('.')).length === 0 && child.process.exitCode === null)
        await new Promise((resolve) => setTimeout(resolve, 20))
      child.process.kill(signal)
      const { code, stderr } = await child.outcome
      assert.is(code, status, stderr)
      assert.match(stderr, /interrupted; .*tweets\.ndjson was not written$/m)
      assert.equal(readdirSync(path('.')), [])
    }))
}

test.run()
