/**
 * Dates and ObjectIds read from the bytes of their wrappers lead to the same rows, private rows and columns as those in
 * objects. Every other wrapper is refused.
 */
import { Decimal128, ObjectId } from 'bson'
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { parseJson, stringifyRelaxed } from '../../src/model/extended-json.ts'
import { type Document, Type } from '../../src/model/types.ts'
import { initialParameters } from '../../src/sharded-bloom/tune/segment-parameters.ts'
import { checkTuning } from '../../src/sharded-bloom/tune/tuning-options.ts'
import { generateTweets } from '../../src/workload/index.ts'
import { testSeed } from '../support/arbitraries.ts'
import { SegmentPair, SegmentTools, withPair } from '../support/scanned-segments.ts'

const seed = testSeed()
const tools = new SegmentTools(seed)
const initial = initialParameters(checkTuning({ rangeCodes: 'all' }))
const fingerprints = initialParameters(checkTuning({ rangeCodes: 'all', tail: 'fingerprint' }))
const encoder = new TextEncoder()

const dates = fc.oneof(
  fc.date({ noInvalidDate: true }),
  fc.integer({ min: 0, max: 5 }).map((day) => new Date(day * 86_400_000)),
  fc.constantFrom(0, 1, -1, 8.64e15, -8.64e15, 999, -999).map((time) => new Date(time))
)
const ids = fc.oneof(
  fc.uint8Array({ minLength: 12, maxLength: 12 }).map((bytes) => new ObjectId(bytes)),
  fc.integer({ min: 0, max: 5 }).map((i) => new ObjectId(`00112233445566778899aa0${i}`))
)
const scalars = fc.oneof(dates, ids, fc.constantFrom<unknown>(null, 1, 2.5, 'x', 'ü', '00112233445566778899aa01', true))
const keys = fc.constantFrom('a', 'b', 'at', 'ids', '_id', '')
const trees: fc.Arbitrary<Document> = fc.letrec<{ object: Document; value: unknown }>((tie) => ({
  object: fc.array(fc.tuple(keys, tie('value')), { maxLength: 5 }).map((entries) => Object.fromEntries(entries)),
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    { weight: 3, arbitrary: scalars },
    { weight: 1, arbitrary: tie('object') },
    { weight: 1, arbitrary: fc.array(fc.oneof(scalars, tie('object'), fc.array(scalars)), { maxLength: 4 }) }
  )
})).object

/** Tweets with dates and ObjectIds, as an application would have them. */
function dated(count: number): Document[] {
  return [...generateTweets({ count, seed })].map((tweet, i) => ({
    ...tweet,
    _id: new ObjectId(i * 7919),
    created_at: new Date(Date.UTC(2024, 0, 1) + i * 61_000),
    edited: i % 3 === 0 ? [new Date(i * 1e9), null] : null,
    user: { ...tweet.user, _id: new ObjectId(i % 17), since: new Date((i % 40) * 86_400_000) }
  }))
}

for (const [tail, parameters] of Object.entries({ bloom: initial, fingerprint: fingerprints })) {
  test(`documents with dates and ObjectIds anywhere have the same rows: ${tail}`, () => {
    const list = fc.sample(trees, { numRuns: 4000, seed })
    for (const each of [parameters, { ...tools.parametersFor(list.slice(0, 1000)), ...tailOf(parameters) }]) {
      withPair(tools, each, (pair) => {
        for (const document of list) pair.add(document)
        assert.ok(pair.handled > 2000, `${pair.handled} were scanned`)
        // The writing scanner is created for the first document, which may be scanned, if it is {}, but not written.
        assert.ok(pair.written >= pair.handled - 1, `${pair.written} were scanned while they were written`)
      })
    }
  })
}

function tailOf({ fingerprintBits }: typeof initial): Partial<typeof initial> {
  return fingerprintBits === undefined ? {} : { fingerprintBits }
}

test('nearly every tweet with dates is scanned, and its dates are columns', () => {
  const tweets = dated(6000)
  const parameters = tools.parametersFor(tweets.slice(0, 4096))
  const columns = parameters.columns.filter(({ type }) => type === Type.date).map(({ path }) => path)
  assert.ok(columns.includes('created_at'), `columns of dates: ${columns}`)
  withPair(tools, parameters, (pair) => {
    let handled = 0
    tweets.forEach((tweet, i) => {
      if (pair.add(tweet) && i >= 2000) handled++
    })
    assert.ok(handled > 3900, `${handled} of 4000 were scanned`)
    assert.ok(pair.written >= pair.handled)
    const at = pair.scanned.columns.find('created_at', Type.date)
    assert.ok(at !== undefined)
    assert.is(
      at?.outside.words(0, 65_536).every((word) => word === 0),
      true
    )
  })
})

