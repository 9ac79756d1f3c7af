/** Operations on one row or two; the contract of every function is in ../kernels.ts, the invariants in ./index.ts. */
const ZERO: v128 = i64x2.splat(0)

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
