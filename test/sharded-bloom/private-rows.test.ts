/** Private rows are exact, however pairs collide, and malformed stored rows are refused. */
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { PairHasher } from '../../src/bloom/hash.ts'
import { rowMemory } from '../../src/bloom/kernels/index.ts'
import { Type } from '../../src/model/types.ts'
import { Flattener } from '../../src/sharded-bloom/pairs/flatten.ts'
import { PairHash } from '../../src/sharded-bloom/pairs/pair-hash.ts'
import { Tag, type TaggedPair } from '../../src/sharded-bloom/pairs/pair-tags.ts'
import { ScratchArena } from '../../src/sharded-bloom/records/scratch-arena.ts'
import { wholePart } from '../../src/sharded-bloom/segment/and-groups.ts'
import { geometryOf, sealedRowBytes } from '../../src/sharded-bloom/segment/geometry.ts'
import { GrowingRow } from '../../src/sharded-bloom/segment/growing-row.ts'
import { OpenSegment } from '../../src/sharded-bloom/segment/open-segment.ts'
import { type HashedPair, PrivateTable } from '../../src/sharded-bloom/segment/private-table.ts'
import { frameBytes } from '../../src/sharded-bloom/segment/row-cache.ts'
import { decodeRow, encodeRow, RowShape } from '../../src/sharded-bloom/segment/row-codec.ts'
import { testSeed } from '../support/arbitraries.ts'
import { storedRow } from '../support/stored-row.ts'

const seed = testSeed()
const memory = rowMemory()

/** Every pair has the same 64 bits. */
class ConstantHasher implements PairHasher {
  readonly name = 'murmur'
  readonly lo = 7
  readonly hi = -7
  hashString(): void {}
  hashNumber(): void {}
}

test('pairs with the same hash are distinguished by path, tag and key', () => {
  const alike: TaggedPair[] = []
  for (const path of ['a', 'b', 'a.b', '']) {
    for (const tag of [Type.string, Type.number, Tag.size, Tag.exists, Tag.irregular]) {
      for (const key of ['1', '', 1, 0, Number.NaN, Number.POSITIVE_INFINITY]) alike.push({ path, tag, key })
    }
  }
  const table = new PrivateTable()
  alike.forEach((pair, i) => {
    assert.is(table.find(5, 6, pair.path, pair.tag, pair.key), -1)
    assert.is(table.add({ ...pair, lo: 5, hi: 6 }), i)
  })
  alike.forEach((pair, i) => {
    assert.is(table.find(5, 6, pair.path, pair.tag, pair.key), i)
    assert.is(table.find(5, 7, pair.path, pair.tag, pair.key), -1)
    assert.is(table.find(6, 6, pair.path, pair.tag, pair.key), -1)
  })
  assert.is(table.size, alike.length)
})

test('a private row holds exactly its documents when all pairs collide', () => {
  const hasher = new ConstantHasher()
  const flattener = new Flattener(hasher, { lo: 0, hi: 0 })
  const pairHash = new PairHash(hasher, (path) => flattener.seedOf(path))
  const privatePair: HashedPair = pairHash.hash({ path: 'a', tag: Type.string, key: 'x' })
  const parameters = { shards: 64, rowsPerPair: 4, privatePairs: [privatePair], columns: [], upperFrames: 0 }
  const segment = new OpenSegment(memory, geometryOf(512), pairHash, 0, parameters)
  for (let i = 0; i < 200; i++) segment.add(flattener.flatten(i % 3 === 0 ? { a: 'x' } : { a: 'y', b: 'x' }))
  const positions = (pair: TaggedPair): number[] => {
    const location = segment.locate(pairHash.hash(pair))
    assert.is(location.kind, 'private')
    if (location.kind !== 'private') return []
    const scratch = memory.push(frameBytes)
    const row = segment.privateRow(location.slot, scratch, wholePart(segment.rowBytes))
    const found = Array.from({ length: 512 }, (_, i) => i).filter(
      (i) => (memory.u8[row + (i >> 3)]! & (1 << (i & 7))) !== 0
    )
    memory.pop(scratch)
    return found
  }
  const all = Array.from({ length: 200 }, (_, i) => i)
  assert.equal(
    positions({ path: 'a', tag: Type.string, key: 'x' }),
    all.filter((i) => i % 3 === 0)
  )
  assert.equal(
    positions({ path: 'b', tag: Tag.exists, key: 0 }),
    all.filter((i) => i % 3 !== 0)
  )
  assert.equal(positions({ path: 'a', tag: Tag.type, key: Type.string }), all)
  assert.is(segment.locate(pairHash.hash({ path: 'a', tag: Type.string, key: 'y' })).kind, 'hashed')
  segment.free()
})

