import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { pipelineOf } from '../../src/cli/values.ts'
import { open } from '../../src/index.ts'
import { inTemporaryDirectory, linesOf, runCli } from './run-cli.ts'

const documents = [
  { _id: 1, lang: 'en', n: 2 },
  { _id: 2, lang: 'de', n: 3 },
  { _id: 3, lang: 'en', n: 5, at: new Date('2024-01-01T00:00:00Z') }
]

test('aggregate prints the results of a pipeline, explains it, and refuses malformed pipelines', async () => {
  await inTemporaryDirectory(async (path) => {
    {
      await using db = await open(path('db'))
      await db.insertMany(documents)
    }
    const aggregate = (pipeline: unknown, ...options: readonly string[]) =>
      runCli(['aggregate', path('db'), JSON.stringify(pipeline), ...options])
    const grouping = [
      { $match: { n: { $gt: 1 } } },
      { $group: { _id: '$lang', sum: { $sum: '$n' } } },
      { $sort: { sum: -1 } }
    ]
    const computing = [{ $match: { at: { $exists: true } } }, { $project: { _id: 0, next: { $add: ['$at', 1000] } } }]
    const given = await aggregate(grouping)
    const typed = await aggregate(computing, '--canonical')
    const explained = await aggregate(grouping, '--explain')
    const unknown = await aggregate([{ $grup: {} }])
    assert.equal(
      linesOf(given.stdout).map((line) => JSON.parse(line)),
      [
        { _id: 'en', sum: 7 },
        { _id: 'de', sum: 3 }
      ]
    )
    assert.is(typed.stdout, '{"next":{"$date":{"$numberLong":"1704067201000"}}}\n')
    assert.match(explained.stdout, /^read: \$match \(stage 0\)$/m)
    assert.match(explained.stdout, /^\$group \(stage 1\) +collects, returns 2 documents$/m)
    assert.is(unknown.code, 1)
    assert.match(unknown.stderr, /\$grup \(stage 0\): there is no such stage/)
    assert.throws(() => pipelineOf('{}'), /array of stages/)
  })
})

test('aggregate with $out or $merge writes and prints nothing, and with --explain does not write', async () => {
  await inTemporaryDirectory(async (path) => {
    {
      await using db = await open(path('db'))
      await db.insertMany(documents)
    }
    const aggregate = (pipeline: unknown, ...options: readonly string[]) =>
      runCli(['aggregate', path('db'), JSON.stringify(pipeline), ...options])
    const sums = { $group: { _id: '$lang', sum: { $sum: '$n' } } }
    const explained = await aggregate([sums, { $out: 'sums' }], '--explain')
    assert.match(explained.stdout, /^\$out \(stage 1\) +writes; not executed for an explanation$/m)
    assert.match(explained.stdout, /^2 documents in/m)
    const missing = await runCli(['aggregate', path('db'), '[]', '--collection', 'sums'])
    assert.match(missing.stderr, /no collection 'sums'/)
    const merge = { $merge: { into: 'sums', whenMatched: 'fail' } }
    for (const pipeline of [
      [sums, { $out: 'sums' }],
      [{ $documents: [{ _id: 'fr', sum: 0 }] }, merge]
    ]) {
      const { code, stdout, stderr } = await aggregate(pipeline)
      assert.equal([code, stdout, stderr], [0, '', ''])
    }
    const again = await aggregate([sums, merge])
    assert.is(again.code, 1)
    assert.match(again.stderr, /\$merge \(stage 1\): E11000/)
    await using db = await open(path('db'))
    assert.equal(
      await db
        .collection('sums')
        .find({}, { sort: { _id: 1 } })
        .toArray(),
      [
        { _id: 'de', sum: 3 },
        { _id: 'en', sum: 7 },
        { _id: 'fr', sum: 0 }
      ]
    )
  })
})

test.run()
