import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { BlockCache } from '../../src/lsm/cache/block-cache.ts'
import { Block } from '../../src/lsm/format/block.ts'
import { compareKeys, EntryKind } from '../../src/lsm/format/entry.ts'
import { Found } from '../../src/lsm/format/found.ts'
import { keyHash } from '../../src/lsm/format/key-filter.ts'
import { allOf, currentKey } from './cursor-cases.ts'
import { buildTable, openTable, usualOptions } from './table-filling.ts'

/** A block of this many bytes. */
function blockOf(bytes: number): Block {
  const payload = Buffer.alloc(bytes)
  payload[bytes - 4] = 1
  return new Block(payload, 0, bytes, 'x', 0)
}

const overhead = (() => {
  const cache = new BlockCache(1e6)
  cache.forTable(1).add(0, blockOf(1000))
  return cache.usedBytes - 1000
})()

test('an added block is found by its table and index', () => {
  const cache = new BlockCache(1e6)
  const [first, second] = [cache.forTable(3), cache.forTable(3)]
  const block = blockOf(100)
  first.add(1, block)
  assert.equal(first.get(1)?.bytes.subarray(0, 100), block.bytes)
  assert.is(first.get(0), undefined)
  assert.is(second.get(1), undefined)
  assert.equal([cache.hits, cache.misses], [1, 2])
})

test('the budget is never exceeded, whatever is added', () => {
  const cache = new BlockCache(50_000)
  const tables = Array.from({ length: 4 }, () => cache.forTable(100))
  let added = 0
  for (let i = 0, x = 1; i < 5000; i++) {
    x = (Math.imul(x, 1_664_525) + 1_013_904_223) >>> 0
    const table = tables[x % 4]!
    const index = (x >>> 8) % 100
    if (table.get(index) === undefined) {
      table.add(index, blockOf(50 + ((x >>> 16) % 9000)))
      added++
    }
    assert.ok(cache.usedBytes <= 50_000)
  }
  assert.ok(added > 1000 && cache.blocks > 2 && cache.usedBytes > 30_000)
  for (const table of tables) table.clear()
  assert.equal([cache.usedBytes, cache.blocks], [0, 0])
})

test('a full cache admits blocks that are requested repeatedly', () => {
  const cache = new BlockCache(100 * (1000 + overhead))
  const [before, now] = [cache.forTable(100), cache.forTable(50)]
  for (let i = 0; i < 100; i++) before.add(i, blockOf(1000))
  for (let round = 0; round < 3; round++) {
    for (let i = 0; i < 50; i++) if (now.get(i) === undefined) now.add(i, blockOf(1000))
  }
  for (let i = 0; i < 50; i++) assert.ok(now.get(i) !== undefined, `block ${i}`)
})

test('blocks that are requested repeatedly stay while others come and go', () => {
  const cache = new BlockCache(20 * (1000 + overhead))
  const [wanted, scanned] = [cache.forTable(5), cache.forTable(1000)]
  for (let i = 0; i < 5; i++) wanted.add(i, blockOf(1000))
  for (let i = 0; i < 1000; i++) {
    for (let j = 0; j < 5; j++) assert.ok(wanted.get(j) !== undefined, `after ${i} others`)
    scanned.add(i, blockOf(1000))
  }
})

test('a cache without a budget keeps nothing, and no cache keeps a block larger than a quarter of its budget', () => {
  for (const budget of [0, 1, 3000]) {
    const cache = new BlockCache(budget)
    const table = cache.forTable(1)
    table.add(0, blockOf(1000))
    assert.is(table.get(0), undefined)
    assert.is(cache.usedBytes, 0)
  }
})

const entries = Array.from({ length: 400 }, (_, i) => ({
  key: Buffer.from(String(i).padStart(6, '0')),
  sequence: i,
  kind: EntryKind.put,
  value: Buffer.alloc(100, i)
}))
const built = buildTable(entries, { ...usualOptions, blockBytes: 1000 })

test('a scan with readahead takes few reads and does not fill the cache', () => {
  const cache = new BlockCache(1e6)
  const table = openTable(built, cache)
  built.file.reads = 0
  assert.is(allOf(table.cursor({ fillCache: 'none', readahead: true })).length, 400)
  assert.is(cache.blocks, 0)
  assert.ok(built.file.reads <= 4, `${built.file.reads} reads`)
})

test('a scan may cache the block that it seeks to, and no block after it', () => {
  const cache = new BlockCache(1e6)
  const table = openTable(built, cache)
  const readsOf = (key: string) => {
    const before = built.file.reads
    const cursor = table.cursor({ fillCache: 'sought', readahead: true })
    cursor.seek(Buffer.from(key))
    assert.equal(Buffer.from(cursor.keyBytes.subarray(cursor.keyStart, cursor.keyEnd)), Buffer.from(key))
    cursor.close()
    return built.file.reads - before
  }
  assert.equal([readsOf('000123'), readsOf('000123'), readsOf('000321'), readsOf('000321')], [1, 0, 1, 0])
  assert.is(cache.blocks, 2)
  assert.is(allOf(table.cursor({ fillCache: 'sought', readahead: true })).length, 400)
  assert.is(cache.blocks, 3, 'the first block was sought')
})