const lengths = fc.oneof(
  fc.constantFrom(1, 31, 32, 33, 63, 64, 65, 127, 128, 4096, 65_535, 65_536),
  fc.integer({ min: 1, max: 65_536 })
)
/** Share of set bits, in 1/65536; together they lead to every shape. */
const shares = fc.constantFrom(
  ...[0, 1, 30, 300, 5000, 8000, 8191, 20_000, 32_768, 50_000, 57_344, 57_400, 65_000, 65_500, 65_535, 65_536]
)

function randomRow(documents: number, share: number, start: number): Uint32Array {
  const words = new Uint32Array(2048)
  let state = start | 1
  // Bits beyond the documents are arbitrary.
  for (let i = 0; i < 65_536; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) | 0
    if (state >>> 16 < (i < documents ? share : 32_768)) words[i >>> 5]! |= 1 << (i & 31)
  }
  return words
}

test('a row of any length and density survives encoding, in no more bytes than its shape and bits take', () => {
  const address = memory.allocate()
  const shapes = new Set<number>()
  fc.assert(
    fc.property(lengths, shares, fc.integer(), (documents, share, start) => {
      const words = randomRow(documents, share, start)
      const rowBytes = sealedRowBytes(documents)
      const stored = encodeRow(words, documents, rowBytes, memory, new ScratchArena())
      assert.equal(stored, storedRow(words, documents, rowBytes))
      shapes.add(stored[0]!)
      assert.ok(stored.length <= 1 + rowBytes)
      memory.kernels.fill(address, 0xaa, frameBytes)
      assert.ok(decodeRow(stored, memory, address, documents, rowBytes))
      for (let i = 0; i < rowBytes * 8; i++) {
        const isSet = (memory.u8[address + (i >> 3)]! & (1 << (i & 7))) !== 0
        const expected = i < documents && (words[i >>> 5]! & (1 << (i & 31))) !== 0
        if (isSet !== expected) assert.unreachable(`position ${i} of ${documents}`)
      }
    }),
    { seed, numRuns: 150 }
  )
  memory.free(address)
  assert.equal([...shapes].sort(), Object.values(RowShape))
})

test('parts of a row are joined into the same bytes as the complete row is encoded to', () => {
  const partBytes = 512
  const frame = memory.allocate()
  fc.assert(
    fc.property(lengths, shares, shares, fc.integer(), (documents, share, otherShare, start) => {
      const words = randomRow(documents, share, start)
      // The second half may have another density.
      words.set(randomRow(documents, otherShare, start + 1).subarray(1024), 1024)
      const rowBytes = sealedRowBytes(documents)
      const parts = Math.ceil(documents / (8 * partBytes))
      const cursors = memory.push(8 * parts)
      const ends: number[] = []
      for (let part = 0; part < parts; part++) {
        const covered = Math.min(8 * partBytes, documents - part * 8 * partBytes)
        const stored = storedRow(words.subarray(part * 128, (part + 1) * 128), covered, partBytes)
        const at = memory.push(2 + stored.length)
        memory.u8.set([stored.length & 0xff, stored.length >>> 8, ...stored], at)
        ends.push(at + 2 + stored.length)
        memory.u32.set([at, ends[part]!], cursors / 4 + 2 * part)
      }
      const out = memory.push(1 + rowBytes + 16)
      memory.u8.fill(0xa5, out, out + 1 + rowBytes + 16)
      const length = memory.kernels.encodeParts(cursors, parts, documents, partBytes, rowBytes, frame, out)
      assert.equal(memory.u8.slice(out, out + length), storedRow(words, documents, rowBytes))
      assert.ok(memory.u8.subarray(out + 1 + rowBytes, out + 1 + rowBytes + 16).every((byte) => byte === 0xa5))
      for (let part = 0; part < parts; part++) assert.is(memory.u32[cursors / 4 + 2 * part], ends[part])
      memory.pop(cursors)
    }),
    { seed, numRuns: 400 }
  )
  memory.free(frame)
})

