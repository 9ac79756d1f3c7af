import { BSONRegExp, Code, Decimal128, EJSON, MaxKey, MinKey, ObjectId, Timestamp, UUID } from 'bson'
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { PetalError } from '../../src/model/errors.ts'
import { parseJson, stringifyCanonical, stringifyRelaxed } from '../../src/model/extended-json.ts'
import { cpuMilliseconds } from '../support/cpu-time.ts'
import { describe } from '../support/describe.ts'
import { anyDocument, anyString, seedOfRun } from '../support/values.ts'

const seed = seedOfRun()
const parses = (text: string, expected: unknown) => assert.is(describe(parseJson(text)), describe(expected), text)

test('integers beyond 2^53 become 64-bit integers, all others stay numbers', () => {
  parses('{"id":1234567890123456789}', { id: 1234567890123456789n })
  parses('[9007199254740991,9007199254740992,9007199254740993]', [2 ** 53 - 1, 2 ** 53, 2n ** 53n + 1n])
  parses('[-9007199254740992,-9007199254740993]', [-(2 ** 53), -(2n ** 53n) - 1n])
  parses('[ 9223372036854775807 ,\n-9223372036854775808]', [2n ** 63n - 1n, -(2n ** 63n)])
  parses('[9223372036854775808,-9223372036854775809]', [2 ** 63, -(2 ** 63)])
  parses('[12345678901234567.0,12345678901234567e0,1e17]', [12345678901234568, 12345678901234568, 1e17])
  parses('12345678901234567', 12345678901234567n)
  parses('-12345678901234567', -12345678901234567n)
  parses('{"a":{"b":[{"c":12345678901234567}]}}', { a: { b: [{ c: 12345678901234567n }] } })
})

test('digits in strings and keys are left unchanged', () => {
  const texts = [
    '{"a":"12345678901234567"}',
    '{"a":",12345678901234567,"}',
    '{"a\\"":" 12345678901234567","b":"\\\\",":12345678901234567":1}',
    '["\\\\\\"",":12345678901234567","\\"[12345678901234567"]'
  ]
  for (const text of texts) parses(text, JSON.parse(text))
  parses('{"x":",12345678901234567","y":12345678901234567}', { x: ',12345678901234567', y: 12345678901234567n })
})

test('wrappers become values, in canonical, relaxed and older spellings', () => {
  parses('{"_id":{"$oid":"507f1f77bcf86cd799439011"}}', { _id: new ObjectId('507f1f77bcf86cd799439011') })
  parses('[{"$numberLong":"5"},{"$numberInt":"5"},{"$numberDouble":"5.5"},{"$numberDouble":"-Infinity"}]', [
    5n,
    5,
    5.5,
    -Infinity
  ])
  parses('{"a":{"$numberLong":12345678901234567}}', { a: 12345678901234567n })
  parses('{"a":{"$numberDecimal":"1.50"}}', { a: Decimal128.fromString('1.50') })
  const date = new Date(1356351330501)
  parses('{"a":{"$date":{"$numberLong":"1356351330501"}}}', { a: date })
  parses('{"a":{"$date":"2012-12-24T12:15:30.501Z"}}', { a: date })
  parses('{"a":{"$date":"2012-12-24T13:15:30.501+01:00"}}', { a: date })
  parses('{"a":{"$date":1356351330501}}', { a: date })
  parses('[{"$binary":{"base64":"AQI=","subType":"0"}},{"$uuid":"00112233-4455-6677-8899-aabbccddeeff"}]', [
    Uint8Array.of(1, 2),
    new UUID('00112233445566778899aabbccddeeff')
  ])
  parses('[{"$timestamp":{"t":1,"i":2}},{"$minKey":1},{"$maxKey":1}]', [
    new Timestamp({ t: 1, i: 2 }),
    new MinKey(),
    new MaxKey()
  ])
  parses(
    '[{"$regularExpression":{"pattern":"a","options":"i"}},{"$regularExpression":{"pattern":"(?i)a","options":""}}]',
    [/a/i, new BSONRegExp('(?i)a')]
  )
  parses('[{"$code":"x"},{"$code":"x","$scope":{"a":{"$numberLong":"1"}}}]', [new Code('x'), new Code('x', { a: 1n })])
  parses('[{"$symbol":"x"},{"$undefined":true}]', ['x', null])
  parses('{"\\u0024oid":"507f1f77bcf86cd799439011"}', new ObjectId('507f1f77bcf86cd799439011'))
})

test('operators and other keys that begin with $ are left unchanged', () => {
  const texts = [
    '{"a":{"$gt":5},"$or":[{"b":{"$regex":"x","$options":"i"}}],"c":{"$type":"string"},"$ref":"x"}',
    '{"$date":1,"other":2}',
    '{"$set":{"a":1}}'
  ]
  for (const text of texts) parses(text, JSON.parse(text))
})

test('malformed wrappers are refused with an error that names them', () => {
  const texts = [
    '{"$oid":"x"}',
    '{"$oid":5}',
    '{"$date":"yesterday"}',
    '{"$date":null}',
    '{"$numberLong":"9223372036854775808"}',
    '{"$numberLong":"1.5"}',
    '{"$numberInt":"3000000000"}',
    '{"$numberDouble":"0x10"}',
    '{"$numberDecimal":"x"}',
    '{"$binary":{"base64":"?","subType":"00"}}',
    '{"$binary":5}',
    '{"$timestamp":{"t":-1,"i":0}}',
    '{"$uuid":"x"}',
    '{"$regularExpression":{"pattern":5}}',
    '{"$code":5}'
  ]
  for (const text of texts) {
    const name = /\$\w+/.exec(text)?.[0] ?? ''
    assert.throws(
      () => parseJson(text),
      (error: unknown) =>
        error instanceof PetalError && error.codeName === 'FailedToParse' && error.message.includes(name),
      text
    )
  }
})

