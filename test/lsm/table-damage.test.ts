import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { BlockCache } from '../../src/lsm/cache/block-cache.ts'
import { hasCode } from '../../src/lsm/errors.ts'
import { Block } from '../../src/lsm/format/block.ts'
import { BlockCursor } from '../../src/lsm/format/block-cursor.ts'
import { BlockIndex } from '../../src/lsm/format/block-index.ts'
import { compareKeys, EntryKind } from '../../src/lsm/format/entry.ts'
import { readFooter } from '../../src/lsm/format/footer.ts'
import { Found } from '../../src/lsm/format/found.ts'
import { KeyFilter, keyHash } from '../../src/lsm/format/key-filter.ts'
import { readMetaindex } from '../../src/lsm/format/metaindex.ts'
import { readProperties } from '../../src/lsm/format/properties.ts'
import { Table } from '../../src/lsm/format/table.ts'
import { seedOfRun } from '../support/values.ts'
import { allOf, type TestEntry } from './cursor-cases.ts'
import { type BuiltTable, BytesFile, buildTable, openTable, usualOptions } from './table-filling.ts'

const seed = seedOfRun()

function entry(key: string, sequence: number, value: string): TestEntry {
  return { key: Buffer.from(key), sequence, kind: EntryKind.put, value: Buffer.from(value) }
}

const entries: readonly TestEntry[] = [
  ...Array.from({ length: 12 }, (_, i) =>
    entry(`key ${String(i).padStart(3, '0')}`, 900 + i, `value of ${i} `.repeat(9))
  ),
  { key: Buffer.from('last'), sequence: 7, kind: EntryKind.tombstone, value: Buffer.alloc(0) }
]
const sections = {
  add() {},
  endBlock() {},
  finish: () => [{ name: 'note', bytes: Buffer.from('a section '.repeat(20)) }]
}
const built = buildTable(entries, { ...usualOptions, blockBytes: 200, restartInterval: 3 }, sections)

/** Everything that can be read from a table, as a string. */
function readAll({ file, meta }: BuiltTable): string {
  const table = Table.open(file, meta, new BlockCache(1 << 20))
  const found = new Found()
  const got = entries.map(({ key }) => table.get(key, keyHash(key, 0, key.length), 1000, found) && found.sequence)
  const walked = allOf(table.cursor({ fillCache: 'none', readahead: true }))
  return JSON.stringify([got, walked, table.section('note'), table.section('nothing')])
}

/** Reads must be right, or throw LEVEL_CORRUPTION with the name of the file. */
function assertRightOrRefused(damaged: Buffer, what: string): void {
  try {
    assert.is(readAll({ file: new BytesFile(damaged), meta: built.meta }), right, what)
  } catch (error) {
    assert.ok(hasCode(error, 'LEVEL_CORRUPTION'), `${what}: ${error}`)
    assert.match((error as Error).message, '000007.sst')
  }
}

const right = readAll(built)

test('with any byte changed, reads of a table are right or throw LEVEL_CORRUPTION', () => {
  for (let at = 0; at < built.file.bytes.length; at++) {
    for (const mask of [0x01, 0x80, 0xff]) {
      const damaged = Buffer.from(built.file.bytes)
      damaged[at] = (damaged[at] ?? 0) ^ mask
      assertRightOrRefused(damaged, `byte ${at} ^ ${mask}`)
    }
  }
})

test('a table truncated at any length is refused', () => {
  for (let length = 0; length < built.file.bytes.length; length++) {
    const file = new BytesFile(Buffer.from(built.file.bytes.subarray(0, length)))
    assert.throws(
      () => readAll({ file, meta: built.meta }),
      (error: unknown) => hasCode(error, 'LEVEL_CORRUPTION')
    )
    assert.ok(file.isClosed)
  }
})

test('an intact table in the place of another one is refused', () => {
  const table = () => Table.open(built.file, { ...built.meta, number: 8 }, new BlockCache(0))
  assert.throws(table, /this is table 7, not 8/)
})

test('an intact block in the place of another one is refused', () => {
  const same = Array.from({ length: 4 }, (_, i) => entry(`${i}`, 1, 'x'.repeat(80)))
  const twin = buildTable(same, { ...usualOptions, blockBytes: 1, codec: 'none', keyFilterBits: 0 })
  const bytes = Buffer.from(twin.file.bytes)
  const blockBytes = openTable(twin).approximateOffset(Buffer.from('1'))
  bytes.copyWithin(blockBytes, 0, blockBytes)
  const table = Table.open(new BytesFile(bytes), twin.meta, new BlockCache(0))
  assert.throws(() => allOf(table.cursor({ fillCache: 'none', readahead: false })), /checksum/)
})

test('every decoder returns or throws LEVEL_CORRUPTION, whatever bytes it gets', () => {
  const place = { path: 'x', offset: 0 }
  const decoders: readonly ((bytes: Buffer) => unknown)[] = [
    (bytes) => walkBlock(bytes),
    (bytes) => new BlockIndex(bytes, place),
    (bytes) => readMetaindex(bytes, place),
    (bytes) => readProperties(bytes, 'x'),
    (bytes) => readFooter(bytes, 'x', 0),
    (bytes) => KeyFilter.read(bytes)?.mayContain(12345)
  ]
  const small = fc.uint8Array({ maxLength: 80 }).map((bytes) => Buffer.from(bytes))
  // Small numbers look like valid lengths.
  const plausible = fc
    .array(fc.oneof({ weight: 9, arbitrary: fc.nat(6) }, { weight: 1, arbitrary: fc.nat(255) }), { maxLength: 60 })
    .map((bytes) => Buffer.from([...bytes, 4, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0]))
  fc.assert(
    fc.property(fc.oneof(small, plausible), (bytes) => {
      for (const decode of decoders) {
        try {
          decode(bytes)
        } catch (error) {
          assert.ok(hasCode(error, 'LEVEL_CORRUPTION'), String(error))
        }
      }
    }),
    { seed, numRuns: 20_000 }
  )
})

function walkBlock(bytes: Buffer): void {
  const cursor = new BlockCursor()
  cursor.load(new Block(bytes, 0, bytes.length, 'x', 0))
  const target = Buffer.from([1, 2])
  const walks: readonly (() => void)[] = [
    () => {
      for (cursor.seekToFirst(); cursor.isValid; cursor.next())
        assert.ok(compareKeys(keyOf(cursor), keyOf(cursor)) === 0)
    },
    () => {
      let steps = 0
      for (cursor.seekToLast(); cursor.isValid && steps++ < 1000; cursor.previous()) keyOf(cursor)
    },
    () => cursor.seek(target),
    () => cursor.seekBefore(target),
    () => cursor.locate(target, 5)
  ]
  let failure: unknown
  for (const walk of walks) {
    try {
      walk()
    } catch (error) {
      assert.ok(hasCode(error, 'LEVEL_CORRUPTION'), String(error))
      failure = error
    }
  }
  if (failure !== undefined) throw failure
}

function keyOf(cursor: BlockCursor): Uint8Array {
  assert.ok(cursor.keyEnd <= cursor.keyBytes.length && cursor.valueEnd <= cursor.valueBytes.length)
  return cursor.keyBytes.subarray(cursor.keyStart, cursor.keyEnd)
}

test.run()