test('private values are distinguished from others with the same number or the same digits', () => {
  const hex = '00112233445566778899aa01'
  const values = [new Date(1), 1, new ObjectId(hex), hex, new Date(0), null, false]
  const documents = values.map((v): Document => ({ v, w: [v, v] }))
  withPair(tools, tools.parametersFor(Array.from({ length: 40 }, () => documents).flat()), (pair) => {
    for (let i = 0; i < 3; i++) for (const document of documents) pair.add(document)
    assert.ok(pair.handled >= 14, `${pair.handled} were scanned`)
  })
})

test('a scanner that switches between segments scans the dates of each correctly', () => {
  const ingest = tools.ingest()
  const writing = tools.ingest()
  const some = dated(600)
  const others = fc.sample(trees, { numRuns: 600, seed: seed + 5 })
  // They have different private pairs, and columns in another order.
  const pairs = [tools.parametersFor(some), initial, tools.parametersFor([...others, ...some])].map(
    (parameters) => new SegmentPair(tools, ingest, parameters, writing)
  )
  for (let i = 0; i < 600; i++) {
    const turn = Math.floor(i / 50)
    pairs[turn % 3]!.add(some[i]!)
    pairs[(turn + 1) % 3]!.add(others[i]!)
  }
  for (const pair of pairs) {
    pair.assertEqual()
    assert.ok(pair.handled > 0)
    pair.free()
  }
  ingest.close()
  writing.close()
})

test('lines of Extended JSON have the rows of their documents, with both spellings of a date', () => {
  withPair(tools, initial, (pair) => {
    let told = 0
    for (const document of fc.sample(trees, { numRuns: 3000, seed: seed + 1 })) {
      const text = stringifyRelaxed(document)
      if (pair.addText(parseJson(text) as Document, encoder.encode(text), 'extended')) told++
    }
    assert.ok(told > 1500, `${told} were scanned`)
  })
})

test('the result of scanning a line says whether it is JSON, or has wrappers', () => {
  const ingest = tools.ingest()
  const segment = tools.open(initial)
  const add = (text: string, form: 'extended' | 'wrapped' | 'json'): unknown => {
    const document = (form === 'json' ? JSON.parse(text) : parseJson(text)) as Document
    const flat = tools.flattener.flatten(document)
    const bytes = encoder.encode(text)
    for (let i = 0; i < 2; i++) {
      const told = ingest.add(segment, bytes, 0, bytes.length, form)
      if (told !== false) return told
      segment.add(flat)
      ingest.learn(flat)
    }
    return false
  }
  assert.is(add('{"a":1}', 'extended'), 'json')
  assert.is(add('{"a":{"$date":"2024-05-06T07:08:09Z"}}', 'extended'), 'wrapped')
  assert.is(add('{"a":1}', 'extended'), 'json')
  assert.is(add('{"a":1,"b":{"$oid":"00112233445566778899aabb"}}', 'extended'), 'wrapped')
  assert.is(add('{"a":{"$date":"2024-05-06T07:08:09Z"}}', 'wrapped'), 'wrapped')
  assert.is(add('{"a":12345678901234567}', 'wrapped'), 'wrapped')
  assert.is(add('{"a":12345678901234567}', 'extended'), false)
  assert.is(add('{"a":{"$date":"2024-05-06T07:08:09Z"}}', 'json'), 'json')
  segment.free()
  ingest.close()
})

test('a date is refused, or read as parseJson() does', () => {
  const two = fc.integer({ min: 0, max: 99 }).map((n) => String(n).padStart(2, '0'))
  const near = (max: number): fc.Arbitrary<string> => fc.integer({ min: 0, max }).map((n) => String(n).padStart(2, '0'))
  const years = fc.oneof(
    fc.integer({ min: 0, max: 9999 }).map((n) => String(n).padStart(4, '0')),
    fc.constantFrom('1970', '1900', '2000', '2024', '1972', '0000', '9999')
  )
  const iso = fc
    .tuple(
      years,
      fc.oneof(near(13), two),
      near(32),
      near(25),
      near(61),
      near(61),
      fc.constantFrom('', '.000', '.123', '.9')
    )
    .map(([y, mo, d, h, mi, s, ms]) => `"${y}-${mo}-${d}T${h}:${mi}:${s}${ms}Z"`)
  const spoilt = fc.tuple(iso, fc.nat(25), fc.constantFrom('x', ' ', '+', '0', '')).map(([text, at, put]) => {
    return text.slice(0, at) + put + text.slice(at + 1)
  })
  const longs = fc
    .oneof(
      fc.bigInt({ min: -(10n ** 17n), max: 10n ** 17n }),
      fc.constantFrom(8640000000000000n, 8640000000000001n, -8640000000000001n)
    )
    .map((n) => `{"$numberLong":"${n}"}`)
  const others = fc.constantFrom(
    '5',
    '{"$numberLong":"05"}',
    '{"$numberLong":"+5"}',
    '{"$numberLong":"-"}',
    '{"$numberLong":"-0"}',
    '{"$numberLong":5}',
    '{"$numberInt":"5"}',
    'null',
    '{}'
  )
  let taken = 0
  withPair(tools, initial, (pair) => {
    for (const value of [new Date(0)]) for (let i = 0; i < 2; i++) pair.add({ at: value })
    const check = (value: string): void => {
      const text = `{"at":{"$date":${value}}}`
      const bytes = encoder.encode(text)
      let document: Document | undefined
      try {
        document = parseJson(text) as Document
      } catch {
        // The scanner must refuse it, too.
      }
      if (document === undefined)
        assert.is(pair.ingest.add(pair.scanned, bytes, 0, bytes.length, 'extended'), false, text)
      else if (pair.addText(document, bytes, 'extended')) taken++
    }
    for (const value of fc.sample(fc.oneof(iso, iso, spoilt, longs, others), { numRuns: 6000, seed })) check(value)
    // Every day of four years, and every 13th of a century.
    for (let day = 0; day < 36_525; day += day < 1500 ? 1 : 13) {
      const time = new Date(day * 86_400_000 + day)
      check(JSON.stringify(time))
      assert.is(pair.scanned.documents, pair.flattened.documents)
    }
  })
  assert.ok(taken > 3000, `${taken} were taken`)
})

