import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { maxSequence } from '../../src/lsm/format/entry.ts'
import { recordHeaderBytes } from '../../src/lsm/format/log-record.ts'
import { decodeBatches } from '../../src/lsm/format/write-batch.ts'
import { testSeed } from '../support/arbitraries.ts'
import { codeOf, del, operationsOf, put, recordOf, type TestBatch } from './log-helpers.ts'

const seed = testSeed()
const place = { path: 'test' }

function payloadOf(...batches: readonly TestBatch[]): Uint8Array {
  return recordOf(...batches).subarray(recordHeaderBytes)
}

function decode(payload: Uint8Array): void {
  decodeBatches(payload, 0, payload.length, place, () => {})
}

/** Lengths around the limits of one, two and three varint bytes, and of the loop that copies short ranges. */
const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 40 }),
  fc.constantFrom(0, 1, 23, 24, 127, 128, 16_383, 16_384).map((length) => new Uint8Array(length).fill(length))
)
const operations = fc.array(
  fc.record({ key: bytes, value: fc.option(bytes, { nil: undefined }) }, { requiredKeys: ['key', 'value'] }),
  { maxLength: 12 }
)

test('decodeBatches() reads batches as they were written', () => {
  fc.assert(
    fc.property(
      fc.array(operations, { maxLength: 4 }),
      fc.integer({ min: 1, max: maxSequence - 100 }),
      (groups, first) => {
        let sequence = first
        const batches = groups.map((group) => {
          const batch = { sequence, operations: group }
          sequence += group.length
          return batch
        })
        const expected = batches.flatMap((batch) =>
          batch.operations.map((operation, i) => [batch.sequence + i, operation.key, operation.value])
        )
        const found = operationsOf(payloadOf(...batches))
        assert.is(found.length, expected.length)
        for (const [i, { sequence: at, key, value }] of found.entries()) assert.equal([at, key, value], expected[i])
      }
    ),
    { seed, numRuns: 300 }
  )
})

test('decodeBatches() returns the next sequence number, and −1 for no batch', () => {
  const payload = payloadOf(
    { sequence: 7, operations: [put('a', '1'), del('b')] },
    { sequence: 9, operations: [del('c')] }
  )
  assert.is(
    decodeBatches(payload, 0, payload.length, place, () => {}),
    10
  )
  assert.is(
    decodeBatches(payload, 5, 5, place, () => {}),
    -1
  )
})

test('operations refer to the given bytes, also within a shared buffer', () => {
  const payload = payloadOf({ sequence: 7, operations: [put('ab', 'xyz')] })
  const arena = Buffer.from(new SharedArrayBuffer(100))
  arena.set(payload, 30)
  let seen = ''
  decodeBatches(arena, 30, 30 + payload.length, place, (operation) => {
    const { keyBytes, keyStart, keyEnd, valueBytes, valueStart, valueEnd } = operation
    assert.is(keyBytes, arena)
    assert.is(valueBytes, arena)
    seen += `${arena.toString('latin1', keyStart, keyEnd)}=${arena.toString('latin1', valueStart, valueEnd)}`
  })
  assert.is(seen, 'ab=xyz')
})

test('a payload truncated anywhere is corruption', () => {
  const payload = payloadOf({ sequence: 1, operations: [put('key', 'v'.repeat(130)), del('k'), put('', '')] })
  decode(payload)
  for (let length = 1; length < payload.length; length++) {
    assert.is(
      codeOf(() => decode(payload.slice(0, length))),
      'LEVEL_CORRUPTION',
      `${length} bytes`
    )
    // Bytes after the end must not be read.
    assert.is(
      codeOf(() => decodeBatches(payload, 0, length, place, () => {})),
      'LEVEL_CORRUPTION',
      `${length} bytes`
    )
  }
})

test('a gap between the sequence numbers of batches is corruption', () => {
  const gap = payloadOf({ sequence: 1, operations: [del('a')] }, { sequence: 3, operations: [del('b')] })
  assert.is(
    codeOf(() => decode(gap)),
    'LEVEL_CORRUPTION'
  )
})

test('a sequence number beyond 2^52 − 1 is corruption', () => {
  decode(payloadOf({ sequence: maxSequence, operations: [del('a')] }))
  const beyond = payloadOf({ sequence: maxSequence, operations: [del('a'), del('b')] })
  assert.is(
    codeOf(() => decode(beyond)),
    'LEVEL_CORRUPTION'
  )
})

test('random and changed bytes decode as batches or are corruption', () => {
  const payload = payloadOf({ sequence: 1, operations: [put('key', 'value'), del('k'), put('q', 'v'.repeat(200))] })
  const flipped = fc
    .array(fc.tuple(fc.nat(payload.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 })
    .map((flips) => {
      const copy = payload.slice()
      for (const [at, byte] of flips) copy[at] = byte
      return copy
    })
  fc.assert(
    fc.property(fc.oneof(fc.uint8Array({ maxLength: 200 }), flipped), (garbage) => {
      const code = codeOf(() => decode(garbage))
      assert.ok(code === undefined || code === 'LEVEL_CORRUPTION', code)
    }),
    { seed, numRuns: 3000 }
  )
})

test.run()
