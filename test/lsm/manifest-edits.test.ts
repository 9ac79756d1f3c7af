import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { maxSequence } from '../../src/lsm/format/entry.ts'
import { recordHeaderBytes, writeHeader } from '../../src/lsm/format/log-record.ts'
import {
  comparatorName,
  decodeEdit,
  encodeEdit,
  formatVersion,
  type VersionEdit
} from '../../src/lsm/format/version-edit.ts'
import { StateBuilder, snapshotEdit } from '../../src/lsm/version/manifest-state.ts'
import type { TableMeta } from '../../src/lsm/version/table-meta.ts'
import { testSeed } from '../support/arbitraries.ts'
import { codeOf } from './log-helpers.ts'
import { numbersOf, tableOf } from './version-helpers.ts'

const seed = testSeed()
const place = { path: 'MANIFEST-000001', offset: 0 }

function payloadOf(edit: VersionEdit): Uint8Array {
  return encodeEdit(edit).subarray(recordHeaderBytes)
}

const key = fc.uint8Array({ maxLength: 200 })
const sequence = fc.oneof(
  fc.nat(100),
  fc.maxSafeInteger().map((n) => Math.abs(n) % maxSequence)
)
const count = fc.oneof(fc.nat(100), fc.nat(), fc.constant(Number.MAX_SAFE_INTEGER))
const fileNumber = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER - 1 })
const level = fc.nat(6)

const table: fc.Arbitrary<TableMeta> = fc
  .tuple(fileNumber, fileNumber, fc.tuple(key, key), fc.tuple(sequence, sequence), fc.tuple(count, count), count)
  .map(([number, bytes, keys, sequences, counts, rawBytes]) => {
    const [smallest, largest] = keys.sort(Buffer.compare) as [Uint8Array, Uint8Array]
    const [smallestSequence, largestSequence] = sequences.sort((a, b) => a - b) as [number, number]
    const [tombstones, entries] = counts.sort((a, b) => a - b) as [number, number]
    return {
      number,
      bytes,
      smallest,
      largest,
      smallestSequence,
      largestSequence,
      entries: Math.max(1, entries),
      tombstones,
      rawBytes
    }
  })

const extractor = fc.record(
  { name: fc.string({ unit: 'binary' }), version: fc.nat(), optionsHash: fc.nat({ max: 2 ** 32 - 1 }) },
  { noNullPrototype: true }
)

const edits: fc.Arbitrary<VersionEdit> = fc.record(
  {
    formatVersion: fc.constant(formatVersion),
    comparator: fc.constant(comparatorName),
    extractor,
    logNumber: count,
    lastSequence: sequence,
    nextFileNumber: fileNumber,
    compactionPointers: fc.array(fc.record({ level, partition: key, key }, { noNullPrototype: true })),
    deletedTables: fc.array(fc.record({ level, number: fileNumber }, { noNullPrototype: true })),
    newTables: fc.array(fc.record({ level, table }, { noNullPrototype: true }))
  },
  { requiredKeys: ['compactionPointers', 'deletedTables', 'newTables'], noNullPrototype: true }
)

test('decodeEdit() reads an edit as it was written', () => {
  fc.assert(
    fc.property(edits, (edit) => assert.equal(decodeEdit(payloadOf(edit), place), edit)),
    { seed, numRuns: 500 }
  )
})

test('random and changed bytes decode as an edit, or are corruption or an unsupported version', () => {
  const flipped = fc
    .tuple(edits, fc.array(fc.tuple(fc.nat(500), fc.nat(255)), { maxLength: 3 }))
    .map(([edit, flips]) => {
      const payload = payloadOf(edit).slice()
      for (const [at, byte] of flips) if (at < payload.length) payload[at] = byte
      return payload
    })
  fc.assert(
    fc.property(fc.oneof(fc.uint8Array({ maxLength: 100 }), flipped), (garbage) => {
      const code = codeOf(() => decodeEdit(garbage, place))
      assert.ok([undefined, 'LEVEL_CORRUPTION', 'LEVEL_NOT_SUPPORTED'].includes(code), code)
    }),
    { seed, numRuns: 2000 }
  )
})

test('an edit truncated within a field is corruption', () => {
  const payload = payloadOf({ newTables: [{ level: 1, table: tableOf(300, 'smallest', 'the largest') }] })
  for (let length = 1; length < payload.length; length++) {
    assert.is(
      codeOf(() => decodeEdit(payload.subarray(0, length), place)),
      'LEVEL_CORRUPTION',
      `${length} bytes`
    )
  }
})

test('unknown tags, format versions and comparators are reported as not supported', () => {
  assert.is(
    codeOf(() => decodeEdit(Uint8Array.of(10, 1), place)),
    'LEVEL_NOT_SUPPORTED'
  )
  assert.is(
    codeOf(() => decodeEdit(Uint8Array.of(1, 2), place)),
    'LEVEL_NOT_SUPPORTED'
  )
  const builder = new StateBuilder()
  assert.is(
    codeOf(() => builder.apply({ comparator: 'leveldb.BytewiseComparator' }, place)),
    'LEVEL_NOT_SUPPORTED'
  )
})

