/** Buckets of fingerprints: exactly what was encoded is found; decoding arbitrary bytes ends and stays in bounds. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { RowMemory } from '../../src/bloom/kernels/index.ts'
import { BitWriter, encodeBucket } from '../../src/sharded-bloom/segment/tail/codec.ts'
import { sortEntries } from '../../src/sharded-bloom/segment/tail/entry-run.ts'
import { testSeed } from '../support/arbitraries.ts'
import { numbersBelow } from '../support/random.ts'

const seed = testSeed()
console.log(`seed ${seed}`)
const below = numbersBelow(seed)

const memory = new RowMemory(8 << 20)
const { kernels, u8, u16, u32 } = memory
const frameBytes = 8192
const frames = Array.from({ length: 60 }, () => memory.allocate())
const guard = memory.allocate()
const cut = memory.allocate()
const row = memory.allocate()
const pointers = memory.push(4 * frames.length)
const list = memory.push(8 * 90_000)
const groupShift = 11

/** Positions of codes, ascending. */
type Bucket = ReadonlyMap<number, readonly number[]>

function encode(bucket: Bucket, width: number, documents: number, first = 0): Uint8Array {
  const entries = [...bucket].flatMap(([code, positions]) => positions.map((position) => [code, position] as const))
  // In the order of their documents, as they are added.
  entries.sort((a, b) => a[1] - b[1] || below(3) - 1)
  const codes = Uint32Array.from(entries, ([code]) => code)
  const positions = Uint16Array.from(entries, ([, position]) => first + position)
  const writer = new BitWriter()
  encodeBucket(
    sortEntries({ codes, positions }, entries.length, width),
    0,
    entries.length,
    width,
    first,
    documents,
    writer
  )
  return writer.take().slice()
}

/** Puts the bytes into frames, starting at byte `from` of the first one; the rest of these frames is 0xff. */
function place(bytes: Uint8Array, from: number): void {
  const count = Math.ceil((from + bytes.length) / frameBytes)
  for (let i = 0; i < Math.max(1, count); i++) {
    u32[(pointers >>> 2) + i] = frames[i]!
    u8.fill(0xff, frames[i]!, frames[i]! + frameBytes)
  }
  bytes.forEach((byte, i) => {
    u8[frames[(from + i) >>> 13]! + ((from + i) & 8191)] = byte
  })
}

function find(bytes: Uint8Array, from: number, width: number, code: number, documents: number): readonly number[] | -1 {
  kernels.fill(row, 0, frameBytes)
  const count = kernels.fingerprintPositions(pointers, from, from + bytes.length, width, code, documents, row)
  if (count < 0) return -1
  const found = kernels.enumerate(row, frameBytes, list, 65_536, 0)
  assert.is(found, count)
  return Array.from(u16.subarray(list >>> 1, (list >>> 1) + found))
}

function groupsOf(positions: readonly number[]): number {
  return positions.reduce((groups, position) => groups | (1 << (position >>> groupShift)), 0)
}

function randomBucket(width: number, documents: number): Bucket {
  const bucket = new Map<number, readonly number[]>()
  for (let codes = below(200); codes >= 0; codes--) {
    const count = below(4) > 0 ? 1 : below(30) > 0 ? 1 + below(20) : 1 + below(documents)
    const from = below(documents)
    const positions = new Set(
      Array.from({ length: count }, (_, i) => (below(2) ? below(documents) : from + i) % documents)
    )
    bucket.set(
      below(2 ** width),
      [...positions].sort((a, b) => a - b)
    )
  }
  return bucket
}

test('every code has exactly its positions, and other codes have none', () => {
  for (let round = 0; round < 42; round++) {
    const width = [1, 4, 11, 17, 24, 30][round % 6]!
    const documents = [1, 2, 3, 512, 4096, 40_000, 65_536][round % 7]!
    const bucket = randomBucket(width, documents)
    const bytes = encode(bucket, width, documents)
    const from = round % 3 === 0 ? 0 : below(frameBytes)
    place(bytes, from)
    const absent = Array.from({ length: 8 }, () => below(2 ** width))
    for (const code of [...bucket.keys(), ...absent, 0, 2 ** width - 1]) {
      const expected = bucket.get(code) ?? []
      const found = find(bytes, from, width, code, documents)
      assert.equal(found, expected, `round ${round}, code ${code} of ${width} bits, ${documents} documents`)
      const groups = kernels.fingerprintGroups(pointers, from, from + bytes.length, width, code, documents, groupShift)
      assert.is(groups, groupsOf(expected))
    }
    const entries = [...bucket].sort(([a], [b]) => a - b).flatMap(([code, each]) => each.flatMap((p) => [code, p]))
    const most = Math.min(90_000, entries.length / 2)
    const listed = kernels.listFingerprints(pointers, from, from + bytes.length, width, documents, list, most)
    if (most < entries.length / 2) assert.is(listed, -1)
    else assert.equal([...u32.subarray(list >>> 2, (list >>> 2) + 2 * listed)], entries)
    if (entries.length > 0) {
      assert.is(kernels.listFingerprints(pointers, from, from + bytes.length, width, documents, list, most - 1), -1)
    }
  }
})

