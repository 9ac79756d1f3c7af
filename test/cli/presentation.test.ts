import { ObjectId } from 'bson'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { commandNamed } from '../../src/cli/commands.ts'
import { UsageError } from '../../src/cli/errors.ts'
import { formatBytes, formatDuration, formatPercent, formatTable } from '../../src/cli/format.ts'
import { possibleIds } from '../../src/cli/get.ts'
import { prettyJson } from '../../src/cli/pretty-json.ts'
import { renderProgress } from '../../src/cli/progress.ts'
import { documentOf, wholeNumber } from '../../src/cli/values.ts'

test('progress shows a bar, the rate and the time left if the size is known', () => {
  const line = renderProgress({ documents: 5000, bytes: 50, totalBytes: 200 }, 1000)
  assert.is(line, '[=====>                  ]  25 %  5,000 documents  5,000/s  ETA 0:03')
  assert.is(renderProgress({ documents: 10, bytes: 2048, totalBytes: undefined }, 1000), '2.0 KiB  10 documents  10/s')
  assert.is(renderProgress({ bytes: 2048, totalBytes: undefined }, 1000), '2.0 KiB  2.0 KiB/s')
  const tables = renderProgress({ documents: 3, unit: 'tables', totalDocuments: 6 }, 1000)
  assert.match(tables, / 50 % {2}3 tables {2}3\/s {2}ETA 0:01$/)
  const long = renderProgress({ documents: 1, bytes: 1, totalBytes: 3724 }, 1000)
  assert.match(long, / ETA 1:02:03$/)
  assert.match(renderProgress({ documents: 0, bytes: 0, totalBytes: 10 }, 0), /0 % {2}0 documents {2}0\/s$/)
})

test('progress in documents shows no bytes, even while their number is unknown', () => {
  assert.is(renderProgress({ documents: 0, totalDocuments: 0 }, 100), '0 documents  0/s')
  assert.is(renderProgress({ documents: 7, unit: 'queries' }, 1000), '7 queries  7/s')
})

test('sizes, times, percentages and tables are formatted for people', () => {
  assert.equal([0, 1023, 1536, 5 * 2 ** 30].map(formatBytes), ['0 B', '1,023 B', '1.5 KiB', '5.0 GiB'])
  assert.equal([0.123, 45, 1500, 65_000, 7_380_000].map(formatDuration), [
    '0.12 ms',
    '45 ms',
    '1.5 s',
    '1 min 05 s',
    '2 h 03 min'
  ])
  assert.equal([0, 0.00123, 0.5].map(formatPercent), ['0.0 %', '0.12 %', '50.0 %'])
  assert.equal(
    formatTable(
      [
        ['a', '1'],
        ['bcd', '20']
      ],
      'lr'
    ),
    ['a     1', 'bcd  20']
  )
})

test('an error in a JSON argument is shown with its position', () => {
  try {
    documentOf('the filter', `{"a": 1, b: 2}`)
    assert.unreachable()
  } catch (error) {
    assert.instance(error, UsageError)
    assert.is((error as Error).message, 'the filter is not JSON at position 9:\n  {"a": 1, b: 2}\n           ^')
  }
  assert.throws(() => documentOf('the filter', '[1]'), /must be a JSON object .*, got array/)
  assert.throws(() => documentOf('the filter', '{"a": {"$oid": "xyz"}}'), /the filter: \$oid cannot hold/)
})

test('commands refuse missing, unexpected and malformed arguments', async () => {
  const refusals: readonly (readonly [args: readonly string[], message: RegExp])[] = [
    [['import', 'db'], /^<file\.json\[\.gz\] \| -> is missing$/],
    [['find', 'db', '--limt', '3'], /^Unknown option '--limt'$/],
    [['find', 'db', '--limit'], /argument missing/],
    [['count', 'db', '{}', 'x'], /^unexpected argument 'x'$/],
    [['generate', 'cats', '--count', '1'], /can only generate tweets, not 'cats'/],
    [['import', 'db', '-', '--store', 'tape'], /^--store takes lsm or level, got 'tape'$/],
    [['import', 'db', '-', '--store', 'memory'], /^--store takes lsm or level, got 'memory'$/],
    [['generate'], /^tweets is missing$/],
    [['find', 'db', '--limit', '-3'], /^Option '--limit' argument is ambiguous: write --limit=-3$/],
    [['import', 'db', 'none.ndjson', '--threads', '65'], /^--threads takes a whole number from 0 to 64, got '65'$/],
    [['find', 'db', '--limit=-3'], /^--limit takes a whole number, got '-3'$/],
    [['find', 'db', '--limit', '--explain'], /^Option '--limit' argument is ambiguous: it is followed by --explain$/]
  ]
  for (const [[name = '', ...args], message] of refusals) {
    try {
      await commandNamed(name)?.run(args)
      assert.unreachable(name)
    } catch (error) {
      assert.instance(error, UsageError)
      assert.match((error as Error).message, message)
    }
  }
})

test('wholeNumber() accepts only whole numbers from the minimum on', () => {
  assert.is(wholeNumber('--limit', '12'), 12)
  for (const text of ['', '-1', '1.5', '1e3', 'x', '9007199254740993']) {
    assert.throws(() => wholeNumber('--limit', text), /takes a whole number/, text)
  }
  assert.throws(() => wholeNumber('--batch', '0', 1), /at least 1/)
})

test('an id on the command line may be JSON, text or an ObjectId', () => {
  assert.equal(possibleIds('7'), [7])
  assert.equal(possibleIds('"7"'), ['7'])
  assert.equal(possibleIds('anna'), ['anna'])
  assert.equal(possibleIds('1234567890123456789'), [1234567890123456789n])
  const hex = '507f1f77bcf86cd799439011'
  const [id, text] = possibleIds(hex)
  assert.ok(id instanceof ObjectId && id.toHexString() === hex)
  assert.is(text, hex)
  assert.is(possibleIds('123456789012345678901234').length, 3)
})

test('colours change no characters of the JSON', () => {
  const json = '{"a \\"b\\": c":[1,-2.5e-7,"x: 1",true,null],"d":{}}'
  const coloured = prettyJson(json, true)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are control characters
  assert.is(coloured.replace(/\u001b\[\d+m/g, ''), prettyJson(json, false))
  assert.equal(JSON.parse(prettyJson(json, false)), JSON.parse(json))
})

test.run()