test('a scan reads no block whose keys are all at or after its end, nor one of the keys before it if it starts behind the separator', () => {
  const values = ['c', 'e'].flatMap((letter) =>
    Array.from({ length: 20 }, (_, i) => ({
      key: Buffer.from(`collection ${letter}${i + 10}`),
      sequence: 1,
      kind: EntryKind.put,
      value: Buffer.alloc(500, i)
    }))
  )
  const twoLetters = buildTable(values, { ...usualOptions, blockBytes: 1000 })
  /** Number of entries, and of reads without readahead. */
  const scan = (from: string, to: string): [entries: number, reads: number] => {
    const table = openTable(twoLetters, new BlockCache(0))
    const before = twoLetters.file.reads
    const end = Buffer.from(`collection ${to}`)
    const cursor = table.cursor({ fillCache: 'none', readahead: false }, end)
    let count = 0
    cursor.seek(Buffer.from(`collection ${from}`))
    for (; cursor.isValid && compareKeys(currentKey(cursor), end) < 0; cursor.next()) count++
    cursor.close()
    return [count, twoLetters.file.reads - before]
  }
  const [, all] = scan('c', 'z')
  const blocks = all / 2
  assert.is(blocks, 10)
  assert.equal(scan('d', 'e'), [0, 1], 'between the letters: the last block of the first may go on')
  assert.equal(scan('c', 'd'), [20, blocks])
  assert.equal(scan('c', 'e'), [20, blocks])
  assert.equal(scan('e\0', 'f'), [20, blocks])
})

test('a cursor that seeks a key between two blocks reads the smaller one', () => {
  const large = 50_000
  const entryOf = (key: string, bytes: number) => ({
    key: Buffer.from(key),
    sequence: 1,
    kind: EntryKind.put,
    value: Buffer.alloc(bytes, 1)
  })
  for (const [before, after] of [
    [large, 2000],
    [2000, large],
    [large, 2 * large],
    [2 * large, large]
  ] as const) {
    const sizes = buildTable([entryOf('area c1', before), entryOf('area s1', after), entryOf('area t1', 9)], {
      ...usualOptions,
      codec: 'none',
      blockBytes: 1000
    })
    const table = openTable(sizes, new BlockCache(0))
    const bytes = sizes.file.readBytes
    const cursor = table.cursor({ fillCache: 'none', readahead: true }, Buffer.from('area m'))
    cursor.seek(Buffer.from('area l'))
    assert.not.ok(cursor.isValid && compareKeys(currentKey(cursor), Buffer.from('area m')) < 0)
    cursor.close()
    const read = sizes.file.readBytes - bytes
    assert.ok(read < Math.min(before, after) + 100, `${read} bytes, between ${before} and ${after}`)
  }
})

test('a scan reads nothing ahead behind its end', () => {
  const table = openTable(built, new BlockCache(0))
  const bytesOf = (end: string | undefined) => {
    const before = built.file.readBytes
    const cursor = table.cursor({ fillCache: 'none', readahead: true }, end === undefined ? end : Buffer.from(end))
    let count = 0
    for (cursor.seek(Buffer.from('000100')); cursor.isValid && count < 100; cursor.next()) count++
    cursor.close()
    return built.file.readBytes - before
  }
  const [all, bounded] = [bytesOf(undefined), bytesOf('000200')]
  assert.ok(bounded < all - 1000, `${bounded} bytes instead of ${all}`)
})

test('get() takes one read, and none if it is repeated or cached', () => {
  const cache = new BlockCache(1e6)
  const table = openTable(built, cache)
  const found = new Found()
  const readsOf = (key: string, fillCache: boolean) => {
    const before = built.file.reads
    assert.ok(table.get(Buffer.from(key), keyHash(Buffer.from(key), 0, 6), 1000, found, fillCache))
    return built.file.reads - before
  }
  const other = () => readsOf('000321', false)
  assert.equal([readsOf('000123', false), readsOf('000123', false)], [1, 0])
  assert.equal([other(), readsOf('000123', false)], [1, 1])
  assert.equal([other(), readsOf('000123', true), other(), readsOf('000123', true)], [1, 1, 1, 0])
  assert.is(cache.blocks, 1)
  table.close()
  assert.is(cache.blocks, 0)
})

test('a block read without the cache is read again if its memory was reused', () => {
  const table = openTable(built, new BlockCache(0))
  const found = new Found()
  const key = Buffer.from('000123')
  const uses = [
    () => undefined,
    () => buildTable(entries, usualOptions),
    () => allOf(openTable(built, new BlockCache(0)).cursor({ fillCache: 'none', readahead: true })),
    () => openTable(built, new BlockCache(0)).get(key, keyHash(key, 0, 6), 1000, found),
    () => table.blockCursor(0).close()
  ]
  for (let round = 0; round < 2; round++) {
    for (const use of uses) {
      use()
      assert.ok(table.get(key, keyHash(key, 0, 6), 1000, found))
      assert.equal(Buffer.from(found.valueBytes.subarray(found.valueStart, found.valueEnd)), Buffer.alloc(100, 123))
    }
  }
})

test('changing the bytes of a cursor does not change cached blocks', () => {
  const table = openTable(built)
  for (const readahead of [false, true]) {
    for (let round = 0; round < 3; round++) {
      const cursor = table.cursor({ fillCache: 'all', readahead })
      for (cursor.seekToFirst(); cursor.isValid; cursor.next()) {
        assert.is(cursor.valueBytes[cursor.valueStart], cursor.sequence & 255)
        cursor.valueBytes.fill(0xee, cursor.valueStart, cursor.valueEnd)
      }
    }
  }
})

test('bytes exposed by a cursor do not change when it moves on', () => {
  const table = openTable(built)
  const cursor = table.cursor({ fillCache: 'none', readahead: true })
  const shown: [Uint8Array, Uint8Array][] = []
  for (cursor.seekToFirst(); cursor.isValid; cursor.next()) {
    const key = cursor.keyBytes.subarray(cursor.keyStart, cursor.keyEnd)
    shown.push([key, cursor.valueBytes.subarray(cursor.valueStart, cursor.valueEnd)])
  }
  assert.equal(
    shown.map(([key, value]) => [Buffer.from(key), Buffer.from(value)]),
    entries.map(({ key, value }) => [key, value])
  )
})

test.run()
