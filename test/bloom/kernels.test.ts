/** Every kernel compared with npm `bitset` or a plain loop, on rows of many kinds and sizes. */
import BitSet, { type BitSet as BitSetType } from 'bitset'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { enumerateSlack, FRAME_BYTES, RowMemory } from '../../src/bloom/kernels/index.ts'
import { seededRandom } from './random.ts'

const random = seededRandom()
const memory = new RowMemory(16 << 20)
const { kernels, u8, u16, u32 } = memory

const sizes = [16, 32, 48, 64, 80, 112, 128, 240, 496, 512, 1008, 1024, 4096, 8176, FRAME_BYTES] as const

/** Fills a row; `kind` is taken modulo 7. Returns its oracle. */
function fillRow(address: number, bytes: number, kind: number): BitSetType {
  const row = u8.subarray(address, address + bytes)
  row.fill(0)
  switch (kind % 7) {
    case 0:
      break
    case 1:
      row.fill(255)
      break
    case 2:
      row[random.below(bytes)] = 1 << random.below(8)
      break
    case 3:
      row[bytes - 1] = 128
      break
    case 4:
      for (let i = 0; i < bytes; i++) row[i] = random.next()
      break
    case 5:
      for (let i = 0; i < bytes / 16; i++) row[random.below(bytes)] = random.next()
      break
    default:
      for (let i = 0; i < bytes; i++) row[i] = random.next() | random.next() | random.next()
  }
  return new BitSet(row)
}

/** Calls `check` with random rows of every size and many kinds; checks that bytes next to the output are unchanged. */
function forRows(
  count: number,
  check: (rows: number[], oracles: BitSetType[], bytes: number, out: number) => void
): void {
  const frames = Array.from({ length: count }, () => memory.allocate())
  const outFrame = memory.push(FRAME_BYTES + 32)
  const out = outFrame + 16
  for (const bytes of sizes) {
    for (let round = 0; round < 14; round++) {
      const oracles = frames.map((frame, i) => fillRow(frame, bytes, round + i * (round > 6 ? 3 : 1)))
      u8.fill(0xa5, outFrame, outFrame + FRAME_BYTES + 32)
      check(frames, oracles, bytes, out)
      for (let i = 1; i <= 16; i++) {
        assert.is(u8[out - i], 0xa5, `byte ${i} before the output is untouched`)
        assert.is(u8[out + bytes + i - 1], 0xa5, `byte ${i} after the output is untouched`)
      }
    }
  }
  memory.pop(outFrame)
  for (const frame of frames) memory.free(frame)
}

function assertRow(address: number, bytes: number, expected: BitSetType, what: string): void {
  const words = u32.subarray(address >> 2, (address + bytes) >> 2)
  for (let i = 0; i < words.length; i++) {
    if (words[i] !== (expected.data[i] ?? expected._) >>> 0) assert.unreachable(`${what}: word ${i} of ${bytes} bytes`)
  }
}

function positionsOf(address: number, bytes: number): number[] {
  const positions: number[] = []
  for (let p = 0; p < bytes * 8; p++) if ((((u8[address + (p >> 3)] as number) >> (p & 7)) & 1) === 1) positions.push(p)
  return positions
}

test('and(), or(), andNot() and not() agree with bitset', () => {
  forRows(2, ([a = 0, b = 0], [x, y], bytes, out) => {
    if (x === undefined || y === undefined) return
    kernels.and(a, b, out, bytes)
    assertRow(out, bytes, x.and(y), 'and')
    kernels.or(a, b, out, bytes)
    assertRow(out, bytes, x.or(y), 'or')
    kernels.andNot(a, b, out, bytes)
    assertRow(out, bytes, x.andNot(y), 'andNot')
    kernels.not(a, out, bytes)
    assertRow(out, bytes, x.not(), 'not')
  })
})

test('an output may be one of the inputs', () => {
  forRows(2, ([a = 0, b = 0], [x, y], bytes, out) => {
    if (x === undefined || y === undefined) return
    kernels.copy(a, out, bytes)
    kernels.andNot(b, out, out, bytes)
    assertRow(out, bytes, y.andNot(x), 'andNot into b')
    kernels.copy(a, out, bytes)
    kernels.not(out, out, bytes)
    kernels.and(out, b, out, bytes)
    assertRow(out, bytes, y.andNot(x), 'not, and into a')
  })
})

test('andRows() combines any number of rows and returns whether a bit is set', () => {
  const pointers = memory.push(64)
  for (const count of [1, 2, 3, 8, 13]) {
    forRows(count, (rows, oracles, bytes, out) => {
      u32.set(rows, pointers >> 2)
      const and = oracles.reduce((x, y) => x.and(y))
      assert.is(kernels.andRows(pointers, count, out, bytes), and.isEmpty() ? 0 : 1)
      assertRow(out, bytes, and, `andRows of ${count}`)
    })
  }
  memory.pop(pointers)
})

test('andRows() of no rows sets all bits', () => {
  forRows(0, (_rows, _oracles, bytes, out) => {
    assert.is(kernels.andRows(0, 0, out, bytes), 1)
    assert.is(kernels.popcount(out, bytes), bytes * 8)
  })
})

test('groupsWithBits() returns the groups in which the AND of rows has a bit', () => {
  const pointers = memory.push(64)
  for (const count of [0, 1, 3, 8]) {
    forRows(count, (rows, _oracles, bytes, out) => {
      u32.set(rows, pointers >> 2)
      kernels.andRows(pointers, count, out, bytes)
      for (const groupBytes of [16, 48, 256]) {
        for (const groups of [-1, 1, 0x8000_0000, 0b1010_0110, random.next()]) {
          let expected = 0
          for (let group = 0; group * groupBytes < bytes && group < 32; group++) {
            const from = group * groupBytes
            const isEmpty = kernels.popcount(out + from, Math.min(groupBytes, bytes - from)) === 0
            if (((groups >>> group) & 1) === 1 && !isEmpty) expected |= 1 << group
          }
          const found = kernels.groupsWithBits(pointers, count, groups, groupBytes, bytes)
          assert.is(found, expected, `${count} rows of ${bytes} bytes, groups of ${groupBytes}: ${groups}`)
        }
      }
    })
  }
  memory.pop(pointers)
})

