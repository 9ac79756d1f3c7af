import { readFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { EntryKind } from '../../src/lsm/format/entry.ts'
import { Found } from '../../src/lsm/format/found.ts'
import { keyHash } from '../../src/lsm/format/key-filter.ts'
import { allOf, type TestEntry } from './cursor-cases.ts'
import { BytesFile, buildTable, openTable, usualOptions } from './table-filling.ts'

/** Three data blocks: two entries with a common prefix, one that LZ4 compresses, a tombstone and two older versions. */
const entries: readonly TestEntry[] = [
  { key: Buffer.from('!docs!1'), sequence: 5, kind: EntryKind.put, value: Buffer.from('{"a":1}') },
  { key: Buffer.from('!docs!2'), sequence: 2 ** 40 + 1, kind: EntryKind.put, value: Buffer.from('{"a":2}') },
  { key: Buffer.from('!docs!30'), sequence: 300, kind: EntryKind.put, value: Buffer.from('again and '.repeat(20)) },
  { key: Buffer.from('!ids!x'), sequence: 9, kind: EntryKind.tombstone, value: Buffer.alloc(0) },
  { key: Buffer.from('!ids!x'), sequence: 8, kind: EntryKind.put, value: Buffer.from('old') },
  { key: Buffer.from('!ids!x'), sequence: 7, kind: EntryKind.put, value: Buffer.alloc(0) }
]
const options = { ...usualOptions, blockBytes: 100, restartInterval: 2 }
const note = { add() {}, endBlock() {}, finish: () => [{ name: 'note', bytes: Buffer.from('noted') }] }
const { meta, file } = buildTable(entries, options, note)
const golden = readFileSync(new URL('golden/table.hex', import.meta.url), 'latin1')

test('the bytes of a table are pinned', () => {
  assert.is(lines(file.bytes), golden)
})

test('a table of the pinned bytes is read', () => {
  const table = openTable({ file: new BytesFile(Buffer.from(golden.replaceAll(/\s/g, ''), 'hex')), meta })
  assert.equal(allOf(table.cursor({ fillCache: 'none', readahead: false })), entries)
  assert.equal(table.section('note'), Buffer.from('noted'))
  assert.equal(table.sectionNames, ['note', 'table.key-filter', 'table.properties'])
  assert.is(table.properties.compressedBlocks, 1)
  const found = new Found()
  for (const { key, sequence } of entries) {
    assert.ok(table.get(key, keyHash(key, 0, key.length), sequence, found))
    assert.is(found.sequence, sequence)
  }
})

/** 32 bytes a line. */
function lines(bytes: Buffer): string {
  return bytes.toString('hex').replaceAll(/.{1,64}/g, '$&\n')
}

test.run()
