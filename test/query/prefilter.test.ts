/** The pre-filter never rules out a matching document, and rules out most others. */
import { BSONRegExp, Decimal128, Long, ObjectId } from 'bson'
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { decodeRecord, encodeRecord } from '../../src/docstore/documents/record.ts'
import { Confirmer } from '../../src/docstore/read/confirmer.ts'
import { Meter } from '../../src/docstore/read/meter.ts'
import type { Document } from '../../src/model/types.ts'
import { compileFilter } from '../../src/query/filter.ts'
import { isPlainJson } from '../../src/sharded-bloom/byte-scan/plain.ts'
import { generateTweets } from '../../src/workload/index.ts'
import {
  adversarial,
  documents,
  type FilterObject,
  filters,
  type Profile,
  plain,
  testSeed
} from '../support/arbitraries.ts'
import { anyKey, anyString, double } from '../support/values.ts'

const seed = testSeed()

/** Returns undefined if the filter has no pre-filter. */
function mayMatch(filter: unknown, document: Document): boolean | undefined {
  return compileFilter(filter).prefilter?.(encodeRecord(document, isPlainJson(document)))
}

interface Tally {
  pairs: number
  judged: number
  matches: number
  ruledOut: number
  others: number
}

/** Asserts that documents that are ruled out do not match. */
function check(filter: FilterObject, list: readonly Document[], tally: Tally): void {
  const { matches, prefilter } = compileFilter(filter)
  for (const document of list) {
    tally.pairs++
    if (prefilter === undefined) continue
    const isPlain = isPlainJson(document)
    const record = encodeRecord(document, isPlain)
    const isMatch = matches(decodeRecord(record))
    const passes = prefilter(record)
    assert.ok(passes || !isMatch, `ruled out, but matches: ${record}`)
    tally.judged++
    if (isMatch) tally.matches++
    else if (isPlain) tally.others++
    if (!passes) tally.ruledOut++
  }
}

function checkAll(cases: fc.Arbitrary<readonly [FilterObject, readonly Document[]]>, numRuns: number): Tally {
  const tally: Tally = { pairs: 0, judged: 0, matches: 0, ruledOut: 0, others: 0 }
  fc.assert(
    fc.property(cases, ([filter, list]) => check(filter, list, tally)),
    { seed, numRuns }
  )
  console.log(
    `seed ${seed}: ${tally.pairs} pairs, ${tally.judged} judged, ${tally.matches} match, ` +
      `${tally.ruledOut} ruled out of ${tally.others} plain ones that do not`
  )
  return tally
}

function ofProfile(profile: Profile): fc.Arbitrary<readonly [FilterObject, readonly Document[]]> {
  return fc.tuple(filters(profile, 2), fc.array(documents(profile), { minLength: 6, maxLength: 6 }))
}

test('no match is ruled out: adversarial documents and filters', () => {
  const tally = checkAll(ofProfile(adversarial), 25_000)
  assert.ok(tally.judged > 20_000)
})

test('no match is ruled out: plain documents and filters', () => {
  const tally = checkAll(ofProfile(plain), 25_000)
  assert.ok(tally.judged > 20_000)
})

// Few keys and values, so that filters often match, each awkward to find in a text.
const awkward = [
  ...['a', 'k', 'k"', '"k', 'k\\', '\\', '":', ':1,', ':', ',', '{', 'é', '😀', '\ud83d', '\ude00', '\u2028', '\n'],
  ...['"k":1', '\\"k\\":', 'k":', '\u007f', '$date', '_id', 'toJSON']
]
const keys = fc.oneof(fc.constantFrom(...awkward), anyKey)
const leaves = fc.oneof(
  fc.constantFrom<unknown>(...awkward, 0, 1, -1, 1.5, 1e21, 1e-7, true, false, null),
  anyString,
  double
)
const field = fc.oneof(
  { weight: 5, arbitrary: leaves },
  { weight: 1, arbitrary: fc.array(leaves, { maxLength: 2 }) },
  { weight: 2, arbitrary: fc.array(fc.tuple(keys, leaves), { maxLength: 3 }).map(Object.fromEntries) },
  {
    weight: 1,
    arbitrary: fc.array(fc.array(fc.tuple(keys, leaves), { maxLength: 2 }).map(Object.fromEntries), { maxLength: 2 })
  }
)
const awkwardDocuments = fc
  .array(fc.tuple(keys, field), { minLength: 1, maxLength: 4 })
  .map((entries): Document => Object.fromEntries(entries))

