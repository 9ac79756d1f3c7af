import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { EntryKind } from '../../src/lsm/format/entry.ts'
import { LogWriter } from '../../src/lsm/format/log-writer.ts'
import { dumpFile, MemoryFileSystem } from '../../src/lsm/index.ts'
import { createManifest } from '../../src/lsm/version/manifest.ts'
import { emptyState } from '../../src/lsm/version/manifest-state.ts'
import { testSeed } from '../support/arbitraries.ts'
import { FaultyFileSystem } from '../support/faulty-file-system.ts'
import { del, put, recordOf } from './log-helpers.ts'
import { buildTable, usualOptions } from './table-filling.ts'
import { valueOptions } from './tools-content.ts'
import { flip, namesOf, readBytes, truncate } from './tools-damage.ts'
import { filledStore, location, rejection } from './tools-stores.ts'
import { tableOf } from './version-helpers.ts'

const seed = testSeed()

function dump(fileSystem: MemoryFileSystem, name: string, options = {}): string[] {
  return [...dumpFile(`${location}/${name}`, { fileSystem, ...options })]
}

function withFile(name: string, bytes: Uint8Array): MemoryFileSystem {
  const fileSystem = new MemoryFileSystem()
  fileSystem.makeDirectory(location)
  const file = fileSystem.open(`${location}/${name}`, 'create')
  file.write(bytes, 0)
  file.close()
  return fileSystem
}

function smallTable(): MemoryFileSystem {
  const entries = [
    { key: Buffer.from('a\0"b'), sequence: 5, kind: EntryKind.put, value: Buffer.from('{"a":1}') },
    { key: Buffer.from('b'), sequence: 2 ** 40, kind: EntryKind.tombstone, value: Buffer.alloc(0) },
    { key: Buffer.from('b'), sequence: 3, kind: EntryKind.put, value: Buffer.from('x'.repeat(100)) },
    { key: Buffer.from('c'), sequence: 4, kind: EntryKind.put, value: Buffer.alloc(0) }
  ]
  const { file } = buildTable(entries, { ...usualOptions, blockBytes: 20, codec: 'none' })
  return withFile('000007.sst', file.bytes)
}

test('dumpFile() prints a table', () => {
  assert.equal(dump(smallTable(), '000007.sst', { maxBytes: 10 }), [
    'table 7, 513 bytes',
    'section table.key-filter, 14 bytes',
    'section table.properties, 144 bytes',
    '  {"entries":4,"tombstones":1,"rawBytes":114,"smallestSequence":3,"largestSequence":1099511627776,"blocks":4,"dataBytes":187,"compressedBlocks":0}',
    'index of 4 blocks, 187 bytes',
    'block at 0: 1 entry, 23 bytes raw',
    '  "a\\x00\\"b" @5 = "{\\"a\\":1}"',
    'block at 28: 1 entry, 18 bytes raw',
    '  "b" @1099511627776 deleted',
    'block at 51: 1 entry, 113 bytes raw',
    '  "b" @3 = "xxxxxxxxxx"… (100 bytes)',
    'block at 169: 1 entry, 13 bytes raw',
    '  "c" @4 = ""'
  ])
})

test('dumpFile() prints a log', async () => {
  const fileSystem = new MemoryFileSystem()
  fileSystem.makeDirectory(location)
  const log = new LogWriter(fileSystem.open(`${location}/000012.wal`, 'create'), 12)
  log.append(recordOf({ sequence: 5, operations: [put('a', '1'), del('bc')] }))
  await log.sync()
  log.append(
    recordOf({ sequence: 7, operations: [put('', 'x'.repeat(130))] }, { sequence: 8, operations: [put('k', '')] })
  )
  log.close()
  assert.equal(dump(fileSystem, '000012.wal'), [
    'log 12, 231 bytes',
    'record at 0: 21 bytes, synced up to 0',
    '  "a" @5 = "1"',
    '  "bc" @6 deleted',
    'record at 45: 162 bytes, synced up to 45',
    `  "" @7 = "${'x'.repeat(64)}"… (130 bytes)`,
    '  "k" @8 = ""'
  ])
})

