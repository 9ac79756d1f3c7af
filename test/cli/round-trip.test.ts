import { readFileSync, writeFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { open } from '../../src/index.ts'
import { generateTweets } from '../../src/workload/index.ts'
import { inTemporaryDirectory, linesOf, runCli } from './run-cli.ts'

const special = [
  '{"_id":{"$oid":"507f1f77bcf86cd799439011"},"at":{"$date":"2024-01-01T00:00:00Z"}}',
  '{"_id":1234567890123456789,"nan":{"$numberDouble":"NaN"},"price":{"$numberDecimal":"1.50"}}',
  '{"_id":"bytes","data":{"$binary":{"base64":"AAEC","subType":"00"}},"text":"é\\u2028\\n"}'
]

test('imported documents can be found, counted, got, aggregated, exported and imported again', () =>
  inTemporaryDirectory(async (path) => {
    const tweets = [...generateTweets({ count: 1500, seed: 7 })]
    const input = `${[...tweets.map((tweet) => JSON.stringify(tweet)), ...special].join('\n')}\n`
    writeFileSync(path('in.ndjson'), input)

    const imported = await runCli(['import', path('db'), path('in.ndjson'), '--json', '--batch', '100'])
    assert.is(imported.code, 0, imported.stderr)
    assert.is(JSON.parse(imported.stdout).imported, 1503)

    const english = tweets.filter(({ lang }) => lang === 'en').map(({ _id }) => ({ _id }))
    const found = await runCli(['find', path('db'), '{"lang":"en"}', '--project', '{"_id":1}', '--sort', '{"_id":1}'])
    assert.equal(
      linesOf(found.stdout).map((line) => JSON.parse(line)),
      english
    )
    const counted = await runCli(['count', path('db'), '{"lang":"en"}'])
    assert.is(Number(counted.stdout), english.length)
    const anyCase = ['{"lang":"EN"}', '--collation', '{"locale":"en","strength":2}']
    assert.is((await runCli(['count', path('db'), ...anyCase])).stdout, `${english.length}\n`)
    assert.is(linesOf((await runCli(['find', path('db'), ...anyCase])).stdout).length, english.length)
    const [, ...collation] = anyCase
    const pipeline = '[{"$match":{"lang":"EN"}},{"$count":"n"}]'
    const piped = await runCli(['aggregate', path('db'), pipeline, ...collation])
    assert.equal(JSON.parse(piped.stdout), { n: english.length })
    const got = await runCli(['get', path('db'), '507f1f77bcf86cd799439011'])
    assert.is(got.stdout, `${special[0]}\n`)

    const exported = await runCli(['export', path('db'), path('relaxed.ndjson')])
    assert.is(exported.code, 0, exported.stderr)
    const relaxed = linesOf(readFileSync(path('relaxed.ndjson'), 'utf8'))
    assert.equal(relaxed.slice(0, 1500), linesOf(input).slice(0, 1500), 'plain JSON comes out as it went in')

    const canonical = await runCli(['export', path('db'), path('canonical.ndjson.gz'), '--canonical'])
    assert.is(canonical.code, 0, canonical.stderr)
    assert.match(gunzipSync(readFileSync(path('canonical.ndjson.gz'))).toString(), /"\$numberInt"/)
    await runCli(['import', path('copy'), path('canonical.ndjson.gz'), '--collection', 'tweets'])
    const again = await runCli(['export', path('copy'), '--collection', 'tweets'])
    assert.equal(linesOf(again.stdout), relaxed)
  }))

test('find --explain prints the plan as text or JSON, and stats prints the numbers of documents and segments', () =>
  inTemporaryDirectory(async (path) => {
    await using db = await open(path('db'))
    await db.insertMany(generateTweets({ count: 3000 }))
    await db.close()
    const explain = ['find', path('db'), '{"lang":"en","user.verified":true}', '--explain', '--limit', '5']
    const readable = await runCli(explain)
    assert.match(readable.stdout, /^plan +LIMIT 5 ◄ FETCH ◄ BLOOM$/m)
    assert.match(readable.stdout, /^bounds +\(lang = "en" AND user\.verified = true\)$/m)
    for (const label of ['candidates', 'certain', 'confirmed', 'false positives', 'time']) {
      assert.match(readable.stdout, new RegExp(`^${label} `, 'm'))
    }
    const json = JSON.parse((await runCli([...explain, '--json'])).stdout)
    assert.is(json.executionStats.nReturned, 5)
    const sort = ['--sort', '{"user.followers_count":-1}']
    const sorted = await runCli(['find', path('db'), '{}', ...sort, '--limit', '3', '--explain'])
    assert.match(sorted.stdout, /^plan +LIMIT 3 ◄ SORT \{"user.followers_count":-1\} by range codes ◄ FETCH ◄ BLOOM$/m)
    assert.match((await runCli(['stats', path('db')])).stdout, /^default: 3,000 documents, 1 segment/)
  }))

test('paths prints a table with shortened examples, or JSON', () =>
  inTemporaryDirectory(async (path) => {
    const documents = [
      { _id: 1, at: { $date: '2024-01-02T03:04:05Z' } },
      { _id: 2, text: 'x'.repeat(50), tags: [1] }
    ]
    await runCli(['import', path('db'), '-'], documents.map((each) => JSON.stringify(each)).join('\n'))
    const { code, stdout } = await runCli(['paths', path('db')])
    assert.is(code, 0)
    assert.equal(linesOf(stdout), [
      'path  documents    share  types           example',
      '_id           2  100.0 %  number          1',
      'at            1   50.0 %  date            {"$date":"2024-01-02T03:04:05Z"}',
      'tags          1   50.0 %  number | array  1',
      `text          1   50.0 %  string          "${'x'.repeat(39)}…`
    ])
    const json = await runCli(['paths', path('db'), '{"_id": 1}', '--json'])
    assert.equal(
      linesOf(json.stdout).map((line) => JSON.parse(line)),
      [
        { path: '_id', documents: 1, types: { number: 1 }, example: 1 },
        { path: 'at', documents: 1, types: { date: 1 }, example: documents[0]!.at }
      ]
    )
    assert.is((await runCli(['paths', path('db'), '{"_id": 3}'])).stdout, 'no documents\n')
    assert.is((await runCli(['paths', path('db'), '{"_id": 3}', '--json'])).stdout, '')
    assert.is((await runCli(['paths', path('db'), '{"$x": 3}'])).code, 1)
  }))

test.run()