/** A filter with a condition on a path of the document, with its value or another one. */
function aimedAt(list: fc.Arbitrary<Document>): fc.Arbitrary<readonly [FilterObject, readonly Document[]]> {
  return fc.tuple(list, fc.nat(), fc.nat(), fc.nat(), leaves).map(([document, pick, operator, own, other]) => {
    const found = pathsOf(document, '').filter(([path]) => !path.startsWith('$'))
    const [path, value] = found[pick % Math.max(1, found.length)] ?? ['a', 1]
    const isLeaf = typeof value !== 'object' || value === null
    return [{ [path]: condition(operator, isLeaf && own % 3 > 0 ? value : other) }, [document]]
  })
}

function condition(operator: number, value: unknown): unknown {
  const remainder = typeof value === 'number' && Number.isFinite(value) ? Math.trunc(value % 3) : 1
  switch (operator % 8) {
    case 0:
      return { $eq: value }
    case 1:
      return { $in: ['none', value] }
    case 2:
      return { $gte: value }
    case 3:
      return { $lt: value }
    case 4:
      return { $in: [1, /k/] }
    case 5:
      return { $mod: [3, remainder] }
    case 6:
      return { $bitsAnyClear: 5 }
    default:
      return typeof value === 'string' ? { $regex: escaped(value) } : /["\\k]/
  }
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&').replaceAll('\0', '\\x00')
}

function pathsOf(value: unknown, prefix: string): (readonly [path: string, value: unknown])[] {
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) return value.flatMap((element) => pathsOf(element, prefix))
  return Object.entries(value).flatMap(([key, inner]) => {
    const path = prefix + key
    const here = Array.isArray(inner) ? inner.map((element: unknown) => [path, element] as const) : []
    return [[path, inner] as const, ...here, ...pathsOf(inner, `${path}.`)]
  })
}

test('no match is ruled out: keys and texts full of quotes, backslashes and surrogates', () => {
  const tally = checkAll(aimedAt(awkwardDocuments), 60_000)
  assert.ok(tally.judged > 25_000)
  assert.ok(tally.matches > 5000, 'filters that match')
  assert.ok(tally.ruledOut > 3000)
})

test('no match is ruled out: conditions on paths and values of adversarial documents', () => {
  const tally = checkAll(aimedAt(fc.oneof(documents(adversarial), documents(plain))), 40_000)
  assert.ok(tally.judged > 10_000)
  assert.ok(tally.matches > 2000, 'filters that match')
})

test('no match is ruled out of generated tweets, and nearly all others are', () => {
  const tweets = [...generateTweets({ count: 1500, seed })]
  const sample = tweets[seed % tweets.length] as (typeof tweets)[number]
  const asked: FilterObject[] = [
    { text: /ab/ },
    { text: { $regex: sample.text.slice(0, 4).replace(/\W/g, '.'), $options: 'i' } },
    { 'user.followers_count': { $gt: sample.user.followers_count } },
    { 'user.followers_count': { $gte: 100, $lt: 1000 } },
    { retweet_count: { $gte: 10 } },
    { timestamp_ms: { $gte: sample.timestamp_ms } },
    { 'user.screen_name': sample.user.screen_name },
    { 'place.country_code': { $in: ['DE', 'JP'] } },
    { $or: [{ lang: 'en' }, { favorite_count: { $lt: 3 } }] },
    { 'entities.hashtags.text': { $gte: 'm' } },
    { 'user.verified': true, source: { $ne: 'Car' } },
    { favorite_count: { $mod: [7, 3] } }
  ]
  const tally: Tally = { pairs: 0, judged: 0, matches: 0, ruledOut: 0, others: 0 }
  for (const filter of asked) check(filter, tweets, tally)
  assert.is(tally.judged, asked.length * tweets.length)
  assert.ok(tally.matches > 1000)
  assert.ok(tally.ruledOut > 0.9 * tally.others, `${tally.ruledOut} of ${tally.others}`)
})

