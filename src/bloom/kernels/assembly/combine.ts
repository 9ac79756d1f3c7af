/** The AND of many rows; the contract of every function is in ../kernels.ts, the invariants in ./index.ts. */
const ZERO: v128 = i64x2.splat(0)
const ONES: v128 = i64x2.splat(-1)

export function andRows(pointers: usize, count: u32, out: usize, bytes: u32): u32 {
  const end = pointers + (<usize>count << 2)
  let any = ZERO
  let offset: usize = 0
  for (const wide = <usize>bytes & ~63; offset < wide; offset += 64) {
    let a = ONES, b = ONES, c = ONES, d = ONES
    for (let pointer = pointers; pointer < end; pointer += 4) {
      const row = <usize>load<u32>(pointer) + offset
      a = v128.and(a, v128.load(row))
      b = v128.and(b, v128.load(row, 16))
      c = v128.and(c, v128.load(row, 32))
      d = v128.and(d, v128.load(row, 48))
    }
    v128.store(out + offset, a)
    v128.store(out + offset, b, 16)
    v128.store(out + offset, c, 32)
    v128.store(out + offset, d, 48)
    any = v128.or(v128.or(any, v128.or(a, b)), v128.or(c, d))
  }
  for (; offset < <usize>bytes; offset += 16) {
    let a = ONES
    for (let pointer = pointers; pointer < end; pointer += 4) {
      a = v128.and(a, v128.load(<usize>load<u32>(pointer) + offset))
    }
    v128.store(out + offset, a)
    any = v128.or(any, a)
  }
  return <u32>v128.any_true(any)
}

export function groupsWithBits(pointers: usize, count: u32, groups: u32, groupBytes: u32, bytes: u32): u32 {
  const end = pointers + (<usize>count << 2)
  let found: u32 = 0
  for (let rest = groups; rest != 0; rest &= rest - 1) {
    const from = <usize>ctz(rest) * groupBytes
    const to = min(from + groupBytes, <usize>bytes)
    let any = ZERO
    for (let offset = from; offset < to; offset += 16) {
      let a = ONES
      for (let pointer = pointers; pointer < end; pointer += 4) {
        a = v128.and(a, v128.load(<usize>load<u32>(pointer) + offset))
      }
      any = v128.or(any, a)
    }
    if (v128.any_true(any)) found |= rest & -rest
  }
  return found
}
