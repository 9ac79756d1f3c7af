/** The test of bytes never rules out a matching document, whatever else is in the buffer and in whatever order. */
import { BSONRegExp } from 'bson'
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { decodeRecord, encodeRecord } from '../../src/docstore/documents/record.ts'
import type { ByteTest } from '../../src/query/byte-prefilter.ts'
import { compileFilter } from '../../src/query/filter.ts'
import { isPlainJson } from '../../src/sharded-bloom/byte-scan/plain.ts'
import { adversarial, documents, filters, testSeed } from '../support/arbitraries.ts'

const seed = testSeed()

const words = ['thor', 'ab', 'Thor', 'é', '日本', '"', '\\', '/', 'a"b', 'th\u{1f600}or', '\ud800', 'abab', '']
const text = fc.array(fc.constantFrom(...words), { maxLength: 3 }).map((parts) => parts.join(''))
const pattern = fc
  .tuple(
    fc.constantFrom(
      'thor',
      'th.or',
      'tho?r',
      'ab+a',
      'ab*',
      '^ab',
      'r$',
      'a|th',
      '(ab)',
      'é',
      '[t]hor',
      '日+',
      'th??or'
    ),
    fc.constantFrom('', 'i', 'u', 's', 'm')
  )
  .map(([source, flags]) => new RegExp(source, flags))
const condition = fc.oneof(
  text,
  pattern,
  fc.record({ $in: fc.array(fc.oneof(text, pattern, fc.constant(null)), { maxLength: 3 }) }),
  fc.record({ $ne: text })
)
const textFilters = fc.oneof(
  fc.record({ s: condition }),
  fc.record({ s: condition, 't.u': condition }),
  fc.record({ $or: fc.array(fc.record({ s: condition }), { minLength: 1, maxLength: 3 }) })
)
const textDocuments = fc.record({
  s: fc.oneof(text, fc.array(text, { maxLength: 2 }), fc.constant(new Date(0))),
  t: fc.record({ u: text })
})

/** Escapes some characters, as imported lines may. */
function escaped(record: string): string {
  return record.replace(/th|ab|\//g, (found) =>
    found === '/' ? '\\/' : `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}${found.slice(1)}`
  )
}

let ruledOut = 0

function check(filter: object, records: readonly string[]): void {
  const { matches, byteTest } = compileFilter(filter)
  if (byteTest === undefined) return
  const places: { readonly start: number; readonly end: number; readonly isMatch: boolean }[] = []
  const parts: Buffer[] = []
  let end = 0
  for (const record of records) {
    const part = Buffer.from(record)
    places.push({ start: end, end: end + part.length, isMatch: matches(decodeRecord(record)) })
    // Bytes between records must be ignored.
    parts.push(part, Buffer.from('thor'))
    end += part.length + 4
  }
  const own = Buffer.concat(parts)
  const shared = new Uint8Array(new SharedArrayBuffer(own.length))
  shared.set(own)
  // Two views of the same memory; the first one is filled later.
  const memory = new Uint8Array(2 * own.length + 7)
  const [front, back] = [memory.subarray(0, own.length), memory.subarray(own.length + 7)]
  back.set(own)
  const ask = (test: ByteTest, bytes: Uint8Array, { start, end, isMatch }: (typeof places)[number]): void => {
    const may = test.mayMatch(bytes, start, end)
    assert.ok(may || !isMatch, `ruled out, but matches: ${own.toString('utf8', start, end)}`)
    if (!may) ruledOut++
  }
  for (const order of [places, [...places].reverse(), [...places, ...places]]) {
    const test = byteTest()
    for (const bytes of [own, shared, front, back]) {
      if (bytes === back) front.fill(0)
      for (const place of order) {
        // Records of a block appear when it is decompressed, after those of previous blocks were tested.
        if (bytes === front) front.set(own.subarray(place.start, place.end), place.start)
        ask(test, bytes, place)
      }
    }
  }
  // The other contents of a block never change the answer for a record.
  for (const perBlock of [1, 2, 3, places.length]) {
    const [alone, inBlocks] = [byteTest(), byteTest()]
    for (let first = 0; first < places.length; first += perBlock) {
      const inBlock = places.slice(first, first + perBlock)
      const block = { bytes: own, start: inBlock[0]!.start, entriesEnd: inBlock.at(-1)!.end, marks: 0 }
      for (const { start, end } of [...inBlock, ...inBlock.reverse()]) {
        assert.is(inBlocks.mayMatch(own, start, end, block), alone.mayMatch(own, start, end))
      }
      const isMatchInside = inBlock.some(({ isMatch }) => isMatch)
      for (const test of [inBlocks, alone]) {
        assert.ok(test.mayHold(block) || !isMatchInside, 'a block with a match may hold one')
        // Another object with the same bytes is searched again, with or without marks.
        assert.is(test.mayHold({ ...block }), test.mayHold(block))
        assert.is(test.mayHold({ ...block, marks: 0 }), test.mayHold(block))
      }
      // A record of a memtable, without a block, comes in between.
      const { start, end } = places[0]!
      assert.is(inBlocks.mayMatch(own, start, end), alone.mayMatch(own, start, end))
    }
  }
}