test('values that only resemble wrappers of dates or ObjectIds are refused', () => {
  const hex = '00112233445566778899aabb'
  const refused = [
    `{"$oid":"${hex.toUpperCase()}"}`,
    `{"$oid":"${hex}0"}`,
    `{"$oid":"${hex.slice(1)}"}`,
    `{"$oid":"${hex}" }`,
    `{ "$oid":"${hex}"}`,
    `{"$oid": "${hex}"}`,
    `{"$oid":"${hex}","x":1}`,
    `{"$date":"2024-01-01T00:00:00Z","x":1}`,
    `{"$date":"2024-01-01T00:00:00Z" }`,
    `{"$date":"2024-01-01"}`,
    `{"$date":"2023-02-29T00:00:00Z"}`,
    `{"$date":"1900-02-29T00:00:00Z"}`,
    `{"$date":"2024-02-30T00:00:00Z"}`,
    `{"$date":"2024-04-31T00:00:00Z"}`,
    `{"$date":"2024-09-31T00:00:00Z"}`,
    `{"$date":"2024-11-31T00:00:00Z"}`,
    `{"$date":"2024-12-32T00:00:00Z"}`,
    `{"$date":"2024-12-00T00:00:00Z"}`,
    `{"$date":"2024-00-01T00:00:00Z"}`,
    `{"$date":"2024-13-01T00:00:00Z"}`,
    `{"$date":"2024-01-01T24:00:00Z"}`,
    `{"$date":"2024-01-01T00:00:00.12Z"}`,
    `{"$date":"2024-01-01T00:00:00+00:00"}`,
    `{"$date":{"$numberLong":"1","x":1}}`,
    `{"$date":{"$numberLong":"1"},"x":1}`,
    `{"$date":5}`,
    `{"$numberLong":"5"}`,
    `{"$numberDecimal":"5"}`,
    `{"$numberDouble":"NaN"}`,
    `{"$$date":1}`,
    `{"$x":1}`,
    `{"x":1,"$date":5}`,
    `{"$oid`,
    `{"$oid":"${hex}"`,
    `{"$date":"2024-01-01T00:00:00Z"`,
    `{"$date":{"$numberLong":"1"}`,
    '{"$'
  ]
  withPair(tools, initial, (pair) => {
    for (const value of [1, new Date(0), new ObjectId(hex), { x: 1 }])
      for (let i = 0; i < 2; i++) pair.add({ v: value })
    for (const value of refused) {
      const bytes = encoder.encode(`{"v":${value}}`)
      for (const form of ['extended', 'wrapped'] as const) {
        assert.is(pair.ingest.add(pair.scanned, bytes, 0, bytes.length, form), false, `${form}: ${value}`)
      }
    }
    // They leave nothing behind.
    pair.add({ v: new Date(0) })
    pair.add({ v: Decimal128.fromString('1.5'), w: new Date(1) })
  })
})

test('documents with changed bytes are refused, or read as they are parsed', () => {
  const originals = fc.sample(trees, { numRuns: 400, seed: seed + 2 }).map((document) => stringifyRelaxed(document))
  let state = seed | 1
  const below = (bound: number): number => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % bound
  }
  const tokens = Array.from('{}[]",:-.0123456789abcdefTZ$oidatenumbrLg ')
  let taken = 0
  withPair(tools, initial, (pair) => {
    for (const text of originals) pair.addText(parseJson(text) as Document, encoder.encode(text), 'extended')
    for (let round = 0; round < 40_000; round++) {
      const text = originals[below(originals.length)]!
      const at = below(text.length)
      const changed = text.slice(0, at) + tokens[below(tokens.length)]! + text.slice(at + below(2))
      const bytes = encoder.encode(`""${changed}""`)
      if (pair.addPart(bytes, 2, bytes.length - 4, below(2) === 0 ? 'extended' : 'wrapped')) taken++
    }
  })
  assert.ok(taken > 1000, `${taken} were taken`)
})

test.run()
