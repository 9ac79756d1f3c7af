import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { BlockCache } from '../../src/lsm/cache/block-cache.ts'
import { EntryKind } from '../../src/lsm/format/entry.ts'
import { Found } from '../../src/lsm/format/found.ts'
import { keyHash } from '../../src/lsm/format/key-filter.ts'
import { TableBuilder } from '../../src/lsm/format/table-builder.ts'
import { tableName } from '../../src/lsm/fs/file-names.ts'
import { MemoryFileSystem } from '../../src/lsm/fs/memory-file-system.ts'
import { systemError } from '../../src/lsm/fs/system-error.ts'
import { TableCache } from '../../src/lsm/version/table-cache.ts'
import type { TableMeta } from '../../src/lsm/version/table-meta.ts'
import { FaultyFileSystem } from '../support/faulty-file-system.ts'
import { codeOf } from './log-helpers.ts'
import { wholeEntry } from './whole-entry.ts'

const key = Buffer.from('key')

/** Tables 1 to `count` in `/`, each with one key whose value is the table's number. */
function fileSystemWith(count: number): { readonly fileSystem: FaultyFileSystem; readonly metas: TableMeta[] } {
  const fileSystem = new FaultyFileSystem(new MemoryFileSystem())
  const options = {
    blockBytes: 4096,
    restartInterval: 16,
    codec: 'none',
    keyFilterBits: 10,
    values: undefined
  } as const
  const metas = Array.from({ length: count }, (_, i) => {
    const file = fileSystem.open(`/${tableName(i + 1)}`, 'create')
    const builder = new TableBuilder(file, i + 1, options)
    const value = Buffer.from(String(i + 1))
    builder.add(wholeEntry(key, 5, EntryKind.put, value))
    const meta = builder.finish()
    file.close()
    return meta
  })
  return { fileSystem, metas }
}

function read(cache: TableCache, meta: TableMeta): number {
  const found = new Found()
  assert.ok(cache.table(meta).get(key, keyHash(key, 0, key.length), 9, found))
  return Number(Buffer.from(found.valueBytes.subarray(found.valueStart, found.valueEnd)).toString())
}

test('a table is opened only once and reads its own file', () => {
  const { fileSystem, metas } = fileSystemWith(3)
  const cache = new TableCache(fileSystem, '/', new BlockCache(1024), 10)
  for (let round = 0; round < 2; round++) {
    for (const meta of metas) assert.is(read(cache, meta), meta.number)
  }
  assert.is(cache.size, 3)
  assert.is(fileSystem.openFiles.length, 3)
  cache.close()
  assert.equal(fileSystem.openFiles, [])
})

test('no more tables are open than allowed, and those used last stay open', () => {
  const { fileSystem, metas } = fileSystemWith(20)
  const cache = new TableCache(fileSystem, '/', new BlockCache(1024), 4)
  for (const meta of metas) {
    read(cache, meta)
    read(cache, metas[0]!)
    assert.ok(cache.size <= 4)
    assert.ok(fileSystem.openFiles.includes('/000001.sst'))
    assert.is(fileSystem.openFiles.length, cache.size)
  }
})

test('a pinned table stays open beyond the limit, and is still the same object', () => {
  const { fileSystem, metas } = fileSystemWith(6)
  const cache = new TableCache(fileSystem, '/', new BlockCache(1024), 2)
  const pinned = metas.slice(0, 4).map((meta) => cache.pin(meta))
  for (const meta of metas) assert.is(read(cache, meta), meta.number)
  for (const [i, meta] of metas.slice(0, 4).entries()) assert.is(cache.table(meta), pinned[i])
  for (const meta of metas.slice(0, 4)) cache.unpin(meta.number)
  read(cache, metas[4]!)
  read(cache, metas[5]!)
  for (let i = 0; i < 4; i++) read(cache, metas[i]!)
  assert.is(cache.size, 2)
  cache.close()
})

test('a dropped table is closed with its last unpin()', () => {
  const { fileSystem, metas } = fileSystemWith(2)
  const cache = new TableCache(fileSystem, '/', new BlockCache(1024), 10)
  const [first, second] = metas as [TableMeta, TableMeta]
  cache.pin(first)
  cache.pin(first)
  cache.table(second)
  cache.drop(first.number)
  cache.drop(second.number)
  cache.drop(99)
  assert.equal(fileSystem.openFiles, ['/000001.sst'])
  cache.unpin(first.number)
  assert.equal(fileSystem.openFiles, ['/000001.sst'])
  cache.unpin(first.number)
  assert.equal(fileSystem.openFiles, [])
  assert.is(cache.size, 0)
})

test('a table that cannot be opened leaves no file open', () => {
  const { fileSystem, metas } = fileSystemWith(2)
  const cache = new TableCache(fileSystem, '/', new BlockCache(1024), 10)
  const [first, second] = metas as [TableMeta, TableMeta]
  assert.is(
    codeOf(() => cache.table({ ...second, number: first.number })),
    undefined
  )
  fileSystem.fail({ at: 1, operations: ['open'], code: 'EIO' })
  assert.is(
    codeOf(() => cache.table(second)),
    'LEVEL_IO_ERROR'
  )
  fileSystem.fail({ at: 1, operations: ['read'], code: 'EIO' })
  assert.is(
    codeOf(() => cache.table(second)),
    'LEVEL_IO_ERROR'
  )
  fileSystem.heal()
  fileSystem.remove('/000002.sst')
  assert.is(
    codeOf(() => cache.table(second)),
    'LEVEL_IO_ERROR'
  )
  cache.close()
  assert.equal(fileSystem.openFiles, [])
})

test('if the process runs out of descriptors, idle tables are closed and all tables can be read', () => {
  const descriptors = 10
  const { fileSystem, metas } = fileSystemWith(40)
  const limited = new FaultyFileSystem(fileSystem, {
    before: ({ operation, path }) => {
      if (operation === 'open' && fileSystem.openFiles.length >= descriptors) throw systemError('EMFILE', 'open', path)
    }
  })
  const cache = new TableCache(limited, '/', new BlockCache(1024), 1000)
  for (let round = 0; round < 3; round++) for (const meta of metas) assert.is(read(cache, meta), meta.number)
  assert.ok(cache.size <= descriptors && cache.size > descriptors / 2, `${cache.size} tables are open`)
  // No table is idle: opening another one throws.
  const pinned = metas.slice(0, descriptors).map((meta) => cache.pin(meta))
  assert.is(pinned.length, descriptors)
  assert.is(
    codeOf(() => cache.table(metas[20]!)),
    'LEVEL_IO_ERROR'
  )
  for (const meta of metas.slice(0, descriptors)) cache.unpin(meta.number)
  assert.is(read(cache, metas[20]!), 21)
  cache.close()
})

test.run()
