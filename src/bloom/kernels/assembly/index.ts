/**
 * Bit kernels over rows in linear memory. Compiled by scripts/build-kernels.mjs; the contract of every function stands
 * in ../kernels.ts.
 *
 * Invariants:
 * 1. Addresses are byte offsets and lengths are bytes, multiples of 16. Nothing is read or written beyond them.
 * 2. A chunk of every input is read before the same chunk of the output is written, so an output may be one of the
 *    inputs. Partly overlapping rows are not supported.
 * 3. No static data, no allocation. The only memory of our own is WORKSPACE, below everything that RowMemory hands out.
 */

/** transposeBlock's own memory: 32 vectors, and the 8 words that come out of four of them. */
const WORKSPACE: usize = 1024
const WORDS: usize = 1536

import { setBit } from './gaps'

export * from './checksum'
export * from './column-keys'
export { decodeGaps, encodeGaps } from './gaps'
export * from './groups'
export * from './ranges'
export {
  depositRow,
  depositWords,
  encodeLanes,
  encodeParts,
  encodeRow,
  gatherRow,
  joinParts,
  joinRows
} from './stored-rows'

const ZERO: v128 = i64x2.splat(0)
const ONES: v128 = i64x2.splat(-1)

// ---- many rows ------------------------------------------------------------------------------------------------------

export function andRows(pointers: usize, count: u32, out: usize, bytes: u32): u32 {
  return combineRows(true, pointers, count, out, bytes)
}

export function orRows(pointers: usize, count: u32, out: usize, bytes: u32): u32 {
  return combineRows(false, pointers, count, out, bytes)
}

/** Once for each value of `isAnd`, which is a constant wherever it is called. */
// @ts-ignore: decorator
@inline
function combineRows(isAnd: bool, pointers: usize, count: u32, out: usize, bytes: u32): u32 {
  const end = pointers + (<usize>count << 2)
  const start = isAnd ? ONES : ZERO
  let any = ZERO
  let offset: usize = 0
  for (const wide = <usize>bytes & ~63; offset < wide; offset += 64) {
    let a = start, b = start, c = start, d = start
    for (let pointer = pointers; pointer < end; pointer += 4) {
      const row = <usize>load<u32>(pointer) + offset
      a = combine(isAnd, a, v128.load(row))
      b = combine(isAnd, b, v128.load(row, 16))
      c = combine(isAnd, c, v128.load(row, 32))
      d = combine(isAnd, d, v128.load(row, 48))
    }
    v128.store(out + offset, a)
    v128.store(out + offset, b, 16)
    v128.store(out + offset, c, 32)
    v128.store(out + offset, d, 48)
    any = v128.or(v128.or(any, v128.or(a, b)), v128.or(c, d))
  }
  for (; offset < <usize>bytes; offset += 16) {
    let a = start
    for (let pointer = pointers; pointer < end; pointer += 4) {
      a = combine(isAnd, a, v128.load(<usize>load<u32>(pointer) + offset))
    }
    v128.store(out + offset, a)
    any = v128.or(any, a)
  }
  return <u32>v128.any_true(any)
}

// @ts-ignore: decorator
@inline
function combine(isAnd: bool, a: v128, b: v128): v128 {
  return isAnd ? v128.and(a, b) : v128.or(a, b)
}

// ---- one or two rows ------------------------------------------------------------------------------------------------

export function and(a: usize, b: usize, out: usize, bytes: u32): void {
  for (let offset: usize = 0; offset < <usize>bytes; offset += 16) {
    v128.store(out + offset, v128.and(v128.load(a + offset), v128.load(b + offset)))
  }
}

export function or(a: usize, b: usize, out: usize, bytes: u32): void {
  for (let offset: usize = 0; offset < <usize>bytes; offset += 16) {
    v128.store(out + offset, v128.or(v128.load(a + offset), v128.load(b + offset)))
  }
}

export function andNot(a: usize, b: usize, out: usize, bytes: u32): void {
  for (let offset: usize = 0; offset < <usize>bytes; offset += 16) {
    v128.store(out + offset, v128.andnot(v128.load(a + offset), v128.load(b + offset)))
  }
}

export function not(a: usize, out: usize, bytes: u32): void {
  for (let offset: usize = 0; offset < <usize>bytes; offset += 16) {
    v128.store(out + offset, v128.not(v128.load(a + offset)))
  }
}

export function fill(address: usize, byte: u32, bytes: u32): void {
  memory.fill(address, <u8>byte, bytes)
}

export function copy(from: usize, to: usize, bytes: u32): void {
  memory.copy(to, from, bytes)
}

export function isZero(address: usize, bytes: u32): u32 {
  for (let offset: usize = 0; offset < <usize>bytes; offset += 16) {
    if (v128.any_true(v128.load(address + offset))) return 0
  }
  return 1
}

