import { writeFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { inTemporaryDirectory, linesOf, readAll, runCli, startCli } from './run-cli.ts'

const good = (id: number): string => `{"_id":${id}}`

test('bad lines are reported with file and line number, and skipped', () =>
  inTemporaryDirectory(async (path) => {
    const lines = [
      good(1),
      '{"_id": 2,',
      '[1]',
      '',
      '   \t',
      good(1),
      '{"_id":3,"__proto__":{"a":1}}',
      '{"_id":[4]}',
      '{"a":{"$oid":"zz"}}',
      '{"_id":5,"a":"\xff"}',
      good(6)
    ]
    // Latin-1: the one character beyond ASCII becomes a byte that is invalid in UTF-8.
    writeFileSync(path('bad.ndjson'), Buffer.from(lines.join('\n'), 'latin1'))
    const { code, stdout, stderr } = await runCli(['import', path('db'), path('bad.ndjson')])
    assert.is(code, 1)
    assert.match(stdout, /^imported 2 documents, skipped 7, in .* documents\/s\)$/m)
    const told = [...linesOf(stderr)]
    assert.is(told.pop(), 'petaldb import: 7 documents were skipped; with --skip-bad this is not a failure')
    const reports = new Map(
      told.map((line) => {
        const [, number = '', problem = ''] = /^petaldb: .*bad\.ndjson:(\d+): (.*)$/.exec(line) ?? []
        return [Number(number), problem]
      })
    )
    assert.equal(
      [...reports.keys()].sort((a, b) => a - b),
      [2, 3, 6, 7, 8, 9, 10]
    )
    assert.match(reports.get(2) ?? '', /Unexpected end of JSON/)
    assert.match(reports.get(3) ?? '', /must be an object, not array/)
    assert.match(reports.get(6) ?? '', /duplicate key/)
    assert.match(reports.get(7) ?? '', /__proto__/)
    assert.match(reports.get(9) ?? '', /\$oid/)
    assert.match(reports.get(10) ?? '', /UTF-8/)
  }))

test('--strict stops at the first bad line and keeps everything before it', () =>
  inTemporaryDirectory(async (path) => {
    const outcome = await runCli(['import', path('db'), '-', '--strict'], `${good(1)}\n${good(2)}\nnope\n${good(3)}\n`)
    assert.is(outcome.code, 1)
    assert.match(outcome.stderr, /^petaldb: stdin:3: /)
    assert.match(outcome.stdout, /^imported 2 documents, skipped 1, .*; stopped at a bad line$/m)
    const refused = await runCli(
      ['import', path('db'), '-', '--strict', '--batch', '2'],
      [4, 5, 6, 1, 7, 8, 9].map(good).join('\n')
    )
    assert.is(refused.code, 1)
    assert.match(refused.stderr, /^petaldb: stdin:4: .*duplicate key/)
    assert.equal(
      (await readAll(path('db'))).map(({ _id }) => _id),
      [1, 2, 4, 5, 6]
    )
  }))

test('--strict counts the documents imported before the refused line', () =>
  inTemporaryDirectory(async (path) => {
    const { code, stdout } = await runCli(
      ['import', path('db'), '-', '--strict', '--json'],
      [1, 2, 1, 3].map(good).join('\n')
    )
    assert.is(code, 1)
    assert.is(JSON.parse(stdout).imported, 2)
    assert.is((await readAll(path('db'))).length, 2)
  }))

test('an import that skipped a line fails, unless --skip-bad is given and a document was imported', () =>
  inTemporaryDirectory(async (path) => {
    const skipping = await runCli(['import', path('db'), '-'], `${good(1)}\nnope\n${good(2)}\n`)
    assert.is(skipping.code, 1)
    assert.match(skipping.stderr, /^petaldb import: 1 document was skipped; with --skip-bad this is not a failure$/m)
    const wanted = await runCli(['import', path('db'), '-', '--skip-bad'], `${good(3)}\nnope\n`)
    assert.is(wanted.code, 0)
    assert.match(wanted.stdout, /^imported 1 document, skipped 1, /)
    assert.match(wanted.stderr, /^petaldb: stdin:2: [^\n]*\n$/)
    const nothing = await runCli(['import', path('db'), '-', '--skip-bad'], 'nope\n')
    assert.is(nothing.code, 1)
    assert.match(nothing.stderr, /^petaldb import: 1 document was skipped$/m)
    const both = await runCli(['import', path('db'), '-', '--skip-bad', '--strict'], good(4))
    assert.is(both.code, 2)
    assert.match(both.stderr, /^petaldb import: --strict and --skip-bad are mutually exclusive$/m)
    assert.is((await readAll(path('db'))).length, 3)
  }))

