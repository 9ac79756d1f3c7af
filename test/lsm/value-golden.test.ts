import { readFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { EntryKind } from '../../src/lsm/format/entry.ts'
import { sideFileName } from '../../src/lsm/fs/file-names.ts'
import { MemoryFileSystem } from '../../src/lsm/fs/memory-file-system.ts'
import { jsonExtractor } from '../../src/lsm/value/json-extractor.ts'
import { createSectionCollector } from '../../src/lsm/value/section-collector.ts'
import { SideFile, writeSideFile } from '../../src/lsm/value/side-file.ts'
import { tableOf } from './version-helpers.ts'
import { wholeEntry } from './whole-entry.ts'

const golden = readFileSync(new URL('golden/values.hex', import.meta.url), 'latin1')

/** Sections of two blocks of one entry each. The filter is not a whole number of bytes. */
async function goldenSections() {
  const collector = await createSectionCollector({
    extractor: jsonExtractor({ fields: ['a'], zones: ['n', 's'] }),
    filterBits: 100,
    filterHashes: 3,
    blockFilterBits: 9.5,
    placement: 'table'
  })
  for (const document of [
    { a: 'x', n: 1.5 },
    { a: [true, null], n: -2, s: 'ü' }
  ]) {
    const value = Buffer.from(JSON.stringify(document))
    collector.add(wholeEntry(Buffer.from('key'), 1, EntryKind.put, value))
    collector.endBlock()
  }
  return collector.finish()
}

const meta = tableOf(14, 'a', 'z', { bytes: 1234, smallestSequence: 3, largestSequence: 99, rawBytes: 900 })

test('the bytes of sections and side file are pinned', async () => {
  const sections = await goldenSections()
  const fileSystem = new MemoryFileSystem()
  fileSystem.makeDirectory('/db')
  await writeSideFile(fileSystem, '/db', meta, sections)
  const file = fileSystem.open(`/db/${sideFileName(14)}`, 'read')
  const side = new Uint8Array(file.size())
  file.read(side, 0)
  const parts = [...sections, { name: sideFileName(14), bytes: side }]
  assert.is(parts.map(({ name, bytes }) => `${name}\n${lines(bytes)}`).join('\n'), golden)
  for (const { name, bytes } of sections) {
    assert.equal(Buffer.from(SideFile.open(fileSystem, '/db', meta)?.section(name) ?? []), Buffer.from(bytes))
  }
})

/** 32 bytes a line. */
function lines(bytes: Uint8Array): string {
  return Buffer.from(bytes)
    .toString('hex')
    .replaceAll(/.{1,64}/g, '$&\n')
}

test.run()