export function equal(a: usize, b: usize, bytes: u32): u32 {
  for (let offset: usize = 0; offset < <usize>bytes; offset += 16) {
    if (v128.any_true(v128.xor(v128.load(a + offset), v128.load(b + offset)))) return 0
  }
  return 1
}

export function popcount(address: usize, bytes: u32): u32 {
  let total = ZERO
  let offset: usize = 0
  while (offset < <usize>bytes) {
    // 31 vectors at a time: 31 · 8 still fits a byte lane.
    const end = min<usize>(offset + 31 * 16, bytes)
    let sums = ZERO
    for (; offset < end; offset += 16) sums = i8x16.add(sums, i8x16.popcnt(v128.load(address + offset)))
    total = i32x4.add(total, i32x4.extadd_pairwise_i16x8_u(i16x8.extadd_pairwise_i8x16_u(sums)))
  }
  return sumLanes(total)
}

export function popcountAnd(a: usize, b: usize, bytes: u32): u32 {
  let total = ZERO
  let offset: usize = 0
  while (offset < <usize>bytes) {
    const end = min<usize>(offset + 31 * 16, bytes)
    let sums = ZERO
    for (; offset < end; offset += 16) {
      sums = i8x16.add(sums, i8x16.popcnt(v128.and(v128.load(a + offset), v128.load(b + offset))))
    }
    total = i32x4.add(total, i32x4.extadd_pairwise_i16x8_u(i16x8.extadd_pairwise_i8x16_u(sums)))
  }
  return sumLanes(total)
}

// @ts-ignore: decorator
@inline
function sumLanes(lanes: v128): u32 {
  return i32x4.extract_lane(lanes, 0) + i32x4.extract_lane(lanes, 1)
    + i32x4.extract_lane(lanes, 2) + i32x4.extract_lane(lanes, 3)
}

export function clearFrom(address: usize, bits: u32, bytes: u32): void {
  const firstByte = bits >> 3
  if (firstByte >= bytes) return
  const boundary = address + <usize>firstByte
  store<u8>(boundary, load<u8>(boundary) & <u8>((<u32>1 << (bits & 7)) - 1))
  memory.fill(boundary + 1, 0, bytes - firstByte - 1)
}

// ---- rows and lists of positions ------------------------------------------------------------------------------------

export function enumerate(address: usize, bytes: u32, out: usize, max: u32): u32 {
  const end = out + (<usize>max << 2)
  let next = out
  for (let offset: usize = 0; offset < <usize>bytes; offset += 16) {
    if (!v128.any_true(v128.load(address + offset))) continue
    for (let half: usize = 0; half < 16; half += 8) {
      let word = load<u64>(address + offset + half)
      const base = <u32>(offset + half) << 3
      while (word != 0) {
        if (next == end) return max
        store<u32>(next, base + <u32>ctz(word))
        next += 4
        word &= word - 1
      }
    }
  }
  return <u32>((next - out) >> 2)
}

export function enumerateDescending(address: usize, bytes: u32, out: usize, max: u32): u32 {
  const end = out + (<usize>max << 2)
  let next = out
  for (let offset: usize = bytes; offset > 0;) {
    offset -= 16
    if (!v128.any_true(v128.load(address + offset))) continue
    for (let half: usize = 16; half > 0;) {
      half -= 8
      let word = load<u64>(address + offset + half)
      const base = <u32>(offset + half) << 3
      while (word != 0) {
        if (next == end) return max
        const bit = 63 - <u32>clz(word)
        store<u32>(next, base + bit)
        next += 4
        word ^= <u64>1 << bit
      }
    }
  }
  return <u32>((next - out) >> 2)
}

export function setPositions(positions: usize, count: u32, out: usize): void {
  for (const end = positions + (<usize>count << 1); positions < end; positions += 2) setBit(out, <u32>load<u16>(positions))
}

export function clearPositions(positions: usize, count: u32, out: usize): void {
  for (const end = positions + (<usize>count << 1); positions < end; positions += 2) {
    const position = <u32>load<u16>(positions)
    const at = out + <usize>(position >> 3)
    store<u8>(at, load<u8>(at) & ~<u8>(<u32>1 << (position & 7)))
  }
}

// ---- ingest ---------------------------------------------------------------------------------------------------------

export function orSignature(source: usize, target: usize, bytes: u32): void {
  let offset: usize = 0
  for (const wide = <usize>bytes & ~15; offset < wide; offset += 16) {
    v128.store(target + offset, v128.or(v128.load(target + offset), v128.load(source + offset)))
  }
  if (offset < <usize>bytes) store<u64>(target + offset, load<u64>(target + offset) | load<u64>(source + offset))
}