test('no match is ruled out: words, escapes, other scripts, wrapped records', () => {
  fc.assert(
    fc.property(textFilters, fc.array(textDocuments, { maxLength: 6 }), (filter, list) => {
      const records = list.map((document) => encodeRecord(document, isPlainJson(document)))
      check(filter, [...records, ...records.map(escaped)])
    }),
    { seed, numRuns: 5000 }
  )
  console.log(`seed ${seed}: ${ruledOut} ruled out`)
  assert.ok(ruledOut > 1000)
})

test('no match is ruled out: adversarial documents and filters', () => {
  const cases = fc.tuple(filters(adversarial, 2), fc.array(documents(adversarial), { minLength: 4, maxLength: 4 }))
  fc.assert(
    fc.property(cases, ([filter, list]) => {
      check(
        filter,
        list.map((document) => encodeRecord(document, isPlainJson(document)))
      )
    }),
    { seed, numRuns: 3000 }
  )
})

test('a stored pattern is found by an equal one, even if its x option ignores white space', () => {
  const patterns = [
    new BSONRegExp('ab cd', 'x'),
    new BSONRegExp('(?x)ab cd', ''),
    new BSONRegExp('abcd # thor', 'x'),
    new BSONRegExp('thor', ''),
    /thor/,
    /th.or/s
  ]
  const records = patterns.map((s) => encodeRecord({ _id: 1, s }, false))
  for (const pattern of patterns) {
    for (const filter of [{ s: pattern }, { s: { $in: [pattern, 'x'] } }]) check(filter, records)
  }
})

test('filters that imply no literal have no test of bytes', () => {
  for (const filter of [
    { a: /thor/i },
    { a: /a|b/ },
    { a: 1 },
    { a: null },
    { a: { $ne: 'x' } },
    { a: { $gt: 'x' } }
  ]) {
    assert.is(compileFilter(filter).byteTest, undefined)
  }
})

test('a block is searched once for all its records, and by later filters only for the word', () => {
  const record = '{"_id":1,"s":"odin"}'
  const count = 50
  const bytes = Buffer.from(record.repeat(count))
  let searches = 0
  const block = {
    get bytes() {
      searches++
      return bytes
    },
    start: 0,
    entriesEnd: bytes.length,
    marks: 0
  }
  const ask = (word: RegExp): number => {
    searches = 0
    const byteTest = compileFilter({ s: word }).byteTest?.()
    assert.ok(byteTest)
    for (let i = 0; i < count; i++) {
      assert.not(byteTest.mayMatch(bytes, i * record.length, (i + 1) * record.length, block))
      assert.not(byteTest.mayHold(block))
    }
    return searches
  }
  // For the word, and for an escape.
  assert.is(ask(/thor/), 2)
  assert.is(ask(/loki/), 1)
})

test.run()
