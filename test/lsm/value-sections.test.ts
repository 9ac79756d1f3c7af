import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { rowNumbers } from '../../src/bloom/hash.ts'
import { hasCode } from '../../src/lsm/errors.ts'
import { EntryKind } from '../../src/lsm/format/entry.ts'
import type { Section } from '../../src/lsm/format/section-collector.ts'
import type { ValueWriteOptions } from '../../src/lsm/format/table-options.ts'
import { sideFileName } from '../../src/lsm/fs/file-names.ts'
import { MemoryFileSystem } from '../../src/lsm/fs/memory-file-system.ts'
import { matchingBlocks } from '../../src/lsm/value/block-filters.ts'
import { Decoder } from '../../src/lsm/value/decoder.ts'
import { decodeHeader, encodeHeader, sectionNames } from '../../src/lsm/value/header.ts'
import { jsonExtractor } from '../../src/lsm/value/json-extractor.ts'
import { identityOf, loadExtractor } from '../../src/lsm/value/load-extractor.ts'
import { createSectionCollector } from '../../src/lsm/value/section-collector.ts'
import { SideFile, writeSideFile } from '../../src/lsm/value/side-file.ts'
import { TableValues } from '../../src/lsm/value/table-values.ts'
import { overlappingBlocks } from '../../src/lsm/value/zone-maps.ts'
import { testSeed } from '../support/arbitraries.ts'
import { tableOf } from './version-helpers.ts'
import { wholeEntry } from './whole-entry.ts'

const seed = testSeed()
const extractor = jsonExtractor({ fields: ['a', 'b'], zones: ['a'] })
const options: ValueWriteOptions = {
  extractor,
  filterBits: 5000,
  filterHashes: 5,
  blockFilterBits: 8,
  placement: 'table'
}
const meta = tableOf(14, 'a', 'z', { bytes: 1234, smallestSequence: 3, largestSequence: 99, rawBytes: 900 })

/** Sections for blocks of documents; undefined is a tombstone. */
async function sectionsOf(
  blocks: readonly (readonly unknown[])[],
  changes: Partial<ValueWriteOptions> = {}
): Promise<readonly Section[]> {
  const collector = await createSectionCollector({ ...options, ...changes })
  for (const block of blocks) {
    for (const document of block) {
      const value = Buffer.from(document === undefined ? '' : JSON.stringify(document))
      const kind = document === undefined ? EntryKind.tombstone : EntryKind.put
      collector.add(wholeEntry(Buffer.from('key'), 1, kind, value))
    }
    collector.endBlock()
  }
  const sections = collector.finish()
  return sections.length > 0 ? sections : collector.sideSections
}

function bytesOf(sections: readonly Section[], name: string): Uint8Array {
  return sections.find((section) => section.name === name)?.bytes as Uint8Array
}

test('table filter and block filters have no false negatives: they contain every pair of every put', async () => {
  const { hash } = await loadExtractor(extractor).then((loaded) => ({ hash: loaded.hash.bind(loaded) }))
  const halves = new Int32Array(2)
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(fc.record({ a: fc.jsonValue(), b: fc.array(fc.integer()) }), { maxLength: 5 }), {
        minLength: 1
      }),
      async (blocks) => {
        const sections = await sectionsOf(blocks)
        const filter = bytesOf(sections, sectionNames.filter)
        const positions = new Int32Array(options.filterHashes)
        blocks.forEach((block, number) => {
          for (const pair of block.flatMap(({ b }) => b.map((value) => ['b', value] as const))) {
            hash(pair, halves)
            rowNumbers(halves[0] ?? 0, halves[1] ?? 0, options.filterBits, options.filterHashes, positions)
            for (const position of positions) assert.ok(((filter[position >> 3] ?? 0) >> (position & 7)) & 1)
            const decoder = new Decoder(bytesOf(sections, sectionNames.blockFilters), 'x')
            assert.ok(matchingBlocks(decoder, blocks.length, halves).includes(number))
          }
        })
      }
    ),
    { seed, numRuns: 200 }
  )
})

test('block filters rule out most blocks', async () => {
  const blocks = Array.from({ length: 300 }, (_, i) => [{ a: i }, { b: [i, i + 1, -i] }])
  const sections = await sectionsOf(blocks)
  const loaded = await loadExtractor(extractor)
  const halves = new Int32Array(2)
  let found = 0
  for (let i = 1000; i < 1300; i++) {
    loaded.hash(['b', i], halves)
    found += matchingBlocks(new Decoder(bytesOf(sections, sectionNames.blockFilters), 'x'), 300, halves).length
  }
  // With 8 bits per pair, 2.2 % of 90,000 are expected.
  assert.ok(found < 90_000 * 0.05, `${found} of 90,000`)
})

test('tombstones and values that are not JSON add nothing', async () => {
  const sections = await sectionsOf([[undefined], ['text'], [undefined, 5]])
  assert.is(bytesOf(sections, sectionNames.filter), undefined)
  const header = decodeHeader(bytesOf(sections, sectionNames.header), 'x')
  assert.is(header?.pairs, 0)
  assert.equal(header?.zones, [{ field: 'a', zone: undefined }])
})

test('if the extractor throws, the table gets no sections', async () => {
  const module = `data:text/javascript,export const createExtractor = () => ({
    zoneFields: [], extract() { throw new Error('no') }, hash() {}, matches: () => true, zoneValues: () => [] })`
  assert.equal(await sectionsOf([[{ a: 1 }]], { extractor: { module, name: 'bad', version: 1 } }), [])
})