test('positions are relative to the first one', () => {
  const bytes = encode(
    new Map([
      [5, [0, 3, 99]],
      [9, [77]]
    ]),
    10,
    100,
    4000
  )
  place(bytes, 8190)
  assert.equal(find(bytes, 8190, 10, 5, 100), [0, 3, 99])
  assert.equal(find(bytes, 8190, 10, 9, 100), [77])
})

test('a bucket is encoded bit by bit as documented', () => {
  // γ(2); gap 5 with k = ⌊log2(16/2)⌋ = 3: 1 101; γ(1): 1; 2 in 3 bits: 010; gap 0: 1 000; γ(3): 0 1 1; of 8 documents
  // ⌊log2(8/3)⌋ = 1: 0: 1 0, 4 − 1: 01 1, 7 − 5: 01 0. Lowest bits first.
  const bytes = encode(
    new Map([
      [5, [2]],
      [6, [0, 4, 7]]
    ]),
    4,
    8
  )
  const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, '0').split('').reverse().join('')).join('')
  assert.is(bits, ['010', '1101', '1', '010', '1000', '011', '10', '011', '010'].join('').padEnd(32, '0'))
})

test('decoding arbitrary bytes ends, and sets no bit beyond the documents', () => {
  const bad = { count: 0 }
  for (let round = 0; round < 1000; round++) {
    const width = 1 + below(30)
    const documents = 1 + below(65_536)
    let bytes: Uint8Array
    if (round % 2 === 0) bytes = Uint8Array.from({ length: below(400) }, () => (below(3) === 0 ? 0 : below(256)))
    else {
      bytes = encode(
        randomBucket(Math.min(width, 12), Math.min(documents, 500)),
        Math.min(width, 12),
        Math.min(documents, 500)
      )
      if (bytes.length > 0) bytes[below(bytes.length)]! ^= 1 << below(8)
      if (round % 4 === 1) bytes = bytes.subarray(0, below(bytes.length + 1))
    }
    const from = below(frameBytes)
    place(bytes, from)
    u8.fill(0xaa, guard, guard + frameBytes)
    const code = below(2 ** width)
    kernels.fill(row, 0, frameBytes)
    const to = from + bytes.length
    const count = kernels.fingerprintPositions(pointers, from, to, width, code, documents, row)
    if (count < 0) bad.count++
    kernels.copy(row, cut, frameBytes)
    kernels.clearFrom(cut, documents, frameBytes)
    assert.is(kernels.equal(row, cut, frameBytes), 1, 'no position is beyond the documents')
    const groups = kernels.fingerprintGroups(pointers, from, to, width, code, documents, groupShift)
    assert.is(groups === -1, count < 0 || groups === -1)
    assert.ok(kernels.listFingerprints(pointers, from, to, width, documents, list, 1000) <= 1000)
    assert.ok(u8.subarray(guard, guard + frameBytes).every((byte) => byte === 0xaa))
  }
  assert.ok(bad.count > 100, `${bad.count} were refused`)
})

test('sorting keeps entries with equal codes in the order of their positions, be they few or thousands', () => {
  for (const [count, codes, width] of [
    [0, 1, 10],
    [1, 1, 18],
    [5000, 3, 24],
    [30_000, 40, 24],
    [30_000, 2 ** 20, 20]
  ] as const) {
    const entries = {
      codes: Uint32Array.from({ length: count }, () => below(codes)),
      positions: Uint16Array.from({ length: count }, (_, i) => i)
    }
    const sorted = sortEntries(entries, count, width)
    for (let i = 1; i < count; i++) {
      const isAscending =
        sorted.codes[i - 1]! < sorted.codes[i]! ||
        (sorted.codes[i - 1] === sorted.codes[i] && sorted.positions[i - 1]! < sorted.positions[i]!)
      if (!isAscending) assert.unreachable(`entry ${i} of ${count}`)
    }
    assert.equal(new Set(sorted.positions).size, count)
    for (let i = 0; i < count; i++) {
      if (entries.codes[sorted.positions[i]!] !== sorted.codes[i]) assert.unreachable('a position with another code')
    }
  }
})

test.run()
