/** Gap lists: round trips, and bytes that no encoder writes. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { FRAME_BYTES, RowMemory } from '../../src/bloom/kernels/index.ts'
import { encodeGaps } from '../support/stored-row.ts'
import { seededRandom } from './random.ts'

const random = seededRandom()
const memory = new RowMemory(4 << 20)
const { kernels, u8 } = memory
const row = memory.allocate()
const decoded = memory.allocate()
const guard = memory.allocate()
const list = memory.push(200_000)

function decode(bytes: readonly number[]): number {
  u8.set(bytes, list)
  kernels.fill(decoded, 0, FRAME_BYTES)
  return kernels.decodeGaps(list, bytes.length, decoded)
}

function setBits(): number[] {
  const positions: number[] = []
  for (let p = 0; p < 65_536; p++) {
    if ((((u8[decoded + (p >> 3)] as number) >> (p & 7)) & 1) === 1) positions.push(p)
  }
  return positions
}

test('a list consists of the first position and then the gaps minus one, as LEB128', () => {
  assert.is(decode([0]), 1)
  assert.equal(setBits(), [0])
  assert.is(decode([5, 0, 1, 0x80, 1]), 4)
  assert.equal(setBits(), [5, 6, 8, 137])
  assert.is(decode([0xff, 0xff, 3]), 1)
  assert.equal(setBits(), [65_535])
  assert.is(decode([]), 0)
})

test('an encoded row decodes to the same row', () => {
  for (let round = 0; round < 200; round++) {
    kernels.fill(row, 0, FRAME_BYTES)
    const bytes = [16, 48, 1024, FRAME_BYTES][round & 3] as number
    const count = [0, 1, 3, 100, 3000, 100_000][round % 6] as number
    for (let i = 0; i < count; i++) u8[row + random.below(bytes)] = 1 << random.below(8)
    const gaps = encodeGaps(new Uint32Array(u8.slice(row, row + bytes).buffer))
    u8.set(gaps, list)
    kernels.fill(decoded, 0, FRAME_BYTES)
    assert.is(kernels.decodeGaps(list, gaps.length, decoded), kernels.popcount(row, FRAME_BYTES))
    assert.is(kernels.equal(row, decoded, FRAME_BYTES), 1)
  }
})

test('malformed lists are refused', () => {
  assert.is(decode([0x80]), -1, 'truncated')
  assert.is(decode([1, 0xff, 0xff]), -1, 'truncated after a good number')
  assert.is(decode([0x80, 0x80, 4]), -1, 'first position 65,536')
  assert.is(decode([0xff, 0xff, 3, 0]), -1, 'a position after the last')
  assert.is(decode([0xff, 0xff, 0xff, 0xff, 0x0f]), -1, 'a number of 32 bits')
  assert.is(decode([0x80, 0x80, 0x80, 0]), -1, 'overlong')
})

test('decodeGaps() never writes beyond its row, whatever the bytes', () => {
  u8.fill(0x5a, guard, guard + FRAME_BYTES)
  u8.fill(0x5a, decoded + FRAME_BYTES, guard)
  for (let round = 0; round < 20_000; round++) {
    const length = random.below(40)
    const mask = round % 3 === 0 ? 0x83 : 0xff
    for (let i = 0; i < length; i++) u8[list + i] = random.next() & mask
    const result = kernels.decodeGaps(list, length, decoded)
    assert.ok(result >= -1 && result <= length)
  }
  for (let at = decoded + FRAME_BYTES; at < guard + FRAME_BYTES; at++) assert.is(u8[at], 0x5a)
})

test.run()
