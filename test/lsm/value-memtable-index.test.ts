import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Extractor } from '../../src/lsm/value/extractor.ts'
import { MemtableIndex } from '../../src/lsm/value/memtable-index.ts'
import { FilledMemtable } from './memtable-filling.ts'

/** The first byte of a value is its only pair. */
const firstByte: Extractor = {
  zoneFields: [],
  extract: (_keyBytes, _keyStart, _keyEnd, valueBytes, valueStart, _valueEnd, sink) => {
    sink.pair(valueBytes[valueStart] ?? 0, 0)
  },
  hash: () => {},
  matches: () => false,
  zoneValues: () => []
}

test('update() makes progress even if its deadline has always passed', () => {
  const filled = new FilledMemtable()
  for (let i = 0; i < 1000; i++) filled.put(`key ${i}`, String.fromCharCode(i % 100))
  const index = new MemtableIndex(filled.memtable, firstByte)
  let steps = 1
  while (!index.update(Number.NEGATIVE_INFINITY)) {
    assert.ok(steps <= 1000, `${steps} steps for 1,000 entries`)
    steps++
  }
  assert.ok(steps > 1)
  assert.equal(
    index.entriesWith(7, 0),
    Array.from({ length: 10 }, (_, i) => (9 - i) * 100 + 7)
  )
})

test.run()