test('dumpFile() prints a manifest', async () => {
  const fileSystem = new MemoryFileSystem()
  fileSystem.makeDirectory(location)
  const state = {
    ...emptyState,
    comparator: 'bytewise',
    extractor: { name: 'petaldb.json', version: 1, optionsHash: 7 },
    logNumber: 4,
    lastSequence: 99,
    nextFileNumber: 20,
    pointers: new Map([['1/', { level: 1, partition: Buffer.from('!a!'), key: Buffer.from('!a!k') }]]),
    levels: [[tableOf(9, 'a', 'z')], [tableOf(3, 'b', 'c')]]
  }
  const manifest = await createManifest(fileSystem, location, 2, state)
  manifest.close()
  assert.equal(dump(fileSystem, 'MANIFEST-000002'), [
    'manifest 2, 121 bytes',
    'record at 0: 73 bytes, synced up to 0',
    '  format 1',
    '  keys in bytewise order',
    '  extractor petaldb.json, version 1',
    '  logs from 4 on',
    '  last sequence 99',
    '  next file 20',
    '  level 1, partition "!a!": compaction continues at "!a!k"',
    '  level 0: + table 9, 109 bytes, "a" to "z"',
    '    10 entries, 1 tombstone, sequences 90 to 99',
    '  level 1: + table 3, 103 bytes, "b" to "c"',
    '    10 entries, 1 tombstone, sequences 30 to 39'
  ])
})

test('dumpFile() prints at most limit entries, and how many more each block has', () => {
  const lines = dump(smallTable(), '000007.sst', { limit: 2 })
  assert.is(lines.filter((line) => line.includes(' @')).length, 2)
  assert.is(lines.filter((line) => line === '  … 1 more').length, 2)
})

test('dumpFile() describes the value filters of a table', async () => {
  const { fileSystem } = await filledStore(valueOptions)
  const text = dump(fileSystem, namesOf(fileSystem, /\.sst$/)[0] ?? '').join('\n')
  assert.match(text, /section values, \d+ bytes\n {2}extractor petaldb.json, version 1: \d+ pairs/)
  assert.match(text, /filter of 4096 bits, \d+ of them set, 4 hashes per pair\n {2}zones of n\n/)
})

test('dumpFile() prints damage in its place, and everything intact around it', () => {
  const block = smallTable()
  flip(block, '000007.sst', 30)
  const lines = dump(block, '000007.sst')
  const [at] = lines.flatMap((line, i) => (line.startsWith('! 23 bytes at 28: ') ? [i] : []))
  assert.ok(at !== undefined, lines.join('\n'))
  assert.is(lines[at - 1], '  "a\\x00\\"b" @5 = "{\\"a\\":1}"')
  assert.is(lines[at + 1], 'block at 51: 1 entry, 113 bytes raw')

  const headless = smallTable()
  const whole = dump(headless, '000007.sst')
  flip(headless, '000007.sst', -1)
  const found = dump(headless, '000007.sst')
  assert.match(found[1] ?? '', /^! Corruption in .* not a table footer/)
  assert.equal(found.slice(2), whole.slice(5))
})

test('dumpFile() prints a torn log and an undecodable manifest as far as possible', async () => {
  const { fileSystem } = await filledStore()
  const log = namesOf(fileSystem, /\.wal$/).at(-1) ?? ''
  // After the log there may be remains of another one.
  const end = /^end at (\d+)/.exec(dump(fileSystem, log).at(-1) ?? '')?.[1] ?? readBytes(fileSystem, log).length
  truncate(fileSystem, log, Number(end))
  const sound = dump(fileSystem, log)
  truncate(fileSystem, log, Number(end) - 1)
  const torn = dump(fileSystem, log)
  assert.equal(torn.slice(1, -1), sound.slice(1, -2))
  assert.match(torn.at(-1) ?? '', /^end at \d+, followed by \d+ bytes: a torn record/)
  const manifest = namesOf(fileSystem, /^MANIFEST/)[0] ?? ''
  flip(fileSystem, manifest, 40)
  assert.match(dump(fileSystem, manifest)[1] ?? '', /^! Corruption in .*MANIFEST/)
})

test('dumpFile() refuses other files, reports missing ones, and leaves none open', async () => {
  const memory = smallTable()
  const fileSystem = new FaultyFileSystem(memory)
  const run = async (name: string) => [...dumpFile(`${location}/${name}`, { fileSystem })]
  assert.is((await rejection(run('CURRENT'))).code, 'LEVEL_NOT_SUPPORTED')
  assert.is((await rejection(run('000008.sst'))).code, 'LEVEL_IO_ERROR')
  for (const _ of dumpFile(`${location}/000007.sst`, { fileSystem })) break
  assert.equal(fileSystem.openFiles, [])
})

test('dumpFile() prints some text for any bytes', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 300 }),
      fc.constantFrom('000007.sst', '000007.wal', 'MANIFEST-000007'),
      (bytes, name) => {
        assert.ok(dump(withFile(name, bytes), name).length > 0)
      }
    ),
    { seed }
  )
})

test.run()
