import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { hasCode } from '../../src/lsm/errors.ts'
import type { EntryRanges } from '../../src/lsm/format/entry.ts'
import { compareKeys, EntryKind } from '../../src/lsm/format/entry.ts'
import type { Section, SectionCollector } from '../../src/lsm/format/section-collector.ts'
import { separator } from '../../src/lsm/format/separator.ts'
import type { TableBuilder } from '../../src/lsm/format/table-builder.ts'
import { readVarint, varintBytes, writeVarint } from '../../src/lsm/format/varint.ts'
import { seedOfRun } from '../support/values.ts'
import { allOf, keys, type TestEntry } from './cursor-cases.ts'
import { buildTable, openTable, tableEntries, tableOptions, usualOptions } from './table-filling.ts'

const seed = seedOfRun()

/** Records the keys of each block. */
class NotingCollector implements SectionCollector {
  readonly blocks: string[][] = [[]]
  readonly #sections: readonly Section[]

  constructor(sections: readonly Section[]) {
    this.#sections = sections
  }

  add({ keyBytes, keyStart, keyEnd, sequence }: EntryRanges): void {
    this.blocks.at(-1)?.push(`${Buffer.from(keyBytes.subarray(keyStart, keyEnd)).toString('latin1')}@${sequence}`)
  }

  endBlock(): void {
    this.blocks.push([])
  }

  finish(): readonly Section[] {
    return this.#sections
  }
}

test('a collector sees the entries of each block, and its sections are read back', () => {
  const section = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc.integer({ min: 0, max: 600_000 }).map((length) => Buffer.alloc(length, 'ab'))
  )
  fc.assert(
    fc.property(tableEntries, tableOptions, fc.array(section, { maxLength: 4 }), (entries, options, contents) => {
      const sections = contents.map((bytes, index) => ({ name: `section ${index}`, bytes: Buffer.from(bytes) }))
      const collector = new NotingCollector(sections)
      const table = openTable(buildTable(entries, options, collector))
      for (const { name, bytes } of sections) assert.ok(bytes.equals(table.section(name) ?? Buffer.from('none')))
      assert.is(table.section('another one'), undefined)

      assert.equal(collector.blocks.pop(), [])
      assert.is(table.blockCount, collector.blocks.length)
      for (const [block, noted] of collector.blocks.entries()) {
        const shown = allOf(table.blockCursor(block)).map(
          ({ key, sequence }) => `${key.toString('latin1')}@${sequence}`
        )
        assert.equal(shown, noted)
      }
    }),
    { seed, numRuns: 150 }
  )
})

test('entries out of order are refused', () => {
  const put = (key: string, sequence: number): TestEntry => ({
    key: Buffer.from(key),
    sequence,
    kind: EntryKind.put,
    value: Buffer.from('v')
  })
  for (const pair of [
    [put('b', 1), put('a', 2)],
    [put('ab', 1), put('a', 2)],
    [put('a', 1), put('', 2)],
    [put('a', 1), put('a', 2)],
    [put('', 1), put('', 1)]
  ]) {
    assert.throws(
      () => buildTable(pair),
      (error: unknown) => hasCode(error, 'LEVEL_CORRUPTION')
    )
  }
})

test('a separator is not before the last key, before the next one, and no longer than the last key', () => {
  fc.assert(
    fc.property(keys, keys, (a, b) => {
      const [last, next] = compareKeys(a, b) <= 0 ? [a, b] : [b, a]
      let shared = 0
      while (shared < last.length && last[shared] === next[shared]) shared++
      const between = separator(last, next, shared)
      assert.ok(compareKeys(last, between) <= 0)
      if (compareKeys(last, next) < 0) assert.ok(compareKeys(between, next) < 0)
      assert.ok(between.length <= last.length)
    }),
    { seed, numRuns: 2000 }
  )
})

test('approximateOffset() ascends with keys, from 0 to the end of the data', () => {
  const entries = Array.from({ length: 1000 }, (_, i) => ({
    key: Buffer.from(String(i).padStart(5, '0')),
    sequence: i,
    kind: EntryKind.put,
    value: Buffer.alloc(50, i)
  }))
  const table = openTable(buildTable(entries, { ...usualOptions, codec: 'none', blockBytes: 500 }))
  const offsets = entries.map(({ key }) => table.approximateOffset(key))
  assert.is(offsets[0], 0)
  for (let i = 1; i < offsets.length; i++) assert.ok(offsets[i]! >= offsets[i - 1]!)
  assert.is(table.approximateOffset(Buffer.from('z')), table.properties.dataBytes)
  assert.ok(Math.abs(offsets[500]! / table.properties.dataBytes - 0.5) < 0.02)
  assert.ok(table.memoryBytes > 1000)
})

test('fileBytes of a builder is close to the final size', () => {
  const entries = Array.from({ length: 3000 }, (_, i) => ({
    key: Buffer.from(String(i).padStart(5, '0')),
    sequence: i,
    kind: EntryKind.put,
    value: Buffer.alloc(50, i)
  }))
  const sizes: number[] = []
  const noteSize = (builder: TableBuilder) => sizes.push(builder.fileBytes)
  const { meta } = buildTable(entries, { ...usualOptions, codec: 'none' }, undefined, noteSize)
  const last = sizes.at(-1) ?? 0
  assert.ok(Math.abs(last - meta.bytes) < 600, `${last} and ${meta.bytes}`)
})

test('a varint is read as it was written, takes varintBytes() bytes, and has only one encoding', () => {
  const numbers = fc.oneof(
    fc.maxSafeNat(),
    fc.nat(300),
    fc.integer({ min: 0, max: 52 }).map((bits) => 2 ** bits)
  )
  fc.assert(
    fc.property(numbers, (number) => {
      const bytes = Buffer.alloc(12)
      const end = writeVarint(bytes, 2, number)
      assert.is(end, 2 + varintBytes(number))
      assert.is(readVarint(bytes, 2, end), number)
      assert.is(readVarint(bytes, 2, end - 1), -1)
      const overlong = Buffer.concat([bytes.subarray(2, end), Buffer.from([0])])
      overlong[end - 3]! |= 0x80
      assert.is(readVarint(overlong, 0, overlong.length), -1)
    }),
    { seed, numRuns: 5000 }
  )
  assert.is(readVarint(Buffer.alloc(9, 0xff), 0, 9), -1)
})

test.run()