test('edits that do not fit the state are corruption', () => {
  const wrong: VersionEdit[] = [
    { deletedTables: [{ level: 1, number: 7 }] },
    { deletedTables: [{ level: 2, number: 1 }] },
    { newTables: [{ level: 1, table: tableOf(1, 'x', 'y') }] },
    { newTables: [{ level: 1, table: tableOf(9, 'c', 'g') }] },
    // Begins with the last key of the existing table.
    { newTables: [{ level: 1, table: tableOf(9, 'f', 'g') }] },
    { logNumber: 4 }
  ]
  for (const edit of wrong) {
    const code = codeOf(() => {
      const builder = new StateBuilder()
      const newTables = [{ level: 1, table: tableOf(1, 'd', 'f') }]
      builder.apply({ comparator: comparatorName, logNumber: 5, newTables }, place)
      builder.apply(edit, place)
      builder.build(place)
    })
    assert.is(code, 'LEVEL_CORRUPTION', JSON.stringify(edit))
  }
  assert.is(
    codeOf(() => new StateBuilder().apply({ logNumber: 1 }, place)),
    'LEVEL_CORRUPTION',
    'no order of keys'
  )
})

test('level 0 is ordered newest first, deeper levels by key, and an edit can move a table', () => {
  const builder = new StateBuilder()
  const tables = [tableOf(1, 'm', 'p'), tableOf(2, 'a', 'c'), tableOf(3, 'n', 'z')]
  const newTables = tables.map((meta) => ({ level: 0, table: meta }))
  builder.apply({ comparator: comparatorName, newTables }, place)
  const before = builder.build(place)
  assert.equal(numbersOf(before.levels[0]), [3, 2, 1])
  const next = new StateBuilder(before)
  const [first, second] = tables as [TableMeta, TableMeta]
  next.apply({ deletedTables: [{ level: 0, number: 1 }], newTables: [{ level: 4, table: first }] }, place)
  next.apply({ deletedTables: [{ level: 0, number: 2 }], newTables: [{ level: 4, table: second }] }, place)
  const after = next.build(place)
  assert.equal(after.levels.map(numbersOf), [[3], [], [], [], [2, 1], [], []])
  assert.equal(numbersOf(before.levels[0]), [3, 2, 1], 'the state before is unchanged')
  assert.is(after.levels[1], before.levels[1], 'and shared where nothing happened')
  assert.is(after.lastSequence, 39)
  assert.is(after.nextFileNumber, 4)
})

test('a snapshot edit restores the whole state, except compaction pointers of empty levels', () => {
  const builder = new StateBuilder()
  const pointer = { level: 1, partition: Buffer.from('!docs!'), key: Buffer.from('k') }
  const useless = { level: 2, partition: Buffer.from('!docs!'), key: Buffer.from('k') }
  builder.apply({ comparator: comparatorName, extractor: { name: 'json', version: 3, optionsHash: 77 } }, place)
  builder.apply({ logNumber: 5, lastSequence: 500, nextFileNumber: 40, compactionPointers: [pointer, useless] }, place)
  builder.apply(
    {
      newTables: [
        { level: 0, table: tableOf(8, 'a', 'z') },
        { level: 1, table: tableOf(7, 'b', 'c') }
      ]
    },
    place
  )
  const state = builder.build(place)
  const copy = new StateBuilder()
  copy.apply(decodeEdit(payloadOf(snapshotEdit(state)), place), place)
  const found = copy.build(place)
  assert.equal(found.levels.map(numbersOf), state.levels.map(numbersOf))
  assert.equal({ ...found, levels: [], pointers: [] }, { ...state, levels: [], pointers: [] })
  assert.equal([...found.pointers.keys()], ['1/!docs!'])
})

/** The record of an edit, header first, as in users' manifests. */
const golden = `
  c15d931f420000000c0000000000000000000000a754934a
  0101 02086279746577697365
  03046a736f6e02effdb6f50d
  040d 05ffffffffffffff07 06ac02
  070203216421016b
  080109
  09060e720161027a7a8c0195010a01c801
`

test('the bytes of an edit are pinned', () => {
  const record = encodeEdit({
    formatVersion: 1,
    comparator: 'bytewise',
    extractor: { name: 'json', version: 2, optionsHash: 0xdeadbeef },
    logNumber: 13,
    lastSequence: 2 ** 52 - 1,
    nextFileNumber: 300,
    compactionPointers: [{ level: 2, partition: Buffer.from('!d!'), key: Buffer.from('k') }],
    deletedTables: [{ level: 1, number: 9 }],
    newTables: [{ level: 6, table: tableOf(14, 'a', 'zz') }]
  })
  writeHeader(record, 0, record.length - recordHeaderBytes, 12, 0, 0)
  assert.is(Buffer.from(record).toString('hex'), golden.replaceAll(/\s/g, ''))
})

test.run()
