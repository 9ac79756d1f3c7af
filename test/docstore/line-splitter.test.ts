import { isUtf8 } from 'node:buffer'
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Line, LineSplitter } from '../../src/docstore/import/line-splitter.ts'
import { seedOfRun } from '../support/values.ts'

const seed = seedOfRun()

function split(chunks: readonly Uint8Array[], maxLineBytes = 1000): readonly Line[] {
  const splitter = new LineSplitter(maxLineBytes)
  return [...chunks.flatMap((chunk) => [...splitter.push(chunk)]), ...splitter.end()]
}

function texts(lines: readonly Line[]): readonly string[] {
  return lines.map((line) => (line.kind === 'line' ? Buffer.from(line.bytes).toString() : `${line.length} bytes`))
}

test('lines are the same however the bytes arrive', () => {
  const pieces = fc.array(fc.string({ unit: fc.constantFrom('a', 'é', '\n', '\r\n', '\n\n'), maxLength: 12 }))
  fc.assert(
    fc.property(pieces, (parts) => {
      const text = parts.join('')
      const expected = text.split('\n').map((line) => line.replace(/\r$/, ''))
      if (text === '' || text.endsWith('\n')) expected.pop()
      // Cuts within characters as well as between them.
      const bytes = Buffer.from(text)
      const bytewise = Array.from(bytes, (byte) => Uint8Array.of(byte))
      assert.equal(texts(split([bytes])), expected)
      assert.equal(texts(split(bytewise)), expected)
      assert.equal(texts(split(parts.map((part) => Buffer.from(part)))), expected)
    }),
    { seed, numRuns: 500 }
  )
})

test('lines are numbered from one, empty ones included', () => {
  const numbers = split([Buffer.from('a\n\n\r\nb')]).map(({ number }) => number)
  assert.equal(numbers, [1, 2, 3, 4])
})

test('a byte order mark is dropped at the start, and kept anywhere else', () => {
  const mark = Buffer.from('\ufeff')
  assert.equal(texts(split([mark, Buffer.from('a\n'), mark])), ['a', '\ufeff'])
})

test('a line that is too long is counted, but not kept', () => {
  const chunk = Buffer.alloc(64, 'x')
  const lines = split([Buffer.from('a\n'), ...Array.from({ length: 10 }, () => chunk), Buffer.from('\nb\n')], 100)
  assert.equal(texts(lines), ['a', '640 bytes', 'b'])
  assert.equal(texts(split([chunk, chunk], 100)), ['128 bytes'])
  assert.equal(texts(split([Buffer.from(`a\n${'x'.repeat(101)}\nb\n`)], 100)), ['a', '101 bytes', 'b'])
})

test('a line reported as UTF-8 is valid UTF-8, whatever surrounds it', () => {
  const bytes = fc.uint8Array({ maxLength: 6 })
  const text = fc.string({ unit: 'grapheme', maxLength: 6 }).map((each) => Buffer.from(each))
  const chunks = fc.array(fc.array(fc.oneof({ weight: 20, arbitrary: text }, bytes, fc.constant(Buffer.from('\n')))))
  let known = 0
  fc.assert(
    fc.property(chunks, (parts) => {
      for (const line of split(parts.map((each) => Buffer.concat(each)))) {
        if (line.kind !== 'line' || !line.isUtf8) continue
        known++
        assert.ok(isUtf8(line.bytes))
      }
    }),
    { seed, numRuns: 1000 }
  )
  assert.ok(known > 100, `${known} lines`)
})

test.run()
