/** Rows and lists of positions; the contract of every function is in ../kernels.ts, the invariants in ./index.ts. */
import { setBit } from './gaps'

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