test('an import of only bad lines fails', () =>
  inTemporaryDirectory(async (path) => {
    const { code, stdout, stderr } = await runCli(['import', path('db'), '-'], '{"a":1\n"a"\n')
    assert.is(code, 1)
    assert.match(stdout, /^imported 0 documents, skipped 2, /)
    // No mention of --skip-bad, with which it would fail, too.
    assert.match(stderr, /^petaldb import: 2 documents were skipped$/m)
  }))

test('an array and documents spread over several lines are imported like lines', () =>
  inTemporaryDirectory(async (path) => {
    const documents = Array.from({ length: 300 }, (_, i) => ({ _id: i, text: 'a\nb', tags: [{ n: i }, []], empty: {} }))
    const spellings: Record<string, string | Uint8Array> = {
      'one line': JSON.stringify(documents),
      indented: JSON.stringify(documents, null, 2),
      'line by line': `\ufeff \n[\n${documents.map((each) => JSON.stringify(each)).join(',\n')}\n]\n`,
      compressed: gzipSync(JSON.stringify(documents, null, '\t')),
      spread: documents.map((each) => JSON.stringify(each, null, 2)).join('\n')
    }
    for (const [name, bytes] of Object.entries(spellings)) {
      const file = path(`${name}.json`)
      writeFileSync(file, bytes)
      const { code, stdout, stderr } = await runCli(['import', path(name), file])
      assert.is(code, 0, stderr)
      assert.match(stdout, /^imported 300 documents, skipped 0, /)
      assert.equal(await readAll(path(name)), documents, name)
    }
  }))

test('bad documents of an array, or spread over lines, are reported by their number', () =>
  inTemporaryDirectory(async (path) => {
    const { code, stdout, stderr } = await runCli(
      ['import', path('db'), '-'],
      `[${good(1)},\n 17, {"_id":\n2 3},${good(4)}, ${good(1)}]`
    )
    assert.is(code, 1)
    assert.match(stdout, /^imported 2 documents, skipped 3, /)
    assert.equal(
      linesOf(stderr)
        .slice(0, -1)
        .map((line) => line.slice(0, line.indexOf(': ', 10)))
        .sort(),
      ['petaldb: stdin, element 2', 'petaldb: stdin, element 3', 'petaldb: stdin, element 5']
    )
    const spread = await runCli(['import', path('db'), '-', '--strict'], `{\n"_id": 6}\n{\n"_id": x}{"_id": 7}`)
    assert.is(spread.code, 1)
    assert.match(spread.stderr, /^petaldb: stdin, document 2: /)
  }))

test('an array that is truncated or malformed fails, and the elements before the error are kept', () =>
  inTemporaryDirectory(async (path) => {
    const cut = await runCli(['import', path('db'), '-'], `[${good(1)},${good(2)},{"_id":`)
    assert.is(cut.code, 1)
    assert.match(cut.stdout, /^imported 2 documents, skipped 0, .*; failed$/m)
    assert.match(cut.stderr, /^petaldb import: stdin: element 3 is not closed, at byte 21 \(FailedToParse\)$/m)
    const comma = await runCli(['import', path('db'), '-'], `[${good(3)},${good(4)},]`)
    assert.is(comma.code, 1)
    assert.match(comma.stderr, /^petaldb import: stdin: an element is missing, at byte 21 \(FailedToParse\)$/m)
    assert.is((await readAll(path('db'))).length, 4)
  }))

