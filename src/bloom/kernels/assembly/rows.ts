/** Operations on one row or two; the contract of every function is in ../kernels.ts, the invariants in ./index.ts. */
const ZERO: v128 = i64x2.splat(0)

const AND: u32 = 0
const OR: u32 = 1
const AND_NOT: u32 = 2
const NOT: u32 = 3

export function and(a: usize, b: usize, out: usize, bytes: u32): void {
  binary(AND, a, b, out, bytes)
}

export function or(a: usize, b: usize, out: usize, bytes: u32): void {
  binary(OR, a, b, out, bytes)
}

export function andNot(a: usize, b: usize, out: usize, bytes: u32): void {
  binary(AND_NOT, a, b, out, bytes)
}

export function not(a: usize, out: usize, bytes: u32): void {
  binary(NOT, a, a, out, bytes)
}

/** Instantiated once for each operation, which is a constant at every call. */
// @ts-ignore: decorator
@inline
function binary(operation: u32, a: usize, b: usize, out: usize, bytes: u32): void {
  let offset: usize = 0
  for (const wide = <usize>bytes & ~63; offset < wide; offset += 64) {
    const left = a + offset, right = b + offset, to = out + offset
    const first = operate(operation, v128.load(left), v128.load(right))
    const second = operate(operation, v128.load(left, 16), v128.load(right, 16))
    const third = operate(operation, v128.load(left, 32), v128.load(right, 32))
    const fourth = operate(operation, v128.load(left, 48), v128.load(right, 48))
    v128.store(to, first)
    v128.store(to, second, 16)
    v128.store(to, third, 32)
    v128.store(to, fourth, 48)
  }
  for (; offset < <usize>bytes; offset += 16) {
    v128.store(out + offset, operate(operation, v128.load(a + offset), v128.load(b + offset)))
  }
}

// @ts-ignore: decorator
@inline
function operate(operation: u32, a: v128, b: v128): v128 {
  if (operation == AND) return v128.and(a, b)
  if (operation == OR) return v128.or(a, b)
  return operation == AND_NOT ? v128.andnot(a, b) : v128.not(a)
}

export function fill(address: usize, byte: u32, bytes: u32): void {
  memory.fill(address, <u8>byte, bytes)
}

export function copy(from: usize, to: usize, bytes: u32): void {
  memory.copy(to, from, bytes)
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