export function transposeBlock(
  signatures: usize, signatureBytes: u32, frames: usize, rowsPerFrame: u32, block: u32
): void {
  const rowBytes = <usize>(8192 / rowsPerFrame)
  const column = <usize>block << 3
  let rowInFrame: u32 = 0
  for (let byte: u32 = 0; byte < signatureBytes; byte += 8) {
    const corner = signatures + <usize>byte
    for (let group: usize = 0; group < 4; group++) {
      gatherBytes(corner + group * (<usize>signatureBytes << 4), signatureBytes, WORKSPACE + (group << 4))
    }
    // Now the 64 bytes at WORKSPACE + 64·b are byte b of the 64 signatures, in document order: the mask of their top
    // bits is the word of row 8·b + 7, and shifting left by one brings the next lower row to the top.
    for (let lane: usize = 0; lane < 8; lane++) {
      const bytes = WORKSPACE + (lane << 6)
      let v0 = v128.load(bytes), v1 = v128.load(bytes, 16), v2 = v128.load(bytes, 32), v3 = v128.load(bytes, 48)
      for (let word = WORDS + 56; word >= WORDS; word -= 8) {
        store<u64>(word, topBits(v0, v1, v2, v3))
        v0 = i8x16.add(v0, v0)
        v1 = i8x16.add(v1, v1)
        v2 = i8x16.add(v2, v2)
        v3 = i8x16.add(v3, v3)
      }
      for (let word = WORDS; word < WORDS + 64; word += 8) {
        store<u64>(<usize>load<u32>(frames) + <usize>rowInFrame * rowBytes + column, load<u64>(word))
        if (++rowInFrame == rowsPerFrame) {
          rowInFrame = 0
          frames += 4
        }
      }
    }
  }
}

// @ts-ignore: decorator
@inline
function topBits(v0: v128, v1: v128, v2: v128, v3: v128): u64 {
  return <u64><u32>i8x16.bitmask(v0)
    | (<u64><u32>i8x16.bitmask(v1) << 16)
    | (<u64><u32>i8x16.bitmask(v2) << 32)
    | (<u64><u32>i8x16.bitmask(v3) << 48)
}

/**
 * Eight bytes of each of 16 signatures, transposed: byte b of all 16, in document order, goes to out + 64·b.
 * Four rounds of interleaving; documents i and i + 8, then + 4, + 2, + 1 meet, so the order comes out ascending.
 */
// @ts-ignore: decorator
@inline
function gatherBytes(from: usize, stride: u32, out: usize): void {
  const step = <usize>stride
  const half = from + (step << 3)
  const a0 = low(v128.load64_zero(from), v128.load64_zero(half))
  const a1 = low(v128.load64_zero(from + step), v128.load64_zero(half + step))
  const a2 = low(v128.load64_zero(from + step * 2), v128.load64_zero(half + step * 2))
  const a3 = low(v128.load64_zero(from + step * 3), v128.load64_zero(half + step * 3))
  const a4 = low(v128.load64_zero(from + step * 4), v128.load64_zero(half + step * 4))
  const a5 = low(v128.load64_zero(from + step * 5), v128.load64_zero(half + step * 5))
  const a6 = low(v128.load64_zero(from + step * 6), v128.load64_zero(half + step * 6))
  const a7 = low(v128.load64_zero(from + step * 7), v128.load64_zero(half + step * 7))
  // b: documents i, i+4, i+8, i+12; bytes 0–3 in the low one, 4–7 in the high one.
  const b0 = low(a0, a4), b0h = high(a0, a4)
  const b1 = low(a1, a5), b1h = high(a1, a5)
  const b2 = low(a2, a6), b2h = high(a2, a6)
  const b3 = low(a3, a7), b3h = high(a3, a7)
  // c: even and odd documents; two bytes each.
  const even01 = low(b0, b2), even23 = high(b0, b2), even45 = low(b0h, b2h), even67 = high(b0h, b2h)
  const odd01 = low(b1, b3), odd23 = high(b1, b3), odd45 = low(b1h, b3h), odd67 = high(b1h, b3h)
  v128.store(out, low(even01, odd01))
  v128.store(out, high(even01, odd01), 64)
  v128.store(out, low(even23, odd23), 128)
  v128.store(out, high(even23, odd23), 192)
  v128.store(out, low(even45, odd45), 256)
  v128.store(out, high(even45, odd45), 320)
  v128.store(out, low(even67, odd67), 384)
  v128.store(out, high(even67, odd67), 448)
}

// @ts-ignore: decorator
@inline
function low(a: v128, b: v128): v128 {
  return i8x16.shuffle(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
}

// @ts-ignore: decorator
@inline
function high(a: v128, b: v128): v128 {
  return i8x16.shuffle(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
}
