/** `petaldb tune` and `index.tune()`: their results, their changes, and what they refuse. */
import { writeFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Document, open, type PetalError, type TuneResult } from '../../src/index.ts'
import { generateTweets } from '../../src/workload/index.ts'
import { inTemporaryDirectory, runCli } from './run-cli.ts'

const log = [
  '{"lang":"en","user.verified":{"$ne":true}}',
  '{"filter":{"user.screen_name":"nobody"},"count":50,"milliseconds":3}',
  '{"filter":{"user.screen_name":"nobody"},"count":2}',
  '',
  '{"_id":3}'
].join('\n')

async function createTweets(location: string, count = 600): Promise<void> {
  await using db = await open(location)
  await db.insertMany(generateTweets({ count, seed: 3 }) as Iterable<unknown> as Iterable<Document>)
}

async function rowsPerPair(location: string): Promise<readonly number[]> {
  await using db = await open(location)
  return (await db.index.stats()).parameters.map((segment) => segment.rowsPerPair)
}

/** The tuning parameters in force. */
async function present(location: string) {
  await using db = await open(location)
  const { choices } = await db.index.tune({ dryRun: true, sample: 256 })
  const { rowsPerPair, bitsPerPosting, privateShare, upperLevel } = choices.find(({ isPresent }) => isPresent)!
  return { rowsPerPair, bitsPerPosting, privateShare, upperLevel }
}

test('tune --dry-run prints a table and the reason, and changes nothing', () =>
  inTemporaryDirectory(async (path) => {
    await createTweets(path('db'))
    writeFileSync(path('log.ndjson'), log)
    const args = ['tune', path('db'), '--queries', path('log.ndjson'), '--target-fpr', '1e-4', '--dry-run']
    const { code, stdout, stderr } = await runCli(args)
    assert.is(code, 0, stderr)
    assert.match(stdout, /sample {3}600 of 600 documents/)
    assert.match(stdout, /queries {2}2 of 2 different queries/)
    assert.match(stdout, /^→?( +now)? +Bloom +\d+ +65,536 +\d+ +\d+ +1\/\d+ +(yes|no) /m)
    assert.match(stdout, /the target of 100/)
    assert.match(stdout, /Dry run: nothing was changed\./)
    assert.equal(await present(path('db')), {
      rowsPerPair: 8,
      bitsPerPosting: 24,
      privateShare: 1 / 1024,
      upperLevel: true
    })
  }))

test('tune changes the parameters of new segments, and of all segments once the index is rebuilt', () =>
  inTemporaryDirectory(async (path) => {
    await createTweets(path('db'))
    const tuned = await runCli(['tune', path('db'), '--budget', '30000', '--json'])
    assert.is(tuned.code, 0, tuned.stderr)
    const { choices, taken, stored, goal } = JSON.parse(tuned.stdout) as TuneResult
    const choice = choices[taken]!
    assert.is(stored, true)
    assert.is(goal.bytesPerDocument, 50)
    assert.not.ok(choice.isPresent)
    assert.equal(await rowsPerPair(path('db')), [8], 'the segment that there is keeps its parameters')
    const { bitsPerPosting, privateShare, upperLevel } = choice
    assert.equal(await present(path('db')), {
      rowsPerPair: choice.rowsPerPair,
      bitsPerPosting,
      privateShare,
      upperLevel
    })
    {
      await using db = await open(path('db'))
      await db.index.rebuild()
    }
    assert.equal(await rowsPerPair(path('db')), [choice.rowsPerPair])
  }))

test('tune refuses malformed options, query logs and small collections with status 1 or 2', () =>
  inTemporaryDirectory(async (path) => {
    await createTweets(path('db'), 100)
    writeFileSync(path('bad.ndjson'), '{"lang":"en"}\n{"lang":\n')
    writeFileSync(path('filter.ndjson'), '{"lang":"en"}\n\n{"filter":{"lang":{"$no":1}},"count":2}\n')
    writeFileSync(path('count.ndjson'), '{"filter":{"a":1},"count":-1}')
    const cases: readonly (readonly [args: readonly string[], code: number, message: RegExp])[] = [
      [['--target-fpr', '2'], 2, /--target-fpr takes a rate between 0 and 1/],
      [['--sample', '10'], 1, /sample must be a number from 256 to 200000, got 10/],
      [['--queries', path('bad.ndjson')], 1, /bad\.ndjson line 2: /],
      [
        ['--queries', path('filter.ndjson')],
        1,
        /filter\.ndjson line 3: \$no at 'lang': unknown operator \(BadValue\)$/m
      ],
      [['--queries', path('count.ndjson')], 1, /line 1: 'count' must be a positive number/],
      [[], 1, /Tuning an index needs at least 256 documents; the collection has 100/]
    ]
    for (const [args, code, message] of cases) {
      const outcome = await runCli(['tune', path('db'), ...args])
      assert.is(outcome.code, code, outcome.stderr)
      assert.match(outcome.stderr, message)
      assert.is(outcome.stdout, '')
    }
  }))

test('tune() refuses a missing collection or index, bad filters and options, and can be aborted', async () => {
  const codeOf = async (tuning: Promise<unknown>): Promise<string> =>
    tuning.then(
      () => 'none',
      (error: PetalError) => error.codeName
    )
  await using db = await open('memory', { store: 'memory' })
  assert.is(await codeOf(db.collection('nothing').index.tune()), 'NamespaceNotFound')
  await db.insertMany(Array.from({ length: 300 }, (_, i) => ({ i })))
  assert.is(await codeOf(db.index.tune({ queries: [{ a: { $no: 1 } }] })), 'BadValue')
  assert.is(await codeOf(db.index.tune({ targetFpr: 0 })), 'InvalidOptions')
  assert.is(await codeOf(db.index.tune({ sample: 5 })), 'InvalidOptions')
  assert.is(await codeOf(db.index.tune({ queries: new Map([[{ i: 1 }, 0]]) })), 'InvalidOptions')
  assert.is(await codeOf(db.index.tune({ signal: AbortSignal.abort() })), 'Aborted')
  await using scanned = await open('memory', { store: 'memory', index: 'none' })
  await scanned.insertMany(Array.from({ length: 300 }, (_, i) => ({ i })))
  assert.is(await codeOf(scanned.index.tune()), 'IllegalOperation')
})

test('documents can be inserted, found and deleted while an index is tuned', async () => {
  await using db = await open('memory', { store: 'memory' })
  await db.insertMany(generateTweets({ count: 400, seed: 5 }) as Iterable<unknown> as Iterable<Document>)
  const progress: number[] = []
  const tuning = db.index.tune({ targetFpr: 1e-3, onProgress: ({ built, total }) => progress.push(built / total) })
  let inserted = 0
  let isTuned = false
  const watching = tuning.finally(() => {
    isTuned = true
  })
  while (!isTuned) {
    await db.insertOne({ _id: `new ${inserted}`, seen: inserted })
    assert.is(await db.countDocuments({ seen: inserted }), 1)
    if (inserted++ % 2 === 0) await db.deleteOne({ _id: `new ${inserted - 1}` })
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  await watching
  assert.ok(inserted > 3)
  assert.is(progress.at(-1), 1)
  assert.is(await db.countDocuments({ seen: { $exists: true } }), Math.floor(inserted / 2))
})

test.run()