test('loadExtractor() rejects invalid extractors with LEVEL_NOT_SUPPORTED', async () => {
  const specs = [
    { module: 'data:text/javascript,export const x = 1', name: 'none', version: 1 },
    { module: 'no-such-package-of-anybody', name: 'missing', version: 1 },
    { ...extractor, version: 1.5 },
    { ...extractor, options: { fields: 5 } }
  ]
  for (const spec of specs) {
    try {
      await loadExtractor(spec)
      assert.unreachable(spec.name)
    } catch (error) {
      assert.ok(hasCode(error, 'LEVEL_NOT_SUPPORTED'), String(error))
    }
  }
})

test('the identity of an extractor depends on its options, but not on the order of their keys', () => {
  const spec = { module: 'x', name: 'n', version: 1, options: { a: 1, b: { c: [1, 2], d: null } } }
  assert.equal(identityOf(spec), identityOf({ ...spec, module: 'y', options: { b: { d: null, c: [1, 2] }, a: 1 } }))
  for (const options of [undefined, { a: 1 }, { a: 1, b: { c: [2, 1], d: null } }]) {
    assert.not.equal(identityOf(spec), identityOf({ ...spec, options }))
  }
})

test('decodeHeader() returns a header as it was encoded, and undefined for another format', async () => {
  const header = {
    extractor: identityOf(extractor),
    filterBits: 2 ** 18,
    filterHashes: 6,
    bitsSet: 99_999,
    pairs: 2 ** 40,
    blockFilterHundredths: 950,
    zones: [
      { field: 'a.b', zone: { smallest: Buffer.of(1, 2), largest: Buffer.of(1, 3) } },
      { field: 'ü', zone: undefined }
    ]
  }
  assert.equal(decodeHeader(encodeHeader(header), 'x'), header)
  const newer = encodeHeader(header)
  newer[0] = 2
  assert.is(decodeHeader(newer, 'x'), undefined)
})

test('the decoders of sections return or throw LEVEL_CORRUPTION, whatever the bytes', async () => {
  const sections = await sectionsOf([[{ a: 1, b: 2 }], [{ a: 'x' }]])
  const decoders: Readonly<Record<string, (bytes: Uint8Array) => unknown>> = {
    [sectionNames.header]: (bytes) => decodeHeader(bytes, 'x'),
    [sectionNames.blockFilters]: (bytes) => matchingBlocks(new Decoder(bytes, 'x'), 2, Int32Array.of(1, 2)),
    [sectionNames.blockZones]: (bytes) =>
      overlappingBlocks(new Decoder(bytes, 'x'), 0, 2, { low: undefined, high: undefined })
  }
  for (const [name, decode] of Object.entries(decoders)) {
    const valid = bytesOf(sections, name)
    const damaged = fc.oneof(
      fc.uint8Array({ maxLength: 80 }),
      fc.tuple(fc.nat(valid.length - 1), fc.nat(255)).map(([at, byte]) => {
        const bytes = valid.slice()
        bytes[at] = byte
        return bytes
      }),
      fc.nat(valid.length).map((length) => valid.slice(0, length))
    )
    fc.assert(
      fc.property(damaged, (bytes) => {
        try {
          decode(bytes)
        } catch (error) {
          if (!hasCode(error, 'LEVEL_CORRUPTION')) throw error
        }
      }),
      { seed, numRuns: 3000 }
    )
  }
})

test('a side file returns its sections, but not for another table of the same number', async () => {
  const fileSystem = new MemoryFileSystem()
  fileSystem.makeDirectory('/db')
  assert.is(SideFile.open(fileSystem, '/db', meta), undefined)
  const sections = await sectionsOf([[{ a: 1 }], [{ b: 2 }]], { placement: 'side-file' })
  await writeSideFile(fileSystem, '/db', meta, sections)
  const side = SideFile.open(fileSystem, '/db', meta)
  for (const { name, bytes } of sections) assert.equal(Buffer.from(side?.section(name) ?? []), Buffer.from(bytes))
  assert.is(side?.section('other'), undefined)
  assert.equal(fileSystem.list('/db'), [sideFileName(14)])
  for (const other of [{ entries: 11 }, { largestSequence: 98 }, { largest: Buffer.from('y') }, { bytes: 1 }]) {
    assert.is(SideFile.open(fileSystem, '/db', { ...meta, ...other }), undefined)
  }
})

test('a damaged side file throws nothing and never yields a wrong filter, and its damage is reported', async () => {
  const sections = await sectionsOf([[{ a: 1 }]])
  const written = new MemoryFileSystem()
  written.makeDirectory('/db')
  await writeSideFile(written, '/db', meta, sections)
  const path = `/db/${sideFileName(14)}`
  const file = written.open(path, 'update')
  const whole = new Uint8Array(file.size())
  file.read(whole, 0)
  const table = { blockCount: 1, section: () => undefined, blockCursor: () => assert.unreachable() as never }
  const expected = {
    extractor: identityOf(extractor),
    filterBits: options.filterBits,
    filterHashes: options.filterHashes,
    fileSystem: written,
    directory: '/db'
  }
  const filter = Buffer.from(bytesOf(sections, sectionNames.filter))
  let noticed = 0
  for (let at = 0; at < whole.length; at++) {
    const changed = whole.slice()
    changed[at] = (changed[at] ?? 0) ^ 0x10
    file.write(changed, 0)
    const values = new TableValues(meta, table, expected)
    const read = values.filter(table)
    if (read === undefined) noticed++
    else assert.equal(Buffer.from(read), filter)
    if (at < 60) assert.ok(values.damage !== undefined || values.header === undefined)
  }
  assert.ok(noticed > 600)
  for (let length = 0; length < whole.length; length += 7) {
    file.write(whole, 0)
    file.truncate(length)
    const read = new TableValues(meta, table, expected).filter(table)
    if (read !== undefined) assert.equal(Buffer.from(read), filter)
  }
})

test.run()
