import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type ValueLayout, ValueSplitter } from '../../src/cli/value-splitter.ts'
import { PetalError } from '../../src/model/errors.ts'
import { seedOfRun } from '../support/values.ts'

const seed = seedOfRun()
const runs = { seed, numRuns: 2000 }

/** Splits a text that arrives in pieces. @returns the complete lines, and the error if it failed */
function split(layout: ValueLayout, text: string | Uint8Array, pieceBytes = 7): { lines: string[]; failure?: unknown } {
  const bytes = Buffer.from(text as string)
  const splitter = new ValueSplitter(layout, 'x.json')
  let lines = ''
  try {
    for (let at = 0; at < bytes.length; at += pieceBytes) {
      lines += splitter.push(bytes.subarray(at, at + pieceBytes)).toString('latin1')
    }
    lines += Buffer.from(splitter.rest()).toString('latin1')
    splitter.end()
  } catch (failure) {
    return { lines: whole(lines), failure }
  }
  assert.ok(lines === '' || lines.endsWith('\n'), 'a last line that is not ended')
  return { lines: whole(lines) }
}

/** The lines that end with a line feed. */
function whole(latin1: string): string[] {
  const lines = latin1.split('\n')
  lines.pop()
  return lines.map((line) => Buffer.from(line, 'latin1').toString())
}

const text = fc.constantFrom('', 'a b', '\\', '"', ']', '}{', ',', '\n', 'é', '日本', '\\"', '[{"a":1},')
const scalar = fc.oneof(text, fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean())
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar,
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(text, tie('value'), { maxKeys: 3, noNullPrototype: true })
  )
}))
const document = fc.dictionary(text, value, { maxKeys: 4, noNullPrototype: true })
const indent = fc.constantFrom(0, 1, 2, '\t', ' \t ')
const piece = fc.integer({ min: 1, max: 20 })
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

test('each element of an array becomes a line without white space', () => {
  fc.assert(
    fc.property(fc.array(value, { maxLength: 5 }), indent, piece, (values, space, bytes) => {
      const { lines, failure } = split('array', JSON.stringify(values, null, space), bytes)
      assert.is(failure, undefined)
      assert.equal(
        lines,
        values.map((each) => JSON.stringify(each))
      )
    }),
    runs
  )
})

test('each of several consecutive documents becomes a line', () => {
  const between = fc.constantFrom('', ' ', '\n', '\r\n\r\n', '\t')
  fc.assert(
    fc.property(fc.array(document, { maxLength: 5 }), indent, between, piece, (documents, space, gap, bytes) => {
      const spelt = documents.map((each) => JSON.stringify(each, null, space)).join(gap)
      const { lines, failure } = split('documents', `${gap}${spelt}${gap}`, bytes)
      assert.is(failure, undefined)
      assert.equal(
        lines,
        documents.map((each) => JSON.stringify(each))
      )
    }),
    runs
  )
})