test('gzip is recognised by content, even on standard input; a byte order mark and CRLF are accepted', () =>
  inTemporaryDirectory(async (path) => {
    // Two members: files that were compressed one by one and concatenated.
    const bytes = Buffer.concat([gzipSync(`\ufeff${good(1)}\r\n\r\n`), gzipSync(`${good(2)}\r\n${good(3)}`)])
    const outcome = await runCli(['import', path('db'), '-', '--json'], bytes)
    assert.is(outcome.code, 0, outcome.stderr)
    assert.is(outcome.stderr, '')
    const { imported, skipped } = JSON.parse(outcome.stdout)
    assert.equal({ imported, skipped }, { imported: 3, skipped: 0 })
  }))

test('a truncated compressed file fails, and the documents before its end are kept', () =>
  inTemporaryDirectory(async (path) => {
    const lines = Array.from({ length: 20_000 }, (_, i) => `{"_id":${i},"r":${Math.sin(i)}}\n`).join('')
    const whole = gzipSync(lines)
    writeFileSync(path('cut.ndjson.gz'), whole.subarray(0, whole.length >> 1))
    const outcome = await runCli(['import', path('db'), path('cut.ndjson.gz')])
    assert.is(outcome.code, 1)
    assert.match(outcome.stdout, /^imported [\d,]+ documents, skipped \d, in .*; failed$/m)
    assert.match(outcome.stderr, /^petaldb import: cannot read .*cut\.ndjson\.gz: the compressed data is truncated/m)
    const { length } = await readAll(path('db'))
    assert.ok(length > 1000, `${length} documents`)
  }))

test('bytes after the compressed data fail the import, but all lines before them are kept', () =>
  inTemporaryDirectory(async (path) => {
    const lines = Array.from({ length: 20_000 }, (_, i) => `{"_id":${i},"r":${Math.sin(i)}}\n`).join('')
    const whole = gzipSync(lines)
    writeFileSync(path('behind.ndjson.gz'), Buffer.concat([whole, Buffer.from('{"_id":"garbage"}\n')]))
    const outcome = await runCli(['import', path('db'), path('behind.ndjson.gz')])
    assert.is(outcome.code, 1)
    assert.match(outcome.stdout, /^imported 20,000 documents, skipped 0, in .*; failed$/m)
    const said = `unexpected data after the compressed data, at offset ${whole.length}`
    assert.ok(
      outcome.stderr.includes(`petaldb import: cannot read ${path('behind.ndjson.gz')}: ${said}`),
      outcome.stderr
    )
    assert.is((await readAll(path('db'))).length, 20_000)
  }))

test('a line of 100 MB is skipped without being held in memory', () =>
  inTemporaryDirectory(async (path) => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the child that evaluates it
    const printPeak = 'process.on("exit",()=>process.stderr.write(`peak ${process.resourceUsage().maxRSS}\\n`))'
    const run = async (longBytes: number) => {
      const child = startCli(['import', path(`db${longBytes}`), '-'], ['--import', `data:text/javascript,${printPeak}`])
      const { stdin } = child.process
      const piece = Buffer.alloc(1_000_000, 'x')
      const write = (bytes: string | Uint8Array) => new Promise((resolve) => stdin.write(bytes, resolve))
      await write(`${good(1)}\n{"_id":2,"text":"`)
      for (let written = 0; written < longBytes; written += piece.length) await write(piece)
      await write(`"}\n${good(3)}\n`)
      stdin.end()
      const outcome = await child.outcome
      return { ...outcome, peakBytes: Number(/peak (\d+)/.exec(outcome.stderr)?.[1]) * 1024 }
    }
    const short = await run(1_000_000)
    assert.match(short.stdout, /^imported 3 documents, skipped 0/)
    const long = await run(100_000_000)
    assert.is(long.code, 1)
    assert.match(long.stdout, /^imported 2 documents, skipped 1/)
    assert.match(long.stderr, /^petaldb: stdin:2: 95\.4 MiB of JSON; the maximum is 32\.0 MiB$/m)
    const extra = long.peakBytes - short.peakBytes
    console.log(`peak memory: ${short.peakBytes >> 20} MiB, with the long line ${long.peakBytes >> 20} MiB`)
    assert.ok(extra < 80e6, `the line cost ${extra} bytes of memory`)
  }))

test.run()