test('malformed JSON is refused with the position of the error', () => {
  const cases: readonly (readonly [string, number])[] = [
    ['', 0],
    ['{"a":1', 6],
    ['{"a":}', 5],
    ['{"a" 1}', 5],
    ['{a:1}', 1],
    ['{"a":1,}', 7],
    ['[1,]', 3],
    ['[1 2]', 3],
    ['{"a":1}}', 7],
    ['{"a":"x\ny"}', 7],
    ['{"a":"\\x"}', 6],
    ['{"a":"x', 7],
    ['{"a":01}', 6],
    ['{"id":01234567890123456789}', 7],
    ['{"id":12345678901234567 "b":1}', 24],
    ['{"id":12345678901234567,"b":tru}', 28],
    ['nul', 0],
    ['"a" "b"', 4]
  ]
  for (const [text, position] of cases) {
    assert.throws(
      () => parseJson(text),
      (error: unknown) => {
        assert.instance(error, PetalError)
        assert.is((error as PetalError).codeName, 'FailedToParse')
        assert.is((error as PetalError).details.position, position, text)
        return true
      }
    )
  }
})

test('the position of an error agrees with JSON.parse(), if that reports one', () => {
  let compared = 0
  const extra = fc.constantFrom('x', ',', '}', ':', '"', '1', '\n', '\\')
  fc.assert(
    fc.property(fc.json({ maxDepth: 3 }), fc.nat(), extra, (json, at, inserted) => {
      const cut = at % (json.length + 1)
      const text = json.slice(0, cut) + inserted + json.slice(cut)
      const theirs = reportedPosition(text)
      if (theirs === undefined) return
      compared++
      assert.throws(
        () => parseJson(text),
        (error: unknown) => {
          const ours = Number((error as PetalError).details.position)
          // For a bad escape, literal or exponent, we report its beginning, JSON.parse() the bad character.
          assert.ok(ours <= theirs && /^[\\\w.+-]*$/.test(text.slice(ours, theirs)), `${ours} ${theirs} ${text}`)
          return true
        }
      )
    }),
    { seed, numRuns: 5000 }
  )
  assert.ok(compared > 500)
})

function reportedPosition(text: string): number | undefined {
  try {
    JSON.parse(text)
  } catch (error) {
    const position = /at position (\d+)/.exec(String(error))?.[1]
    return position === undefined ? undefined : Number(position)
  }
  return undefined
}

test('the key __proto__ is refused, even when written with escapes', () => {
  for (const text of ['{"__proto__":{"a":1}}', '{"a":[{"\\u005f_proto__":1}]}', '{"\\u005F\\u005fproto__":1}']) {
    assert.throws(
      () => parseJson(text),
      (error: unknown) => error instanceof PetalError && error.codeName === 'BadValue'
    )
  }
  assert.is(Object.getPrototypeOf(parseJson('{"a":"__proto__"}')), Object.prototype)
})

test('documents survive a round trip through relaxed and canonical text, which have no line feeds', () => {
  fc.assert(
    fc.property(anyDocument, (document) => {
      for (const text of [stringifyRelaxed(document), stringifyCanonical(document)]) {
        assert.is(describe(parseJson(text)), describe(document), text)
        assert.not.match(text, /\n/)
      }
    }),
    { seed, numRuns: 4000 }
  )
})

test('integers and strings are parsed exactly, in any order and with any white space', () => {
  const value = fc.oneof(
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    anyString,
    fc.constant('":12345678901234567')
  )
  fc.assert(
    fc.property(fc.array(fc.tuple(value, fc.constantFrom('', ' ', '\n\t')), { maxLength: 8 }), (entries) => {
      const text = `[${entries.map(([item, space]) => space + (typeof item === 'bigint' ? item : JSON.stringify(item)) + space).join(',')}]`
      const isLong = (item: bigint) => item > 2n ** 53n || item < -(2n ** 53n)
      const expected = entries.map(([item]) => (typeof item === 'bigint' && !isLong(item) ? Number(item) : item))
      assert.is(describe(parseJson(text)), describe(expected), text)
    }),
    { seed, numRuns: 4000 }
  )
})

test('stringifyCanonical() writes the same text as bson for values that bson supports', () => {
  const document = {
    int: 5,
    fraction: 1.5,
    nan: Number.NaN,
    zero: -0,
    long: 5n,
    date: new Date(1356351330501),
    id: new ObjectId('507f1f77bcf86cd799439011'),
    decimal: Decimal128.fromString('1.50'),
    regex: /a/i,
    time: new Timestamp({ t: 1, i: 2 }),
    min: new MinKey(),
    code: new Code('x', { a: 1 }),
    uuid: new UUID('00112233445566778899aabbccddeeff')
  }
  assert.is(stringifyCanonical(document), EJSON.stringify(document, { relaxed: false }))
  const dates = { a: new Date(0), b: new Date(1356351330501), c: new Date(-1), d: new Date(8.64e15), n: 1.5 }
  assert.is(stringifyRelaxed(dates), EJSON.stringify(dates, { relaxed: true }))
})

test('parseJson() parses many megabytes in linear time', () => {
  const long = `{"text":"${'\\"a,12345678901234567'.repeat(200_000)}","ids":[${'12345678901234567,'.repeat(100_000)}1]}`
  const started = cpuMilliseconds()
  const parsed = parseJson(long) as { ids: unknown[] }
  assert.is(parsed.ids.length, 100_001)
  assert.is(parsed.ids[99_999], 12345678901234567n)
  // It takes some 300 ms; quadratic time would be hours.
  assert.ok(cpuMilliseconds() - started < 5000)
})

test.run()