test('conditions on numbers, strings and patterns are decided from the text', () => {
  const document = { _id: 1, n: -1.5e-7, s: 'a\n"b"\\', t: 'abc' }
  assert.is(mayMatch({ n: { $lt: 0 } }, document), true)
  assert.is(mayMatch({ n: { $lt: -1 } }, document), false)
  assert.is(mayMatch({ n: -1.5e-7 }, document), true)
  assert.is(mayMatch({ n: { $lt: 'x' } }, document), false, 'ranges compare within a type')
  assert.is(mayMatch({ s: 'a\n"b"\\' }, document), true)
  assert.is(mayMatch({ s: /\n"b"\\$/ }, document), true)
  assert.is(mayMatch({ s: /n"/ }, document), false, 'escapes are undone')
  assert.is(mayMatch({ t: /^b/ }, document), false)
  assert.is(mayMatch({ t: { $in: ['ab', /c$/] } }, document), true)
  assert.is(mayMatch({ missing: { $gt: 0 } }, document), false)
})

test('strings compare by code point', () => {
  assert.is(mayMatch({ s: { $gt: '\uffee' } }, { s: '\u{1f600}' }), true)
  assert.is(mayMatch({ s: { $lt: '\uffee' } }, { s: '\u{1f600}' }), false)
  assert.is(mayMatch({ s: '\ud83d' }, { s: '\ud83d' }), true, 'a lone surrogate, escaped in the text')
  assert.is(mayMatch({ '\ud83d': 1 }, { '\ud83d': 1 }), true, 'as a key')
})

test('the same key on another path may pass, and does not hide the right one', () => {
  assert.is(mayMatch({ 'a.k': 2 }, { k: 1, a: { k: 2 } }), true)
  assert.is(mayMatch({ 'a.k': 2 }, { a: { k: 1 }, b: { k: 2 } }), true, 'the path is left to the matcher')
  assert.is(mayMatch({ 'a.k': 2 }, { a: { k: { k: 2 } } }), true)
  assert.is(mayMatch({ 'a.k': 3 }, { k: 1, a: { k: 2 } }), false)
})

test('a key found where there is none does not hide the real one', () => {
  const document = { b: 1, ':1,': 2 }
  assert.is(JSON.stringify(document).indexOf('":1,":'), 3, 'the first occurrence begins with the quote that ends "b"')
  assert.is(mayMatch({ ':1,': 2 }, document), true)
  assert.is(mayMatch({ ':1,': 3 }, document), false)
})

test('a key inside a text is not a key', () => {
  for (const text of ['"k":1', '\\"k":1', ',"k":1,', '"k\\":1']) {
    assert.is(mayMatch({ k: 1 }, { text }), false, text)
    assert.is(mayMatch({ k: 1 }, { text, k: 1 }), true, text)
  }
})

test('keys with quotes and backslashes are found as JSON escapes them', () => {
  for (const key of ['k"', '"', '\\', 'k\\', '\\"', '\n', '":']) {
    assert.is(mayMatch({ [key]: 'v' }, { x: 'y', [key]: 'v' }), true, key)
    assert.is(mayMatch({ [key]: 'w' }, { x: 'y', [key]: 'v' }), false, key)
  }
})

test('arrays are left to the matcher', () => {
  assert.is(mayMatch({ a: { $gt: 5 } }, { a: [1, 2] }), true)
  assert.is(mayMatch({ 'a.b': { $gt: 5 } }, { a: [{ b: 1 }, { b: 9 }] }), true)
  assert.is(mayMatch({ 'a.b': { $gt: 5 } }, { a: [{ b: 1 }, { b: 2 }] }), false)
  // Different elements may satisfy the two conditions.
  assert.is(mayMatch({ 'a.b': { $gt: 5, $lt: 2 } }, { a: [{ b: 1 }, { b: 9 }] }), true)
})

test('conditions that missing fields may satisfy, or that test no string or number, have no pre-filter', () => {
  const filters: FilterObject[] = [
    {},
    { a: null },
    { a: { $ne: 1 } },
    { a: { $not: { $gt: 1 } } },
    { a: { $exists: true } },
    { a: { $exists: false } },
    { a: { $in: [1, null] } },
    { a: { $lte: null } },
    { a: { $type: 'string' } },
    { a: { $elemMatch: { $gt: 1 } } },
    { a: { b: 1 } },
    { a: [1] },
    { a: new ObjectId() },
    { a: { $gt: new Date() } },
    { 'a.0': 1 },
    { 'a.0.b': 1 },
    { '': 1 },
    { 'a.': 1 },
    { $nor: [{ a: 1 }] },
    { $or: [{ a: 1 }, { b: null }] },
    { $where: () => true }
  ]
  for (const filter of filters) assert.is(compileFilter(filter).prefilter, undefined, Object.keys(filter)[0] ?? '{}')
  assert.type(compileFilter({ a: 1, b: null }).prefilter, 'function', 'one conjunct is enough')
})

test('equal numbers of other kinds in the filter are compared as by the matcher', () => {
  for (const value of [1n, Long.fromNumber(1), Decimal128.fromString('1.0')]) {
    assert.is(mayMatch({ a: value }, { a: 1 }), true)
    assert.is(mayMatch({ a: { $gte: value } }, { a: 1 }), true)
    assert.is(mayMatch({ a: { $gt: value } }, { a: 1 }), false)
  }
  assert.is(mayMatch({ a: new BSONRegExp('B', 'i') }, { a: 'abc' }), true)
})

test('in records with wrappers, wrapped numbers may pass, and so may keys that begin with $', () => {
  const at = new Date(0)
  assert.is(mayMatch({ n: 5 }, { n: 5n, at }), true)
  assert.is(mayMatch({ n: 7 }, { n: 5n, at }), true)
  assert.is(mayMatch({ n: 7 }, { n: 5, at }), false)
  assert.is(mayMatch({ n: 5 }, { n: 5, at }), true)
  assert.is(mayMatch({ at: 5 }, { at }), false)
  assert.is(mayMatch({ id: 5 }, { id: new ObjectId() }), false)
  assert.is(mayMatch({ n: 5 }, { n: Decimal128.fromString('5'), at }), true)
  assert.is(mayMatch({ p: /x/ }, { p: /x/, at }), true)
  assert.is(mayMatch({ 'a.$date': 5 }, { a: { $date: 5 }, at }), true)
  assert.is(mayMatch({ t: 'x' }, { t: 'y', at }), false)
})

test('white space around a colon, as in imported lines, hides nothing', () => {
  const { prefilter } = compileFilter({ 'a.n': { $gt: 5 } })
  for (const [before, behind] of [
    ['', ' '],
    [' ', ' '],
    ['\t \r\n', '  '],
    [' ', '']
  ]) {
    for (const mark of ['', '\u0001']) {
      const text = (n: number): string => `${mark}{"_id"${before}:${behind}1,"a":{"n"${before}:${behind}${n}}}`
      assert.is(prefilter?.(text(6)), true)
      assert.is(prefilter?.(text(4)), false)
    }
  }
  assert.is(prefilter?.('{"t":"n" , "n"   :7}'), true)
  assert.is(prefilter?.('{"t":"n" , "m":7}'), false)
})

test('records whose _id is an ObjectId can be ruled out', () => {
  const document = { _id: new ObjectId('65a1b2c3d4e5f60718293a4b'), n: 5 }
  assert.is(mayMatch({ n: 7 }, document), false)
  assert.is(mayMatch({ n: 5 }, document), true)
})

test('a truncated text is not ruled out, so that decoding it reports the damage', () => {
  const { prefilter } = compileFilter({ s: 'x' })
  const record = encodeRecord({ _id: 1, s: 'a\\b', n: 5 }, true)
  for (let length = 0; length < record.length; length++) assert.is(prefilter?.(record.slice(0, length)), true)
  for (const text of ['{"s":"}', '{"s":"\\}', '{"s":}', '\u0003{}']) assert.is(prefilter?.(text), true, text)
})

test('a global or sticky pattern keeps no state between documents', () => {
  const { prefilter } = compileFilter({ s: /a/gy })
  for (let i = 0; i < 3; i++) assert.is(prefilter?.('{"s":"a"}'), true)
})

test('documents that are ruled out count as fetched and tested, and are not passed to the matcher', () => {
  const { matches, prefilter } = compileFilter({ 'a.n': { $gt: 1 } })
  const meter = new Meter()
  const seen: unknown[] = []
  const matcher = (document: Document): boolean => {
    seen.push(document._id)
    return matches(document)
  }
  const confirmer = new Confirmer({ matches: matcher, prefilter, hasCallback: false }, meter, Number.POSITIVE_INFINITY)
  const list: readonly Document[] = [
    { _id: 0, a: { n: 1 } },
    { _id: 1, a: { n: 2 } },
    { _id: 2, n: 2 },
    { _id: 3, a: { n: 'x' } }
  ]
  for (const document of list) confirmer.offer(document._id as number, encodeRecord(document, true), false)
  confirmer.offer(4, encodeRecord({ _id: 4 }, true), true)
  assert.equal(seen, [1, 2])
  assert.equal(
    confirmer.take().map(({ ordinal }) => ordinal),
    [1, 4],
    'what is certain is not tested'
  )
  assert.is(meter.documentsFetched, 5)
  assert.is(meter.tested, 4)
  assert.is(meter.falsePositives, 3)
})

test.run()