test('andRows() may write into one of its rows', () => {
  forRows(3, (rows, oracles, bytes) => {
    const pointers = memory.push(16)
    u32.set(rows, pointers >> 2)
    kernels.andRows(pointers, 3, rows[1] as number, bytes)
    assertRow(
      rows[1] as number,
      bytes,
      oracles.reduce((x, y) => x.and(y)),
      'andRows in place'
    )
    memory.pop(pointers)
  })
})

test('popcount() agrees with cardinality()', () => {
  forRows(1, ([a = 0], [x], bytes) => {
    if (x !== undefined) assert.is(kernels.popcount(a, bytes), x.cardinality())
  })
})

test('equal() notices a single bit anywhere', () => {
  forRows(2, ([a = 0, b = 0], [x, y], bytes) => {
    if (x === undefined || y === undefined) return
    assert.is(kernels.equal(a, b, bytes), x.equals(y) ? 1 : 0)
    kernels.copy(a, b, bytes)
    assert.is(kernels.equal(a, b, bytes), 1)
    const at = b + random.below(bytes)
    u8[at] = (u8[at] as number) ^ (1 << random.below(8))
    assert.is(kernels.equal(a, b, bytes), 0)
  })
})

test('fill() and copy() write exactly the given bytes', () => {
  forRows(1, ([a = 0], [x], bytes, out) => {
    if (x === undefined) return
    kernels.copy(a, out, bytes)
    assertRow(out, bytes, x, 'copy')
    kernels.fill(out, 0x0f, bytes)
    assert.is(kernels.popcount(out, bytes), bytes * 4)
  })
})

test('clearFrom() clears all bits at and above a position and none below', () => {
  forRows(1, ([a = 0], [x], bytes, out) => {
    if (x === undefined) return
    for (const bits of [0, 1, 7, 8, 63, 64, 65, bytes * 8 - 1, bytes * 8, bytes * 8 + 9, random.below(bytes * 8)]) {
      kernels.copy(a, out, bytes)
      kernels.clearFrom(out, bits, bytes)
      // One bit too far on purpose: bitset 5.3.0 clears nothing in the last word of a range that ends at its bit 31.
      const expected = bits >= bytes * 8 ? x : x.clone().clear(bits, bytes * 8)
      assertRow(out, bytes, expected, `clearFrom ${bits}`)
    }
  })
})

test('enumerate() lists the set bits and stops at max', () => {
  const room = FRAME_BYTES * 8 + enumerateSlack
  const list = memory.push(2 * room + 4)
  forRows(1, ([a = 0], _oracles, bytes) => {
    const expected = positionsOf(a, bytes)
    for (const max of [expected.length + 1, expected.length, Math.floor(expected.length / 2), 1, 0]) {
      const wanted = Math.min(max, expected.length)
      // The row may lie within a longer one.
      const first = random.below(65_536 - bytes * 8 + 1)
      const end = (list >> 1) + max + enumerateSlack
      u16[end] = 0xbeef
      assert.is(kernels.enumerate(a, bytes, list, max, first), wanted)
      const positions = Array.from(u16.subarray(list >> 1, (list >> 1) + wanted), (position) => position - first)
      assert.equal(positions, expected.slice(0, wanted))
      assert.is(u16[end], 0xbeef, 'nothing is written beyond the room for positions')
    }
  })
  memory.pop(list)
})

test('transposeBlock() puts bit p of signature d at bit 64·block + d of row p, and changes nothing else', () => {
  for (const shards of [64, 128, 192, 448, 1024]) {
    for (const rowsPerFrame of [1, 2, 4, 8, 32, 64, 1024]) {
      const signatureBytes = shards / 8
      const rowBytes = FRAME_BYTES / rowsPerFrame
      const frames = Array.from({ length: Math.ceil(shards / rowsPerFrame) }, () => memory.allocate())
      const signatures = memory.push(64 * signatureBytes)
      const pointers = memory.push(frames.length * 4)
      u32.set(frames, pointers >> 2)
      for (const frame of frames) for (let i = 0; i < FRAME_BYTES; i++) u8[frame + i] = i * 7
      const before = frames.map((frame) => u8.slice(frame, frame + FRAME_BYTES))
      for (let i = 0; i < 64 * signatureBytes; i++) u8[signatures + i] = random.next()
      const block = random.below(rowBytes / 8)
      kernels.transposeBlock(signatures, signatureBytes, pointers, rowsPerFrame, block)
      for (let p = 0; p < shards; p++) {
        const at = (p % rowsPerFrame) * rowBytes + block * 8
        const expected = before[Math.floor(p / rowsPerFrame)] as Uint8Array
        for (let byte = 0; byte < 8; byte++) {
          let value = 0
          for (let d = 0; d < 8; d++) {
            const signature = signatures + (byte * 8 + d) * signatureBytes
            value |= (((u8[signature + (p >> 3)] as number) >> (p & 7)) & 1) << d
          }
          expected[at + byte] = value
        }
      }
      frames.forEach((frame, i) => {
        assert.equal(u8.slice(frame, frame + FRAME_BYTES), before[i], `${shards} rows, ${rowsPerFrame} a frame`)
        memory.free(frame)
      })
      memory.pop(signatures)
    }
  }
})

test.run()