test('arbitrary bytes are refused or decoded to a row, and the memory around it is never touched', () => {
  const before = memory.allocate()
  const address = memory.allocate()
  const after = memory.allocate()
  const anyBytes = fc.oneof(
    fc.uint8Array({ maxLength: 40 }),
    fc
      .tuple(fc.constantFrom(...Object.values(RowShape)), fc.uint8Array({ maxLength: 9000 }))
      .map(([shape, rest]) => Uint8Array.of(shape, ...rest)),
    fc.integer({ min: 0, max: 9000 }).map((length) => new Uint8Array(length).fill(0xff).fill(RowShape.list, 0, 1)),
    fc.integer({ min: 0, max: 9000 }).map((length) => new Uint8Array(length).fill(RowShape.complement, 0, 1))
  )
  fc.assert(
    fc.property(anyBytes, lengths, (bytes, documents) => {
      for (const frame of [before, after]) memory.kernels.fill(frame, 0x5a, frameBytes)
      const rowBytes = sealedRowBytes(documents)
      const scratch = memory.push(16)
      memory.pop(scratch)
      if (decodeRow(bytes, memory, address, documents, rowBytes)) {
        for (let i = documents; i < rowBytes * 8; i++) {
          if ((memory.u8[address + (i >> 3)]! & (1 << (i & 7))) !== 0)
            assert.unreachable(`position ${i} of ${documents}`)
        }
      }
      for (const frame of [before, after]) {
        assert.ok(memory.u8.subarray(frame, frame + frameBytes).every((byte) => byte === 0x5a))
      }
    }),
    { seed, numRuns: 400 }
  )
  for (const frame of [before, address, after]) memory.free(frame)
})

for (const [what, bytes] of [
  ['nothing', []],
  ['an unknown shape', [9]],
  ['a dense row cut off', [RowShape.dense, 1, 2, 3]],
  ['a gap that does not end', [RowShape.list, 0x80]],
  ['a gap beyond the last position', [RowShape.list, 0xff, 0xff, 0x7f]],
  ['more gaps than a dense row has bytes', [RowShape.list, ...new Array(65).fill(0)]]
] as const) {
  test(`${what} is refused as a row`, () => {
    const address = memory.allocate()
    assert.is(decodeRow(Uint8Array.from(bytes), memory, address, 512, 64), false)
    memory.free(address)
  })
}

test('a row that grows from a list into bits keeps every position', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat(4095), { maxLength: 600 }), fc.nat(63), (list, cut) => {
      const positions = list.sort((a, b) => a - b)
      const row = new GrowingRow(4096)
      for (const position of positions) {
        row.add(position)
        row.add(position)
      }
      assert.is(row.count, positions.length)
      const target = new Uint32Array(128)
      row.writeTo(target)
      assert.equal(positionsOf(target), positions)
      const from = cut * 64
      assert.equal(
        positionsOf(row.words(from, 4096)),
        positions.filter((position) => position >= from).map((position) => position - from)
      )
      const copy = new GrowingRow(4096)
      copy.addWords(row.words(0, from), 0)
      copy.addWords(row.words(from, 4096), from)
      assert.equal(positionsOf(copy.words(0, 4096)), positions)
    }),
    { seed, numRuns: 200 }
  )
})

function positionsOf(words: Uint32Array): number[] {
  const positions: number[] = []
  for (let i = 0; i < words.length * 32; i++) if ((words[i >>> 5]! & (1 << (i & 31))) !== 0) positions.push(i)
  return positions
}

test.run()
