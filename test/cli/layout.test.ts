/** layoutOf() detects how documents are laid out in a file from its first bytes, even if the first line is damaged. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Layout, layoutOf } from '../../src/cli/layout.ts'

/** The layout of a text, and the number of bytes needed to detect it. */
function told(text: string): [layout: Layout | undefined, bytes: number] {
  const bytes = Buffer.from(text)
  let seen = 0
  while (seen < bytes.length && layoutOf(bytes.subarray(0, seen), false) === undefined) seen++
  const early = layoutOf(bytes.subarray(0, seen), seen === bytes.length)
  assert.is(layoutOf(bytes, true), early, text)
  return [early, seen]
}

const layouts: Readonly<Record<Layout, readonly string[]>> = {
  lines: [
    '',
    '\n \n',
    '\ufeff',
    '{"a":1}',
    '{"a":1}\n{"a":2}',
    '\ufeff\r\n{"a":1}\r\n{"a":2}\r\n',
    'nonsense\n[1]\n',
    '"text"\n',
    // The first line is damaged.
    '{\n{"a":1}\n',
    '{ \t\r\n{"a":1}\n',
    '{"a":1,\n{"a":2}\n',
    '{"a":1\n{"a":2}\n',
    '{"a":"x\n{"a":2}\n',
    '{"a":1}}\n{"a":2}\n',
    '{"a":',
    '[1,2]\n{"a":1}\n',
    '[{"a":1}]\n[{"a":2}]\n'
  ],
  array: [
    '[',
    '[]',
    '[\n',
    '[\n]',
    '[]\n',
    '[{"a":1}]',
    '[{"a":1}]\n\n',
    '\ufeff [\n{"a":1},\n{"a":2}]',
    '[1,\n2]',
    '[{"a":1}\n'
  ],
  documents: [
    '{\n"a": 1\n}',
    '{\n}\n{\n}',
    '{"a": 1,\n "b": 2\n}\n',
    '{"a": 1\n, "b": 2}',
    '{"a": 1\n}',
    '{"a": "}"\n}',
    '{"a": {"b": [\n{"c": 1}]}}',
    '{"a": {"b":\n{"c": 1}}}',
    '{"a": [1,\r\n2]}'
  ]
}

for (const [layout, texts] of Object.entries(layouts)) {
  test(`layoutOf() detects: ${layout}`, () => {
    for (const text of texts) assert.is(told(text)[0], layout, JSON.stringify(text))
  })
}

test('a first line that is a document, or not JSON, is decisive at once', () => {
  assert.equal(told('{"a":1}\n{"a":2}\n'), ['lines', 8])
  assert.equal(told('nonsense'), ['lines', 1])
})

test('a text whose first line is too long is taken for an array if it starts with [, otherwise for lines', () => {
  const long = 'x'.repeat(100_000)
  assert.is(layoutOf(Buffer.from(`[{"a":"${long}`), false), 'array')
  assert.is(layoutOf(Buffer.from(`{"a":"${long}`), false), 'lines')
  assert.is(layoutOf(Buffer.from(' '.repeat(100_000)), false), 'lines')
})

test.run()