/** The result of JSON.parse; undefined when it refuses the text. */
function parsed(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

test('a damaged array yields the elements that JSON.parse() finds, or fails, or yields a line that fails', () => {
  const damage = fc.record({
    at: fc.nat(200),
    removed: fc.nat(2),
    put: fc.constantFrom('', '"', ',', ']', '[', '}', '{', ':', ' ', '\n', '\\', '1', 'true', '\u000b', '\u0000', '1 2')
  })
  let accepted = 0
  fc.assert(
    fc.property(fc.array(value, { maxLength: 4 }), indent, fc.array(damage, { maxLength: 2 }), (values, space, all) => {
      let text = JSON.stringify(values, null, space)
      for (const { at, removed, put } of all) {
        const place = at % (text.length + 1)
        text = text.slice(0, place) + put + text.slice(place + removed)
      }
      const { lines, failure } = split('array', text)
      const expected = parsed(text)
      if (Array.isArray(expected?.value)) {
        accepted++
        assert.is(failure, undefined, text)
        assert.equal(plain(lines.map((line) => JSON.parse(line))), plain(expected.value))
      } else {
        assert.ok(failure !== undefined || lines.some((line) => parsed(line) === undefined), JSON.stringify(text))
      }
    }),
    { ...runs, numRuns: 20_000 }
  )
  assert.ok(accepted > 1000, `${accepted} were arrays`)
})

function failureOf(layout: ValueLayout, text: string): { message: string; offset: unknown; lines: readonly string[] } {
  const { lines, failure } = split(layout, text, 100)
  if (!(failure instanceof PetalError)) throw new Error(`no failure: ${JSON.stringify(text)}`)
  assert.is(failure.codeName, 'FailedToParse')
  assert.is(failure.details.file, 'x.json')
  return { message: failure.message, offset: failure.details.offset, lines }
}

test('a failure reports its offset and loses no value before it', () => {
  const cases: [ValueLayout, string, string, number, string[]][] = [
    ['array', '', 'the array is not closed', 0, []],
    ['array', '[{"a":1},', 'the array is not closed', 9, ['{"a":1}']],
    ['array', '[{"a":1}', 'the array is not closed', 8, ['{"a":1}']],
    ['array', '[{"a":1},{"b":2} \n', 'the array is not closed', 18, ['{"a":1}', '{"b":2}']],
    ['array', '[{"a":1},{"b":', 'element 2 is not closed', 9, ['{"a":1}']],
    ['array', '[1, 2', 'element 2 is not closed', 4, ['1']],
    ['array', '[{"a":1}, ]', 'an element is missing', 10, ['{"a":1}']],
    ['array', '[{"a":1},,{"b":2}]', 'an element is missing', 9, ['{"a":1}']],
    ['array', '[,]', 'an element is missing', 1, []],
    ['array', '[{"a":1}]{}', 'unexpected data after the end of the array', 9, ['{"a":1}']],
    ['array', '[{"a":1}},{}]', 'unmatched closing bracket', 8, []],
    ['documents', '{"a":1}\n[2]', 'expected a document', 8, ['{"a":1}']],
    ['documents', '{"a":1}\n{"b":{}', 'document 2 is not closed', 8, ['{"a":1}']]
  ]
  for (const [layout, text, problem, offset, lines] of cases) {
    assert.equal(failureOf(layout, text), { message: `x.json: ${problem}, at byte ${offset}`, offset, lines }, text)
  }
  assert.equal(split('array', ' [ ] '), { lines: [] })
  assert.equal(split('documents', ' \n'), { lines: [] })
})

test('an array that is cut off anywhere loses no complete document', () => {
  fc.assert(
    fc.property(
      fc.array(document, { minLength: 1, maxLength: 4 }),
      indent,
      fc.nat(400),
      piece,
      (documents, space, at, bytes) => {
        const spelt = JSON.stringify(documents, null, space)
        const cut = at % spelt.length
        const { lines, failure } = split('array', spelt.slice(0, cut), bytes)
        assert.instance(failure, PetalError)
        const before = documents.filter((_, i) => {
          const upToIt = JSON.stringify(documents.slice(0, i + 1), null, space)
          return upToIt.slice(0, upToIt.lastIndexOf('}') + 1).length <= cut
        })
        assert.equal(
          lines,
          before.map((each) => JSON.stringify(each))
        )
      }
    ),
    runs
  )
})

test('white space within numbers and words is kept', () => {
  assert.equal(split('array', '[{"a" : 1 2}, 1 , tr ue]').lines, ['{"a":1 2}', '1', 'tr ue'])
})

test('characters that are white space only outside JSON are not dropped', () => {
  const { lines } = split('array', '[{"a":1},\u000b,{"b":\u000c2}]')
  assert.equal(lines, ['{"a":1}', '\u0000', '{"b":\u00002}'])
})

test('a line feed within a string makes its line invalid, and no others', () => {
  const { lines } = split('array', '[{"a":"1\n2"},{"b":"\\\n"},{"c":3}]')
  assert.is(lines.length, 3)
  assert.equal(
    lines.map((line) => parsed(line)?.value),
    [undefined, undefined, { c: 3 }]
  )
})

test.run()
